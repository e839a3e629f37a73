"""`caddie tools` at a terminal: the real program in a real pty, its screen read as a person would."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from editor_client import clean_environment
from terminal_screen import Screen

SERVERS = Path(__file__).parents[1] / "fixtures" / "mcp_servers"
FAILS = "import sys; print('reading the config', file=sys.stderr); sys.exit('JIRA_TOKEN is not set')"
ESCAPE = "\x1b"
COMMAND = [sys.executable, "-m", "caddie", "tools"]


class Panel:
    """The panel of one workspace, and what is on disk."""

    def __init__(self, home: Path, workspace: Path) -> None:
        self.home, self.workspace = home, workspace
        self.user_file = home / ".config" / "caddie" / "settings.json"
        self.workspace_file = workspace / ".caddie" / "settings.json"
        self.screen: Screen

    def env(self) -> dict[str, str]:
        places = {"XDG_CONFIG_HOME": str(self.home / ".config"), "XDG_DATA_HOME": str(self.home / ".local")}
        return {**clean_environment(self.home, **places), "LANG": "C.UTF-8", "LC_ALL": ""}

    def write_user(self, settings: dict[str, Any]) -> None:
        self.user_file.parent.mkdir(parents=True, exist_ok=True)
        self.user_file.write_text(json.dumps(settings))

    def lists(self, path: Path | None = None) -> dict[str, Any]:
        path = path or self.workspace_file
        tools: dict[str, Any] = json.loads(path.read_text()).get("tools", {}) if path.exists() else {}
        return tools

    def press(self, *keys: str) -> None:
        for key in keys:
            self.screen.send(key)

    def leave(self) -> None:
        self.press("ctrl-c")
        assert self.screen.wait_for_exit() == 0

    def told(self) -> dict[str, Any]:
        """What `caddie tools --json` says now, by label."""
        argv = [*COMMAND, "--json", "--wait", "0", "-C", str(self.workspace)]
        output = subprocess.run(argv, env=self.env(), capture_output=True, text=True, timeout=120, check=True).stdout
        return {tool["label"]: tool for tool in json.loads(output)["tools"]}

    def line(self, text: str) -> str:
        return next((line for line in self.screen.text().splitlines() if text in line), "")


Open = Callable[..., Panel]


@pytest.fixture
def start(home: Path, workspace: Path) -> Iterator[Open]:
    opened: list[Panel] = []

    def begin(
        size: tuple[int, int] = (80, 24),
        *,
        servers: dict[str, Any] | None = None,
        user: dict[str, Any] | None = None,
        env: dict[str, str] | None = None,
        ready: str = "Bash",
    ) -> Panel:
        panel = Panel(home, workspace)
        opened.append(panel)
        panel.write_user({**(user or {}), **({"mcp": {"servers": servers}} if servers else {})})
        argv = [*COMMAND, "-C", str(workspace)]
        panel.screen = Screen.spawn(argv, {**panel.env(), **(env or {})}, size)
        panel.screen.wait_for(ready)
        return panel

    yield begin
    for panel in opened:
        panel.screen.close()


def test_what_is_chosen_holds_on_disk_and_for_every_other_command(start: Open) -> None:
    panel = start()
    panel.press("/", "webfetch", "enter")
    panel.screen.wait_for("✓ WebFetch", "⏎ ✓→✗→◐")
    panel.press("enter")
    panel.screen.wait_for("✗ WebFetch", "WebFetch is ✗ disabled (workspace).")
    panel.press(" ")
    panel.screen.wait_for("◐ WebFetch", "WebFetch is ◐ deferred (workspace).")
    assert re.search(r"workspace +0 / \d+", panel.line("◐ WebFetch"))
    assert panel.lists() == {"deferred": ["WebFetch"]}
    panel.press("esc")
    panel.screen.wait_for("✓ Edit")  # the first Esc clears the filter
    panel.press("esc")
    assert panel.screen.wait_for_exit() == 0
    told = panel.told()["WebFetch"]
    assert (told["state"], told["stateSource"]["scope"]) == ("deferred", "workspace")


def test_reset_brings_a_tool_back_to_its_default(start: Open) -> None:
    panel = start(size=(120, 40))
    panel.press("down", "down", "enter")
    panel.screen.wait_for("Read is ✗ disabled")
    panel.press("r")
    panel.screen.wait_for("✓ Read", "Read is back to its default: ✓ enabled.")
    assert panel.lists() == {}


def test_all_off_asks_once_and_can_be_taken_back(start: Open) -> None:
    panel = start()
    panel.press("down", "enter")
    panel.screen.wait_for("Bash is ✗ disabled")
    panel.press("d")
    panel.screen.wait_for("Disable all", "ToolSearch and ExecuteTool stay while any tool is deferred.")
    panel.press("esc")
    panel.screen.wait_until_gone("Disable all")
    assert panel.lists() == {"disabled": ["Bash"]}
    panel.press("d", "y")
    panel.screen.wait_for("Everything is disabled (workspace).", " 0 ✓")
    assert panel.lists() == {"disabled": ["*"]}
    panel.press("a")
    panel.screen.wait_for("Everything is enabled (workspace)", "0 ◐  ")
    assert panel.lists() == {"enabled": ["*"]}
    panel.press("u")
    panel.screen.wait_for("Taken back", " 0 ✓")
    panel.press("u")
    panel.screen.wait_for("✗ Bash", "✓ Read")
    assert panel.lists() == {"disabled": ["Bash"]}
    panel.press("R")
    panel.screen.wait_for("✓ Bash", "The lists of the workspace settings are empty")
    assert panel.lists() == {}


def test_the_scope_switches_and_a_nearer_scope_that_decides_is_named(start: Open) -> None:
    panel = start()
    panel.press("down", "enter")
    panel.screen.wait_for("Bash is ✗ disabled (workspace).")
    panel.press("tab")
    panel.screen.wait_for("scope: user", "saved at once in")
    panel.press("enter")
    panel.screen.wait_for("Saved, but Bash stays ✗ disabled: workspace decides.")
    panel.press("S")
    panel.screen.wait_for("scope: workspace")
    panel.press("r")
    panel.screen.wait_for("◐ Bash", "Saved, but Bash stays ◐ deferred: user decides.")
    assert panel.lists(panel.user_file) == {"deferred": ["Bash"]}
    assert panel.lists() == {}


def test_the_master_switch_turns_all_tools_off_and_on(start: Open) -> None:
    panel = start()
    panel.press("t")
    panel.screen.wait_for("all tools are off", "✗ Bash", "tools.use", "t tools on")
    assert panel.lists() == {"use": False}
    panel.press("down", "enter")
    panel.screen.wait_for("press t to turn them on first")
    panel.press("t")
    panel.screen.wait_for("✓ Bash", "Tools are on (workspace).")


def test_why_follows_the_selection_and_closes_before_the_panel(start: Open) -> None:
    panel = start()
    panel.press("down", "?")
    panel.screen.wait_for("Bash is enabled", "its full schema is in the prompt.")
    panel.press("down")
    panel.screen.wait_for("Read is enabled", "its full schema is in the prompt.")
    panel.press("esc")
    panel.screen.wait_until_gone("Read is enabled")
    panel.press("q")
    assert panel.screen.wait_for_exit() == 0


def test_servers_come_while_the_panel_is_open(start: Open, git_server: dict[str, object]) -> None:
    fails, silent = {"command": sys.executable, "args": ["-c", FAILS]}, {"command": "sleep", "args": ["600"]}
    panel = start((120, 40), servers={"git": git_server, "jira": fails, "slow": silent})
    panel.screen.wait_for("connecting")  # the picture waits for none of them
    panel.press("left")
    panel.screen.wait_for("▸ Built-in")
    panel.screen.wait_for("git  ready · 12 tools", "◐ git_log", "JIRA_TOKEN is not set")
    assert panel.line("jira").rstrip().endswith("r restart  l log")
    panel.press("]", "enter")
    panel.screen.wait_for("▸ git")
    assert "git_log" not in panel.screen.text()
    panel.press("]", "l")
    panel.screen.wait_for("reading the config")
    panel.press("r")
    panel.screen.wait_for("Starting jira.")
    panel.press("2")
    panel.screen.wait_for("✓ git", "[2 MCP]")
    panel.press("1", "/", "git log", "enter")
    panel.screen.wait_for("◐ git_log")
    panel.press("enter")
    panel.screen.wait_for("✓ git_log", "git_log is ✓ enabled (workspace).")
    panel.leave()
    assert panel.lists() == {"enabled": ["mcp__git__git_log"]}


def test_a_click_on_a_mark_cycles_and_on_a_header_folds(start: Open) -> None:
    panel = start()
    panel.screen.click("✓ Read")
    panel.screen.wait_for("✗ Read", "Read is ✗ disabled")
    panel.screen.click("✓ Write", at=30)
    panel.screen.wait_until_gone("Read is ✗ disabled")  # another row is selected; a stray click changes nothing
    assert "✓ Write" in panel.screen.text()
    panel.screen.click("✓ Write", at=30)
    panel.screen.wait_for("✗ Write")
    panel.screen.click("scope: workspace")
    panel.screen.wait_for("scope: user")
    panel.screen.click("▾ Built-in")
    panel.screen.wait_for("▸ Built-in")
    panel.screen.click("Permissions")
    panel.screen.wait_for("Given in prompts")
    assert panel.lists() == {"disabled": ["Read", "Write"]}


def test_fast_typing_in_the_filter_presses_no_key_of_the_panel(start: Open) -> None:
    panel = start()
    panel.press("/tad Ryq?")
    panel.screen.wait_for("/ tad Ryq?")
    assert panel.lists() == {}
    panel.leave()
    assert panel.lists() == {}


def test_wide_and_hostile_names_stay_in_their_columns(start: Open) -> None:
    server = {"command": sys.executable, "args": [str(SERVERS / "strange_words.py")]}
    panel = start((80, 24), servers={"账单": server}, env={"LC_ALL": "zh_CN.UTF-8"}, ready="内置")
    panel.press("/", "查询")
    panel.screen.wait_for("◐ 查询发票", "就绪", "范围：工作区")
    panel.press("enter", "enter")
    panel.screen.wait_for("✓ 查询发票", "启用（工作区）", "Esc 返回")
    panel.press("esc")
    panel.screen.wait_for("✓ Glob")
    panel.press("/", "loud", "enter")
    panel.screen.wait_for("[red]loud[/red]", "[link=https:")
    assert "owned" not in panel.screen.text()
    lines = [panel.screen.terminal.buffer[row] for row in (3, 4)]
    ends = [max(at for at in range(79) if line[at].data.strip()) for line in lines]
    assert ends in ([78, 78], [77, 77])  # with and without a scroll bar


def test_no_colour_is_sent_when_none_is_wanted(start: Open) -> None:
    panel = start(env={"NO_COLOR": "1"})
    panel.press("down", "enter")
    panel.screen.wait_for("✗ Bash")
    styles = re.findall(r"\x1b\[([\d;]*)m", panel.screen.raw)
    assert {code for style in styles for code in style.split(";")} <= {"", "0", "1", "2", "7", "39", "49"}


def test_it_follows_the_size_of_the_terminal_and_is_still_when_nothing_happens(start: Open) -> None:
    panel = start((80, 24))
    panel.screen.resize(120, 40)
    panel.screen.wait_for_match("(?m)^─{120}$")
    panel.screen.resize(60, 15)
    panel.screen.wait_for_match("(?m)^─{60}$")
    assert any(not panel.screen.read(2.5) for _ in range(100)), "it goes on drawing"


def test_what_is_read_stays_where_it_is_while_servers_report(start: Open) -> None:
    panel = start((80, 15), servers={"slow": {"command": "sleep", "args": ["600"]}}, ready="connecting")
    for _ in range(3):
        panel.screen.send("\x1b[<65;20;8M")  # the wheel, down
    panel.screen.wait_until_gone("Built-in")

    def top() -> str:
        return panel.screen.text().splitlines()[3]

    steady, end = 0, time.monotonic() + 60
    while steady < 15 and time.monotonic() < end:  # until all three steps of the wheel are drawn
        before = top()
        panel.screen.read(0.1)
        steady = steady + 1 if top() == before else 0
    drawn = len(panel.screen.raw)
    while len(panel.screen.raw) < drawn + 200 and time.monotonic() < end:  # news of some more seconds
        panel.screen.read(0.1)
    assert len(panel.screen.raw) > drawn
    assert top() == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_gives_the_terminal_back(start: Open, number: signal.Signals) -> None:
    panel = start()
    panel.screen.child.kill(number)
    panel.screen.wait_for_exit()
    assert "\x1b[?1049l" in panel.screen.raw
    assert "Traceback" not in panel.screen.raw


def test_without_a_terminal_the_table_is_printed(home: Path, workspace: Path) -> None:
    panel = Panel(home, workspace)
    argv = [*COMMAND, "-C", str(workspace)]
    shown = subprocess.run(argv, env=panel.env(), capture_output=True, text=True, timeout=120, check=True).stdout
    assert "✓ Bash" in shown
    assert "tokens in the prompt" in shown
    assert ESCAPE not in shown
