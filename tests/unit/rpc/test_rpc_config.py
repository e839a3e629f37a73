"""What an editor pushes: a section, a part of one, nothing, other tools' sections, or something wrong."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from lsprotocol import types

from caddie.rpc import config
from caddie.rpc.codec import create_base_server
from caddie.rpc.config import EditorSettings, Told, read_push

LEAN = {"tools": {"profile": "lean"}}


@pytest.mark.parametrize(
    ("pushed", "told"),
    [
        ({"caddie": LEAN}, Told(LEAN)),
        (LEAN, Told(LEAN)),
        ({}, Told({})),
        ({"caddie": {}}, Told({})),
        ({"caddie": LEAN, "workspaceSettings": {"model": "m"}}, Told(LEAN, {"model": "m"})),
        ({"workspaceSettings": LEAN}, Told(None, LEAN)),
        (None, Told()),
        ({"caddie": None}, Told()),
        ({"python": {"analysis": 1}}, Told()),
    ],
)
def test_what_is_told_and_what_is_not(pushed: Any, told: Told) -> None:
    assert read_push(pushed) == told


@pytest.mark.parametrize(
    "pushed", [[], "text", 7, {"caddie": []}, {"caddie": "x"}, {"caddie": LEAN, "workspaceSettings": 5}]
)
def test_what_is_wrong_is_named_and_changes_nothing(pushed: Any) -> None:
    told = read_push(pushed)
    assert "expected the section 'caddie' to be an object, got" in told.wrong
    assert told.workspace is None


async def test_an_editor_that_does_not_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "ANSWER_SECONDS", 0.05)
    server = create_base_server("x", "1")
    asking = types.WorkspaceClientCapabilities(configuration=True)
    server.protocol.client_capabilities = types.ClientCapabilities(workspace=asking)
    async with asyncio.timeout(10):
        assert await EditorSettings(server).pull() == Told()
