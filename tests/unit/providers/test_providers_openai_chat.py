from __future__ import annotations

import json

import httpx
import pytest
from provider_kit import (
    HELLO,
    KEY,
    READ,
    Server,
    call_delta,
    chunk,
    collect,
    completed,
    fixture,
    openai_chat,
    request,
    sse,
    streamed,
)

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
from caddie.errors import ContextOverflow, ProviderBusy, ProviderRejected, StreamTruncated
from caddie.tools.tool import ImageContent, TextContent
from provider_bodies import check_openai_chat

OK = fixture("chat_text.sse")
PNG = "iVBORw0KGgo="
BAD_STREAM_OPTIONS = httpx.Response(400, json={"error": {"message": "unknown field stream_options"}})


async def answer(*chunks: object, done: bool = True):
    return await completed(openai_chat(Server(streamed(sse(*chunks, done=done))).client))


async def sent(*messages: Message, extensions: bool = False, base_url: str = "http://127.0.0.1:9/v1", **fields):
    server = Server(streamed(OK))
    await collect(openai_chat(server.client, base_url=base_url), request(*messages, **fields))
    check_openai_chat(server.bodies[0], extensions=extensions)
    return server.bodies[0]


async def test_a_first_request_sends_only_what_every_server_knows() -> None:
    server = Server(streamed(OK))
    await collect(openai_chat(server.client), request())
    check_openai_chat(server.bodies[0])
    assert str(server.requests[0].url) == "http://127.0.0.1:9/v1/chat/completions"
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert set(server.bodies[0]) == {"model", "stream", "stream_options", "max_tokens", "tools", "messages"}
    assert server.bodies[0]["messages"] == [
        {"role": "system", "content": "You are Caddie."},
        {"role": "user", "content": "hi"},
    ]


async def test_openai_itself_gets_its_own_field_names_and_a_cache_key() -> None:
    body = await sent(HELLO, base_url="https://api.openai.com/v1", session_id="s" * 200, model="gpt-6-luna")
    assert "max_tokens" not in body
    assert body["max_completion_tokens"] == 16_000
    assert len(body["prompt_cache_key"]) <= 64
    assert body["reasoning_effort"] == "none"


async def test_no_key_means_no_authorization_header() -> None:
    server = Server(streamed(OK))
    await collect(openai_chat(server.client, api_key=""))
    assert "authorization" not in server.requests[0].headers


async def test_a_bare_host_gets_the_usual_path() -> None:
    server = Server(streamed(OK))
    await collect(openai_chat(server.client, base_url="http://localhost:11434"))
    assert str(server.requests[0].url) == "http://localhost:11434/v1/chat/completions"


async def test_a_missing_model_is_said_before_anything_is_sent() -> None:
    server = Server(streamed(OK))
    with pytest.raises(ProviderRejected, match=r"caddie\.model"):
        await collect(openai_chat(server.client), request(model=""))
    assert not server.requests


async def test_images_of_results_follow_in_a_user_message_after_all_tool_messages() -> None:
    calls = (ToolUse("c1", "Shot", {}), ToolUse("c2", "Read", {"path": "a"}))
    answers = (
        ToolAnswer("c1", "Shot", (ImageContent(PNG, "image/png"),)),
        ToolAnswer("c2", "Read", (TextContent("no file"),), is_error=True),
        Text("look"),
    )
    body = await sent(HELLO, Message("assistant", calls), Message("user", answers))
    assert [message["role"] for message in body["messages"][2:]] == ["assistant", "tool", "tool", "user"]
    assert body["messages"][2]["content"] is None
    assert body["messages"][4]["content"] == "Error: no file"
    assert [block["type"] for block in body["messages"][5]["content"]] == ["text", "image_url", "text"]
    assert body["messages"][5]["content"][1]["image_url"]["url"] == f"data:image/png;base64,{PNG}"


