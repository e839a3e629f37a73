"""Edits and undo over the wire, before an editor that really applies them."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from llmock.pytest_plugin import LLMock
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from editor_client import ALL, Editor, editor

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")


class Buffer:
    """One open document of an editor that speaks UTF-16, as most do."""

    def __init__(self, one: Editor, path: Path, text: str) -> None:
        self.text = text
        self.steps = 0
        self._client, self._uri, self._version = one.client, path.as_uri(), 1

        @one.client.feature(types.WORKSPACE_APPLY_EDIT)
        def apply(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
            return self._apply(params)

        item = types.TextDocumentItem(self._uri, "text", 1, text)
        one.client.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def type(self, line: int, start: int, end: int, text: str) -> None:
        """The person changes a piece of a line; columns are UTF-16 units."""
        place = types.Range(types.Position(line, start), types.Position(line, end))
        self._change(place, text)

    def _apply(self, params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        [document] = params.edit.document_changes or ()
        assert document.text_document.version == self._version
        [edit] = document.edits
        self._change(edit.range, edit.new_text)
        self.steps += 1
        return types.ApplyWorkspaceEditResult(applied=True)

    def _change(self, place: types.Range, text: str) -> None:
        self._version += 1
        before, after = self._offset(place.start), self._offset(place.end)
        self.text = self.text[:before] + text + self.text[after:]
        document = types.VersionedTextDocumentIdentifier(self._version, self._uri)
        change = types.TextDocumentContentChangePartial(place, text)
        self._client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))

    def _offset(self, position: types.Position) -> int:
        lines = _LINE.findall(self.text)
        line = lines[position.line] if position.line < len(lines) else ""
        column = len(line.encode("utf-16-le")[: position.character * 2].decode("utf-16-le"))
        return sum(map(len, lines[: position.line])) + column


@contextlib.asynccontextmanager
async def working(llmock: LLMock, workspace: Path, home: Path, **capabilities: bool) -> AsyncIterator[Editor]:
    settings = {
        "provider": "openai-chat", "baseUrl": llmock.base_url("openai"), "model": "gpt-4o",
        "permissions": {"mode": "acceptEdits", "allow": ["Bash(echo:*)"]},
    }  # fmt: skip
    async with editor(workspace, home, settings=settings, capabilities={**ALL, **capabilities}) as one:
        yield one


async def test_a_turn_is_undone_in_the_buffer_as_one_step_beside_what_the_person_typed(
    llmock: LLMock, workspace: Path, home: Path
) -> None:
    """Form feeds and U+2028 end no line, and a smiley is two units: all of that must not move an edit."""
    path = workspace / "notes.txt"
    text = "".join(f"line {n} \x0c \u2028 😀 end\n" for n in range(1, 9))
    path.write_text(text)
    llmock.call_tool("Read", {"path": "notes.txt"})
    llmock.call_tool("Edit", {"path": "notes.txt", "old_string": "line 4", "new_string": "agent"})
    llmock.call_tool("Write", {"path": "new/file.txt", "content": "x"})
    llmock.reply("Done.")
    async with working(llmock, workspace, home) as one:
        buffer = Buffer(one, path, text)
        buffer.type(1, 14, 17, "END")
        turn = await one.turn("change it")
        assert sorted(turn["changedFiles"]) == ["new/file.txt", "notes.txt"]
        mine = text.replace("line 2 \x0c \u2028 😀 end", "line 2 \x0c \u2028 😀 END")
        assert buffer.text == mine.replace("line 4", "agent")
        buffer.type(6, 0, 4, "LINE")
        result = await one.request("caddie/session/undo", {"sessionId": turn["sessionId"]})
        assert buffer.text == mine.replace("line 7", "LINE 7")
        assert buffer.steps == 2
        assert {file["path"]: file["outcome"] for file in result["files"]} == {
            "notes.txt": "merged",
            "new/file.txt": "restored",
        }
        assert result["turnId"] == turn["turnId"]
        again = await one.request("caddie/session/undo", {"sessionId": turn["sessionId"], "turnId": result["undoId"]})
        assert again["message"] == "Restored: notes.txt, new/file.txt."
        assert buffer.text == mine.replace("line 7", "LINE 7").replace("line 4", "agent")
    assert path.read_text() == text, "saving is the editor's business"


async def test_there_is_an_answer_when_nothing_can_be_undone_or_a_turn_runs(
    llmock: LLMock, workspace: Path, home: Path
) -> None:
    llmock.call_tool("Bash", {"command": "touch x"})
    llmock.reply("Done.")
    kinds: list[str] = []

    async with working(llmock, workspace, home) as one:

        async def try_to_undo(params: dict[str, Any]) -> dict[str, Any]:
            kinds.append(await _kind(one, params["sessionId"]))
            return {"choice": "reject"}

        one.on_permission = try_to_undo
        turn = await one.turn("go")
        kinds.append(await _kind(one, turn["sessionId"]))
        kinds.append(await _kind(one, "no-such-session"))
    assert kinds == ["session_busy", "nothing_to_undo", "session_not_found"]


async def _kind(one: Editor, session: str) -> str:
    try:
        await one.request("caddie/session/undo", {"sessionId": session})
    except JsonRpcException as error:
        return str(error.data["kind"])
    return ""


async def test_new_problems_of_the_editor_reach_the_model_with_the_result_of_the_edit(
    llmock: LLMock, workspace: Path, home: Path
) -> None:
    path = workspace / "a.py"
    path.write_text("late = 1\nprint(late)\n")
    llmock.call_tool("Read", {"path": "a.py"})
    llmock.call_tool("Edit", {"path": "a.py", "old_string": "late = 1\n", "new_string": ""})
    llmock.reply("Done.")
    asked: list[dict[str, Any]] = []
    async with working(llmock, workspace, home, editorQuery=True) as one:
        buffer = Buffer(one, path, path.read_text())

        @one.client.feature("caddie/editor/query")
        def answer(params: dict[str, Any]) -> dict[str, Any]:
            asked.append(params)
            place = {"path": str(path), "line": 1, "column": 1, "endLine": 1, "endColumn": 5}
            old = {"place": place, "severity": "warning", "message": "no docstring", "source": "lint"}
            new = {**old, "severity": "error", "message": '"late" is not defined'}
            return {"diagnostics": [old] if "late = 1" in buffer.text else [old, new], "isCut": False}

        await one.turn("remove it")
        [edit] = [event for event in one.events("toolCall") if event["tool"] == "Edit" and event["status"] == "done"]
    assert edit["result"].endswith(
        'Since this change the editor reports:\n  a.py:1: error: "late" is not defined (lint)'
    )
    assert [query["kind"] for query in asked] == ["diagnostics"] * 2
    assert asked[1]["settleMs"] > 0


async def test_what_the_person_saves_while_a_command_runs_stays_when_the_turn_is_undone(
    llmock: LLMock, workspace: Path, home: Path
) -> None:
    path = workspace / "notes.txt"
    path.write_text("one\n")
    wait = "echo started; until [ -e go ]; do sleep 0.01; done; echo agent >new.txt"
    llmock.call_tool("Bash", {"command": wait})
    llmock.reply("Done.")
    async with working(llmock, workspace, home) as one:
        buffer = Buffer(one, path, "one\n")
        one.on_permission = lambda params: {"choice": "once"}
        turn = asyncio.create_task(one.turn("go"))
        await one.until(lambda: any("started" in (event.get("progress") or "") for event in one.events("toolCall")))
        buffer.type(0, 0, 3, "mine")
        path.write_text(buffer.text)
        one.client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(path.as_uri())))
        await one.request("caddie/session/list")  # by now the server has heard it
        (workspace / "go").touch()
        done = await turn
        result = await one.request("caddie/session/undo", {"sessionId": done["sessionId"]})
    assert "notes.txt" not in {file["path"] for file in result["files"]}
    assert path.read_text() == "mine\n"
    assert not (workspace / "new.txt").exists()


async def test_what_a_turn_changed_is_reviewed_by_hunk_in_the_open_buffer_and_later_opened_again(
    llmock: LLMock, workspace: Path, home: Path
) -> None:
    path = workspace / "notes.txt"
    text = "".join(f"line {n} 😀\n" for n in range(1, 9))
    path.write_text(text)
    (workspace / "beside.txt").write_text("beside\n")
    llmock.call_tool("Read", {"path": "notes.txt"})
    llmock.call_tool("Edit", {"path": "notes.txt", "old_string": "line 2", "new_string": "two"})
    llmock.call_tool("Edit", {"path": "notes.txt", "old_string": "line 7", "new_string": "seven"})
    llmock.reply("Done.")
    async with working(llmock, workspace, home) as one:
        buffer = Buffer(one, path, text)
        with_file = {"attachments": [{"name": "beside.txt", "path": "beside.txt"}], "pickedTools": ["Grep"]}
        session = {"sessionId": (await one.turn("change it", **with_file))["sessionId"]}
        buffer.type(4, 0, 4, "LINE")
        (file,) = (await one.request("caddie/session/changes", session))["files"]
        assert [hunk["lines"] for hunk in file["hunks"]] == [["-line 2 😀", "+two 😀"], ["-line 7 😀", "+seven 😀"]]
        assert [hunk["newStart"] for hunk in file["hunks"]] == [2, 7]
        steps = buffer.steps
        meant = [{"path": "notes.txt", "hunks": [file["hunks"][0]["id"]]}]
        result = await one.request("caddie/session/undo", {**session, "files": meant})
        assert buffer.text == text.replace("line 5", "LINE 5").replace("line 7", "seven")
        assert buffer.steps == steps + 1
        assert result["files"] == [
            {"path": "notes.txt", "outcome": "partly", "detail": "1 of 2 changes, in the editor, not saved yet"}
        ]
        whole = (await one.request("caddie/session/changes", {**session, "path": "notes.txt"}))["files"]
        assert whole[0]["before"] == text.replace("line 5", "LINE 5")
        left = await one.request("caddie/session/keep", {**session, "files": [{"path": "notes.txt"}]})
        assert left == {"files": []}
        (said, *_) = (await one.request("caddie/session/open", session))["transcript"]
        assert (said["attachments"], said["picks"]) == (["beside.txt"], ["Grep"])
