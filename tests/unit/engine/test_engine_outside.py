"""Changes outside the workspace: always asked for, whatever modes and rules say, and taken back like all others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from caddie.providers.scripted import use
from engine_kit import Desk, desk

SETTINGS: list[dict[str, Any]] = [
    {"permissions": {"mode": "auto"}},
    {"permissions": {"mode": "acceptEdits"}},
    {"permissions": {"allow": ["Write", "Write(*)", "Edit(*)"]}},
]


@pytest.fixture
def outside(workspace: Path) -> Path:
    file = workspace.parent / "outside.txt"
    file.write_text("one\n")
    (workspace / "link.txt").symlink_to(file)
    return file


def allow_once(one: Desk) -> None:
    one.person.choice = lambda request: next(choice.id for choice in request.choices if choice.kind == "allowOnce")


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("path", ["../outside.txt", "link.txt", "{outside}"])
async def test_the_person_is_asked_and_a_no_changes_nothing(
    workspace: Path, outside: Path, settings: dict[str, Any], path: str
) -> None:
    async with desk(workspace, settings=settings) as one:
        given = {"path": path.format(outside=outside), "content": "two\n"}
        session = one.engine.sessions.create().id
        await one.execute("Read", {"path": given["path"]}, session)
        result = await one.execute("Write", given, session)
        bridged = await one.bridge("Write", given, session)
        kinds = [{choice.kind for choice in request.choices} for request in one.person.asked]
    assert result.is_error
    assert bridged.is_error
    assert outside.read_text() == "one\n"
    assert kinds == [{"allowOnce", "reject"}] * 2, "nothing is offered that would not hold"


async def test_a_yes_writes_there_and_the_turn_can_be_taken_back(workspace: Path, outside: Path) -> None:
    answers = ([use("Read", "c0", path="../outside.txt")],
               [use("Edit", "c1", path="../outside.txt", old_string="one", new_string="two")], ["done"])  # fmt: skip
    async with desk(workspace, answers=answers) as one:
        allow_once(one)
        session, _ = await one.turn("change it")
        assert outside.read_text() == "two\n"
        report = await one.engine.undo(session, "")
    assert outside.read_text() == "one\n"
    assert [file.outcome for file in report.files] == ["restored"]


async def test_where_nobody_can_be_asked_nothing_outside_is_changed(workspace: Path, outside: Path) -> None:
    async with desk(workspace, settings=SETTINGS[0], can_ask=False) as one:
        result = await one.execute("Write", {"path": "../new.txt", "content": "two\n"})
    assert result.is_error
    assert not (workspace.parent / "new.txt").exists()
    assert outside.read_text() == "one\n"


async def test_a_folder_that_became_a_link_since_is_not_followed_by_an_undo(workspace: Path, outside: Path) -> None:
    (workspace / "sub").mkdir()
    (workspace / "sub" / "outside.txt").write_text("old\n")
    answers = ([use("Read", "c0", path="sub/outside.txt")],
               [use("Write", "c1", path="sub/outside.txt", content="new\n")], ["done"])  # fmt: skip
    async with desk(workspace, answers=answers) as one:
        allow_once(one)
        session, _ = await one.turn("write it")
        (workspace / "sub" / "outside.txt").unlink()
        (workspace / "sub").rmdir()
        (workspace / "sub").symlink_to(outside.parent)
        report = await one.engine.undo(session, "")
    assert outside.read_text() == "one\n"
    assert [file.outcome for file in report.files] == ["conflict"]
