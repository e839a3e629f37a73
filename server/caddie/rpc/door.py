"""The editor as a door: notifications out, questions to the person, open buffers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4
from weakref import WeakKeyDictionary

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.uris import to_fs_path
from pygls.workspace import TextDocument

from caddie.engine.door import Door
from caddie.engine.findings import Finding
from caddie.errors import ClientCannotAsk
from caddie.protocol import methods, permissions, prompts, tools
from caddie.protocol.base import Message
from caddie.protocol.editor import EditorAnswer, EditorQuery
from caddie.rpc import convert
from caddie.rpc.codec import Server
from caddie.rpc.documents import split_lines
from caddie.rpc.peer import Peer
from caddie.search.prefetch import ToolHint
from caddie.tools.catalogue import Change
from caddie.tools.context import PermissionAnswer, PermissionRequest, Problem, QuestionRequest
from caddie.tools.servers import ServerStatus

logger = logging.getLogger(__name__)

QUERY_SECONDS = 3.0
"""An editor that is asked for what it knows and does not answer by then is not waited for."""


class EditorPerson:
    """Asks over the wire; what the client said at `initialize` decides whether it can be asked at all."""

    def __init__(self, peer: Peer, can: dict[str, bool]) -> None:
        self._peer = peer
        self._can = can

    async def ask_permission(self, request: PermissionRequest) -> PermissionAnswer:
        self._need("permission", "permissions")
        message = await asyncio.to_thread(convert.permission, request, uuid4().hex[:12])  # with a difference, perhaps
        answer = await self._ask(methods.PERMISSION_ASK, message)
        assert isinstance(answer, permissions.PermissionAnswer)
        return PermissionAnswer(answer.choice, answer.feedback or "")

    async def ask_question(self, request: QuestionRequest) -> dict[str, str] | None:
        self._need("question", "questions")
        answer = await self._ask(methods.QUESTION_ASK, convert.question(request, uuid4().hex[:12]))
        assert isinstance(answer, permissions.QuestionAnswer)
        return None if answer.declined else answer.answers

    async def _ask(self, method: methods.Method, message: Message) -> Message:
        return await self._peer.request(method, message)

    def _need(self, capability: str, what: str) -> None:
        if not self._can.get(capability):
            raise ClientCannotAsk(f"this client cannot ask {what} (it did not announce the capability).")


class Buffers:
    """Open documents, as the editor last told them. After an edit of ours its own echo may be late: ours counts."""

    def __init__(self, server: Server, peer: Peer, can_query: bool) -> None:
        self._server = server
        self._peer = peer
        self._can_query = can_query
        # By document, not by address: one that is opened again begins with the same version.
        self._written: WeakKeyDictionary[TextDocument, tuple[int | None, str]] = WeakKeyDictionary()

    def read_open_file(self, path: Path) -> str | None:
        document = self._find(path)
        if document is None:
            return None
        version, text = self._written.get(document, (None, ""))
        if version is not None and version == document.version:
            return text
        return document.source

    async def replace_open_file(self, path: Path, text: str) -> bool:
        document = self._find(path)
        if document is None:
            return False
        before = self.read_open_file(path) or ""
        codec = self._server.workspace.position_codec
        change = _smallest_edit(before, text, lambda line: codec.client_num_units(line))
        version = types.OptionalVersionedTextDocumentIdentifier(document.uri, document.version)
        edit = types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(version, [change])])
        try:
            answer = await self._server.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(edit, label="Caddie"))
        except JsonRpcException as error:
            raise ClientCannotAsk(f"the editor did not apply the change: {error.message}") from None
        if not answer.applied:
            raise ClientCannotAsk(
                f"the editor did not apply the change to {path.name}: {answer.failure_reason or 'no reason given'}."
            )
        self._written[document] = (document.version, text)
        return True

    async def problems(self, path: Path, settle: float) -> tuple[Problem, ...] | None:
        if not self._can_query:
            return None
        query = EditorQuery(kind="diagnostics", path=str(path), settle_ms=int(settle * 1000))
        try:
            answer = await self._peer.request(methods.EDITOR_QUERY, query, timeout=settle + QUERY_SECONDS)
        except (ClientCannotAsk, TimeoutError):
            return None
        assert isinstance(answer, EditorAnswer)
        found = [convert.problem(item) for item in answer.diagnostics or () if item.severity in ("error", "warning")]
        return tuple(sorted(found, key=lambda problem: problem.path != path))

    def _find(self, path: Path) -> TextDocument | None:
        wanted = path.resolve()
        for uri, document in self._server.workspace.text_documents.items():
            name = to_fs_path(uri)
            if name and Path(name).resolve() == wanted:
                found: TextDocument = document
                return found
        return None


def _smallest_edit(before: str, after: str, width: Callable[[str], int]) -> types.TextEdit:
    """Replace whole lines between the common beginning and end, so that cursors elsewhere stay where they are.

    `width` counts a line in the client's units.
    """
    old, new = split_lines(before), split_lines(after)
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    stop = types.Position(len(old) - end, 0)
    if end == 0 and old and not old[-1].endswith(("\n", "\r")):
        stop = types.Position(len(old) - 1, width(old[-1]))
    return types.TextEdit(types.Range(types.Position(start, 0), stop), "".join(new[start : len(new) - end]))


_MAX_SAID = 3
_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "notice": types.DiagnosticSeverity.Information,
}


class EditorDoor(Door):
    def __init__(self, server: Server, peer: Peer, can: dict[str, bool], trusted: bool | None) -> None:
        self._server = server
        self._peer = peer
        self._can = can
        self._with_diagnostics: set[Path] = set()
        self._said: set[str] = set()
        self._person = EditorPerson(peer, can)
        self._buffers = Buffers(server, peer, bool(can.get("editorQuery")))
        self._trusted = trusted
        self._showing: set[asyncio.Task[types.ShowDocumentResult]] = set()

    @property
    def person(self) -> EditorPerson:
        return self._person

    @property
    def editor(self) -> Buffers:
        return self._buffers

    @property
    def workspace_trusted(self) -> bool | None:
        return self._trusted

    @property
    def way_to_trust(self) -> str:
        if self._trusted is None:
            return "say that you trust it, which is asked when Caddie starts"
        return "trust it with the editor's own workspace trust"

    @property
    def stores_settings(self) -> bool:
        return bool(self._can.get("settingsWrite"))

    def tools_changed(self, change: Change) -> None:
        self._peer.notify(
            methods.TOOLS_CHANGED,
            tools.ToolsChanged(
                revision=change.revision,
                added=list(change.added),
                removed=list(change.removed),
                changed=list(change.changed),
            ),
        )

    def server_changed(self, status: ServerStatus) -> None:
        self._peer.notify(methods.MCP_STATUS, convert.server(status))

    def prompts_changed(self) -> None:
        self._peer.notify(methods.PROMPTS_CHANGED, prompts.PromptsChanged())

    def settings_checked(self, findings: tuple[Finding, ...]) -> None:
        """Problems of a file stand at their place in it; those of the editor's own settings are said once."""
        by_path: dict[Path, list[types.Diagnostic]] = {path: [] for path in self._with_diagnostics}
        for finding in findings:
            if finding.path is not None:
                by_path.setdefault(finding.path, []).append(self._diagnostic(finding))
        self._with_diagnostics = {path for path, found in by_path.items() if found}
        for path, found in by_path.items():
            self._server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(path.as_uri(), found))
        texts = [item.words for item in findings if item.path is None and item.severity != "notice"]
        self._say([text for text in texts if text not in self._said])

    def _say(self, texts: list[str]) -> None:
        if texts:
            self._said.update(texts)
            more = f" And {len(texts) - _MAX_SAID} more; see `caddie doctor`." if len(texts) > _MAX_SAID else ""
            message = f"Caddie: {'; '.join(texts[:_MAX_SAID])}.{more}"
            self._server.window_show_message(types.ShowMessageParams(types.MessageType.Warning, message))

    def _diagnostic(self, finding: Finding) -> types.Diagnostic:
        (line, start), (last, end) = finding.place
        codec = self._server.workspace.position_codec
        begin = types.Position(line, codec.client_num_units(finding.line[:start]))
        stop = types.Position(last, codec.client_num_units(finding.line[:end]) if last == line else end)
        return types.Diagnostic(
            types.Range(begin, stop), finding.message, severity=_SEVERITIES[finding.severity], source="caddie"
        )

    def show_hints(
        self, hints: tuple[ToolHint, ...], *, session_id: str = "", turn_id: str = "", draft_id: str = ""
    ) -> None:
        message = tools.ShowHints(
            session_id=session_id or None,
            turn_id=turn_id or None,
            draft_id=draft_id or None,
            hints=[convert.hint(item) for item in hints],
            source="draft" if draft_id else "turn",
        )
        self._peer.notify(methods.HINTS_SHOW, message)

    async def open_page(self, url: str) -> bool:
        window = self._server.client_capabilities.window
        if window is None or window.show_document is None or not window.show_document.support:
            return False
        showing = asyncio.create_task(
            self._server.window_show_document_async(types.ShowDocumentParams(url, external=True, take_focus=True))
        )
        self._showing.add(showing)
        showing.add_done_callback(self._shown)
        await asyncio.wait({showing}, timeout=QUERY_SECONDS)
        if not showing.done():
            return True  # the editor asks the person first
        return not showing.cancelled() and showing.exception() is None and bool(showing.result().success)

    def _shown(self, showing: asyncio.Task[types.ShowDocumentResult]) -> None:
        self._showing.discard(showing)
        if not showing.cancelled() and (error := showing.exception()):
            logger.info("the editor did not open a page: %s", error)

    async def write_setting(self, key: str, value: Any, scope: Literal["user", "workspace"]) -> bool:
        if not self.stores_settings:
            return False
        try:
            await self._peer.request(
                methods.SETTINGS_WRITE, permissions.SettingsWrite(key=key, value=value, scope=scope), timeout=30
            )
        except (ClientCannotAsk, TimeoutError):
            return False
        return True