async def test_an_error_answer_is_marked_once() -> None:
    given = ToolAnswer("c1", "Read", (TextContent("Error: gone"),), is_error=True)
    body = await sent(HELLO, Message("assistant", (ToolUse("c1", "Read", {}),)), Message("user", (given,)))
    assert body["messages"][3]["content"] == "Error: gone"


async def test_images_of_the_person_travel_as_data_urls() -> None:
    body = await sent(Message("user", (Image(PNG, "image/png"), Text("what is it?"))))
    assert [block["type"] for block in body["messages"][1]["content"]] == ["image_url", "text"]


async def test_calls_whose_json_was_broken_go_back_as_valid_json() -> None:
    body = await sent(HELLO, Message("assistant", (ToolUse("c1", "Read", None, '{"pa'),)))
    assert body["messages"][2]["tool_calls"][0]["function"]["arguments"] == "{}"
    assert body["messages"][3]["role"] == "tool"


async def test_long_descriptions_are_capped_and_keep_the_note_about_the_schema() -> None:
    schema = {"properties": {"a": {}, "b": {}}, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}
    body = await sent(HELLO, tools=(ToolDefinition("T", "x" * 5000, schema),))
    description = body["tools"][0]["function"]["description"]
    assert len(description) == 1024
    assert description.endswith("…\nExactly one of: (a) | (b).")


async def test_tools_are_the_same_bytes_in_each_request() -> None:
    server = Server(lambda: streamed(OK))
    provider, asked = openai_chat(server.client), request()
    await collect(provider, asked)
    await collect(provider, asked)
    assert server.requests[0].content == server.requests[1].content


# What servers do differently, row by row of the reference.


async def test_parallel_calls_that_all_have_index_0_stay_apart() -> None:
    end = await answer(
        chunk(tool_calls=[call_delta("Read", '{"path": "a"}', index=0, id="x1")]),
        chunk(tool_calls=[call_delta("Read", '{"path": "b"}', index=0, id="x2")]),
        chunk("tool_calls"),
    )
    assert [(use.id, use.arguments) for use in end.message.tool_uses] == [("x1", {"path": "a"}), ("x2", {"path": "b"})]


@pytest.mark.parametrize("index", [{"index": 0}, {}])
async def test_calls_without_ids_are_told_apart_by_complete_arguments(index: dict[str, int]) -> None:
    end = await answer(
        chunk(tool_calls=[call_delta("Read", '{"path"', **index)]),
        chunk(tool_calls=[call_delta("Read", ': "a"}', **index)]),
        chunk(tool_calls=[call_delta("Read", '{"path": "b"}', **index)]),
        chunk("stop"),
    )
    assert [use.arguments for use in end.message.tool_uses] == [{"path": "a"}, {"path": "b"}]
    ids = [use.id for use in end.message.tool_uses]
    assert len(set(ids)) == 2
    assert all(call_id.startswith("call_") for call_id in ids)


async def test_two_different_calls_without_ids_and_arguments_stay_apart() -> None:
    end = await answer(chunk(tool_calls=[call_delta("A", index=0)]), chunk(tool_calls=[call_delta("B", index=0)]))
    assert [(use.name, use.arguments) for use in end.message.tool_uses] == [("A", {}), ("B", {})]


async def test_an_id_that_changes_without_a_name_is_the_same_call() -> None:
    end = await answer(
        chunk(tool_calls=[call_delta("Read", '{"a"', index=0, id="x1")]),
        chunk(tool_calls=[call_delta("", ": 1}", index=0, id="x9")]),
    )
    [call] = end.message.tool_uses
    assert (call.id, call.arguments) == ("x1", {"a": 1})


async def test_the_same_id_for_two_calls_becomes_two_ids() -> None:
    end = await answer(
        chunk(tool_calls=[call_delta("A", "{}", index=0, id="x"), call_delta("B", "{}", index=1, id="x")])
    )
    assert len({use.id for use in end.message.tool_uses}) == 2


