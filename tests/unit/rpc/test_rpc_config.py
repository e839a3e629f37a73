"""What an editor pushes: a section, a part of one, nothing, other tools' sections, or something wrong."""

from __future__ import annotations

from typing import Any

import pytest

from caddie.rpc.config import Told, read_push

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
