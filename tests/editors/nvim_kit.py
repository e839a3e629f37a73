"""Neovim with our client, for tests: before a terminal, or headless."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from terminal_screen import Screen

ROOT = Path(__file__).parents[2]
NVIM = str(Path(sys.executable).with_name("nvim"))
SCRIPTED = ROOT / "tests" / "fixtures" / "scripted_lsp_server.py"
QUIET = ["--clean", "-n", "-i", "NONE"]
SEND, ESC, GO = "\x13", "\x1b", "\x1b[15~"  # GO is F5: lets the scripted server go on

RUN = """
local folder = arg[1]
vim.cmd.runtime({ 'plugin/caddie.lua', bang = true })
local given = table.concat(vim.fn.readfile(folder .. '/args.json'))
local args = vim.json.decode(given, { luanil = { object = true } })
local result = assert(loadfile(folder .. '/code.lua'))(unpack(args))
vim.fn.writefile({ vim.json.encode({ result = result == nil and vim.NIL or result }) }, folder .. '/result.json')
"""


def isolated(tmp_path: Path) -> dict[str, str]:
    home = {f"XDG_{name}_HOME": str(tmp_path / name.lower()) for name in ("CONFIG", "DATA", "STATE", "CACHE")}
    return {**home, "HOME": str(tmp_path)}


def shop(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    (folder / ".git").mkdir(parents=True)
    (folder / "invoices.py").write_text("def overdue(invoices):\n    return []\n")
    return folder


def init_lua(cmd: list[str], extra: str = "", **options: Any) -> str:
    quoted = json.dumps(json.dumps({"cmd": cmd, "guard": 0, "hint_delay": 20, **options}))
    return f"""
vim.opt.rtp:prepend({json.dumps(str(ROOT / "editors" / "nvim"))})
vim.g.loaded_python3_provider = 0 -- looking for one takes seconds
vim.g.caddie = vim.json.decode({quoted})
vim.keymap.set({{ 'n', 'i' }}, '<F5>', function() require('caddie.client').notify('test/go', vim.empty_dict()) end)
{extra}
"""


class Terminal:
    """A person before Neovim; `sent` and `answers` are what a scripted server got from it."""

    def __init__(self, argv: list[str], cwd: Path, env: dict[str, str], log: Path, size: tuple[int, int]) -> None:
        self.screen = Screen.spawn(argv, env=env, size=size, cwd=cwd)
        self.log = log

    def type(self, keys: str) -> None:
        self.screen.send(keys)

    def command(self, command: str) -> None:
        self.type(f":{command}\r")

    def normal_mode(self) -> None:
        self.type("\x1c\x0e")  # not Esc: with the key that follows it could be read as Alt and that key
        self.wait_gone("-- INSERT --")

    def text(self) -> str:
        self.screen.read()
        return self.screen.text()

    def lines(self) -> list[str]:
        return self.text().splitlines()

    def wait(self, wanted: str | Callable[[str], Any], seconds: float = 60) -> str:
        """The screen, once it shows what is wanted."""
        fits = wanted if callable(wanted) else lambda text: wanted in text

        def seen(text: str) -> bool:
            assert self.screen.child.isalive() or fits(text), f"Neovim is gone:\n{text}"
            return bool(fits(text))

        return self.screen._wait(seen, repr(wanted), seconds)

    def wait_gone(self, unwanted: str) -> str:
        return self.wait(lambda text: unwanted not in text)

    def until(self, fits: Callable[[], Any]) -> Any:
        self.wait(lambda _: bool(fits()))
        return fits()

    def colour(self, text: str) -> str:
        return str(self.screen.style_of(text).fg)

    def cursor(self) -> tuple[int, int]:
        self.screen.read()
        return self.screen.terminal.cursor.y, self.screen.terminal.cursor.x

    def sent(self, method: str) -> list[dict[str, Any]]:
        return [message["params"] for message in self._messages() if message.get("method") == method]

    def answers(self) -> dict[Any, Any]:
        """What the client answered to the server's requests, by id."""
        return {m["id"]: m.get("result", m.get("error")) for m in self._messages() if "method" not in m}

    def answer_to(self, request_id: str) -> Any:
        return self.until(lambda: request_id in self.answers() and [self.answers()[request_id]])[0]

    def close(self) -> None:
        self.screen.close()

    def _messages(self) -> list[dict[str, Any]]:
        if not self.log.exists():
            return []
        return [json.loads(line) for line in self.log.read_text().splitlines(keepends=True) if line.endswith("}\n")]
