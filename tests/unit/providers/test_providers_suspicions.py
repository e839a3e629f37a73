from __future__ import annotations

import time
from pathlib import Path

import pytest
from provider_kit import HELLO, READ, Server, chunk, completed, openai_chat, request, sse, streamed

from caddie.chat.messages import Message, Text
from caddie.providers.suspicions import is_written_call
from engine_kit import desk


def answering(text: str, prompt_tokens: int = 0) -> Server:
    usage = {"choices": [], "usage": {"prompt_tokens": prompt_tokens, "completion_tokens": 3}}
    return Server(lambda: streamed(sse(chunk(content=text), chunk("stop"), usage, done=True)))


LONG = request(Message("user", (Text("one more word " * 4000),)), model="m")


async def test_a_prompt_that_the_server_cut_is_said_once() -> None:
    provider = openai_chat(answering("ok", 4096).client, default_model="")
    first, second = await completed(provider, LONG), await completed(provider, LONG)
    assert "read only 4,096 tokens of a prompt of at least 12," in first.note
    assert "num_ctx" in first.note
    assert second.note == ""


@pytest.mark.parametrize("tokens", [0, 40, 12_100, 60_000])
async def test_a_count_that_is_missing_without_cached_tokens_or_near_enough_is_no_cut(tokens: int) -> None:
    provider = openai_chat(answering("ok", tokens).client, default_model="")
    assert (await completed(provider, LONG)).note == ""


WRITTEN = [
    '<tool_call>\n{"name": "Read", "arguments": {"path": "a"}}\n</tool_call>',
    'I will read it.\n<tool_call>{"name": "Read"}',
    "<function=Read><parameter=path>a</parameter></function>",
    '[TOOL_CALLS][{"name": "Read", "arguments": {}}]',
    '<|python_tag|>{"name": "Read", "parameters": {}}',
    '{"name": "Read", "arguments": {"path": "a"}}',
    '```json\n{"name": "Read", "parameters": {"path": "a"}}\n```',
]


@pytest.mark.parametrize("text", WRITTEN)
async def test_a_tool_call_written_as_text_is_left_as_text_and_explained_once(text: str) -> None:
    provider = openai_chat(answering(text).client, default_model="")
    first, second = await completed(provider, request(model="m")), await completed(provider, request(model="m"))
    assert (first.message.text, first.message.tool_uses) == (text, ())
    assert "tool call as plain text" in first.note
    assert second.note == ""


@pytest.mark.parametrize(
    "text",
    [
        "A model writes `<tool_call>` when it wants a tool.",
        '{"name": "Ada", "age": 36}',
        '{"name": "Read"}',
        '{"name": "Unknown", "arguments": {}}',
        "{not json}",
        "",
    ],
)
async def test_prose_and_other_json_are_no_tool_calls(text: str) -> None:
    provider = openai_chat(answering(text or " ").client, default_model="")
    assert (await completed(provider, request(model="m"))).note == ""


async def test_without_tools_nothing_is_suspected() -> None:
    provider = openai_chat(answering(WRITTEN[0]).client, default_model="")
    assert (await completed(provider, request(HELLO, tools=(), model="m"))).note == ""
    assert READ.name in WRITTEN[0]


async def test_a_vendor_is_not_suspected() -> None:
    assert (await completed(openai_chat(answering("ok", 4096).client), LONG)).note == ""


async def test_the_person_reads_it_as_a_notice_of_the_turn(workspace: Path) -> None:
    provider = openai_chat(answering(WRITTEN[0]).client, default_model="")
    async with desk(workspace, provider=provider, settings={"model": "m"}) as one:
        await one.turn("read a")
        await one.turn("read a again")
    [notice] = [notice for notice in one.notices if notice.code == "provider_note"]
    assert (notice.level, "tool call as plain text" in notice.message) == ("warning", True)


def test_an_answer_of_nothing_but_line_ends_is_looked_through_at_once() -> None:
    started = time.process_time()
    assert not is_written_call("\n" * 20_000 + "x", ["Read"])
    assert time.process_time() - started < 1
