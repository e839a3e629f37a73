"""The whole road in real Neovim: hint, ToolSearch, ExecuteTool, permission, a real MCP server, the final word."""

from __future__ import annotations

import json
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
    screen.wait("Built-in")
    screen.type("/git_log\r")
    screen.wait("▾ git  ready")
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
    screen.wait("⌁ git_log")
    screen.type(SEND)
    shown = screen.wait("asks to run")
    assert "▌ git_log · git  asks to run  mcp__git__git_log" in shown
    assert "▌ max_count  3" in shown
    assert "ExecuteTool" not in shown
    screen.normal_mode()
    screen.type("a")
    shown = screen.wait("The last commit fixes the rounding of totals.")
    shown = screen.wait("tokens")
    assert "✓ looked for tools  commit history" in shown
    assert "✓ git_log  git · " in shown
    assert "asks to run" not in shown
    assert "ExecuteTool" not in shown


def chatting(screen: Terminal) -> Terminal:
    screen.command("Caddie chat")
    screen.wait("Ask, or say")
    return screen


def test_an_edit_is_permitted_by_its_diff_and_lands_in_the_unsaved_buffer(
    neovim: Callable[..., Terminal], llmock: LLMock, repository: Path
) -> None:
    path = str(repository / "totals.py")
    llmock.call_tool("Read", {"path": path})
    llmock.call_tool("Edit", {"path": path, "old_string": "DRAFT = 7", "new_string": "DRAFT = 8"})
    llmock.reply("Changed.")
    screen = neovim()
    screen.command("call append(1, 'DRAFT = 7')")
    screen.wait("DRAFT = 7")
    chatting(screen).type("Change the draft" + SEND)
    shown = screen.wait("asks to run")
    assert "▌ -DRAFT = 7" in shown
    assert "▌ +DRAFT = 8" in shown
    screen.normal_mode()
    screen.type("a")
    screen.wait("Changed.")
    screen.wait(lambda text: "DRAFT = 8" in text.splitlines()[1])
    assert "DRAFT" not in (repository / "totals.py").read_text()


def test_a_stalled_model_is_stopped_and_the_next_message_works(neovim: Callable[..., Terminal], llmock: LLMock) -> None:
    llmock.stall()
    screen = chatting(neovim())
    screen.type("Are you there?" + SEND)
    screen.wait("working")
    screen.normal_mode()
    screen.type("\x03")
    screen.wait("· stopped")
    llmock.reset()
    llmock.reply("I am here.")
    screen.type("iAnd now?" + SEND)
    screen.wait("I am here.")


def test_a_state_is_changed_in_the_panel_and_says_who_decided(
    neovim: Callable[..., Terminal], repository: Path
) -> None:
    screen = connected(neovim())
    screen.wait("◐ git_log")
    screen.type("Gd")
    screen.wait("✗ git_log")
    screen.wait("workspace   0 /")
    screen.type("?")
    screen.wait("is disabled by the workspace setting")
    screen.type("q")
    screen.wait_gone("is disabled by")


def test_servers_of_an_unknown_folder_wait_for_trust(
    neovim: Callable[..., Terminal], repository: Path, git_server: dict[str, Any]
) -> None:
    (repository / ".mcp.json").write_text(json.dumps({"mcpServers": {"shared": git_server}}))
    screen = neovim(mcp={"servers": {}})
    screen.command("lua require('caddie.client').ensure(function() end)")
    screen.wait("trust")
    screen.wait("1: ")
    screen.type("1\r")
    screen.command("Caddie tools")
    screen.wait("Built-in")
    screen.type("/git_log\r")
    screen.wait("▾ shared  ready")


def test_a_conversation_is_taken_up_again_in_another_neovim(neovim: Callable[..., Terminal], llmock: LLMock) -> None:
    llmock.reply("Forty-two.")
    first = chatting(neovim())
    first.type("What is the answer?" + SEND)
    first.wait("Forty-two.")
    first.wait("tokens")
    first.close()
    second = neovim()
    second.command("Caddie sessions")
    second.wait("1: What is the answer?")
    second.type("1\r")
    shown = second.wait("Forty-two.")
    assert "› What is the answer?" in shown
    llmock.reply("Still forty-two.")
    second.type("Sure?" + SEND)
    second.wait("Still forty-two.")
    assert "What is the answer?" in str(llmock.last_request.body)
