"""A terminal for tests: runs a program in a real pty and reads the screen as a person would see it."""

from __future__ import annotations

import io
import os
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pexpect
import pyte
from pyte.screens import Char

TIMEOUT = 60.0
PAUSE, PIECES = 0.02, 10
KEYS = {
    "ctrl-c": "\x03",
    "ctrl-d": "\x04",
    "tab": "\t",
    "enter": "\r",
    "esc": "\x1b",
    "up": "\x1b[A",
    "down": "\x1b[B",
    "left": "\x1b[D",
    "home": "\x1b[H",
    "end": "\x1b[F",
    "alt-enter": "\x1b\r",
}


class _Terminal(pyte.HistoryScreen):
    """Answers what programs ask of a terminal."""

    def __init__(self, columns: int, lines: int, write: object) -> None:
        self._write = write
        super().__init__(columns, lines, history=5000, ratio=1)

    def write_process_input(self, data: str) -> None:
        self._write(data)  # type: ignore[operator]


class Screen:
    """`spawn` starts the program; every wait is bounded and fails with the picture of the screen."""

    def __init__(self, child: pexpect.spawn, columns: int, lines: int) -> None:
        self.child = child
        self.raw = ""
        self.terminal = _Terminal(columns, lines, child.send)
        self.stream = pyte.Stream(self.terminal)

    @classmethod
    def spawn(
        cls,
        argv: Sequence[str],
        env: Mapping[str, str] | None = None,
        size: tuple[int, int] = (100, 30),
        cwd: Path | None = None,
    ) -> Screen:
        """`size` is columns, rows."""
        columns, lines = size
        inherited = {
            name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES", "CI")
        }
        child = pexpect.spawn(
            argv[0],
            list(argv[1:]),
            env={**inherited, "TERM": "xterm-256color", "COLORTERM": "truecolor", **(env or {})},  # type: ignore[arg-type]
            dimensions=(lines, columns),
            cwd=str(cwd) if cwd else None,
            encoding="utf-8",
            codec_errors="replace",
            echo=False,
        )
        child.delaybeforesend = None
        return cls(child, columns, lines)

    def read(self, wait: float = 0.05) -> bool:
        """Takes in what the program has written; whether there was anything."""
        try:
            chunk = self.child.read_nonblocking(65536, timeout=wait)
        except (pexpect.TIMEOUT, pexpect.EOF):
            return False
        self.raw += chunk
        self.stream.feed(chunk)
        return True

    def text(self) -> str:
        """The visible screen."""
        return "\n".join(line.rstrip() for line in self.terminal.display).rstrip()

    def scrollback(self) -> str:
        """What has scrolled away, and the screen."""
        width = self.terminal.columns
        above = ["".join(line[at].data for at in range(width)).rstrip() for line in self.terminal.history.top]
        return "\n".join([*above, self.text()])

    def wait_for(self, *texts: str, timeout: float = TIMEOUT) -> str:
        """Until every text is on the screen."""
        return self._wait(lambda screen: all(text in screen for text in texts), f"{texts} to appear", timeout)

    def wait_until_gone(self, text: str, timeout: float = TIMEOUT) -> str:
        return self._wait(lambda screen: text not in screen, f"{text!r} to go", timeout)

    def wait_for_match(self, pattern: str, timeout: float = TIMEOUT) -> str:
        return self._wait(lambda screen: re.search(pattern, screen) is not None, f"/{pattern}/", timeout)

    def send(self, keys: str) -> None:
        """Text as typed, or the name of a key: `ctrl-c`, `tab`, `enter`, `esc`, `up`, `alt-enter`."""
        self.child.send(KEYS.get(keys, keys))

    def click(self, text: str, at: int = 0) -> None:
        """The left button on the character `at` of the first line that has `text`."""
        lines = self.text().splitlines()
        row = next((row for row, line in enumerate(lines) if text in line), None)
        assert row is not None, f"{text!r} is not on the screen:\n{self.text()}"
        column = lines[row].index(text) + at + 1
        self.child.send(f"\x1b[<0;{column};{row + 1}M\x1b[<0;{column};{row + 1}m")

    def resize(self, columns: int, lines: int) -> None:
        self.terminal.resize(lines, columns)
        self.child.setwinsize(lines, columns)

    def wait_for_exit(self, timeout: float = TIMEOUT) -> int:
        """The exit code. A program that stays is a failure."""
        end = time.monotonic() + timeout
        while self.child.isalive():
            self.read()
            assert time.monotonic() < end, f"still running:\n{self.text()}"
        self.read()
        self.child.close()
        return int(self.child.exitstatus if self.child.exitstatus is not None else -(self.child.signalstatus or 0))

    def close(self) -> None:
        """The program is gone afterwards; a busy machine takes longer over it than pexpect waits."""
        try:
            self.child.close(force=True)
        except pexpect.ExceptionPexpect:
            end = time.monotonic() + TIMEOUT
            while self.child.isalive():
                assert time.monotonic() < end, "it cannot be killed"
                time.sleep(PAUSE)

    def style_of(self, text: str) -> Char:
        """How the first character of `text` looks: `.fg`, `.bold`, …"""
        for row, line in enumerate(self.terminal.display):
            if (column := line.find(text)) >= 0:
                return self.terminal.buffer[row][column]
        raise AssertionError(f"{text!r} is not on the screen:\n{self.text()}")

    def svg(self, title: str = "caddie chat") -> str:
        """The screen as a picture."""
        from rich.console import Console
        from rich.text import Text

        console = Console(width=self.terminal.columns, record=True, file=io.StringIO(), color_system="truecolor")
        for row in range(self.terminal.lines):
            line = Text()
            for column in range(self.terminal.columns):
                char = self.terminal.buffer[row][column]
                line.append(char.data, _style(char))
            console.print(line, no_wrap=True)
        return console.export_svg(title=title)

    def _wait(self, is_there: object, what: str, timeout: float) -> str:
        end = time.monotonic() + timeout
        while True:
            screen = self.text()
            if is_there(screen):  # type: ignore[operator]
                return self._whole(screen, is_there)
            assert time.monotonic() < end, f"waited {timeout} s for {what}:\n{screen}"
            self.read()

    def _whole(self, screen: str, is_there: object) -> str:
        """A picture comes in pieces: the last one that fits, once the program pauses or has gone on."""
        for _ in range(PIECES):
            if not self.read(PAUSE) or not is_there(later := self.text()):  # type: ignore[operator]
                break
            screen = later
        return screen


def _style(char: Char) -> str:
    names = {"brown": "yellow", "default": "", "bfightmagenta": "bright_magenta"}
    color = char.fg if not re.fullmatch("[0-9a-f]{6}", char.fg) else f"#{char.fg}"
    color = names.get(color, color)
    flags = [
        flag
        for flag, on in (
            ("bold", char.bold),
            ("italic", char.italics),
            ("underline", char.underscore),
            ("reverse", char.reverse),
        )
        if on
    ]
    return " ".join([*flags, color])
