"""What the model changed is reviewed by file and by hunk: accepted or taken back, and nothing else is touched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caddie.engine.review import Choice, Reviewed
from caddie.errors import NothingToUndo
from caddie.providers.scripted import use
from caddie.tools.context import NoEditor
from caddie.tools.merge import applied, hunks
from engine_kit import Desk, desk

FREE = {"permissions": {"mode": "auto"}, "sandbox": {"mode": "off"}}
LINES = "".join(f"line {number}\n" for number in range(1, 21))
EDITS = (
    use("Read", path="a.txt"),
    use("Edit", path="a.txt", old_string="line 5\n", new_string="five\nfive and a half\n"),
    use("Edit", path="a.txt", old_string="line 15\n", new_string=""),
)


class OpenFiles(NoEditor):
    def __init__(self, texts: dict[Path, str]) -> None:
        self.texts = texts

    def read_open_file(self, path: Path) -> str | None:
        return self.texts.get(path)

    async def replace_open_file(self, path: Path, text: str) -> bool:
        self.texts[path] = text
        return True


def working(workspace: Path, *calls: Any, **options: Any) -> Any:
    return desk(workspace, answers=(*([call] for call in calls), ["Done."]), settings=FREE, **options)


async def only(one: Desk, session: str) -> Reviewed:
    (file,) = await one.engine.review.changes(session)
    return file


def shown(file: Reviewed) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    return [(part.old, part.new) for part in file.hunks]


async def test_hunks_are_listed_and_each_is_taken_back_alone(workspace: Path) -> None:
    (workspace / "a.txt").write_text(LINES)
    async with working(workspace, *EDITS) as one:
        session, _ = await one.turn("go")
        file = await only(one, session)
        assert (file.path, file.status, file.added, file.removed) == ("a.txt", "modified", 2, 2)
        assert shown(file) == [(("line 5\n",), ("five\n", "five and a half\n")), (("line 15\n",), ())]
        report = await one.engine.review.take_back(session, [Choice("a.txt", (file.hunks[0].id,))])
        assert (workspace / "a.txt").read_text() == LINES.replace("line 15\n", "")
        assert report.words == "Taken back in part: a.txt (1 of 2 changes)."
        assert shown(await only(one, session)) == [(("line 15\n",), ())]
        await one.engine.undo(session, report.undo_id)
        assert shown(await only(one, session)) == shown(file), "the undo of it brings the hunk back"


async def test_a_hunk_keeps_its_id_when_the_person_writes_above_it_and_what_they_wrote_is_not_listed(
    workspace: Path,
) -> None:
    path = workspace / "a.txt"
    path.write_text(LINES)
    async with working(workspace, *EDITS) as one:
        session, _ = await one.turn("go")
        before = await only(one, session)
        path.write_text("mine\n" + path.read_text().replace("line 10\n", "line 10, mine\n"))
        after = await only(one, session)
        assert [part.id for part in after.hunks] == [part.id for part in before.hunks]
        assert [part.hunk.start for part in after.hunks] == [5, 16]
        report = await one.engine.review.take_back(session, [Choice("a.txt")])
        assert path.read_text() == "mine\n" + LINES.replace("line 10\n", "line 10, mine\n")
        assert [(file.path, file.outcome) for file in report.files] == [("a.txt", "merged")]
        assert await one.engine.review.changes(session) == ()


async def test_what_was_accepted_is_not_listed_any_more_also_after_a_restart_and_later_work_is(workspace: Path) -> None:
    path = workspace / "a.txt"
    path.write_text(LINES)
    async with working(workspace, *EDITS) as one:
        session, _ = await one.turn("go")
        file = await only(one, session)
        await one.engine.review.keep(session, [Choice("a.txt", (file.hunks[1].id,))])
        assert shown(await only(one, session)) == shown(file)[:1]
    again = (use("Read", path="a.txt"), use("Edit", path="a.txt", old_string="line 18\n", new_string="eighteen\n"))
    async with working(workspace, *again) as one:
        assert shown(await only(one, session)) == shown(file)[:1]
        await one.turn("more", session_id=session)
        now = await only(one, session)
        assert shown(now) == [*shown(file)[:1], (("line 18\n",), ("eighteen\n",))]
        await one.engine.review.take_back(session, [Choice("a.txt", (now.hunks[0].id,))])
        assert path.read_text() == LINES.replace("line 15\n", "").replace("line 18\n", "eighteen\n")
        await one.engine.review.keep(session)
        assert await one.engine.review.changes(session) == ()


async def test_created_and_deleted_files_are_taken_back_whole(workspace: Path) -> None:
    (workspace / "old.txt").write_text("old\n")
    calls = (use("Write", path="sub/new.txt", content="one\ntwo\n"), use("Bash", command="rm old.txt"))
    async with working(workspace, *calls) as one:
        session, _ = await one.turn("go")
        files = await one.engine.review.changes(session)
        assert [(file.path, file.status, file.added, file.removed) for file in files] == [
            ("old.txt", "deleted", 0, 1),
            ("sub/new.txt", "created", 2, 0),
        ]
        assert not any(file.hunks for file in files)
        await one.engine.review.take_back(session, [Choice("sub/new.txt")])
        assert not (workspace / "sub").exists()
        assert not (workspace / "old.txt").exists(), "the other file is left as it is"
        await one.engine.review.take_back(session, [Choice("old.txt")])
        assert (workspace / "old.txt").read_text() == "old\n"


async def test_a_hunk_that_has_changed_since_is_refused_in_words_and_the_file_is_left(workspace: Path) -> None:
    path = workspace / "a.txt"
    path.write_text(LINES)
    async with working(workspace, *EDITS) as one:
        session, _ = await one.turn("go")
        file = await only(one, session)
        path.write_text(path.read_text().replace("five\n", "5!\n"))
        left = path.read_text()
        report = await one.engine.review.take_back(session, [Choice("a.txt", (file.hunks[0].id,))])
        assert report.words.startswith("Left as it is: a.txt was changed since in the same place (line 5).")
        assert (await only(one, session)).blocked == "was changed since in the same place (line 5)"
        assert path.read_text() == left
        await one.engine.review.keep(session, [Choice("a.txt")])
        assert await one.engine.review.changes(session) == ()


async def test_unsaved_text_of_the_editor_counts_and_is_changed_there(workspace: Path) -> None:
    path = workspace / "a.txt"
    path.write_text(LINES)
    editor = OpenFiles({})
    async with working(workspace, *EDITS, editor=editor) as one:
        session, _ = await one.turn("go")
        editor.texts[path] = "mine\n" + path.read_text()
        file = await only(one, session)
        assert [part.hunk.start for part in file.hunks] == [5, 16]
        report = await one.engine.review.take_back(session, [Choice("a.txt", (file.hunks[1].id,))])
        assert report.words == "Taken back in part: a.txt (1 of 2 changes, in the editor, not saved yet)."
        assert "line 15" in editor.texts[path]
        assert "line 15" not in path.read_text()
        assert len((await only(one, session)).hunks) == 1


@pytest.mark.parametrize("choices", [[], [Choice("nowhere.txt")], [Choice("")]])
async def test_what_is_not_to_be_reviewed_is_refused(workspace: Path, choices: list[Choice]) -> None:
    (workspace / "a.txt").write_text(LINES)
    async with working(workspace, *EDITS) as one:
        session, _ = await one.turn("go")
        with pytest.raises(NothingToUndo):
            await one.engine.review.take_back(session, choices)


async def test_a_turn_that_was_undone_is_not_listed_and_one_that_follows_is(workspace: Path) -> None:
    (workspace / "a.txt").write_text("one\n")
    calls = (use("Read", path="a.txt"), use("Edit", path="a.txt", old_string="one", new_string="1"))
    async with desk(
        workspace, answers=([calls[0]], [calls[1]], ["Done."], [calls[0]], [calls[1]], ["Done."]), settings=FREE
    ) as one:
        session, _ = await one.turn("go")
        report = await one.engine.undo(session)
        assert await one.engine.review.changes(session) == ()
        await one.engine.undo(session, report.undo_id)
        assert shown(await only(one, session)) == [(("one\n",), ("1\n",))]
        await one.engine.undo(session)
        await one.turn("again", session_id=session)
        file = await only(one, session)
        assert shown(file) == [(("one\n",), ("1\n",))]
        await one.engine.review.take_back(session, [Choice("a.txt")])
        assert (workspace / "a.txt").read_text() == "one\n"


texts = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "d"]), max_size=12).map("".join)


@given(texts, texts, st.data())
def test_hunks_taken_back_one_by_one_in_any_order_end_at_the_old_text(old: str, new: str, data: st.DataObject) -> None:
    now = new
    while found := hunks(now, old):
        now = applied(now, [data.draw(st.sampled_from(found))])
    assert now == old