@pytest.mark.parametrize(("given", "read"), [({"p": 1}, {"p": 1}), (None, {}), ("null", {}), ("", {})])
async def test_arguments_may_be_an_object_or_missing(given: object, read: dict[str, object]) -> None:
    delta = {"index": 0, "id": "x", "function": {"name": "Read", "arguments": given}}
    [call] = (await answer(chunk(tool_calls=[delta]), chunk("tool_calls"))).message.tool_uses
    assert call.arguments == read


async def test_a_whole_call_in_one_chunk_is_announced_and_read() -> None:
    delta = call_delta("Read", '{"path": "a"}', index=0, id="x")
    server = Server(streamed(sse(chunk("tool_calls", tool_calls=[delta]), done=True)))
    events = await collect(openai_chat(server.client))
    assert events[0] == ToolUseStarted("x", "Read")
    assert events[-1].message.tool_uses == (ToolUse("x", "Read", {"path": "a"}, '{"path": "a"}'),)


@pytest.mark.parametrize("reason", ["stop", "tool_calls", "function_call", "odd", None])
async def test_calls_decide_that_the_stop_is_tool_use(reason: str | None) -> None:
    end = await answer(chunk(tool_calls=[call_delta("Read", "{}", index=0, id="x")]), chunk(reason))
    assert end.stop_reason == "tool_use"


@pytest.mark.parametrize("raw", ['{"path": "a', "[1]", '"text"', "{}{}"])
async def test_arguments_that_are_no_object_are_never_run(raw: str) -> None:
    end = await answer(chunk(tool_calls=[call_delta("Read", raw, index=0, id="x")]), chunk("tool_calls"))
    assert end.message.tool_uses == (ToolUse("x", "Read", None, raw),)


async def test_a_call_without_arguments_at_the_token_limit_is_not_complete() -> None:
    end = await answer(chunk(tool_calls=[call_delta("Read", "", index=0, id="x")]), chunk("length"))
    assert end.message.tool_uses[0].arguments is None
    assert end.stop_reason == "max_tokens"


async def test_an_empty_list_of_calls_is_no_call() -> None:
    end = await answer(chunk(content="hi", tool_calls=[]), chunk("tool_calls", tool_calls=None))
    assert end.message.parts == (Text("hi"),)
    assert end.stop_reason == "end_turn"


async def test_done_after_content_counts_as_the_end() -> None:
    end = await answer(chunk(content="hi"))
    assert (end.message.text, end.stop_reason) == ("hi", "end_turn")


@pytest.mark.parametrize(
    ("chunks", "done"), [([chunk(content="hi")], False), ([], True), ([chunk(role="assistant")], True)]
)
async def test_a_cut_stream_is_never_trusted(chunks: list[object], done: bool) -> None:
    with pytest.raises(StreamTruncated):
        await answer(*chunks, done=done)


async def test_a_finish_reason_without_done_counts_as_the_end() -> None:
    assert (await answer(chunk("stop", content="hi"), done=False)).stop_reason == "end_turn"


async def test_chunks_without_choices_are_passed_over_and_usage_is_kept() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}
    filtered = {"choices": [], "prompt_filter_results": []}
    end = await answer(filtered, {}, chunk("stop", content="hi"), {"choices": [], "usage": usage}, {"usage": None})
    assert end.usage == Usage(10, 4, 2)


async def test_no_usage_is_no_error() -> None:
    assert (await answer(chunk("stop", content="hi"))).usage == Usage()


async def test_an_empty_name_never_replaces_a_name() -> None:
    end = await answer(
        chunk(tool_calls=[call_delta("Read", "{", index=0, id="x")]),
        chunk(tool_calls=[call_delta("", "}", index=0, id="")]),
    )
    assert end.message.tool_uses == (ToolUse("x", "Read", {}, "{}"),)


async def test_refused_stream_options_are_left_out_once_and_for_good() -> None:
    server = Server(BAD_STREAM_OPTIONS, lambda: streamed(OK))
    provider = openai_chat(server.client)
    await collect(provider)
    await collect(provider)
    assert ["stream_options" in body for body in server.bodies] == [True, False, False]


