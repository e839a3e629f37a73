"""The Neovim client draws and answers the very messages that the protocol's own examples show."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from nvim_kit import ROOT

Lua = Callable[..., Any]

ASK = """
local module, params, key = ...
local asks, answer = require('caddie.asks'), nil
vim.ui.input = function(_, done) done('Run only the unit tests.') end
coroutine.wrap(function() answer = require(module).ask(params, true) end)()
local ask = asks.current()
local lines = vim.tbl_map(function(row) return row[1] end, ask:rows(72))
ask:keys()[key]()
vim.wait(2000, function() return answer ~= nil end, 5)
return { lines = lines, answer = answer }
"""
ROWS = "return vim.tbl_map(function(row) return row[1] end, "


def golden(name: str) -> dict[str, Any]:
    return dict(json.loads((ROOT / "tests" / "golden" / f"{name}.json").read_text()))


def test_a_permission(lua: Lua) -> None:
    example = golden("permission.ask")
    asked = lua(ASK, "caddie.permission", example["params"], "r")
    assert "▌ Bash  asks to run" in asked["lines"]
    assert "▌ $ make test" in asked["lines"]
    assert asked["answer"] == example["result"]


def test_a_question(lua: Lua) -> None:
    example = golden("question.ask")
    asked = lua(ASK, "caddie.question", example["params"], "1")
    assert "▌ 1 SQLite  One file" in asked["lines"]
    assert asked["answer"]["answers"] == example["result"]["answers"]


def test_an_event_of_a_turn(lua: Lua) -> None:
    params = golden("chat.event")["params"]
    lines = lua(
        """local c = require('caddie.turn').new()
        c.state = 'running'
        local index = require('caddie.turn').apply(c, ..., 0)[1]
        """
        + ROWS
        + "require('caddie.rows').of(c.items[index]))",
        params,
    )
    assert lines == ["✓ git_log  git · max_count=3, repo_path=."]


def test_a_stored_conversation(lua: Lua) -> None:
    lines = lua(
        """local out = {}
        for _, item in ipairs(require('caddie.turn').from_transcript(...).items) do
          for _, row in ipairs(require('caddie.rows').of(item)) do table.insert(out, row[1]) end
        end
        return out""",
        golden("session.open")["result"],
    )
    assert lines[0] == "› Who touched the parser last?"
    assert "Mira did, on Monday." in lines
    assert "◉ Profiling the build" in lines


def test_the_catalogue_and_why(lua: Lua) -> None:
    panel = {"list": golden("tools.list")["result"], "filter": "", "folded": {}}
    lines = lua(ROWS + "require('caddie.tools_rows').of(..., 90))", panel)
    for tool in panel["list"]["tools"]:
        assert any(tool["label"] in line for line in lines)
    explained = golden("tools.explain")["result"]
    assert explained["sentences"][0] in lua("return require('caddie.tools_rows').explanation(...)", explained)


def test_hints(lua: Lua) -> None:
    params = {**golden("hints.show")["params"], "source": "turn"}
    params.pop("draftId", None)
    chunks = lua("require('caddie.hints').show(...) return require('caddie.hints').chunks(72)", params)
    line = "".join(chunk[0] for chunk in chunks)
    assert params["hints"][0]["label"] in line
    assert len(line) <= 72
