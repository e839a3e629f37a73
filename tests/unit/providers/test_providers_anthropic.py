from __future__ import annotations

import asyncio
import json
import re
from contextlib import aclosing

import httpx
import pytest
from provider_kit import HELLO, KEY, READ, Pieces, Server, anthropic, collect, completed, fixture, request, streamed

from caddie.chat.messages import (
    Image,
    Message,
    Text,
    TextDelta,
    Thinking,
    ThinkingDelta,
    ToolAnswer,
    ToolDefinition,
    ToolUse,
    ToolUseStarted,
    Usage,
)
from caddie.errors import ProviderBusy, ProviderRejected, StreamTruncated
from caddie.tools.tool import ImageContent, TextContent
from provider_bodies import check_anthropic

OK = fixture("anthropic_text.sse")
PNG = "iVBORw0KGgo="


async def sent(*messages: Message, **fields: object) -> dict[str, object]:
    server = Server(streamed(OK))
    await collect(anthropic(server.client), request(*messages, **fields))
    check_anthropic(server.bodies[0])
    return server.bodies[0]


async def test_a_first_request_has_its_headers_and_three_cache_breakpoints() -> None:
    server = Server(streamed(OK))
    await collect(anthropic(server.client), request(tools=(READ, ToolDefinition("Grep", "Finds.", {}))))
    [made], [body] = server.requests, server.bodies
    check_anthropic(body)
    assert str(made.url) == "https://api.anthropic.com/v1/messages"
    assert made.headers["x-api-key"] == KEY
    assert made.headers["anthropic-version"] == "2023-06-01"
    assert "authorization" not in made.headers
    assert body["system"][-1]["cache_control"] == {"type": "ephemeral"}
    assert [("cache_control" in tool) for tool in body["tools"]] == [False, True]
    assert body["messages"][-1]["content"][-1]["cache_control"] == {"type": "ephemeral"}


async def test_the_prefix_is_byte_identical_from_request_to_request() -> None:
    server = Server(lambda: streamed(OK))
    provider = anthropic(server.client)
    tools = (READ, ToolDefinition("Odd", "d", {"anyOf": [{"required": ["b"]}], "properties": {"b": {}, "a b": {}}}))
    await collect(provider, request(tools=tools))
    await collect(provider, request(HELLO, Message("assistant", (Text("yes"),)), HELLO, tools=tools))
    await collect(anthropic(server.client), request(tools=tools))
    before = [made.content.partition(b'"messages"')[0] for made in server.requests]
    assert before[0] == before[1] == before[2]
    assert b'"tools"' in before[0]
    assert b'"system"' in before[0]


async def test_a_longer_conversation_begins_with_the_messages_sent_before() -> None:
    turn = (HELLO, Message("assistant", (Text("a"), ToolUse("toolu_1", "Read", {"path": "x"}))))
    answered = (*turn, Message("user", (ToolAnswer("toolu_1", "Read", (TextContent("r"),)),)))
    bodies = [await sent(*answered), await sent(*answered, Message("assistant", (Text("b"),)), HELLO)]
    first, second = (
        json.loads(json.dumps(b["messages"]).replace(', "cache_control": {"type": "ephemeral"}', "")) for b in bodies
    )
    assert second[: len(first)] == first


async def test_thinking_goes_back_exactly_as_it_came() -> None:
    server = Server(streamed(fixture("anthropic_redacted.sse")), streamed(OK))
    provider = anthropic(server.client)
    answer = (await completed(provider)).message
    await collect(provider, request(HELLO, answer, HELLO))
    check_anthropic(server.bodies[1])
    assert server.bodies[1]["messages"][1]["content"][:2] == [
        {"type": "redacted_thinking", "data": "EmwKdata"},
        {"type": "thinking", "thinking": "Let me see.", "signature": "sigB"},
    ]


async def test_reasoning_of_another_provider_stays_behind() -> None:
    foreign = Thinking("hm", {"reasoning_content": "hm"})
    body = await sent(HELLO, Message("assistant", (foreign, Text("a"))), HELLO)
    assert [block["type"] for block in body["messages"][1]["content"]] == ["text"]


async def test_tool_answers_come_first_and_all_calls_get_one() -> None:
    calls = (ToolUse("t1", "Read", {"path": "a"}), ToolUse("t2", "Read", None, '{"pa'), ToolUse("t3", "Read", {}))
    answers = (
        Text("and this"),
        ToolAnswer("t2", "Read", (TextContent("bad"),), is_error=True),
        ToolAnswer("t1", "Read", (TextContent("  "), ImageContent(PNG, "image/png"))),
    )
    body = await sent(HELLO, Message("assistant", calls), Message("user", answers))
    content = body["messages"][2]["content"]
    assert [block.get("tool_use_id") for block in content] == ["t1", "t2", "t3", None]
    assert [block.get("is_error", False) for block in content] == [False, True, True, False]
    assert body["messages"][1]["content"][1]["input"] == {}


