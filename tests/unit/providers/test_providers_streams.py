"""The same bytes go to the vendors' own SDKs and to us, cut and padded at random; both must read the same."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from provider_kit import Server, anthropic, completed, fixture, openai_chat, streamed

from caddie.chat.messages import Completed

ANTHROPIC = ["text", "thinking_parallel", "redacted", "refusal"]
CHAT = ["text", "parallel", "length"]
NOISE = [b": keep-alive\n\n", b":\n", b"\n", b'event: ping\ndata: {"type": "ping"}\n\n', b"retry: 10\n\n"]
UNKNOWN = b'event: something_new\ndata: {"type": "something_new", "x": [1]}\n\n'
FEW = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def anthropic_sdk(content: bytes) -> Any:
    import anthropic as sdk

    transport = httpx2.MockTransport(
        lambda _: httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=content)
    )
    client = sdk.Anthropic(
        api_key="k", base_url="http://x", max_retries=0, http_client=httpx2.Client(transport=transport)
    )
    hello = [{"role": "user", "content": "hi"}]
    with client.messages.stream(model="claude-opus-5-5", max_tokens=9, messages=hello) as stream:
        return stream.get_final_message()


def openai_sdk(content: bytes) -> tuple[str, list[tuple[str, str, str]], str, Any]:
    import openai as sdk

    transport = httpx2.MockTransport(
        lambda _: httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=content)
    )
    client = sdk.OpenAI(api_key="k", base_url="http://x", max_retries=0, http_client=httpx2.Client(transport=transport))
    text, calls, finish, usage = "", {}, "", None
    for chunk in client.chat.completions.create(model="m", messages=[], stream=True):
        usage = chunk.usage or usage
        for choice in chunk.choices:
            text += choice.delta.content or ""
            finish = choice.finish_reason or finish
            for call in choice.delta.tool_calls or ():
                known = calls.setdefault(call.index, ["", "", ""])
                known[0] += call.id or ""
                known[1] += call.function.name or ""
                known[2] += call.function.arguments or ""
    return text, [tuple(call) for call in calls.values()], finish, usage


def ours(content: bytes, splits: list[int], kind: str) -> Completed:
    async def read() -> Completed:
        server = Server(streamed(content, splits=splits))
        return await completed(anthropic(server.client) if kind == "anthropic" else openai_chat(server.client))

    return asyncio.run(read())


@st.composite
def disturbed(draw: st.DrawFn, content: bytes, noise: list[bytes]) -> tuple[bytes, list[int]]:
    events = re.findall(rb".*?\n\n", content, re.DOTALL)
    padded = b"".join(draw(st.sampled_from([b"", b"", *noise])) + event for event in events)
    if draw(st.booleans()):
        padded = padded.replace(b"data: ", b"data:")
    ending = draw(st.sampled_from([b"\n", b"\r\n", b"\r"]))
    return padded.replace(b"\n", ending), draw(st.lists(st.integers(0, 10_000), max_size=40))


@pytest.mark.parametrize("name", ANTHROPIC)
def test_an_anthropic_stream_means_what_the_sdk_makes_of_it(name: str) -> None:
    content = fixture(f"anthropic_{name}.sse")
    final = anthropic_sdk(content)
    text = "".join(block.text for block in final.content if block.type == "text")
    calls = [(block.id, block.name, block.input) for block in final.content if block.type == "tool_use"]
    whole = final.usage.input_tokens + final.usage.cache_read_input_tokens + final.usage.cache_creation_input_tokens

    @FEW
    @given(disturbed(content, [*NOISE, UNKNOWN]))
    def agrees(case: tuple[bytes, list[int]]) -> None:
        end = ours(*case, "anthropic")
        assert end.message.text == text
        assert [(use.id, use.name, use.arguments) for use in end.message.tool_uses] == calls
        assert end.stop_reason == final.stop_reason
        assert (end.usage.input, end.usage.output) == (whole, final.usage.output_tokens)
        assert end.usage.cached == final.usage.cache_read_input_tokens

    agrees()


@pytest.mark.parametrize("name", CHAT)
def test_a_chat_stream_means_what_the_sdk_makes_of_it(name: str) -> None:
    content = fixture(f"chat_{name}.sse")
    text, calls, finish, usage = openai_sdk(content)
    stop = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"}[finish]

    @FEW
    @given(disturbed(content, [b": keep-alive\n\n", b"\n", b"event: other\ndata: {}\n\n"]))
    def agrees(case: tuple[bytes, list[int]]) -> None:
        end = ours(*case, "chat")
        assert end.message.text == text
        assert [(use.id, use.name, use.raw) for use in end.message.tool_uses] == calls
        assert all(use.arguments == json.loads(use.raw) for use in end.message.tool_uses)
        assert end.stop_reason == stop
        assert (end.usage.input, end.usage.output) == (usage.prompt_tokens, usage.completion_tokens)
        assert end.usage.cached == usage.prompt_tokens_details.cached_tokens

    agrees()


@pytest.mark.parametrize("name", ["text", "thinking_parallel", "redacted"])
def test_our_anthropic_recordings_have_the_types_of_the_api(name: str) -> None:
    from anthropic.types import RawMessageStreamEvent
    from pydantic import TypeAdapter

    adapter: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
    for line in fixture(f"anthropic_{name}.sse").split(b"\n"):
        if line.startswith(b"data: ") and b'"ping"' not in line:
            adapter.validate_json(line[6:])


@pytest.mark.parametrize("kind", ["", "text/plain", "text/event-stream; charset=latin-1", "application/octet-stream"])
def test_a_wrong_content_type_header_changes_nothing(kind: str) -> None:
    async def read() -> Completed:
        return await completed(openai_chat(Server(streamed(fixture("chat_text.sse"), kind=kind)).client))

    assert asyncio.run(read()).message.text == "Hello\u2028wörld\u2029\x85 🎉"


def test_one_event_may_span_several_data_lines() -> None:
    content = b'data: {"choices": [{"delta":\ndata: {"content": "x"},\ndata: "finish_reason": "stop"}]}\n\n'
    assert ours(content, [], "chat").message.text == "x"
