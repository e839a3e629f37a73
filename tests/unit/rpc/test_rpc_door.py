"""The editor as a door: its open buffers, and what it is asked."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.workspace import Workspace

from caddie.protocol.permissions import PermissionAnswer
from caddie.rpc.codec import create_base_server
from caddie.rpc.door import Buffers, EditorPerson
from caddie.rpc.peer import Peer
from caddie.tools.context import PermissionRequest
from caddie.tools.tool import DiffPreview

LINES = 5_000


async def test_a_buffer_opened_again_is_read_as_it_is_now_though_its_version_is_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = create_base_server("x", "1")
    workspace = server.protocol._workspace = Workspace(None)
    buffers, path = Buffers(server, Peer(server.protocol), can_query=False), tmp_path / "a.txt"

    async def apply(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
        return types.ApplyWorkspaceEditResult(applied=True)  # its echo is still on the way

    monkeypatch.setattr(server, "workspace_apply_edit_async", apply)

    workspace.put_text_document(types.TextDocumentItem(path.as_uri(), "text", 1, "one\n"))
    assert await buffers.replace_open_file(path, "two\n")
    assert buffers.read_open_file(path) == "two\n"
    workspace.remove_text_document(path.as_uri())
    workspace.put_text_document(types.TextDocumentItem(path.as_uri(), "text", 1, "checked out\n"))
    assert buffers.read_open_file(path) == "checked out\n"


async def test_the_loop_runs_on_while_a_long_difference_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    server = create_base_server("x", "1")
    peer, ticks = Peer(server.protocol), 0

    async def asked(*_: Any, **__: Any) -> PermissionAnswer:
        return PermissionAnswer(choice="allow")

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.001)
            ticks += 1

    monkeypatch.setattr(peer, "request", asked)
    before = [f"row {number % 150}" for number in range(LINES)]
    preview = DiffPreview("data.csv", "\n".join(before), "\n".join(sorted(before)))
    request = PermissionRequest("s", "Write", "Write", "", {}, preview, (), "")
    ticking = asyncio.create_task(tick())
    try:
        await EditorPerson(peer, {"permission": True}).ask_permission(request)
    finally:
        ticking.cancel()
    assert ticks > 5