async def test_calls_of_a_cut_conversation_are_answered_at_its_end() -> None:
    body = await sent(HELLO, Message("assistant", (ToolUse("t1", "Read", {}),)))
    assert body["messages"][-1]["content"][0]["is_error"] is True


@pytest.mark.parametrize("call_id", ["functions.Read:0", "call_ü", "", "x" * 200])
async def test_foreign_call_ids_and_names_are_made_to_fit(call_id: str) -> None:
    answer = ToolAnswer(call_id, "functions.Read", ())
    body = await sent(
        HELLO, Message("assistant", (ToolUse(call_id, "functions.Read", {}),)), Message("user", (answer,))
    )
    use, result = body["messages"][1]["content"][0], body["messages"][2]["content"][0]
    assert use["id"] == result["tool_use_id"]
    assert use["name"] == "functions_Read"


async def test_blank_texts_and_empty_messages_are_left_out() -> None:
    body = await sent(HELLO, Message("assistant", (Text(" \n"),)), Message("user", (Text(""), Text("go on"))))
    assert [block["text"] for message in body["messages"] for block in message["content"]] == ["hi", "go on"]


async def test_images_go_along_and_unknown_kinds_are_named() -> None:
    body = await sent(Message("user", (Image(PNG, "image/png"), Image("PHN2Zz4=", "image/svg+xml"), Text("?"))))
    assert [block["type"] for block in body["messages"][0]["content"]] == ["image", "text", "text"]
    assert "svg" in body["messages"][0]["content"][1]["text"]


async def test_half_an_emoji_does_not_break_the_request() -> None:
    server = Server(streamed(OK))
    await collect(anthropic(server.client), request(Message("user", (Text("a\ud83d b"),))))
    assert server.bodies[0]["messages"][0]["content"][0]["text"] == "a? b"


@pytest.mark.parametrize(
    ("model", "host", "thinks"),
    [
        ("claude-opus-5-5", "api.anthropic.com", True),
        ("claude-sonnet-4-6", "api.anthropic.com", True),
        ("claude-fable-5", "api.anthropic.com", True),
        ("claude-opus-4-5", "api.anthropic.com", False),
        ("claude-haiku-4-5-20251001", "api.anthropic.com", False),
        ("claude-opus-4-20250514", "api.anthropic.com", False),
        ("claude-3-5-sonnet-latest", "api.anthropic.com", False),
        ("claude-opus-6", "api.anthropic.com", False),
        ("deepseek-chat", "api.deepseek.example", False),
        ("claude-opus-5-5", "gateway.example", False),
    ],
)
async def test_thinking_is_asked_for_only_where_it_is_known_to_work(model: str, host: str, thinks: bool) -> None:
    server = Server(streamed(OK))
    await collect(anthropic(server.client, base_url=f"https://{host}"), request(model=model))
    check_anthropic(server.bodies[0])
    assert ("thinking" in server.bodies[0]) is thinks


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("http://127.0.0.1:1/anthropic", "http://127.0.0.1:1/anthropic/v1/messages"),
        ("http://127.0.0.1:1", "http://127.0.0.1:1/v1/messages"),
        ("http://127.0.0.1:1/v1/", "http://127.0.0.1:1/v1/messages"),
        ("http://127.0.0.1:1/x/v1/messages", "http://127.0.0.1:1/x/v1/messages"),
        ("http://127.0.0.1:1/x?v=2", "http://127.0.0.1:1/x/v1/messages?v=2"),
    ],
)
async def test_addresses_are_completed(base: str, url: str) -> None:
    server = Server(streamed(OK))
    await collect(anthropic(server.client, base_url=base))
    assert str(server.requests[0].url) == url


async def test_thinking_with_two_parallel_calls_is_read() -> None:
    events = await collect(anthropic(Server(streamed(fixture("anthropic_thinking_parallel.sse"))).client))
    end = events[-1]
    assert end.message.parts == (
        Thinking("", {"type": "thinking", "thinking": "", "signature": "EqQBsig=="}),
        Text("Looking."),
        ToolUse("toolu_1", "Read", {"path": "a.py"}, '{"path": "a.py"}'),
        ToolUse("toolu_2", "ToolSearch", {}, ""),
    )
    assert end.stop_reason == "tool_use"
    assert end.usage == Usage(input=9042, cached=9000, output=25)
    assert [e for e in events if isinstance(e, ToolUseStarted)] == [
        ToolUseStarted("toolu_1", "Read"),
        ToolUseStarted("toolu_2", "ToolSearch"),
    ]