async def test_a_server_that_keeps_refusing_is_not_asked_for_ever() -> None:
    server = Server(lambda: httpx.Response(400, json={"error": "stream_options?"}))
    with pytest.raises(ProviderRejected):
        await collect(openai_chat(server.client))
    assert len(server.requests) == 2


async def test_the_other_name_of_max_tokens_is_learned() -> None:
    message = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
    server = Server(httpx.Response(400, json={"error": {"message": message}}), streamed(OK))
    await collect(openai_chat(server.client))
    assert "max_completion_tokens" in server.bodies[1]
    assert "max_tokens" not in server.bodies[1]


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
async def test_reasoning_is_shown_and_goes_back_with_the_calls_it_led_to(field: str) -> None:
    first = sse(
        chunk(**{field: "Let me "}),
        chunk(**{field: "see."}),
        chunk(content="Reading.", tool_calls=[call_delta("Read", "{}", index=0, id="x")]),
        chunk("tool_calls"),
    )
    server = Server(streamed(first), streamed(OK))
    provider = openai_chat(server.client)
    events = await collect(provider)
    assert events[:2] == [ThinkingDelta("Let me "), ThinkingDelta("see.")]
    await collect(provider, request(HELLO, events[-1].message))
    check_openai_chat(server.bodies[1], extensions=True)
    assert server.bodies[1]["messages"][2][field] == "Let me see."


async def test_once_a_server_reasons_each_later_call_message_carries_the_field() -> None:
    def call(call_id: str, *thoughts: Thinking) -> tuple[Message, Message]:
        use = Message("assistant", (*thoughts, ToolUse(call_id, "Read", {})))
        return use, Message("user", (ToolAnswer(call_id, "Read", (TextContent("r"),)),))

    thought = Thinking("hm", {"reasoning_content": "hm"})
    body = await sent(HELLO, *call("a"), *call("b", thought), *call("c"), extensions=True)
    found = [message.get("reasoning_content") for message in body["messages"] if message["role"] == "assistant"]
    assert found == [None, "hm", ""]


async def test_reasoning_never_travels_to_openai_nor_blocks_of_another_api() -> None:
    thoughts = (Thinking("a", {"reasoning_content": "a"}), Thinking("b", {"type": "thinking", "signature": "s"}))
    message = Message("assistant", (*thoughts, ToolUse("c1", "Read", {})))
    await sent(HELLO, message, base_url="https://api.openai.com/v1")
    body = await sent(HELLO, Message("assistant", (thoughts[1], ToolUse("c1", "Read", {}))))
    assert "signature" not in json.dumps(body)


async def test_a_server_that_wants_reasoning_with_each_call_gets_it() -> None:
    text = "The reasoning_content in the thinking mode must be passed back to the API."
    server = Server(httpx.Response(400, json={"error": {"message": text}}), streamed(OK))
    await collect(openai_chat(server.client), request(HELLO, Message("assistant", (ToolUse("c", "Read", {}),))))
    assert server.bodies[1]["messages"][2]["reasoning_content"] == ""


async def test_a_server_that_takes_no_reasoning_beside_content_gets_none() -> None:
    text = "Cannot pass both content and thinking in an assistant message with tool calls!"
    server = Server(httpx.Response(500, json={"error": {"message": text}}), streamed(OK))
    thought = Thinking("a", {"reasoning_content": "a"})
    asked = request(HELLO, Message("assistant", (thought, Text("t"), ToolUse("c", "Read", {}))))
    await collect(openai_chat(server.client), asked)
    assert ["reasoning_content" in body["messages"][2] for body in server.bodies] == [True, False]


async def test_a_signature_beside_a_call_goes_back_with_it() -> None:
    extra = {"google": {"thought_signature": "CiQB"}}
    first = sse(chunk("stop", tool_calls=[call_delta("Read", "{}", index=0, id="x", extra_content=extra)]))
    server = Server(streamed(first), streamed(OK))
    provider = openai_chat(server.client)
    message = (await completed(provider)).message
    await collect(provider, request(HELLO, message))
    assert server.bodies[1]["messages"][2]["tool_calls"][0]["extra_content"] == extra


