"""Compaction when the person asks for it, and what the usage report says of each request."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from caddie.engine.compacting import compact
from caddie.errors import InvalidInput, SessionBusy
from caddie.providers.scripted import Wait
from caddie.rpc.convert_usage import usage
from engine_kit import BOUND, desk, mcp_tool
from fake_anthropic import FakeAnthropic, text, use

ALLOW = {"permissions": {"mode": "auto"}}
TOOLS = {"git": (mcp_tool("git", "git_log", "Show the commits"),)}


async def test_a_compacted_conversation_goes_on_from_its_notes_with_the_states_of_now(workspace: Path) -> None:
    api = FakeAnthropic([[text("A long answer.")], [text("Notes: asked, answered.")], [text("Next.")]])
    async with desk(workspace, provider=api.provider(), settings=ALLOW, tools=TOOLS) as one:
        session, _ = await one.turn("a long question")
        await one.engine.admin.set_state([("mcp__git__git_log", "enabled")], "session", session)
        made = await compact(one.engine, session)
        await one.turn("go on", session)
        report = usage(await one.engine.usage(session))
    assert made.notes == "Notes: asked, answered."
    assert made.tokens_before > made.tokens_after > 0
    [newest] = api.bodies[2]["messages"]
    assert "Notes: asked, answered." in json.dumps(newest)
    assert "A long answer." not in json.dumps(newest)
    tools = {tool["name"]: tool for tool in api.bodies[2]["tools"]}
    assert "defer_loading" not in tools["mcp__git__git_log"], "a new prefix begins with the states of now"
    assert [request.planned for request in report.requests] == [True, True]
    assert report.requests[1].cause is None or "compact" in report.requests[1].cause


async def test_a_compacted_conversation_is_resumed_from_disk_as_it_was_left(workspace: Path) -> None:
    async with desk(workspace, answers=(["One."], ["Notes."]), tools=TOOLS) as one:
        session, _ = await one.turn("first")
        await compact(one.engine, session)
    async with desk(workspace, answers=(["Two."],), tools=TOOLS) as one:
        await one.turn("second", session)
        [message] = one.provider.requests[0].messages
        opened = await one.engine.sessions.get(session)
    assert "Notes." in message.text
    assert len([record for record in opened.records if type(record).__name__ == "TurnStarted"]) == 2


async def test_there_is_a_word_for_each_reason_not_to_compact(workspace: Path) -> None:
    wait = Wait(asyncio.Event(), asyncio.Event())
    async with desk(workspace, answers=([wait, "."],)) as one:
        session = one.engine.sessions.create()
        with pytest.raises(InvalidInput, match="nothing to compact"):
            await compact(one.engine, session.id)
        turn = asyncio.create_task(one.turn("hello", session.id))
        async with asyncio.timeout(BOUND):
            await wait.reached.wait()
        with pytest.raises(SessionBusy):
            await compact(one.engine, session.id)
        wait.release.set()
        await turn


async def test_stopping_a_compaction_leaves_the_conversation_as_it_was(workspace: Path) -> None:
    wait = Wait(asyncio.Event(), asyncio.Event())
    async with desk(workspace, answers=(["One."], [wait, "Notes."], ["Two."])) as one:
        session, _ = await one.turn("first")
        work = asyncio.create_task(compact(one.engine, session))
        async with asyncio.timeout(BOUND):
            await wait.reached.wait()
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        await one.turn("second", session)
        assert len(one.provider.requests[-1].messages) == 3


async def test_the_report_counts_what_native_deferral_and_stubs_really_send(workspace: Path) -> None:
    search = [use("ToolSearch", query="select:git_log")]
    for deferral in ("native", "stub"):
        api = FakeAnthropic([search, [text("ok")]])
        settings = {**ALLOW, "provider": "anthropic", "tools": {"deferral": deferral}}
        async with desk(workspace, provider=api.provider(), settings=settings, tools=TOOLS) as one:
            session, _ = await one.turn("find it")
            report = usage(await one.engine.usage(session))
        sent = len(json.dumps(api.bodies[-1]["tools"], ensure_ascii=False, separators=(",", ":")).encode())
        assert abs(report.total.bytes_sent - sent) < 0.05 * sent, deferral
        row = next(row for row in report.rows if row.tool == "mcp__git__git_log")
        assert row.in_prompt == row.tokens if deferral == "native" else row.in_prompt != row.tokens
        assert len(report.requests) == 2
        assert report.requests[1].share > 0.9


async def test_the_miss_after_a_compaction_is_told_as_planned(workspace: Path) -> None:
    api = FakeAnthropic([[text("One.")], [text("Notes.")], [text("Two.")]])
    async with desk(workspace, provider=api.provider(), settings=ALLOW, tools=TOOLS) as one:
        session, _ = await one.turn("first " + "x" * 200_000)
        await compact(one.engine, session)
        await one.turn("second", session)
        report = usage(await one.engine.usage(session))
    assert (report.requests[1].cause, report.requests[1].planned) == ("the conversation was compacted", True)


async def test_the_miss_after_going_back_is_told_as_planned(workspace: Path) -> None:
    api = FakeAnthropic([[text("One.")], [text("Two.")], [text("Three.")], [text("Four.")]])
    async with desk(workspace, provider=api.provider(), settings=ALLOW, tools=TOOLS) as one:
        session, _ = await one.turn("first")
        await one.turn("second " + "x" * 200_000, session)
        stored = await one.engine.sessions.get(session)
        await one.engine.sessions.rewind(session, list(stored.marks)[1])
        await one.turn("otherwise", session)
        await one.turn("and on", session)
        report = usage(await one.engine.usage(session))
    assert (report.requests[2].cause, report.requests[2].planned) == (
        "the conversation went back to an earlier turn",
        True,
    )
    assert report.requests[3].planned
    assert report.requests[3].cause != report.requests[2].cause
