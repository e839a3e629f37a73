"""Streams of the Responses API: the same bytes go to the vendor's SDK and to us, and what no SDK checks is checked."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from provider_kit import Server, collect, completed, sse, streamed
from responses_kit import answered, asked, responses

from caddie.chat.messages import Completed, Text, TextDelta, Thinking, ThinkingDelta, ToolUse, ToolUseStarted, Usage
from caddie.errors import ContextOverflow, ProviderBusy, ProviderError, ProviderRejected, StreamTruncated
from fake_responses import call, message, reasoning, refusing, response, search, stream

STREAMS = {
    "text": stream(message("Hello\u2028wörld\u2029\x85 🎉")),
    "thinking_parallel": stream(
        reasoning(1, "First I look.", "Then I read."), message("Looking."), call("Read", 1, path="a.py"),
        call("Grep", 2, pattern='"x"\n'),
    ),
    "search": stream(reasoning(), search("git log")),
    "no_arguments": stream(call("Now")),
    "refusal": stream(refusing("I will not.")),
    "max_tokens": stream(message("Half", status="incomplete"), incomplete="max_output_tokens"),
}  # fmt: skip
COMPLETED = [name for name in STREAMS if name != "max_tokens"]
NOISE = [
    b": keep-alive\n\n", b":\n", b"\n", b'event: ping\ndata: {"type": "ping"}\n\n', b"retry: 10\n\n",
    b'event: response.something.new\ndata: {"type": "response.something.new", "sequence_number": 0, "x": [1]}\n\n',
    b'data: {"type": "response.output_text.annotation.added", "output_index": 0, "annotation": {}}\n\n',
]  # fmt: skip
FEW = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def sdk_final(content: bytes) -> Any:
    import openai as sdk

    transport = httpx2.MockTransport(
        lambda _: httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=content)
    )
    client = sdk.OpenAI(api_key="k", base_url="http://x", max_retries=0, http_client=httpx2.Client(transport=transport))
    with client.responses.stream(model="gpt-5.5", input="hi") as events:
        return events.get_final_response()


def without_parsed(value: Any) -> Any:
    """What the SDK adds to the items of an answer."""
    if isinstance(value, dict):
        return {key: without_parsed(inner) for key, inner in value.items() if not key.startswith("parsed")}
    return [without_parsed(inner) for inner in value] if isinstance(value, list) else value


def ours(content: bytes, splits: list[int]) -> Completed:
    async def read() -> Completed:
        return await completed(responses(Server(streamed(content, splits=splits)).client), asked())

    return asyncio.run(read())


@st.composite
def disturbed(draw: st.DrawFn, content: bytes) -> tuple[bytes, list[int]]:
    events = re.findall(rb".*?\n\n", content, re.DOTALL)
    padded = b"".join(draw(st.sampled_from([b"", b"", *NOISE])) + event for event in events)
    if draw(st.booleans()):
        padded = padded.replace(b"data: ", b"data:")
    if draw(st.booleans()):
        padded = re.sub(rb"event: .*\n", b"", padded)
    ending = draw(st.sampled_from([b"\n", b"\r\n", b"\r"]))
    return padded.replace(b"\n", ending), draw(st.lists(st.integers(0, 10_000), max_size=40))


@pytest.mark.parametrize("name", COMPLETED)
def test_a_stream_means_what_the_sdk_makes_of_it(name: str) -> None:
    final = sdk_final(STREAMS[name])
    calls = [item for item in final.output if item.type in ("function_call", "tool_search_call")]
    given_calls = [
        ("ToolSearch", item.arguments) if item.type == "tool_search_call" else (item.name, json.loads(item.arguments))
        for item in calls
    ]
    thoughts = ["\n\n".join(part.text for part in item.summary) for item in final.output if item.type == "reasoning"]

    @FEW
    @given(disturbed(STREAMS[name]))
    def agrees(case: tuple[bytes, list[int]]) -> None:
        end = ours(*case)
        assert end.message.text == (final.output_text or ("I will not." if name == "refusal" else ""))
        assert [(use.name, use.arguments) for use in end.message.tool_uses] == given_calls
        assert [use.id for use in end.message.tool_uses] == [item.call_id for item in calls]
        assert [part.text for part in end.message.parts if isinstance(part, Thinking)] == thoughts
        assert [part.opaque for part in end.message.parts] == [
            without_parsed(item.model_dump(exclude_unset=True)) for item in final.output
        ]
        assert end.stop_reason == ("tool_use" if calls else "refusal" if name == "refusal" else "end_turn")
        usage = final.usage
        assert (end.usage.input, end.usage.output) == (usage.input_tokens, usage.output_tokens)
        assert end.usage.cached == usage.input_tokens_details.cached_tokens

    agrees()


@pytest.mark.parametrize("name", sorted(STREAMS))
def test_our_streams_have_the_types_of_the_api(name: str) -> None:
    from openai.types.responses import ResponseStreamEvent
    from pydantic import TypeAdapter

    adapter: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
    for line in STREAMS[name].split(b"\n"):
        if line.startswith(b"data: "):
            adapter.validate_json(line[6:])


@pytest.mark.parametrize("name", COMPLETED)
@given(cut=st.floats(0, 1, exclude_max=True))
@FEW
def test_a_stream_cut_anywhere_is_never_trusted(name: str, cut: float) -> None:
    whole = STREAMS[name]
    content = whole[: min(int(len(whole) * cut), whole.rindex(b"event: response.completed"))]
    with pytest.raises(StreamTruncated):
        ours(content, [])


async def test_what_is_told_on_the_way_is_told_in_its_order() -> None:
    content = stream(reasoning(1, "One.", "Two."), message("Hi."), call("Read", path="a"), search("git", 2))
    *told, end = await collect(responses(Server(streamed(content)).client), asked())
    thought = "".join(event.text for event in told if isinstance(event, ThinkingDelta))
    said = "".join(event.text for event in told if isinstance(event, TextDelta))
    started = [event for event in told if isinstance(event, ToolUseStarted)]
    assert (thought, said) == ("One.\n\nTwo.", "Hi.")
    assert started == [ToolUseStarted("call_1", "Read"), ToolUseStarted("call_2", "ToolSearch")]
    assert isinstance(end, Completed)
    assert end.usage == Usage(900, 512, 40)


async def test_items_grow_by_their_place_whatever_id_an_event_names() -> None:
    events = [json.loads(line[6:]) for line in stream(call("A", 1, x=1), call("B", 2, y=2), listed=False).split(b"\n")
              if line.startswith(b"data: ")]  # fmt: skip
    own = [[event for event in events if "delta" in event and event["output_index"] == index] for index in (0, 1)]
    deltas = [event for pair in zip(*own, strict=True) for event in pair]
    others = [event for event in events if "delta" not in event and not event["type"].endswith("item.done")]
    begun = [
        event for event in others if not event["type"].startswith(("response.function_call", "response.completed"))
    ]
    mixed = [{**event, "item_id": f"odd_{n}"} for n, event in enumerate([*begun, *deltas, others[-1]])]
    end = await completed(responses(Server(streamed(sse(*mixed))).client), asked())
    assert [(use.name, use.arguments) for use in end.message.tool_uses] == [("A", {"x": 1}), ("B", {"y": 2})]


async def test_items_that_come_whole_only_are_told_and_kept() -> None:
    done = {"type": "response.output_item.done", "output_index": 0, "item": message("All at once.")}
    ended = {"type": "response.completed", "response": response([])}
    *told, end = await collect(responses(Server(streamed(sse(done, ended))).client), asked())
    assert told == [TextDelta("All at once.")]
    assert isinstance(end, Completed)
    assert end.message.parts == (Text("All at once.", message("All at once.")),)


async def test_what_never_came_whole_is_kept_without_its_item() -> None:
    begun = {"type": "response.output_item.added", "output_index": 0, "item": message("", content=[])}
    delta = {"type": "response.output_text.delta", "output_index": 0, "delta": "Hal"}
    ended = {"type": "response.incomplete", "response": {"incomplete_details": {"reason": "max_output_tokens"}}}
    end = await completed(responses(Server(streamed(sse(begun, delta, ended))).client), asked())
    assert (end.message.parts, end.stop_reason) == ((Text("Hal"),), "max_tokens")


@pytest.mark.parametrize(
    ("arguments", "status"), [('{"path": "a', "incomplete"), ("", "incomplete"), ('{"path": "a.py"}', "incomplete"),
                              ("{}", "in_progress")],
)  # fmt: skip
async def test_a_call_cut_by_the_token_limit_is_never_run(arguments: str, status: str) -> None:
    end = await answered({**call("Write", arguments=arguments), "status": status}, incomplete="max_output_tokens")
    assert end.stop_reason == "max_tokens"
    assert [(use.name, use.arguments, use.raw) for use in end.message.tool_uses] == [("Write", None, arguments)]


async def test_calls_that_were_whole_before_the_limit_stay_whole() -> None:
    cut = {**call("Read", 2, arguments='{"pa'), "status": "incomplete"}
    end = await answered(call("Read", path="a"), cut, incomplete="max_output_tokens")
    assert [use.arguments for use in end.message.tool_uses] == [{"path": "a"}, None]


@pytest.mark.parametrize(
    ("reason", "stop"),
    [("max_output_tokens", "max_tokens"), ("content_filter", "refusal"), ("max_messages", "other"), ("new", "other")],
)
async def test_an_incomplete_answer_says_why(reason: str, stop: str) -> None:
    end = await answered(message("Half"), incomplete=reason)
    assert (end.message.text, end.stop_reason) == ("Half", stop)


async def test_thinking_up_to_the_token_limit_leaves_nothing_that_could_go_back() -> None:
    end = await answered(reasoning(1, "Long."), incomplete="max_output_tokens")
    assert (end.message.parts, end.stop_reason) == ((Thinking("Long."),), "max_tokens")


async def test_an_answer_that_says_nothing_has_no_parts() -> None:
    end = await answered(reasoning(), message(" "))
    assert (end.message.parts, end.stop_reason) == ((), "end_turn")


async def test_arguments_of_a_search_may_come_as_text_and_without_a_call_id() -> None:
    item = {**search("git"), "arguments": '{"query": "git"}', "call_id": None}
    [use] = (await answered(item)).message.tool_uses
    assert (use.id, use.arguments) == ("tsc_1", {"query": "git"})


async def test_a_search_of_the_servers_own_is_kept_and_never_run() -> None:
    item = {**search("git"), "execution": "server", "call_id": None}
    end = await answered(item, message("Done."))
    assert end.message.parts[0] == Thinking("", item)
    assert not end.message.tool_uses


def failing(error: dict[str, Any], *, as_event: bool) -> bytes:
    if as_event:
        return sse({"type": "error", "sequence_number": 3, "param": None, **error})
    return sse({"type": "response.failed", "response": response([], "failed", error=error)})


@pytest.mark.parametrize("as_event", [True, False])
@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("context_length_exceeded", ContextOverflow),
        ("insufficient_quota", ProviderRejected),
        ("rate_limit_exceeded", ProviderBusy),
        ("server_error", ProviderBusy),
        ("something_new", ProviderBusy),
        (None, ProviderBusy),
        ("invalid_prompt", ProviderRejected),
        ("image_too_large", ProviderRejected),
    ],
)
async def test_an_error_inside_a_stream_is_the_error_it_would_have_been(
    code: str | None, kind: type[ProviderError], *, as_event: bool
) -> None:
    content = failing({"code": code, "message": "It went wrong."}, as_event=as_event)
    with pytest.raises(kind, match=r"It went wrong\.") as caught:
        await collect(responses(Server(streamed(content)).client), asked())
    assert caught.value.retryable is (kind is ProviderBusy)


async def test_an_error_in_an_envelope_of_its_own_is_read_too() -> None:
    content = sse({"type": "error", "error": {"code": "rate_limit_exceeded", "message": "Slow down."}})
    with pytest.raises(ProviderBusy, match=r"Slow down\."):
        await collect(responses(Server(streamed(content)).client), asked())


async def test_what_follows_the_last_event_changes_nothing() -> None:
    content = stream(message("Hi.")) + b'data: {"type": "error", "message": "late"}\n\ndata: [DONE]\n\n'
    assert ours_text(await completed(responses(Server(streamed(content)).client), asked())) == "Hi."


def ours_text(end: Completed) -> str:
    return end.message.text


async def test_an_event_that_is_not_json_breaks_the_answer() -> None:
    with pytest.raises(StreamTruncated, match="not JSON"):
        await collect(responses(Server(streamed(b"data: {broken\n\n")).client), asked())


async def test_a_web_page_is_no_answer() -> None:
    with pytest.raises(ProviderRejected, match="text/html"):
        await collect(responses(Server(streamed(b"<html>", kind="text/html")).client), asked())


async def test_arguments_that_are_no_json_object_are_never_run() -> None:
    end = await answered(call("Read", arguments="[1]"))
    assert end.message.tool_uses == (ToolUse("call_1", "Read", None, "[1]", call("Read", arguments="[1]")),)


async def test_remarks_and_the_answer_after_them_do_not_run_into_each_other() -> None:
    items = [message("I look.", 1, phase="commentary"), call("Read", path="a"), message("Done.", 2)]
    *told, end = await collect(responses(Server(streamed(stream(*items))).client), asked())
    assert isinstance(end, Completed)
    assert "".join(event.text for event in told if isinstance(event, TextDelta)) == "I look.\n\nDone."
    assert end.message.text == "I look.\n\nDone."
    assert [part.opaque for part in end.message.parts] == items


async def test_arguments_that_a_gateway_sends_as_an_object_are_read_and_go_back_as_text() -> None:
    [use] = (await answered({**call("Read"), "arguments": {"path": "a"}}, listed=True)).message.tool_uses
    assert use.arguments == {"path": "a"}
    assert use.opaque["arguments"] == '{"path": "a"}'


@pytest.mark.parametrize("error", [{"code": "server_error", "message": "Down."}, "Down."])
async def test_a_last_event_that_tells_of_an_error_is_one(error: object) -> None:
    content = sse({"type": "response.completed", "response": response([message("Hi.")], "failed", error=error)})
    with pytest.raises(ProviderBusy, match=r"Down\."):
        await collect(responses(Server(streamed(content)).client), asked())


async def test_two_calls_with_one_id_become_two_calls() -> None:
    one, two = call("Read", 1, path="a"), call("Read", 2, path="b")
    first, second = (await answered(one, {**two, "call_id": one["call_id"]})).message.tool_uses
    assert first.id == one["call_id"]
    assert second.id not in ("", first.id)
    assert second.opaque["call_id"] == second.id
