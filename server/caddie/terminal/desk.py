"""All that the terminal shows and may still change, and how it is laid out: the live turn, prompts, hints, status."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from rich.text import Text

from caddie.protocol.chat import Attachment, Mode, ToolCallEvent
from caddie.terminal import cards, view
from caddie.terminal.client import Call
from caddie.terminal.commands import Command
from caddie.terminal.hints import Hints
from caddie.terminal.prompts import Prompt
from caddie.terminal.text import duration
from caddie.terminal.turn import Answer, Item, Thought, TurnState

_UNSAID_SECONDS = 1.0  # a command that is answered sooner needs no word


@dataclass(frozen=True, slots=True)
class Outgoing:
    message: str
    picked: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()


@dataclass(slots=True)
class Running:
    """The turn under way."""

    call: Call
    mode: Mode = "agent"  # as it was sent, or as the turn itself changed it
    began: float = field(default_factory=time.monotonic)
    state: TurnState = field(default_factory=TurnState)
    seen: dict[str, float] = field(default_factory=dict)  # call id -> when it was first seen running
    turn_id: str = ""
    stopping: bool = False
    left: bool = False  # the person went to another conversation meanwhile
    told: str = ""  # the last error shown, which the request's own error only repeats


@dataclass(slots=True)
class Errand:
    """A command of the person that the server works at."""

    name: str
    task: asyncio.Task[Any]
    began: float = field(default_factory=time.monotonic)
    stopping: bool = False


@dataclass(slots=True)
class Asking:
    prompt: Prompt
    answer: asyncio.Future[dict[str, Any]]


@dataclass(slots=True)
class Desk:
    session_id: str | None = None
    model: str = ""
    mode: Mode = "agent"
    hints: Hints = field(default_factory=Hints)
    queue: list[Outgoing] = field(default_factory=list)
    asking: list[Asking] = field(default_factory=list)
    running: Running | None = None
    errands: list[Errand] = field(default_factory=list)
    starting_since: float | None = None
    connecting: set[str] = field(default_factory=set)  # MCP servers on their way
    candidates: list[Command] = field(default_factory=list)
    note: str = ""
    last: Item | str | None = None  # what was printed last, for the empty lines between


class Painter:
    """Draws a desk; implements the screen's `Drawing`."""

    def __init__(self, desk: Desk, pen: view.Pen, clock: Callable[[], float] = time.monotonic) -> None:
        self._desk, self._pen, self._clock = desk, pen, clock
        self._answer: tuple[tuple[str, int], str] = (("", 0), "")

    def live(self, rows: int) -> str:
        """The end of the turn; when it is longer than the screen, its last lines."""
        running = self._desk.running
        if running is None:
            return ""
        parts, last = list[str](), self._desk.last
        for thing in running.state.live:
            gap = "\n" if view.needs_blank(last, thing) else ""
            parts.append(gap + self._item(thing, running))
            last = thing
        is_silent = not running.state.live or isinstance(running.state.live[-1], Thought)
        if is_silent and not self._desk.asking:
            gap = "\n" if view.needs_blank(last, "wait") and not isinstance(last, ToolCallEvent) else ""
            parts.append(gap + self._pen.draw(self._waiting(running)))
        if not parts or rows < 1:
            return ""
        lines = "".join(parts).rstrip("\n").split("\n")
        return "\n".join([*lines[-rows:], ""])

    def card(self, rows: int, armed: bool) -> str:
        if not self._desk.asking:
            return ""
        prompt, more = self._desk.asking[0].prompt, len(self._desk.asking) - 1
        drawn = self._pen.draw(cards.card(prompt, self._pen.width, rows, armed=armed, waiting=more))
        return "\n" + drawn if self._desk.last is not None else drawn

    def above_input(self) -> str:
        desk, width = self._desk, self._pen.width
        lines = [] if desk.asking else self._hints()
        if desk.candidates:
            lines.append(Text("  ".join(f"/{command.name}" for command in desk.candidates), style=view.DIM))
        if desk.hints.picked:
            lines.append(cards.chips(desk.hints.picked, width))
        if desk.queue:
            word = "waits for the server" if desk.starting_since is not None else "next"
            lines.append(cards.queued([outgoing.message for outgoing in desk.queue], word, width))
        gap = "\n" if desk.last is not None else ""
        return gap + "".join(self._pen.draw(line) for line in lines) if lines else gap and " \n"

    def _hints(self) -> list[Text]:
        """The keys are shown once: at the selected hint, or at the first."""
        hints, width = self._desk.hints, self._pen.width
        names = cards.name_width(hints.shown, width)
        marked: cards.Place = "first" if hints.selected is None else "selected"
        lines = [
            cards.hint_line(hint, width, names, marked if at == (hints.selected or 0) else "other")
            for at, hint in enumerate(hints.shown)
        ]
        return [Text(" ")] * (hints.rows - len(lines)) + lines

    def status(self) -> str:
        desk = self._desk
        note = desk.note
        if not note and desk.starting_since is not None:
            note = f"starting the server  {duration(int(self._clock() - desk.starting_since))}"
        if not note and desk.errands and (seconds := self._clock() - desk.errands[-1].began) >= _UNSAID_SECONDS:
            note = f"/{desk.errands[-1].name}  {duration(int(seconds))}  (Ctrl-C stops)"
        return self._pen.draw(cards.status(desk.mode, desk.model, sorted(desk.connecting), note, self._pen.width))

    def _item(self, thing: Item, running: Running) -> str:
        width = self._pen.width
        if isinstance(thing, Answer):
            # A long last block is drawn at each frame, and parsed only when it has changed.
            if self._answer[0] != (thing.text, width):
                self._answer = (thing.text, width), self._pen.draw(view.item(thing, width))
            return self._answer[1]
        since = 0.0
        if isinstance(thing, ToolCallEvent) and thing.call_id in running.seen:
            since = self._clock() - running.seen[thing.call_id]
        return self._pen.draw(view.item(thing, width, since, self._frame()))

    def _waiting(self, running: Running) -> Text:
        seconds = int(self._clock() - running.began)
        words, hint = ("stopping", "Ctrl-C does not wait") if running.stopping else ("working", "Ctrl-C stops")
        spinner = (view.SPINNER[self._frame()], view.ACCENT)
        return Text.assemble(spinner, f" {words}  ", (f"{duration(seconds)}  ({hint})", view.DIM))

    def _frame(self) -> int:
        return int(self._clock() * 10) % len(view.SPINNER)
