"""The whole road in real Neovim: hint, ToolSearch, ExecuteTool, permission, a real MCP server, the final word."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from llmock.pytest_plugin import LLMock
from nvim_kit import NVIM, QUIET, SEND, Terminal, init_lua, isolated

from editor_client import clean_environment

GIT_LOG = "mcp__git__git_log"


@pytest.fixture
def neovim(
    tmp_path: Path, repository: Path, git_server: dict[str, Any], llmock: LLMock
) -> Iterator[Callable[..., Terminal]]:
    """Neovim in the repository, with the real server; the provider is a double."""
    started: list[Terminal] = []

    def start(extra: str = "", **settings: Any) -> Terminal:
        base = {"provider": "anthropic", "baseUrl": llmock.base_url("anthropic"), "model": "claude-sonnet-5"}
        tree = {**base, "mcp": {"servers": {"git": git_server}}, **settings}
        cmd = [sys.executable, "-m", "caddie", "serve"]
        (tmp_path / "init.lua").write_text(init_lua(cmd, extra, settings=tree))
        argv = [NVIM, *QUIET, "-u", str(tmp_path / "init.lua"), "totals.py"]
        env = {**clean_environment(tmp_path / "home"), **isolated(tmp_path), "ANTHROPIC_API_KEY": "test-key"}
        one = Terminal(argv, repository, env, tmp_path / "no-log", (120, 34))
        started.append(one)
        one.wait("TOTAL = 2")
        return one

    yield start
    for one in started:
        one.close()


def connected(screen: Terminal) -> Terminal:
    """The git server is there: the panel says so."""
    screen.command("Caddie tools")
    screen.wait("Built-in", 60)
    screen.type("/git_log\r")
    screen.wait("▾ git  ready", 60)
    return screen


def test_a_deferred_tool_is_hinted_found_permitted_and_run(
    neovim: Callable[..., Terminal], llmock: LLMock, repository: Path
) -> None:
    llmock.call_tool("ToolSearch", {"query": "commit history"})
    llmock.call_tool("ExecuteTool", {"tool_name": GIT_LOG, "params": {"repo_path": str(repository), "max_count": 3}})
    llmock.reply("The last commit **fixes** the rounding of totals.")
    screen = connected(neovim())
    screen.type("q")
    screen.command("Caddie chat")
    screen.wait("Ask, or say")

    screen.type("Show me the commit logs of this repository")
    screen.wait("⌁ git_log", 60)
    screen.type(SEND)
    shown = screen.wait("asks to run", 60)
    assert "▌ git_log · git  asks to run  mcp__git__git_log" in shown
    assert "▌ max_count  3" in shown
    assert "ExecuteTool" not in shown
    screen.normal_mode()
    screen.type("a")
    shown = screen.wait("The last commit fixes the rounding of totals.", 60)
    shown = screen.wait("tokens")
    assert "✓ looked for tools  commit history" in shown
    assert "✓ git_log  git · " in shown
    assert "asks to run" not in shown
    assert "ExecuteTool" not in shown