async def test_a_call_written_as_plain_text_stays_text() -> None:
    text = '<tool_call>{"name": "Read"}</tool_call>'
    assert (await answer(chunk("stop", content=text))).message.parts == (Text(text),)


async def test_a_json_answer_instead_of_a_stream_is_read_whole() -> None:
    calls = [call_delta("Read", '{"path": "a"}', id="x"), call_delta("Read", {"path": "b"})]
    whole = {
        "choices": [{"message": {"role": "assistant", "content": "ok", "tool_calls": calls}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 1},
    }
    server = Server(httpx.Response(200, json=whole))
    events = await collect(openai_chat(server.client))
    assert events[0] == TextDelta("ok")
    assert [use.arguments for use in events[-1].message.tool_uses] == [{"path": "a"}, {"path": "b"}]
    assert (events[-1].stop_reason, events[-1].usage) == ("tool_use", Usage(3, 0, 1))


@pytest.mark.parametrize(
    ("response", "error"),
    [
        (httpx.Response(200, json={"error": {"message": "broken", "code": 503}}), ProviderBusy),
        (httpx.Response(200, json={"ok": True}), ProviderRejected),
        (httpx.Response(200, json=[]), ProviderRejected),
        (httpx.Response(200, html="<html><title>Login</title></html>"), ProviderRejected),
    ],
)
async def test_other_bodies_with_status_200_are_errors(response: httpx.Response, error: type[Exception]) -> None:
    with pytest.raises(error):
        await collect(openai_chat(Server(response).client))


@pytest.mark.parametrize(
    ("payload", "error"),
    [
        ({"error": {"message": "slow down", "code": "rate_limit_exceeded"}}, ProviderBusy),
        ({"error": {"message": "boom", "type": "server_error"}}, ProviderBusy),
        ({"error": {"message": "bad tool", "code": 400}}, ProviderRejected),
        ({"error": {"message": "x", "code": "context_length_exceeded"}}, ContextOverflow),
        ({"error": "the request exceeds the available context size"}, ContextOverflow),
    ],
)
async def test_an_error_line_inside_the_stream_is_raised(payload: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        await answer(chunk(content="par"), payload)


async def test_a_refusal_is_text_and_a_reason() -> None:
    end = await answer(chunk(refusal="I cannot."), chunk("stop"))
    assert (end.message.text, end.stop_reason) == ("I cannot.", "refusal")
    assert (await answer(chunk("content_filter", content="x"))).stop_reason == "refusal"


def test_a_tool_definition_is_never_changed() -> None:
    assert READ.input_schema == {"type": "object", "properties": {"path": {"type": "string"}}}


MANY = tuple(ToolDefinition(f"tool_{number}", "x", {"type": "object", "properties": {}}) for number in range(200))


async def test_openai_is_sent_no_more_tools_than_it_takes_and_the_person_is_told_once() -> None:
    server = Server(lambda: streamed(sse(chunk(content="ok"), chunk("stop"), done=True)))
    provider = openai_chat(server.client, base_url="https://api.openai.com/v1")
    first = await completed(provider, request(tools=MANY, model="gpt-5.5"))
    second = await completed(provider, request(tools=MANY, model="gpt-5.5"))
    assert [len(body["tools"]) for body in server.bodies] == [128, 128]
    assert "at most 128 tools" in first.note
    assert "the last 72" in first.note
    assert second.note == ""


async def test_the_cap_of_another_server_is_learned_from_its_refusal() -> None:
    told = (
        "Invalid 'tools': array too long. Expected an array with maximum length 64, but got an array with length 200."
    )
    refusal = httpx.Response(400, json={"error": {"message": told, "code": "array_above_max_length"}})
    server = Server(refusal, lambda: streamed(sse(chunk(content="ok"), chunk("stop"), done=True)))
    last = await completed(openai_chat(server.client), request(tools=MANY, model="m"))
    assert [len(body["tools"]) for body in server.bodies] == [200, 64]
    assert "at most 64 tools" in last.note
