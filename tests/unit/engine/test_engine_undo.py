"""Undo takes back what the agent did to files and nothing else; it can itself be undone."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from caddie.chat.events import Done
from caddie.engine import snapshot
from caddie.engine.review import Choice
from caddie.errors import ClientCannotAsk, NothingToUndo, SessionBusy
from caddie.providers.scripted import use
from caddie.tools.builtin import BUILTIN
from caddie.tools.changes import may_change_files_untold
from caddie.tools.context import ToolContext
from caddie.tools.tool import ToolResult, text_result
from engine_kit import BOUND, Desk, desk, mcp_tool

FREE = {"permissions": {"mode": "auto"}, "sandbox": {"mode": "off"}}


@contextlib.asynccontextmanager
async def working(workspace: Path, *answers: Any, **options: Any) -> AsyncIterator[Desk]:
    """A desk whose model makes these calls, one request each, and where all is allowed."""
    options.setdefault("settings", FREE)
    async with desk(workspace, answers=(*([answer] for answer in answers), ["Done."]), **options) as one:
        yield one


def bash(command: str) -> Any:
    return use("Bash", command=command)


def outcomes(report: Any) -> dict[str, str]:
    return {file.path: file.outcome for file in report.files}


def tree_of(workspace: Path) -> dict[str, bytes | str]:
    """Every file and link with its content or target."""
    found: dict[str, bytes | str] = {}
    for path in sorted(workspace.rglob("*")):
        if path.is_symlink():
            found[str(path.relative_to(workspace))] = os.readlink(path)
        elif path.is_file():
            found[str(path.relative_to(workspace))] = path.read_bytes()
    return found


class Editor:
    """Open buffers in memory, with their undo steps."""

    def __init__(self) -> None:
        self.buffers: dict[Path, str] = {}
        self.steps: list[Path] = []
        self.refuses = False

    def read_open_file(self, path: Path) -> str | None:
        return self.buffers.get(path)

    async def problems(self, path: Path, settle: float) -> None:
        return None

    async def replace_open_file(self, path: Path, text: str) -> bool:
        if self.refuses:
            raise ClientCannotAsk("the editor did not apply the change: it is read-only.")
        self.buffers[path] = text
        self.steps.append(path)
        return True


async def test_edit_and_write_are_taken_back_and_the_undo_too(workspace: Path) -> None:
    (workspace / "a.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    (workspace / "a.txt").chmod(0o640)
    before = tree_of(workspace)
    calls = (
        use("Read", path="a.txt"),
        use("Edit", path="a.txt", old_string="two", new_string="2"),
        use("Write", path="sub/b.txt", content="new\n"),
        use("Edit", path="a.txt", old_string="one", new_string="1"),
    )
    async with working(workspace, *calls) as one:
        session, _ = await one.turn("go")
        after = tree_of(workspace)
        report = await one.engine.undo(session)
        assert tree_of(workspace) == before
        assert stat.S_IMODE((workspace / "a.txt").stat().st_mode) == 0o640
        assert outcomes(report) == {"a.txt": "restored", "sub/b.txt": "restored"}
        again = await one.engine.undo(session, report.undo_id)
        assert tree_of(workspace) == after
        assert outcomes(again) == {"a.txt": "restored", "sub/b.txt": "restored"}
        await one.engine.undo(session)
        assert tree_of(workspace) == before


async def test_folders_made_for_a_file_go_with_it_unless_something_else_is_in_them(workspace: Path) -> None:
    (workspace / "empty").mkdir()
    calls = (
        use("Write", path="a/b/c.txt", content="x"),
        use("Write", path="d/e/f.txt", content="x"),
        use("Write", path="empty/g.txt", content="x"),
    )
    async with working(workspace, *calls) as one:
        session, _ = await one.turn("go")
        (workspace / "d/mine.txt").write_text("mine")
        report = await one.engine.undo(session)
        assert sorted(str(path.relative_to(workspace)) for path in workspace.rglob("*")) == ["d", "d/mine.txt", "empty"]
        await one.engine.undo(session, report.undo_id)
    assert (workspace / "a/b/c.txt").read_text() == "x"


async def test_the_persons_edits_before_between_and_after_those_of_the_agent_stay(workspace: Path) -> None:
    file = workspace / "a.txt"
    file.write_text("".join(f"line {number}\n" for number in range(1, 21)))

    def by_person(old: str, new: str) -> None:
        file.write_text(file.read_text().replace(old, new))

    by_person("line 1\n", "line 1, mine\n")
    calls = (
        use("Read", path="a.txt"),
        use("Edit", path="a.txt", old_string="line 5\n", new_string="five\n"),
        use("AskUserQuestion", questions=[{"question": "Ready?"}]),
        use("Read", path="a.txt"),
        use("Edit", path="a.txt", old_string="line 15\n", new_string="fifteen\n"),
    )
    async with working(workspace, *calls) as one:

        async def ask(request: Any) -> None:
            by_person("line 10\n", "line 10, mine\n")

        one.person.ask_question = ask  # type: ignore[assignment]
        session, _ = await one.turn("go")
        by_person("line 20\n", "line 20, mine\n")
        assert "five" in file.read_text()
        report = await one.engine.undo(session)
    mine = {1, 10, 20}
    assert file.read_text() == "".join(f"line {n}{', mine' if n in mine else ''}\n" for n in range(1, 21))
    assert outcomes(report) == {"a.txt": "merged"}


async def test_what_a_command_did_is_taken_back_creations_deletions_modes_and_links_too(workspace: Path) -> None:
    (workspace / "sub").mkdir()
    for name in ("changed.txt", "deleted.txt", "moved.txt", "run.sh", "sub/deep.txt"):
        (workspace / name).write_text(f"{name}\n")
    (workspace / "link").symlink_to("changed.txt")
    (workspace / "binary").write_bytes(bytes(range(256)))
    before = tree_of(workspace)
    command = (
        "sed -i s/changed/CHANGED/ changed.txt; rm deleted.txt; mv moved.txt sub/moved.txt; chmod +x run.sh; "
        "ln -sfn run.sh link; ln -s /nowhere other; printf x >>binary; mkdir new; echo new >new/file; "
        "echo x >sub/deep.txt; cp -p run.sh sub/same-time"
    )
    async with working(workspace, bash(command)) as one:
        session, _ = await one.turn("go")
        after = tree_of(workspace)
        assert len(after) == 9
        report = await one.engine.undo(session)
        assert tree_of(workspace) == before
        assert not os.access(workspace / "run.sh", os.X_OK)
        assert set(outcomes(report).values()) == {"restored"}
        await one.engine.undo(session, report.undo_id)
        assert tree_of(workspace) == after
        assert os.access(workspace / "run.sh", os.X_OK)


async def test_a_change_that_hides_behind_the_same_size_and_time_is_seen(workspace: Path) -> None:
    (workspace / "a.txt").write_text("one")
    async with working(workspace, bash("touch -r a.txt ref; printf two >a.txt; touch -r ref a.txt; rm ref")) as one:
        session, _ = await one.turn("go")
        await one.engine.undo(session)
    assert (workspace / "a.txt").read_text() == "one"


async def test_it_works_without_git_and_ignores_what_is_ignored_with_or_without_it(workspace: Path) -> None:
    (workspace / ".gitignore").write_text("build/\n*.log\n")
    (workspace / "build").mkdir()
    command = "echo 1 >build/out; echo 1 >x.log; echo 1 >kept.txt; git init -q . 2>/dev/null; true"
    async with working(workspace, bash(command)) as one:
        session, _ = await one.turn("go")
        report = await one.engine.undo(session)
    assert outcomes(report) == {"kept.txt": "restored"}
    assert (workspace / "build/out").exists()
    assert (workspace / "x.log").exists()


async def test_only_the_turn_is_taken_back_and_the_ones_after_it_stay(workspace: Path) -> None:
    file = workspace / "a.txt"
    file.write_text("one\ntwo\nthree\n")
    async with working(workspace, bash("sed -i s/one/1/ a.txt"), "First.", bash("sed -i s/three/3/ a.txt")) as one:
        session = one.engine.sessions.create().id
        _, first, _ = await one.engine.turns.run(session, "go", lambda *_: None)
        await one.turn("go on", session)
        assert file.read_text() == "1\ntwo\n3\n"
        report = await one.engine.undo(session, first)
        assert outcomes(report) == {"a.txt": "merged"}
        assert file.read_text() == "one\ntwo\n3\n"
        await one.engine.undo(session)
        assert file.read_text() == "one\ntwo\nthree\n"
        with pytest.raises(NothingToUndo, match="no turn of this session"):
            await one.engine.undo(session)


async def test_a_clash_is_said_with_its_lines_and_nothing_is_overwritten(workspace: Path) -> None:
    for name in ("a.txt", "b.txt"):
        (workspace / name).write_text("one\ntwo\nthree\n")
    async with working(workspace, bash("sed -i s/two/2/ a.txt b.txt; echo x >new.txt; rm -f gone.txt")) as one:
        session, _ = await one.turn("go")
        (workspace / "a.txt").write_text("one\ntwo and a half\nthree\n")
        (workspace / "new.txt").write_text("mine\n")
        report = await one.engine.undo(session)
        assert outcomes(report) == {"a.txt": "conflict", "b.txt": "restored", "new.txt": "conflict"}
        assert (workspace / "a.txt").read_text() == "one\ntwo and a half\nthree\n"
        assert (workspace / "new.txt").read_text() == "mine\n"
        assert "a.txt was changed since in the same place (line 2)" in report.words
        assert "new.txt was created by it and changed since" in report.words
        (workspace / "a.txt").write_text("one\n2\nthree\n")
        assert outcomes(await one.engine.undo(session, report.turn_id))["a.txt"] == "restored"


async def test_a_file_open_in_the_editor_is_changed_there_in_one_step_and_not_on_disk(workspace: Path) -> None:
    file = workspace / "a.txt"
    file.write_text("one\ntwo\nthree\n")
    editor = Editor()
    calls = (
        use("Read", path="a.txt"),
        use("Edit", path="a.txt", old_string="two", new_string="2"),
        use("Edit", path="a.txt", old_string="2", new_string="zwei"),
    )
    async with working(workspace, *calls, editor=editor) as one:
        editor.buffers[file] = "one\ntwo\nthree, unsaved\n"
        session, _ = await one.turn("go")
        editor.buffers[file] = "zero\n" + editor.buffers[file]
        editor.steps.clear()
        report = await one.engine.undo(session)
        assert editor.buffers[file] == "zero\none\ntwo\nthree, unsaved\n"
        assert editor.steps == [file]
        assert file.read_text() == "one\ntwo\nthree\n"
        assert (report.files[0].outcome, report.files[0].detail) == ("merged", "in the editor, not saved yet")
        editor.refuses = True
        refused = await one.engine.undo(session, report.undo_id)
        assert outcomes(refused) == {"a.txt": "conflict"}
        assert "read-only" in refused.words
        assert refused.undo_id == ""


async def test_an_undo_that_the_editor_refused_stands_in_the_way_of_no_other(workspace: Path) -> None:
    path = workspace / "a.txt"
    path.write_text("one\n")
    editor = Editor()
    edit = use("Edit", path="a.txt", old_string="one", new_string="1")
    async with working(workspace, use("Read", path="a.txt"), edit, editor=editor) as one:
        session, _ = await one.turn("go")
        editor.buffers[path], editor.refuses = "1\n", True
        refused = await one.engine.undo(session)
        assert (outcomes(refused), refused.undo_id) == ({"a.txt": "conflict"}, "")
        assert [file.path for file in await one.engine.review.changes(session)] == ["a.txt"]
        taken = await one.engine.review.take_back(session, [Choice("a.txt")])
        assert outcomes(taken) == {"a.txt": "conflict"}
        assert [file.path for file in await one.engine.review.changes(session)] == ["a.txt"]

        editor.refuses = False
        assert outcomes(await one.engine.undo(session)) == {"a.txt": "restored"}
        assert editor.buffers[path] == "one\n"


async def test_a_file_that_was_saved_and_closed_since_is_taken_back_on_disk(workspace: Path) -> None:
    file = workspace / "a.txt"
    file.write_bytes("grün\r\nzwei\r\n".encode("latin-1"))
    editor = Editor()
    calls = (use("Read", path="a.txt"), use("Edit", path="a.txt", old_string="zwei", new_string="2"))
    async with working(workspace, *calls, editor=editor) as one:
        editor.buffers[file] = "grün\nzwei\n"
        session, _ = await one.turn("go")
        file.write_bytes(editor.buffers.pop(file).replace("\n", "\r\n").encode("latin-1"))
        await one.engine.undo(session)
    assert file.read_bytes() == "grün\r\nzwei\r\n".encode("latin-1")


async def test_what_a_command_changed_under_an_open_buffer_is_taken_back_on_disk(workspace: Path) -> None:
    file = workspace / "a.txt"
    file.write_text("one\n")
    editor = Editor()
    async with working(workspace, bash("echo two >>a.txt; echo new >b.txt"), editor=editor) as one:
        editor.buffers[file] = "one\n"  # this editor does not follow the disk
        session, _ = await one.turn("go")
        editor.buffers[workspace / "b.txt"] = "new\n"
        report = await one.engine.undo(session)
    assert file.read_text() == "one\n"
    assert not (workspace / "b.txt").exists()
    assert outcomes(report) == {"a.txt": "restored", "b.txt": "restored"}


async def test_what_the_person_saves_while_a_command_runs_is_not_the_commands(workspace: Path) -> None:
    file = workspace / "a.txt"
    file.write_text("one\n")
    async with working(
        workspace, bash("echo agent >b.txt; touch started; until [ -e go ]; do sleep 0.01; done")
    ) as one:
        session = one.engine.sessions.create().id
        turn = asyncio.create_task(one.turn("go", session))
        async with asyncio.timeout(BOUND):
            while not (workspace / "started").exists():  # noqa: ASYNC110 - the command sets no event
                await asyncio.sleep(0.01)
        file.write_text("one\nmine\n")
        await one.engine.changes.changed_by_others(file)
        with pytest.raises(SessionBusy):
            await one.engine.undo(session)
        (workspace / "go").touch()
        await turn
        report = await one.engine.undo(session)
    assert file.read_text() == "one\nmine\n"
    assert "a.txt" not in outcomes(report)
    assert not (workspace / "b.txt").exists()


async def test_a_cancelled_turn_can_be_undone(workspace: Path) -> None:
    (workspace / "a.txt").write_text("one\n")
    async with working(workspace, bash("echo two >a.txt; touch started; sleep 300")) as one:
        session = one.engine.sessions.create().id
        turn = asyncio.create_task(one.turn("go", session))
        async with asyncio.timeout(BOUND):
            while not (workspace / "started").exists():  # noqa: ASYNC110 - the command sets no event
                await asyncio.sleep(0.01)
            turn.cancel()
            await asyncio.wait({turn})
        await one.engine.undo(session)
    assert (workspace / "a.txt").read_text() == "one\n"


async def test_a_cancelled_turn_is_told_nothing_after_its_end_and_the_undo_says_it(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "MAX_FILE_BYTES", 100)
    async with working(workspace, bash("echo one >a.txt; seq 100 >big.txt; touch started; sleep 300")) as one:
        session = one.engine.sessions.create().id
        turn = asyncio.create_task(one.turn("go", session))
        async with asyncio.timeout(BOUND):
            while not (workspace / "started").exists():  # noqa: ASYNC110 - the command sets no event
                await asyncio.sleep(0.01)
            turn.cancel()
            await asyncio.wait({turn})
        report = await one.engine.undo(session)
        assert [item for item in one.notices if item.code == "not_covered"] == []
    assert "big.txt (292 bytes" in report.words


async def test_what_an_agent_of_the_model_does_is_taken_back_with_the_turn(workspace: Path) -> None:
    (workspace / "a.txt").write_text("one\n")
    task = use("Agent", description="do it", prompt="Do it.")
    write = use("Write", path="b.txt", content="x")
    async with working(workspace, task, bash("echo two >a.txt"), write, "I did it.") as one:
        session, _ = await one.turn("go")
        assert (workspace / "b.txt").exists()
        report = await one.engine.undo(session)
    assert outcomes(report) == {"a.txt": "restored", "b.txt": "restored"}


async def test_the_model_is_told_once_and_reads_again_before_it_edits(workspace: Path) -> None:
    (workspace / "a.txt").write_text("one\n")
    edit = use("Edit", path="a.txt", old_string="one", new_string="1")
    async with working(workspace, use("Read", path="a.txt"), edit, "Done.", edit, "Hm.", "Bye.") as one:
        session, _ = await one.turn("go")
        await one.engine.undo(session)
        await one.turn("once more", session)
        told = str(one.provider.requests[-1].messages)
        await one.turn("and now", session)
        told_later = str(one.provider.requests[-1].messages)
    assert "<undone>\\nThe person took back earlier changes of yours to files: 'a.txt'" in told
    assert told_later.count("<undone>") == 1
    assert "has changed since it was read" in told or "has changed since you read it" in told


async def test_undo_outlives_the_process(workspace: Path) -> None:
    (workspace / "a.txt").write_text("one\n")
    async with working(workspace, bash("echo two >a.txt")) as one:
        session, _ = await one.turn("go")
    async with working(workspace) as two:
        report = await two.engine.undo(session)
    assert (workspace / "a.txt").read_text() == "one\n"
    async with working(workspace) as three:
        await three.engine.undo(session, report.undo_id)
    assert (workspace / "a.txt").read_text() == "two\n"


async def test_what_is_too_big_to_keep_is_said_in_the_turn_and_again_at_undo(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "MAX_FILE_BYTES", 100)
    (workspace / "big.bin").write_bytes(b"x" * 200)
    (workspace / "quiet.bin").write_bytes(b"x" * 200)
    (workspace / "a.txt").write_text("one\n")
    async with working(workspace, bash("echo y >>big.bin; echo two >a.txt; seq 100 >new.txt")) as one:
        session, _ = await one.turn("go")
        [notice] = [item for item in one.notices if item.code == "not_covered"]
        report = await one.engine.undo(session)
    for said in (notice.message, report.words):
        assert "big.bin (200 bytes are more than the 100 that are kept of a file)" in said
        assert "new.txt (292 bytes" in said
        assert "quiet.bin" not in said
    assert outcomes(report) == {"a.txt": "restored"}


async def test_a_workspace_of_too_many_files_is_said_once_a_turn_and_edits_are_covered_all_the_same(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "MAX_FILES", 3)
    for number in range(5):
        (workspace / f"{number}.txt").write_text("one\n")
    write = use("Write", path="new.txt", content="x")
    async with working(workspace, bash("echo two >1.txt"), bash("echo two >2.txt"), write) as one:
        session, _ = await one.turn("go")
        report = await one.engine.undo(session)
    [notice] = [item for item in one.notices if item.code == "not_covered"]
    assert notice.message == (
        "Undo does not cover what commands and MCP tools change in this workspace: it has more than 3 files."
    )
    assert outcomes(report) == {"new.txt": "restored"}
    assert "it has more than 3 files" in report.words


async def test_a_tool_that_lies_about_only_reading_is_found_out(workspace: Path) -> None:
    async def write_it(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        (workspace / "a.txt").write_text("two\n")
        return text_result("read")

    (workspace / "a.txt").write_text("one\n")
    (workspace / "b.txt").write_text("b\n")
    liar = mcp_tool("acme", "look", run=write_it, read_only=True)
    async with working(workspace, use("mcp__acme__look"), tools={"acme": (liar,)}) as one:
        await one.turn("go")
    [notice] = [item for item in one.notices if item.code == "not_covered"]
    assert "a.txt" in notice.message
    assert "b.txt" not in notice.message


async def test_a_full_disk_before_one_command_makes_the_persons_edits_no_part_of_the_next(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "MAX_FILES", 5)
    other = tmp_path / "other"
    other.mkdir()
    for number in range(10):
        (other / f"{number}").write_text("too many")
    (workspace / "b.txt").write_text("b\n")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    answers = ([bash("true")], ["Done."], [bash("echo c >c.txt")], ["Done."])
    async with desk(workspace, answers=answers, settings=FREE) as one:
        one.engine.set_folders([workspace, other])
        with monkeypatch.context() as disk:
            disk.setattr(one.engine.changes.store, "append", full)
            session, _ = await one.turn("go")
            assert one.calls[-1].status == "done"
        (workspace / "b.txt").write_text("mine\n")
        await one.turn("go on", session)
        assert list(outcomes(await one.engine.undo(session))) == ["c.txt"]


async def test_a_folder_that_became_a_link_leads_nowhere(workspace: Path, tmp_path: Path) -> None:
    (workspace / "sub").mkdir()
    (workspace / "sub/a.txt").write_text("one\n")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("two\n")
    async with working(workspace, bash("echo two >sub/a.txt")) as one:
        session, _ = await one.turn("go")
        (workspace / "sub").rename(tmp_path / "away")
        (workspace / "sub").symlink_to(outside)
        report = await one.engine.undo(session)
    assert outcomes(report) == {"sub/a.txt": "conflict"}
    assert (outside / "a.txt").read_text() == "two\n"


async def test_contents_that_made_room_for_newer_ones_are_said_to_be_gone(workspace: Path) -> None:
    (workspace / "a.txt").write_text("one\n")
    async with working(workspace, bash("echo two >a.txt")) as one:
        session, _ = await one.turn("go")
        one.engine.changes.store.trim(0)
        report = await one.engine.undo(session)
    assert outcomes(report) == {"a.txt": "conflict"}
    assert "its old content is not kept any more" in report.words
    assert (workspace / "a.txt").read_text() == "two\n"


async def test_switched_off_nothing_is_kept_and_undo_says_so(workspace: Path) -> None:
    settings = {**FREE, "checkpoints": {"enabled": False}}
    async with working(workspace, bash("echo two >a.txt"), settings=settings) as one:
        session, _ = await one.turn("go")
        with pytest.raises(NothingToUndo, match=r"checkpoints\.enabled"):
            await one.engine.undo(session)
        data = one.engine.configuration.places.data
    assert not (data / "checkpoints").exists()


async def test_two_sessions_side_by_side_keep_their_changes_apart(workspace: Path) -> None:
    reached, go = asyncio.Event(), asyncio.Event()

    async def slow(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        reached.set()
        await go.wait()
        (workspace / "theirs.txt").write_text("x")
        return text_result("")

    slow_tool = mcp_tool("acme", "slow", run=slow)
    script = (use("mcp__acme__slow"), use("Write", path="mine.txt", content="x"), "Second.")
    async with working(workspace, *script, tools={"acme": (slow_tool,)}) as one:
        first = one.engine.sessions.create().id
        turn = asyncio.create_task(one.turn("go", first))
        async with asyncio.timeout(BOUND):
            await reached.wait()
        second, _ = await one.turn("write")
        go.set()
        await turn
        assert outcomes(await one.engine.undo(first)) == {"theirs.txt": "restored"}
        assert outcomes(await one.engine.undo(second)) == {"mine.txt": "restored"}


async def test_a_look_is_broken_off_when_the_process_ends_and_says_so(workspace: Path) -> None:
    (workspace / "a.txt").write_text("one\n")
    async with working(workspace, bash("echo two >a.txt; touch started; until [ -e go ]; do sleep 0.01; done")) as one:
        session = one.engine.sessions.create().id
        turn = asyncio.create_task(one.turn("go", session))
        async with asyncio.timeout(BOUND):
            while not (workspace / "started").exists():  # noqa: ASYNC110 - the command sets no event
                await asyncio.sleep(0.01)
        one.engine.changes.stop()
        (workspace / "go").touch()
        await turn
        [notice] = [item for item in one.notices if item.code == "not_covered"]
        with pytest.raises(NothingToUndo, match="Caddie was closed meanwhile"):
            await one.engine.undo(session, _turn_of(one, session))
    assert "Caddie was closed meanwhile" in notice.message


def _turn_of(one: Desk, session: str) -> str:
    [entry] = one.engine.changes.store.read(session).entries
    return entry.checkpoint


def test_caddies_own_folder_is_no_part_of_a_workspace_that_holds_it(tmp_path: Path) -> None:
    for name in ("data/checkpoints/x", "data-of-mine/y", "z"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = {os.path.relpath(path, tmp_path) for path in snapshot.listed(tmp_path, [tmp_path / "data"])}
    assert found == {"data-of-mine/y", "z"}


def test_of_the_built_in_tools_only_commands_are_watched() -> None:
    """Whoever watches too much counts the person's own changes as the agent's."""
    assert [tool.name for tool in BUILTIN if may_change_files_untold(tool)] == ["Bash"]


def test_ten_thousand_files_are_looked_through_in_time(tmp_path: Path) -> None:
    for folder in range(100):
        (tmp_path / f"d{folder}").mkdir()
        for number in range(100):
            (tmp_path / f"d{folder}/{number}.txt").touch()
    assert len(list(snapshot.listed(tmp_path, [tmp_path / "data"]))) == 10_000


async def test_who_sees_the_end_of_a_turn_may_undo_it_at_once(workspace: Path) -> None:
    undos: list[asyncio.Task[Any]] = []
    async with working(workspace, use("Write", path="a.txt", content="x\n")) as one:

        def heard(session: str, _turn: str, event: object) -> None:
            if isinstance(event, Done):
                undos.append(asyncio.create_task(one.engine.undo(session)))

        await one.engine.turns.run(None, "go", heard)
        assert outcomes(await undos[0]) == {"a.txt": "restored"}
    assert not (workspace / "a.txt").exists()
