"""Refused requests: a bad tool, foreign reasoning, too long a conversation; and the prompt cache's account."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from caddie.chat.cache import cause_of_drop
from caddie.chat.messages import Message, Text, Thinking, ToolUse, Usage
from caddie.chat.session import Requested
from caddie.errors import ContextOverflow, ProviderBusy, ProviderRejected, ThinkingRejected, ToolRejected
from engine_kit import desk, mcp_tool
from fake_anthropic import THINK, FakeAnthropic, text, use

ALLOW = {"permissions": {"mode": "auto"}, "tools": {"enabled": ["mcp__a__*"]}}
GOOD, BAD = mcp_tool("a", "good"), mcp_tool("a", "bad")


def refusal(message: str) -> tuple[int, Any]:
    return (400, {"type": "error", "error": {"type": "invalid_request_error", "message": message}})


OVERFLOW = refusal("prompt is too long: 233153 tokens > 200000 maximum")


def refusal_of(index: int) -> tuple[int, Any]:
    return refusal(
        f"tools.{index}.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12"
    )


async def test_one_bad_tool_is_left_out_with_a_notice_and_the_turn_goes_on(workspace: Path) -> None:
    api = FakeAnthropic([])
    async with desk(workspace, provider=api.provider(), settings=ALLOW, tools={"a": (GOOD, BAD)}) as one:
        enabled = [name for name, d in one.engine.tools.states().items() if d.state == "enabled"]
        place = enabled.index("mcp__a__bad")
        api.script += [refusal_of(place), [text("fine")], [use("ExecuteTool", tool_name="mcp__a__bad", params={})],
                       [text("done")], [text("new")]]  # fmt: skip
        session, said = await one.turn("hello")
        await one.turn("call the bad one", session)
        await one.turn("in a new conversation")
        [notice] = one.notices
    assert said == "fine"
    names = [[tool["name"] for tool in body["tools"]] for body in api.bodies]
    assert "mcp__a__bad" in names[0]
    assert all("mcp__a__bad" not in later and "mcp__a__good" in later for later in names[1:])
    assert "mcp__a__bad" in notice.message
    assert "added: mcp__a__bad" in json.dumps(api.bodies[2]["messages"][-1]), "known by name, callable over the bridge"
    assert "bad ran" in json.dumps(api.bodies[3])


async def test_a_provider_that_finds_fault_with_everything_is_not_asked_for_ever(workspace: Path) -> None:
    tools = {"a": tuple(mcp_tool("a", f"t{number}") for number in range(30))}
    errors = [[ToolRejected("bad", tool=f"mcp__a__t{number}", status=400)] for number in range(30)]
    async with desk(workspace, answers=tuple(errors), settings=ALLOW, tools=tools) as one:
        with pytest.raises(ToolRejected):
            await one.turn("hello")
        assert len(one.provider.requests) == 11


async def test_reasoning_that_is_not_taken_back_is_left_out_once(workspace: Path) -> None:
    said = "messages.1.content.0: Invalid signature in thinking block. The block is bound to a different conversation."
    api = FakeAnthropic([[THINK, text("one")], refusal(said), [text("two")]])
    async with desk(workspace, provider=api.provider(), settings=ALLOW) as one:
        session, _ = await one.turn("first")
        _, answer = await one.turn("second", session)
    assert answer == "two"
    assert "thinking" in json.dumps(api.bodies[1]["messages"])
    assert '"thinking"' not in json.dumps(api.bodies[2]["messages"])


async def test_a_refusal_that_stays_is_told(workspace: Path) -> None:
    error = ThinkingRejected("Invalid signature", status=400)
    async with desk(workspace, answers=([error], [error])) as one:
        with pytest.raises(ThinkingRejected):
            await one.turn("hello")


async def test_too_long_a_conversation_is_summarized_and_the_turn_goes_on(workspace: Path) -> None:
    api = FakeAnthropic(
        [
            [use("Glob", pattern="*.py")],
            [text("No Python here.")],
            OVERFLOW,
            [text("The person wanted Python files listed; there are none. Next: greet.")],
            [text("Hello again.")],
            [text("And again.")],
        ]
    )
    tools = {"git": (mcp_tool("git", "git_log"),)}
    async with desk(workspace, provider=api.provider(), settings=ALLOW, tools=tools) as one:
        session, _ = await one.turn("list Python files")
        _, said = await one.turn("now say hello", session)
        await one.turn("and once more", session)
        transcript = one.engine.sessions.find(session)
    assert said == "Hello again."
    assert not api.refusals
    notes, resumed = api.bodies[3], api.bodies[4]
    assert "tools" not in notes
    assert "No Python here." in json.dumps(notes["messages"])
    [first] = resumed["messages"]
    whole = json.dumps(first)
    assert "there are none. Next: greet." in whole
    assert "now say hello" in whole, "the person's words are said again in full"
    assert "Tools used so far: Glob" in whole
    assert "mcp__git__git_log" in whole, "deferred tools are announced anew"
    assert api.prefixes()[4] == api.prefixes()[5]
    assert transcript is not None
    assert [type(record).__name__ for record in transcript.records].count("Compacted") == 1
    assert any(notice.code == "compacted" for notice in one.notices)


async def test_an_overflow_that_the_api_tells_in_the_answer_is_mended_too(workspace: Path) -> None:
    api = FakeAnthropic(["model_context_window_exceeded", [text("notes")], [text("fine")]])
    async with desk(workspace, provider=api.provider(), settings=ALLOW) as one:
        _, said = await one.turn("hello")
    assert said == "fine"


async def test_one_message_longer_than_the_model_reads_is_told_with_the_way_out(workspace: Path) -> None:
    api = FakeAnthropic([OVERFLOW, [text("notes")], OVERFLOW])
    async with desk(workspace, provider=api.provider(), settings=ALLOW) as one:
        with pytest.raises(ContextOverflow, match="begin a new one"):
            await one.turn("x" * 1000)


async def test_a_summary_is_tried_with_less_and_less_and_made_of_both_sides_words_at_last(workspace: Path) -> None:
    overflow = ContextOverflow("too long", status=400)
    answers = (["a word"], [overflow], [overflow], [overflow], [ProviderBusy("busy")], ["fine"])
    async with desk(workspace, answers=answers) as one:
        session, _ = await one.turn("remember the word")
        _, said = await one.turn("which word " + "x" * 400, session)
        requests = one.provider.requests
    assert said == "fine"
    lengths = [len(requests[number].messages[0].text) for number in (2, 3)]
    assert lengths[1] < lengths[0]
    assert "a word" in str(requests[-1].messages[0])


async def test_another_model_gets_the_history_without_the_first_ones_marks(workspace: Path) -> None:
    marked = Text("one", {"id": "msg_1"})
    used = ToolUse("c1", "Glob", {"pattern": "*"}, opaque={"thoughtSignature": "s"})
    thought = Thinking("hm", {"type": "thinking", "thinking": "hm", "signature": "s"})
    async with desk(workspace, answers=(["."], ["."])) as one:
        session, _ = await one.turn("first")
        conversation = one.engine.sessions.find(session)
        assert conversation is not None
        conversation.messages[-1] = Message("assistant", (thought, marked, used))
        conversation.settings = {"model": "another"}
        one.engine.configuration.set_session(session, {"model": "another"})
        await one.turn("second", session)
        assistant = one.provider.requests[1].messages[1]
        causes = [record.cause for record in conversation.requests]
    assert assistant.parts == (Text("one"), ToolUse("c1", "Glob", {"pattern": "*"}))
    assert causes == ["the first request of the conversation", ""], "so short a prompt is not cached anyway"


async def test_each_requests_share_of_cached_tokens_is_kept_with_its_cause(workspace: Path) -> None:
    api = FakeAnthropic([[text("one")], [text("two")], [text("three")], refusal("no")])
    async with desk(workspace, provider=api.provider(), settings=ALLOW) as one:
        session, _ = await one.turn("first " + "x" * 8000)
        await one.turn("second", session)
        await one.engine.admin.set_state([("mcp__a__good", "disabled")], "session", session)
        await one.turn("third", session)
        with pytest.raises(ProviderRejected):
            await one.turn("fourth", session)
        kept = one.engine.sessions.find(session)
        assert kept is not None
        requests = list(kept.requests)
    assert [bool(request.cause) for request in requests] == [True, False, False]
    assert all(isinstance(request, Requested) and request.planned for request in requests)
    assert requests[1].usage.cached > 0.9 * requests[0].usage.input


def test_a_drop_of_the_cache_has_a_cause_and_only_ours_are_planned() -> None:
    before = Usage(10_000, 9_000, 5)
    whole, missed = Usage(11_000, 10_000, 5), Usage(11_000, 0, 5)

    def cause(usage: Usage, **given: Any) -> tuple[str, bool]:
        facts: dict[str, Any] = {"idle": 3.0, "planned": "", "said": "", "has_cached": True}
        return cause_of_drop(usage, before, **{**facts, **given})

    assert cause(whole) == ("", True)
    assert cause(missed) == ("the provider gives no reason", False)
    assert cause(missed, said="the provider says: tools changed") == ("the provider says: tools changed", False)
    assert cause(missed, planned="the conversation was compacted") == ("the conversation was compacted", True)
    assert cause(missed, idle=900.0) == ("15 minutes had gone by since the last request", True)
    assert cause(missed, has_cached=False) == ("the provider reports no cached tokens", True)
