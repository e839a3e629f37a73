"""What is printed for good, above everything that may still change, and the short notes in the status line."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from rich.console import RenderableType

from caddie.terminal import view
from caddie.terminal.desk import Desk
from caddie.terminal.screen import Screen
from caddie.terminal.turn import Item

_NOTE_SECONDS = 3.0


class Printer:
    def __init__(self, desk: Desk, pen: view.Pen, screen: Screen) -> None:
        self._desk, self.pen, self._screen = desk, pen, screen
        self._note_timer: asyncio.TimerHandle | None = None

    def show(self, *things: RenderableType) -> None:
        """Things that belong to no turn: what the person said, answers of commands."""
        gap = "\n" if view.needs_blank(self._desk.last, "words") else ""
        self._screen.write(gap + "".join(self.pen.draw(thing) for thing in things))
        self._desk.last = "words"

    def notice(self, level: str, message: str) -> None:
        """Notices stand together."""
        if self._desk.last == "notice":
            self._screen.write(self.pen.draw(view.notice(level, message)))
        else:
            self.show(view.notice(level, message))
        self._desk.last = "notice"

    def items(self, items: Iterable[Item]) -> None:
        """Settled parts of a turn."""
        text = ""
        for thing in items:
            drawn = self.pen.draw(view.item(thing, self.pen.width))
            if drawn.strip():
                text += ("\n" if view.needs_blank(self._desk.last, thing) else "") + drawn
                self._desk.last = thing
        if text:
            self._screen.write(text)
        self._screen.refresh()

    def note(self, words: str, *, seconds: float = _NOTE_SECONDS) -> None:
        """A short word in the status line that goes away by itself."""
        self.clear_note()
        self._desk.note = words
        self._note_timer = asyncio.get_running_loop().call_later(seconds, self.clear_note)
        self._screen.refresh()

    def clear_note(self) -> None:
        if self._note_timer is not None:
            self._note_timer.cancel()
            self._note_timer = None
        self._desk.note = ""
        self._screen.refresh()
