from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from terminal_screen import Screen

ROOT = Path(__file__).parents[2]
NVIM = str(Path(sys.executable).with_name("nvim"))
SCRIPTED = ROOT / "tests" / "fixtures" / "scripted_lsp_server.py"
QUIET = ["--clean", "-n", "-i", "NONE"]
RUN = """
local folder = arg[1]
vim.cmd.runtime({ 'plugin/caddie.lua', bang = true })
local given = table.concat(vim.fn.readfile(folder .. '/args.json'))
local args = vim.json.decode(given, { luanil = { object = true } })
local result = assert(loadfile(folder .. '/code.lua'))(unpack(args))
vim.fn.writefile({ vim.json.encode({ result }) }, folder .. '/result.json')
"""
GO = "\x1b[15~"  # F5: lets the scripted server go on


def isolated(tmp_path: Path) -> dict[str, str]:
    home = {f"XDG_{name}_HOME": str(tmp_path / name.lower()) for name in ("CONFIG", "DATA", "STATE", "CACHE")}
    return {**home, "HOME": str(tmp_path)}


def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    (folder / "invoices.py").write_text("def overdue(invoices):\n    return []\n")
    return folder


def init_lua(cmd: list[str], extra: str = "") -> str:
    settings = json.dumps(json.dumps({"cmd": cmd, "guard": 0, "hint_delay": 20}))
    return f"""
vim.opt.rtp:prepend({json.dumps(str(ROOT / "editors" / "nvim"))})
vim.g.loaded_python3_provider = 0 -- looking for one takes seconds
vim.g.caddie = vim.json.decode({settings})
vim.keymap.set({{ 'n', 'i' }}, '<F5>', function() require('caddie.client').notify('test/go', vim.empty_dict()) end)
{extra}
"""


class Terminal(Screen):
    """Neovim in a terminal, with our client and a server that plays a script."""

    log: Path

    def sent(self, method: str) -> list[dict[str, Any]]:
        """Params of the messages of this method that the server got."""
        return [message["params"] for message in self._messages() if message.get("method") == method]

    def answers(self) -> dict[Any, Any]:
        """What the client answered to the server's requests, by id."""
        return {m["id"]: m.get("result", m.get("error")) for m in self._messages() if "method" not in m}

    def until(self, fits: Callable[[], Any]) -> Any:
        self.wait(lambda _: bool(fits()))
        return fits()

    def command(self, command: str) -> None:
        self.type(f":{command}\r")

    def _messages(self) -> list[dict[str, Any]]:
        if not self.log.exists():
            return []
        return [json.loads(line) for line in self.log.read_text().splitlines() if line.endswith("}")]


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    started: list[Terminal] = []

    def start(script: dict[str, Any] | None = None, extra: str = "", chat: bool = True, **size: int) -> Terminal:
        folder = workspace(tmp_path)
        (tmp_path / "script.json").write_text(json.dumps(script or {}))
        cmd = [sys.executable, str(SCRIPTED), str(tmp_path / "script.json"), str(tmp_path / "log.jsonl")]
        (tmp_path / "init.lua").write_text(init_lua(cmd, extra))
        argv = [NVIM, *QUIET, "-u", str(tmp_path / "init.lua"), "invoices.py"]
        screen = Terminal(argv, str(folder), isolated(tmp_path), **size)
        screen.log = tmp_path / "log.jsonl"
        started.append(screen)
        screen.wait("def overdue")
        if chat:
            screen.command("Caddie chat")
            screen.wait("Ask, or say")
            screen.until(lambda: screen.sent("initialized"))
        return screen

    yield start
    for screen in started:
        screen.close()


@pytest.fixture
def lua(tmp_path: Path) -> Callable[..., Any]:
    """Runs Lua in a headless Neovim that has our client on its path; gives what the code returned."""
    folder = workspace(tmp_path)
    (tmp_path / "init.lua").write_text(init_lua(["caddie-is-not-here", "serve"]))

    def run(code: str, *args: Any) -> Any:
        (tmp_path / "args.json").write_text(json.dumps(args))
        (tmp_path / "code.lua").write_text(code)
        (tmp_path / "run.lua").write_text(RUN)
        argv = [NVIM, "--headless", *QUIET, "-u", str(tmp_path / "init.lua"), "-l", str(tmp_path / "run.lua")]
        env = {**os.environ, **isolated(tmp_path)}
        done = subprocess.run(
            [*argv, str(tmp_path)], cwd=folder, env=env, capture_output=True, text=True, timeout=30, check=False
        )
        assert done.returncode == 0, done.stderr
        return json.loads((tmp_path / "result.json").read_text())[0]

    return run
