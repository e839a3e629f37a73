"""A person before a terminal: starts a program in a pty, types, and reads the screen as it is."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import pexpect
import pyte


class Screen:
    def __init__(self, argv: list[str], cwd: str, env: dict[str, str], columns: int = 120, rows: int = 34) -> None:
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        full = {**os.environ, **env, "TERM": "xterm-256color", "LANG": "C.UTF-8"}
        self._child = pexpect.spawn(argv[0], argv[1:], cwd=cwd, env=full, dimensions=(rows, columns), timeout=5)

    def type(self, keys: str) -> None:
        self._child.send(keys)

    def lines(self) -> list[str]:
        self._read()
        return [line.rstrip() for line in self._screen.display]

    def text(self) -> str:
        return "\n".join(self.lines())

    def colour(self, text: str) -> str:
        """Foreground of the first cell of `text` where it first stands."""
        for row, line in enumerate(self.lines()):
            if (column := line.find(text)) >= 0:
                return str(self._screen.buffer[row][column].fg)
        raise AssertionError(f"{text!r} is not on the screen:\n{self.text()}")

    def cursor(self) -> tuple[int, int]:
        self._read()
        return self._screen.cursor.y, self._screen.cursor.x

    def wait(self, wanted: str | Callable[[str], bool], seconds: float = 20) -> str:
        """The screen, once it shows what is wanted."""
        fits = wanted if callable(wanted) else lambda text: wanted in text
        deadline = time.monotonic() + seconds
        while not fits(shown := self.text()):
            if time.monotonic() > deadline:
                raise AssertionError(f"never seen: {wanted!r}\n{shown}")
        return shown

    def wait_gone(self, unwanted: str, seconds: float = 20) -> str:
        return self.wait(lambda text: unwanted not in text, seconds)

    def close(self) -> None:
        self._child.close(force=True)

    def _read(self) -> None:
        try:
            self._stream.feed(self._child.read_nonblocking(65536, timeout=0.05))
        except pexpect.TIMEOUT:
            pass
        except pexpect.EOF:
            pass
