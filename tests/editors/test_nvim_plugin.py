"""What the Neovim plugin costs at startup, offers, and says about itself."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from typing import Any

from nvim_kit import ROOT, SCRIPTED

Lua = Callable[..., Any]

LOADED = """
return vim.tbl_filter(function(name) return vim.startswith(name, 'caddie') end, vim.tbl_keys(package.loaded))
"""
CHECKHEALTH = "vim.cmd.checkhealth('caddie') return vim.api.nvim_buf_get_lines(0, 0, -1, false)"


def test_startup_loads_nothing_of_ours(lua: Lua) -> None:
    assert not lua(LOADED)


def test_the_command_completes_its_words(lua: Lua) -> None:
    complete = "return vim.fn.getcompletion(..., 'cmdline')"
    assert {"chat", "tools", "stop", "new", "sessions", "hints", "health"} <= set(lua(complete, "Caddie "))
    assert lua(complete, "Caddie to") == ["tools"]
    assert lua(complete, "Caddie hints ") == ["off", "on"]


def test_an_unknown_word_names_the_known_ones(lua: Lua) -> None:
    said = lua("vim.notify = function(m) _G.said = m end vim.cmd('Caddie dance') return said")
    assert "dance" in said
    assert "sessions" in said


def test_the_plug_maps_are_there(lua: Lua) -> None:
    assert lua("return vim.fn.maparg('<Plug>(CaddieChat)', 'n')") == "<Cmd>Caddie chat<CR>"


def test_setup_overrides_only_what_it_names(lua: Lua) -> None:
    config = lua("require('caddie').setup({ width = 50 }) return require('caddie.config').get()")
    assert config["width"] == 50
    assert config["hint_delay"] == 20
    assert config["keys"]["send"] == "<C-s>"


def test_a_wrong_option_is_named(lua: Lua) -> None:
    problem = lua("return select(2, pcall(require('caddie').setup, { position = 'middle' }))")
    assert "caddie.position" in problem


def test_the_help_page_has_its_tags(lua: Lua, tmp_path: Any) -> None:
    shutil.copytree(ROOT / "editors" / "nvim" / "doc", tmp_path / "doc")
    lua("vim.cmd.helptags(...)", str(tmp_path / "doc"))
    tags = (tmp_path / "doc" / "tags").read_text()
    assert {"caddie-chat", "caddie-tools", "caddie-config"} <= {line.split("\t")[0] for line in tags.splitlines()}


def test_checkhealth_says_what_is_missing_and_how_to_get_it(lua: Lua) -> None:
    report = "\n".join(lua(CHECKHEALTH))
    assert "OK Neovim 0.11" in report
    assert 'ERROR The server "caddie-is-not-here" was not found' in report
    assert "pipx install caddie-ls" in report


def test_checkhealth_asks_the_server_and_names_keys_without_their_values(lua: Lua, tmp_path: Any) -> None:
    (tmp_path / "script.json").write_text("{}")
    cmd = [sys.executable, str(SCRIPTED), str(tmp_path / "script.json"), str(tmp_path / "log.jsonl")]
    lines = lua(
        "vim.env.OPENAI_API_KEY = 'sk-secret' require('caddie').setup({ cmd = ... }) " + CHECKHEALTH,
        cmd,
    )
    report = "\n".join(lines)
    assert "The server answers: scripted 1" in report
    assert "OPENAI_API_KEY" in report
    assert "secret" not in report