async def test_text_and_thinking_stream_as_they_come() -> None:
    events = await collect(anthropic(Server(streamed(fixture("anthropic_redacted.sse"))).client))
    assert events[:3] == [ThinkingDelta("Let me "), ThinkingDelta("see."), TextDelta("Done.")]


async def test_a_key_renamed_for_the_wire_comes_back_as_the_tools_own() -> None:
    odd = ToolDefinition("Read", "d", {"type": "object", "properties": {"file path": {"type": "string"}}})
    stream = fixture("anthropic_thinking_parallel.sse").replace(b'{\\"pa', b'{\\"file_pa')
    server = Server(lambda: streamed(stream))
    provider = anthropic(server.client)
    end = await completed(provider, request(tools=(odd,)))
    assert end.message.tool_uses[0].arguments == {"file path": "a.py"}
    await collect(provider, request(HELLO, end.message, HELLO, tools=(odd,)))
    check_anthropic(server.bodies[1])
    assert server.bodies[1]["messages"][1]["content"][2]["input"] == {"file_path": "a.py"}


@pytest.mark.parametrize(
    ("name", "reason"),
    [("refusal", "refusal"), ("pause", "other"), ("max_tokens_in_call", "max_tokens"), ("text", "end_turn")],
)
async def test_stop_reasons_are_translated(name: str, reason: str) -> None:
    end = await completed(anthropic(Server(streamed(fixture(f"anthropic_{name}.sse"))).client))
    assert end.stop_reason == reason


@pytest.mark.parametrize("raw", [b'{\\"path\\": \\"a', b"", b"[1]", b"NaN", b'\\"text\\"', b'{\\"a\\": NaN}'])
async def test_a_call_cut_at_the_token_limit_or_no_object_has_no_arguments(raw: bytes) -> None:
    stream = fixture("anthropic_max_tokens_in_call.sse").replace(b'{\\"path\\": \\"a', raw)
    [call] = (await completed(anthropic(Server(streamed(stream)).client))).message.tool_uses
    assert call.arguments is None


@pytest.mark.parametrize("keep", [b"message_start", b"content_block_delta", b"message_delta"])
async def test_a_cut_stream_is_never_trusted(keep: bytes) -> None:
    end = OK.rindex(b"event: " + keep)
    cut = OK[: OK.index(b"\n\n", end) + 2]
    with pytest.raises(StreamTruncated):
        await collect(anthropic(Server(streamed(cut)).client))


async def test_an_error_inside_the_stream_is_raised_as_its_status_would_be() -> None:
    stream = anthropic(Server(streamed(fixture("anthropic_error.sse"))).client).stream(request())
    assert await anext(stream) == TextDelta("Par")
    with pytest.raises(ProviderBusy, match="Overloaded") as caught:
        await anext(stream)
    assert caught.value.status == 529


async def test_a_damaged_event_is_a_truncated_stream() -> None:
    with pytest.raises(StreamTruncated):
        await collect(anthropic(Server(streamed(OK.replace(b'"text_delta"', b'"text_de'))).client))


@pytest.mark.parametrize(
    ("kind", "content"),
    [("text/html", b"<html>portal</html>"), ("application/json", b'{"error": {"message": "no such thing"}}')],
)
async def test_an_answer_that_is_no_stream_is_rejected(kind: str, content: bytes) -> None:
    response = httpx.Response(200, headers={"content-type": kind}, content=content)
    with pytest.raises(ProviderRejected):
        await collect(anthropic(Server(response).client))


async def test_closing_the_iterator_closes_the_connection() -> None:
    pieces = Pieces([OK])
    server = Server(httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=pieces))
    async with asyncio.timeout(60), aclosing(anthropic(server.client).stream(request())) as events:
        await anext(events)
        assert not pieces.closed
    assert pieces.closed


async def test_two_calls_with_one_id_become_two_calls() -> None:
    stream = re.sub(rb"toolu_\w+", b"toolu_same", fixture("anthropic_thinking_parallel.sse"))
    first, second = (await completed(anthropic(Server(streamed(stream)).client))).message.tool_uses
    assert first.id == "toolu_same"
    assert second.id not in ("", first.id)
