"""Where things are on the screen, and which key does what: one prompt_toolkit application below the scrollback.

What is settled is written above it and belongs to the terminal from then on; the application only holds what may still
change: the live end of a turn, a prompt, hints, the input line and one line of status. The keyboard belongs to the
input line, except while a prompt waits and the person is not typing.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Protocol

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition, has_focus
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import BufferControl, ConditionalContainer, FormattedTextControl, HSplit, Layout, Window
from prompt_toolkit.layout.containers import VerticalAlign
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.layout.processors import BeforeInput
from prompt_toolkit.output import Output
from rich.cells import cell_len

from caddie.terminal.frames import one_frame, own_output

_INPUT_ROWS = 8
_PAUSE = 0.4
_FRAME = 0.1


class Actions(Protocol):
    """What the person does; `Screen` only says so."""

    def typed(self, text: str) -> None: ...
    def submit(self, text: str) -> bool:
        """True takes the text out of the input line."""
        ...

    def tab(self, text: str, step: int) -> str | None:
        """A new text for the input line, or None."""
        ...

    def escape(self) -> None: ...
    def backspace(self) -> None: ...
    def interrupt(self) -> None: ...
    def leave(self) -> None: ...
    def prompt_key(self, key: str) -> None: ...
    def prompt_enter(self, text: str) -> None: ...
    def prompt_escape(self) -> None: ...


class Drawing(Protocol):
    """ANSI text for each part, drawn anew whenever the screen is."""

    def live(self, rows: int) -> str: ...
    def card(self, rows: int, armed: bool) -> str: ...
    def above_input(self) -> str: ...
    def status(self) -> str: ...


def history_at(path: Path | None) -> History:
    """Messages are private: only the person may read the file."""
    if path is None:
        return InMemoryHistory()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(path))


class Screen:
    def __init__(
        self,
        actions: Actions,
        drawing: Drawing,
        history: History,
        *,
        input: Input | None = None,
        output: Output | None = None,
    ) -> None:
        self._actions, self._drawing = actions, drawing
        self.draft = Buffer(multiline=True, history=history, on_text_changed=self._on_text)
        self.line = Buffer(multiline=False)
        self.prompt_open = False
        self.entry_open = False
        self._last_key = 0.0
        self._prompt_since = 0.0
        self._arming: asyncio.Task[None] | None = None
        self._draft_window = Window(
            BufferControl(self.draft),
            height=lambda: Dimension(min=1, max=_INPUT_ROWS),
            wrap_lines=True,
            dont_extend_height=True,
            get_line_prefix=lambda line, wrap: "  " if line or wrap else [("ansicyan", "› ")],
        )
        self._line_window = Window(
            BufferControl(self.line, input_processors=[BeforeInput("  › ", "ansiyellow")]), height=1
        )
        self._card_window = Window(
            FormattedTextControl(self._card, focusable=True, show_cursor=False, key_bindings=self._card_keys()),
            dont_extend_height=True,
        )
        self.app = self._application(input, output)

    def write(self, text: str) -> None:
        """Print above the application, for good."""
        if not self.app.is_running:
            self.app.output.write_raw(text)
            self.app.output.flush()
            return
        with one_frame(self.app.output):
            self.app.renderer.erase(leave_alternate_screen=False)
            self.app.output.write_raw(text)
            self.app.renderer.reset()
            self.app._redraw()  # invalidate() would leave the screen empty until the loop's next turn

    @property
    def columns(self) -> int:
        return self.app.output.get_size().columns

    async def run(self, start: Callable[[], None]) -> None:
        """Until the person leaves; `start` is called once the keyboard works."""
        with contextlib.suppress(EOFError):  # the terminal went away
            await self.app.run_async(pre_run=start)

    def leave(self) -> None:
        if self.app.is_running and not self.app.is_done:
            self.app.exit()

    @contextlib.asynccontextmanager
    async def animated(self) -> AsyncIterator[None]:
        """Redraws regularly inside; outside, an idle screen costs nothing."""

        async def tick() -> None:
            while True:
                await asyncio.sleep(_FRAME)
                self.refresh()

        ticking = asyncio.create_task(tick())
        try:
            yield
        finally:
            ticking.cancel()

    def refresh(self) -> None:
        self.app.invalidate()

    def open_prompt(self) -> None:
        if not self.prompt_open:
            self.prompt_open, self._prompt_since = True, time.monotonic()
            self._arming = asyncio.create_task(self._arm())
        self.refresh()

    def close_prompt(self) -> None:
        self.prompt_open = self.entry_open = False
        self.line.reset()
        self.app.layout.focus(self._draft_window)
        self.refresh()

    def open_entry(self, is_open: bool) -> None:
        """A line of text for the prompt: feedback, or words of one's own."""
        if self.entry_open == is_open:
            return
        was_armed, self.entry_open = self.is_armed, is_open
        self.line.reset()
        if was_armed:
            self._focus_prompt()

    @property
    def is_armed(self) -> bool:
        """A prompt takes keys only after a pause, so that a word being typed is never an answer."""
        return self.prompt_open and not self.app.layout.has_focus(self._draft_window)

    async def _arm(self) -> None:
        while self.prompt_open:
            pause = time.monotonic() - max(self._last_key, self._prompt_since)
            if pause >= _PAUSE:
                self._focus_prompt()
                return
            await asyncio.sleep(_PAUSE - pause)

    def _focus_prompt(self) -> None:
        if self.prompt_open:
            self.app.layout.focus(self._line_window if self.entry_open else self._card_window)
            self.refresh()

    def _on_text(self, buffer: Buffer) -> None:
        self._last_key = time.monotonic()
        self._actions.typed(buffer.text)

    def _room(self) -> int:
        """Rows for the live turn and a prompt: what the lines round the input leave."""
        size = self.app.output.get_size()
        return size.rows - self._input_rows(size.columns) - _lines(self._above()) - 2 - self.entry_open

    def _above(self) -> ANSI:
        return _ansi(self._drawing.above_input())

    def _card(self) -> ANSI:
        return _ansi(self._drawing.card(max(self._room(), 4), self.is_armed))

    def _live(self) -> ANSI:
        return _ansi(self._drawing.live(self._room() - (_lines(self._card()) if self.prompt_open else 0)))

    def _input_rows(self, columns: int) -> int:
        lines = self.draft.document.lines
        return min(sum(1 + cell_len(line) // max(columns - 2, 1) for line in lines), _INPUT_ROWS)

    def _application(self, input: Input | None, output: Output | None) -> Application[None]:
        body = HSplit(
            [
                self._part(self._live),
                ConditionalContainer(self._card_window, Condition(lambda: self.prompt_open)),
                ConditionalContainer(self._line_window, Condition(lambda: self.entry_open)),
                self._part(self._above),
                self._draft_window,
                Window(FormattedTextControl(lambda: _ansi(self._drawing.status())), height=1, dont_extend_height=True),
            ],
            align=VerticalAlign.TOP,
        )
        output = output or own_output()
        app: Application[None] = Application(
            layout=Layout(body, focused_element=self._draft_window),
            key_bindings=self._keys(),
            input=input,
            output=output,
            erase_when_done=True,
            include_default_pygments_style=False,
        )
        app.ttimeoutlen = 0.05
        app.timeoutlen = 0.3
        return app

    def _part(self, draw: Callable[[], ANSI]) -> ConditionalContainer:
        """Takes no row while it is empty; drawn once for each frame, though prompt_toolkit asks more often."""
        drawn: dict[int, ANSI] = {}

        def draw_once() -> ANSI:
            frame = self.app.render_counter
            if frame not in drawn:
                drawn.clear()
                drawn[frame] = draw()
            return drawn[frame]

        window = Window(FormattedTextControl(draw_once), dont_extend_height=True)
        return ConditionalContainer(window, Condition(lambda: bool(draw_once().value)))

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()
        typing = has_focus(self.draft)

        @keys.add("enter", filter=typing)
        def _submit(event: KeyPressEvent) -> None:
            text = self.draft.text
            if self._actions.submit(text):
                if text.strip():
                    self.draft.append_to_history()
                self.draft.reset()

        @keys.add("escape", "enter", filter=typing)
        def _newline(event: KeyPressEvent) -> None:
            self.draft.insert_text("\n")

        @keys.add("tab", filter=typing)
        @keys.add("s-tab", filter=typing)
        def _tab(event: KeyPressEvent) -> None:
            step = -1 if event.key_sequence[0].key == Keys.BackTab else 1
            text = self._actions.tab(self.draft.text, step)
            if text is not None:
                self.draft.text = text
                self.draft.cursor_position = len(text)

        @keys.add("escape", filter=typing)
        def _escape(event: KeyPressEvent) -> None:
            self._actions.escape()

        @keys.add("backspace", filter=typing & Condition(lambda: not self.draft.text))
        def _backspace(event: KeyPressEvent) -> None:
            self._actions.backspace()

        @keys.add("c-c")
        @keys.add("<sigint>")
        def _interrupt(event: KeyPressEvent) -> None:
            self._actions.interrupt()

        @keys.add("c-d", filter=~typing | Condition(lambda: not self.draft.text))
        def _leave(event: KeyPressEvent) -> None:
            self._actions.leave()

        @keys.add("enter", filter=has_focus(self.line))
        def _enter_line(event: KeyPressEvent) -> None:
            self._actions.prompt_enter(self.line.text)

        @keys.add("escape", filter=has_focus(self.line))
        def _escape_line(event: KeyPressEvent) -> None:
            self._actions.prompt_escape()

        return keys

    def _card_keys(self) -> KeyBindings:
        keys = KeyBindings()

        @keys.add(Keys.Any)
        def _press(event: KeyPressEvent) -> None:
            self._actions.prompt_key(event.data)

        @keys.add("enter")
        def _enter(event: KeyPressEvent) -> None:
            self._actions.prompt_key("enter")

        @keys.add("escape")
        def _escape(event: KeyPressEvent) -> None:
            self._actions.prompt_escape()

        @keys.add(Keys.BracketedPaste)
        def _paste(event: KeyPressEvent) -> None:
            """A paste is no answer."""

        return keys


def _lines(text: ANSI) -> int:
    return text.value.count("\n") + 1 if text.value else 0


def _ansi(text: str) -> ANSI:
    return ANSI(text.removesuffix("\n"))
