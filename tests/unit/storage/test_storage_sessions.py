"""Stored conversations: nothing is lost, damage is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from caddie.errors import InvalidInput, SessionNotFound
from caddie.providers.scripted import use
from caddie.storage.results import ResultStore
from engine_kit import Desk, desk


def stored_file(one: Desk, session_id: str) -> Path:
    return one.engine.configuration.places.sessions / f"{session_id}.jsonl"


async def test_a_resumed_session_sends_the_same_history_and_prefix(workspace: Path) -> None:
    (workspace / "a.txt").write_text("alpha")
    async with desk(workspace, answers=([use("Read", path="a.txt")], ["It says alpha."])) as one:
        session, _ = await one.turn("read a.txt")
        sent = one.provider.requests[-1]
    async with desk(workspace, answers=(["Bye."],)) as two:
        await two.turn("thanks", session)
        again = two.provider.requests[0]
    assert again.messages[: len(sent.messages)] == sent.messages
    assert (again.system, again.tools) == (sent.system, sent.tools)


async def test_sessions_are_listed_newest_first_with_title_and_turns(workspace: Path) -> None:
    async with desk(workspace, answers=(["."], ["."], ["."])) as one:
        first, _ = await one.turn("What is a caddie?\nTell me")
        second, _ = await one.turn("Second question")
        await one.turn("And more", second)
        await one.engine.sessions.rename(first, "Golf")
        listed = await one.engine.sessions.summaries()
    assert {item.id: (item.title, item.turns) for item in listed} == {
        first: ("Golf", 1),
        second: ("Second question", 2),
    }


async def test_a_deleted_session_is_gone(workspace: Path) -> None:
    async with desk(workspace, answers=(["."],)) as one:
        session, _ = await one.turn("hi")
        await one.engine.sessions.delete(session)
        assert await one.engine.sessions.summaries() == []
        with pytest.raises(SessionNotFound):
            await one.engine.sessions.get(session)


async def test_a_damaged_file_opens_with_a_notice_and_keeps_what_is_readable(workspace: Path) -> None:
    async with desk(workspace, answers=(["One."], ["Two."])) as one:
        session, _ = await one.turn("first")
        await one.turn("second", session)
        path = stored_file(one, session)
    lines = path.read_bytes().split(b"\n")
    lines.insert(3, b'{"type":"message","turn_id":"x","mess')
    lines.insert(5, b"\xff\xfe\x00 not json")
    lines.insert(6, b"null")
    path.write_bytes(b"\n".join(lines))
    async with desk(workspace, answers=(["Three."],)) as two:
        opened = await two.engine.sessions.get(session)
        notices = two.engine.sessions.notices(session)
        await two.turn("third", session)
    assert [message.text for message in opened.messages if message.role == "assistant"] == ["One.", "Two.", "Three."]
    assert "3 damaged lines" in notices[0]
    assert b"not json" in path.read_bytes(), "the file itself is never cut"


async def test_a_process_that_died_in_a_line_and_in_a_call_leaves_a_session_that_goes_on(workspace: Path) -> None:
    (workspace / "a.txt").write_text("alpha")
    async with desk(workspace, answers=([use("Read", "c1", path="a.txt")], ["Done."])) as one:
        session, _ = await one.turn("read")
        path = stored_file(one, session)
    lines = path.read_text().splitlines(keepends=True)
    died = next(n for n, line in enumerate(lines) if '"toolUse"' in line)
    path.write_text("".join(lines[: died + 1]) + '{"type":"call","turn_')
    async with desk(workspace, answers=(["Here."],)) as two:
        _, text = await two.turn("still there?", session)
        messages = two.provider.requests[0].messages
    assert text == "Here."
    assert messages[-3].parts[0].tool_use_id == "c1"
    assert messages[-3].parts[0].is_error


@pytest.mark.parametrize("name", ["../../etc/passwd", "", "a b", "x" * 200])
async def test_an_id_that_is_no_id_never_becomes_a_path(workspace: Path, name: str) -> None:
    async with desk(workspace) as one:
        with pytest.raises(InvalidInput):
            await one.engine.sessions.get(name)


async def test_stored_conversations_are_readable_by_their_person_only(workspace: Path) -> None:
    async with desk(workspace, answers=(["."],)) as one:
        session, _ = await one.turn("hi")
        path = stored_file(one, session)
    assert path.stat().st_mode & 0o077 == 0


async def test_what_another_window_removes_meanwhile_spoils_no_list_and_no_count(workspace: Path) -> None:
    async with desk(workspace, answers=(["."],)) as one:
        session, _ = await one.turn("hi")
        stored_file(one, "20260101-000000-removed").symlink_to("nowhere")
        assert [item.id for item in await one.engine.sessions.summaries()] == [session]
        await one.engine.usage()
        results = ResultStore(one.engine.configuration.places)
        results.spill("long").with_name("gone.txt").symlink_to("nowhere")
        results.remove_old()
