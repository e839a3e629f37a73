"""What is wrong in a settings file, seen where it stands: real Neovim, the real server."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from nvim_kit import NVIM, QUIET, Terminal, init_lua, isolated

from editor_client import clean_environment

WRONG = {
    "tools": {"disabeld": ["Bash"], "disabled": ["no_such_tool", "Read"], "enabled": ["Read"]},
    "hints": {"threshold": 101},
}


@pytest.fixture
def neovim(tmp_path: Path, workspace: Path) -> Iterator[Callable[[], Terminal]]:
    """Neovim with the settings file of the workspace before it, and the chat's server behind it."""
    (workspace / ".git").mkdir()
    (workspace / ".caddie").mkdir()
    (workspace / ".caddie" / "settings.json").write_text(json.dumps(WRONG, indent=2))
    started: list[Terminal] = []

    def start() -> Terminal:
        cmd = [sys.executable, "-m", "caddie", "serve"]
        extra = "vim.diagnostic.config({ virtual_text = { prefix = '■' }, signs = true })"
        (tmp_path / "init.lua").write_text(init_lua(cmd, extra, settings={"provider": "offline"}))
        argv = [NVIM, *QUIET, "-u", str(tmp_path / "init.lua"), ".caddie/settings.json"]
        env = {**clean_environment(tmp_path / "home"), **isolated(tmp_path)}
        one = Terminal(argv, workspace, env, tmp_path / "no-log", (150, 40))
        started.append(one)
        one.wait("disabeld")
        return one

    yield start
    for one in started:
        one.close()


def test_each_mistake_is_shown_on_its_own_line_and_goes_when_it_is_mended(neovim: Callable[[], Terminal]) -> None:
    screen = neovim()
    screen.command("Caddie tools")
    screen.wait("Built-in")
    screen.type("q")
    text = screen.wait(lambda shown: shown.count("■") >= 4)
    lines = [line for line in text.splitlines() if "■" in line]
    said = {line.split('"')[1]: line for line in lines}
    assert "disabled" in said["disabeld"], "the nearest known key is named"
    assert "no_such_tool" in said
    assert "threshold" in said
    assert "at most 1; got 101" in said["threshold"]
    screen.command("%s/disabeld/deferred/ | %s/101/0.2/ | write")
    screen.wait(lambda shown: '"deferred"' in shown and shown.count("■") == len(lines) - 2)
