"""Stored conversations: nothing is lost, damage is said."""

from __future__ import annotations

import asyncio
import os
import resource
import threading
from pathlib import Path

import pytest

from caddie.chat.messages import ToolAnswer
from caddie.chat.session import Titled
from caddie.errors import CaddieError, InvalidInput, SessionBusy, SessionNotFound
from caddie.providers.scripted import Wait, use
from caddie.storage.results import ResultStore
from caddie.storage.sessions import SessionStore
from caddie.tools.grants import Grant
from engine_kit import BOUND, Desk, desk, places


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


async def test_a_window_that_only_looks_at_a_running_turn_of_another_changes_nothing(workspace: Path) -> None:
    (workspace / "a.txt").write_text("alpha")
    wait = Wait(asyncio.Event(), asyncio.Event())
    async with desk(workspace, answers=([use("Read", "c1", path="a.txt")], [wait, "Done."])) as one:
        turn = asyncio.create_task(one.turn("read"))
        async with asyncio.timeout(BOUND):
            await wait.reached.wait()
        async with desk(workspace, answers=(["Here."], ["Later."])) as two:
            [listed] = await two.engine.sessions.summaries()
            running = await two.engine.sessions.get(listed.id)
            assert running.is_cut, "as far as its file tells"
            assert not two.engine.sessions.is_cut(running), "it runs in the other window"
            for forbidden in (two.turn("me too", listed.id), two.engine.sessions.delete(listed.id)):
                with pytest.raises(SessionBusy):
                    await forbidden
            wait.release.set()
            session, _ = await turn
            await two.turn("and now?", session)
            seen = two.provider.requests[0].messages
        await one.engine.sessions.get(session)
        assert [message.text for message in one.engine.sessions.find(session).messages][-1] == "Here."  # type: ignore[union-attr]
    assert [message.text for message in seen if message.role == "assistant"][-1] == "Done."
    async with desk(workspace) as three:
        opened = await three.engine.sessions.get(session)
    answers = [part for message in opened.messages for part in message.parts if isinstance(part, ToolAnswer)]
    assert [(answer.tool_use_id, answer.is_error) for answer in answers] == [("c1", False)]


async def test_a_turn_begun_while_its_session_is_deleted_brings_nothing_back(workspace: Path) -> None:
    async with desk(workspace, answers=(["."], ["."])) as one:
        session, _ = await one.turn("hi")
        deleted, turn = await asyncio.gather(
            one.engine.sessions.delete(session), one.turn("go on", session), return_exceptions=True
        )
        await one.engine.sessions.flush()
        assert deleted is None
        assert isinstance(turn, SessionBusy | SessionNotFound)
        assert list(stored_file(one, session).parent.iterdir()) == []


async def test_what_a_full_disk_refused_is_said_and_written_with_the_next_message(workspace: Path) -> None:
    async with desk(workspace, answers=(["One."], ["Two."])) as one:
        session, _ = await one.turn("hi")
        size = stored_file(one, session).stat().st_size
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 50, hard))
        try:
            with pytest.raises(CaddieError, match="could not be saved"):
                await one.engine.sessions.rename(session, "A title that is longer than the place that is left " * 2)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        await one.turn("go on", session)
    async with desk(workspace) as two:
        opened = await two.engine.sessions.get(session)
        assert opened.title.startswith("A title")
        assert two.engine.sessions.notices(session) == []
        assert [message.text for message in opened.messages if message.role == "assistant"] == ["One.", "Two."]


async def test_what_is_still_to_be_written_is_written_though_nobody_waits_for_it_any_more(workspace: Path) -> None:
    async with desk(workspace, answers=(["."],)) as one:
        session, _ = await one.turn("hi")
        gate = threading.Event()
        one.engine.sessions._store._writer.submit(gate.wait, BOUND)  # a slow disk
        one.engine.sessions.recorder(session)(Titled("Golf"))
        stored = asyncio.create_task(one.engine.sessions.flush())
        await asyncio.wait({stored}, timeout=0.05)  # it waits now
        stored.cancel()
        await asyncio.wait({stored})
        gate.set()
    async with desk(workspace) as two:
        assert (await two.engine.sessions.get(session)).title == "Golf"


@pytest.mark.parametrize("name", [os.fsdecode(b"caf\xe9"), "图" * 85, "a" * 255])
async def test_a_folder_of_any_name_has_its_conversations(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    async with desk(folder, answers=(["One."], ["Two."])) as one:
        session, _ = await one.turn("hi")
        one.engine.grants.add(session, Grant("x", "Bash", "", "always", "h", "ls", ""))
    async with desk(folder, answers=(["Two."],)) as two:
        assert (await two.turn("go on", session))[1] == "Two."
        assert [held.id for held in two.engine.grants.held(session)] == ["x"]
        assert two.engine.sessions.notices(session) == []


async def test_a_conversation_whose_file_was_deleted_goes_on_whole_where_it_is_open(workspace: Path) -> None:
    async with desk(workspace, answers=(["One."], ["Two."], ["Three."])) as one:
        session, _ = await one.turn("hi")
        stored_file(one, session).unlink()
        for words in ("go on", "and on"):
            await one.turn(words, session)
        said = [message.text for message in one.provider.requests[-1].messages if message.role == "assistant"]
    assert said == ["One.", "Two."]


def test_a_folder_that_cannot_be_made_is_told_before_the_turn_begins(workspace: Path) -> None:
    (workspace.parent / "data").write_text("in the way")
    store = SessionStore(places(workspace.parent, workspace))
    with pytest.raises(CaddieError, match=r"cannot be saved \(Not a directory\)"), store.claimed("20260101-ab"):
        pass
