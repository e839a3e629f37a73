"""The pictures of the README: real conversations in a real terminal, with a scripted model and a real MCP server.

make pictures
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from llmock.scenarios import Reply, ToolCall  # noqa: E402
from llmock.testing import LLMockServer  # noqa: E402

from editor_client import clean_environment  # noqa: E402
from terminal_screen import Screen  # noqa: E402

PICTURES = ROOT / "docs/pictures"
SIZE = (100, 30)
QUESTION = "Show the commit logs since release v2.4"
ANSWER = """\
Two commits since `v2.4`:

- **Fix the rounding of totals** — rounds half to even, as the invoices expect
- **Add totals per currency** — new column, no migration needed
"""


def repository(folder: Path) -> Path:
    folder.mkdir()
    who = {"GIT_AUTHOR_NAME": "Ada", "GIT_COMMITTER_NAME": "Ada", "GIT_CONFIG_GLOBAL": os.devnull}
    who |= {"GIT_AUTHOR_EMAIL": "ada@example.org", "GIT_COMMITTER_EMAIL": "ada@example.org"}

    def git(*args: str) -> None:
        subprocess.run(["git", *args], cwd=folder, env={**os.environ, **who}, check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    for message in ("Release v2.4", "Add totals per currency", "Fix the rounding of totals"):
        git("commit", "-q", "--allow-empty", "-m", message)
    server = {"command": sys.executable, "args": ["-m", "mcp_server_git", "--repository", str(folder)]}
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"git": server}}))
    return folder


@contextmanager
def model(workspace: Path) -> Iterator[dict[str, str]]:
    """The environment that points Caddie at a model which plays the story."""
    run = {"tool_name": "mcp__git__git_log", "params": {"repo_path": str(workspace), "max_count": 5}}
    with LLMockServer() as server:
        server.state.scenarios.add(
            Reply(text="", tool_calls=(ToolCall("ToolSearch", {"query": "commit log"}),), times=1),
            Reply(text="", tool_calls=(ToolCall("ExecuteTool", run),), times=1),
            Reply(text=ANSWER, times=1),
        )
        yield {
            "CADDIE_PROVIDER": "anthropic",
            "CADDIE_BASE_URL": server.base_url("anthropic"),
            "CADDIE_MODEL": "claude-opus-5-5",
            "ANTHROPIC_API_KEY": "not-a-key",
        }


def save(name: str, svg: str) -> None:
    """Without the fonts that the picture would load from elsewhere: the reader's own monospace will do."""
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    (PICTURES / f"{name}.svg").write_text(svg.replace("Fira Code", "ui-monospace"))


def press(screen: Screen, key: str) -> None:
    """A prompt takes keys only after a pause, so that typing is never an answer."""
    time.sleep(0.6)
    screen.read()
    screen.send(key)


def terminal(place: Path) -> str:
    workspace = repository(place / "invoices")
    with model(workspace) as env:
        screen = Screen.spawn(
            [sys.executable, "-m", "caddie", "chat", "-C", str(workspace)],
            clean_environment(place / "home", **env),
            SIZE,
        )
        screen.wait_for("Do you trust")
        press(screen, "1")
        screen.wait_until_gone("Do you trust")
        screen.send(QUESTION)
        screen.wait_for("git_log")
        hinted = screen.svg("caddie chat")
        screen.send("\r")
        screen.wait_for("llow once")
        asked = screen.svg("caddie chat")
        press(screen, "a")
        screen.wait_for("no migration needed")
        screen.wait_until_gone("working")
        save("hints", hinted)
        save("permission", asked)
        answered = screen.svg("caddie chat")
        screen.close()
    return answered


def neovim(place: Path) -> str:
    """The same story in Neovim, at the moment where it asks."""
    workspace = repository(place / "invoices")
    (workspace / "totals.py").write_text("def total(lines):\n    return round(sum(line.amount for line in lines), 2)\n")
    options = {"cmd": [sys.executable, "-m", "caddie", "serve"]}
    init = place / "init.lua"
    plugin = json.dumps(str(ROOT / "editors/nvim"))
    wanted = f"vim.g.caddie = vim.json.decode([[{json.dumps(options)}]])"
    init.write_text(f"vim.opt.rtp:prepend({plugin})\nvim.opt.number = true\n{wanted}\n")
    with model(workspace) as env:
        argv = [
            str(Path(sys.executable).with_name("nvim")),
            "--clean",
            "-n",
            "-i",
            "NONE",
            "-u",
            str(init),
            "totals.py",
        ]
        screen = Screen.spawn(argv, clean_environment(place / "home", **env), (110, 30), cwd=workspace)
        screen.wait_for("return round")
        screen.send(":Caddie chat\r")
        screen.wait_for("1 Trust")
        press(screen, "\x1b")
        press(screen, "1")
        screen.wait_until_gone("waiting for you")
        screen.send("A")
        screen.send(QUESTION)
        screen.wait_for("git_log")
        screen.send("\x13")
        screen.wait_for("asks to run")
        press(screen, "\x1b")
        press(screen, "a")
        screen.wait_for("no migration needed")
        screen.wait_for("tokens")
        answered = screen.svg("nvim")
        screen.close()
    return answered


def main() -> None:
    for name, draw in (("terminal", terminal), ("neovim", neovim)):
        with tempfile.TemporaryDirectory() as folder:
            save(name, draw(Path(folder)))


if __name__ == "__main__":
    main()
