"""A window of several folders over the wire: named at `initialize`, added and removed while it is open."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from llmock.pytest_plugin import LLMock
from lsprotocol import types

from editor_client import Editor, editor


def window(llmock: LLMock, folders: Sequence[Path], home: Path, **options: Any) -> Any:
    settings = {
        "provider": "openai-chat", "baseUrl": llmock.base_url("openai"), "model": "gpt-4o",
        "permissions": {"mode": "acceptEdits"},
    }  # fmt: skip
    return editor(folders[0], home, settings=settings, folders=folders, **options)


def folder(path: Path) -> types.WorkspaceFolder:
    return types.WorkspaceFolder(path.as_uri(), path.name)


def change(one: Editor, *, added: Sequence[Path] = (), removed: Sequence[Path] = ()) -> None:
    event = types.WorkspaceFoldersChangeEvent(list(map(folder, added)), list(map(folder, removed)))
    one.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))


def write(llmock: LLMock, path: Path, content: str) -> None:
    """The next turn of the model: read what is there, write anew."""
    llmock.call_tool("Read", {"path": str(path)})
    llmock.call_tool("Write", {"path": str(path), "content": content})
    llmock.reply("Done.")


@pytest.fixture
def api(tmp_path: Path) -> Path:
    """A folder whose name has to be written in an address with care."""
    path = tmp_path / "the api; 日本"
    path.mkdir()
    (path / "a.txt").write_text("needle one\n")
    return path


async def test_a_file_of_the_second_folder_is_edited_unasked_found_and_taken_back(
    llmock: LLMock, workspace: Path, api: Path, home: Path
) -> None:
    (workspace / "w.txt").write_text("needle\n")
    llmock.call_tool("Grep", {"pattern": "needle", "output_mode": "files_with_matches"})
    llmock.call_tool("Edit", {"path": str(api / "a.txt"), "old_string": "one", "new_string": "two"})
    write(llmock, api / "a.txt", "three\n")
    async with window(llmock, [workspace, api], home) as one:
        turn = await one.turn("change it")
        assert one.asked == []
        assert turn["changedFiles"] == [str(api / "a.txt")]
        assert (api / "a.txt").read_text() == "three\n"
        [found] = [event for event in one.events("toolCall") if (event["tool"], event["status"]) == ("Grep", "done")]
        assert found["result"] == f"w.txt\n{api}/a.txt"
        undone = await one.request("caddie/session/undo", {"sessionId": turn["sessionId"]})
    assert [file["outcome"] for file in undone["files"]] == ["restored"]
    assert (api / "a.txt").read_text() == "needle one\n"


async def test_a_folder_counts_from_when_it_is_added_until_it_is_removed(
    llmock: LLMock, workspace: Path, api: Path, home: Path
) -> None:
    async with window(llmock, [workspace], home) as one:
        write(llmock, api / "a.txt", "1\n")
        session = (await one.turn("change it"))["sessionId"]
        [[_, asked]] = one.asked
        assert asked["reason"] == f"{api}/a.txt is outside the workspace."
        change(one, added=[api])
        write(llmock, api / "a.txt", "2\n")
        await one.turn("now", sessionId=session)
        assert (api / "a.txt").read_text() == "2\n"
        change(one, removed=[api])
        write(llmock, api / "a.txt", "3\n")
        await one.turn("again", sessionId=session)
    assert len(one.asked) == 2
    assert (api / "a.txt").read_text() == "2\n"
    bodies = [record.body for record in llmock.requests if record.body]
    systems = {body["messages"][0]["content"] for body in bodies}
    assert len(systems) == 1
    said = [str(body["messages"]) for body in bodies]
    assert [f"added to the workspace: {api}" in text for text in said] == [False] * 3 + [True] * 6
    assert [f"no longer in the workspace: {api}" in text for text in said] == [False] * 6 + [True] * 3


async def test_removing_the_first_folder_moves_nothing_and_unknown_ones_do_no_harm(
    llmock: LLMock, workspace: Path, api: Path, home: Path
) -> None:
    elsewhere = types.WorkspaceFolder("vscode-vfs://github/a/b", "b")
    async with window(llmock, [workspace, api], home) as one:
        change(one, removed=[workspace, home / "never"])
        event = types.WorkspaceFoldersChangeEvent([elsewhere, elsewhere], [elsewhere])
        one.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))
        llmock.call_tool("Write", {"path": "new.txt", "content": "x"})
        llmock.call_tool("Write", {"path": str(api / "new.txt"), "content": "x"})
        llmock.reply("Done.")
        turn = await one.turn("write")
        assert sorted(turn["changedFiles"]) == sorted(["new.txt", str(api / "new.txt")])
    assert one.asked == []
    assert (workspace / "new.txt").exists()
