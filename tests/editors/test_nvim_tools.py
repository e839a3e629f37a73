"""The tools panel in Neovim."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from nvim_kit import Terminal

Start = Callable[..., Terminal]


def tool(label: str, server: str | None, state: str, tokens: int, **source: Any) -> dict[str, Any]:
    name = f"mcp__{server}__{label}" if server else label
    words = {"name": name, "label": label, "description": f"What {label} does", "server": server}
    rest = {"state": state, "stateSource": {"kind": "profile", **source}, "readOnly": False, "destructive": False}
    return {key: value for key, value in {**words, **rest, "tokens": tokens}.items() if value is not None}


TOOLS = [
    tool("Bash", None, "enabled", 412),
    tool("WebFetch", None, "disabled", 190, kind="setting", scope="user", pattern="WebFetch"),
    tool("find_invoices", "acme", "enabled", 640, kind="setting", scope="workspace", pattern="find_invoices"),
    tool("delete_customer", "acme", "disabled", 220, kind="setting", scope="workspace", pattern="mcp__acme__delete_*"),
    tool("git_log", "git", "deferred", 300),
]
SERVERS = [
    {"name": "jira", "status": "failed", "reason": "JIRA_TOKEN is not set", "tools": 0},
    {"name": "acme", "status": "ready", "tools": 2},
    {"name": "git", "status": "ready", "tools": 1},
]
LIST = {
    "revision": 1,
    "profile": "standard",
    "tools": TOOLS,
    "servers": SERVERS,
    "totals": {"enabled": 2, "deferred": 1, "disabled": 2, "tokensInPrompt": 1052, "tokensTotal": 1762},
}
ANSWERS = {
    "caddie/tools/list": LIST,
    "caddie/tools/cycleState": {"changed": [], "warnings": ["`WebFetch` stays off: user settings say so."]},
    "caddie/tools/setState": {"changed": [], "warnings": []},
    "caddie/mcp/restart": SERVERS[0],
    "caddie/tools/explain": {
        "tool": "mcp__acme__delete_customer", "found": True, "indexed": False, "deferral": "bridge", "suggestions": [],
        "sentences": ["It is disabled by the pattern mcp__acme__delete_* in this workspace's settings."],
    },
}  # fmt: skip


@pytest.fixture
def panel(terminal: Start) -> Terminal:
    screen = terminal({"answers": ANSWERS}, chat=False, size=(100, 34))
    screen.command("Caddie tools")
    screen.wait(lambda text: all(one["label"] in text for one in TOOLS) and "jira" in text)
    return screen


def test_every_tool_shows_its_state_who_decided_it_and_what_it_costs(panel: Terminal) -> None:
    lines = panel.lines()

    def line(label: str) -> str:
        return next(" ".join(line.split()) for line in lines if label in line)

    assert "2 ✓ 1 ◐ 2 ✗ 1.1k of 1.8k tokens" in line("2 ✓")
    assert line("Bash") == "✓ Bash What Bash does 412"
    assert line("WebFetch") == "✗ WebFetch What WebFetch does user 0 / 190"
    assert line("git_log") == "◐ git_log What git_log does 0 / 300"
    assert "mcp__acme__delete_* · workspace 0 / 220" in line("delete_customer")
    assert line("acme ") == "▾ acme ready · 2 tools 640 / 860"
    assert line("jira") == "▾ jira failed: JIRA_TOKEN is not set"


def test_one_key_changes_a_state_in_the_scope_that_is_shown(panel: Terminal) -> None:
    panel.type("/git_log\r")
    panel.wait_gone("Bash")
    panel.type("G\r")
    sent = panel.until(lambda: panel.sent("caddie/tools/cycleState"))
    assert sent == [{"tool": "mcp__git__git_log", "scope": "workspace"}]
    panel.wait("stays off: user settings say so")
    panel.type("\t")
    panel.wait("scope: user (Tab)")
    panel.type("r")
    (sent,) = panel.until(lambda: panel.sent("caddie/tools/setState"))
    assert sent == {"changes": [{"tool": "mcp__git__git_log", "state": "default"}], "scope": "user"}


def test_a_whole_server_is_switched_folded_and_restarted(panel: Terminal) -> None:
    panel.command("call search('acme')")
    panel.type("d")
    (sent,) = panel.until(lambda: panel.sent("caddie/tools/setState"))
    assert sent["changes"] == [{"tool": "mcp__acme__*", "state": "disabled"}]
    panel.type(" ")
    panel.wait_gone("find_invoices")
    panel.wait("▸ acme")
    panel.type("GR")
    assert panel.until(lambda: panel.sent("caddie/mcp/restart")) == [{"server": "jira"}]


def test_the_filter_leaves_only_what_fits(panel: Terminal) -> None:
    panel.type("/invoices\r")
    shown = panel.wait_gone("WebFetch")
    assert "find_invoices" in shown
    panel.type("\x7f")
    panel.wait("WebFetch")


def test_why_is_explained_in_words(panel: Terminal) -> None:
    panel.type("/delete\r")
    panel.wait_gone("Bash")
    panel.type("G?")
    panel.wait("It is disabled by the pattern")
    panel.type("q")
    panel.wait_gone("It is disabled by the pattern")
    panel.type("q")
    panel.wait_gone("delete_customer")
