"""The two things the tools panel is made of: a line of pieces, and a list of rows that stays where it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from caddie.terminal.panel_lines import MARK_CELLS, Piece, Role
from caddie.terminal.panel_rows import Row, ToolLine

# The terminal's own colours, so that the panel looks like the rest of the person's terminal, light or dark.
_STYLES: dict[Role, Style] = {
    "plain": Style(),
    "dim": Style(dim=True),
    "strong": Style(bold=True),
    "accent": Style(color="cyan"),
    "waiting": Style(color="yellow"),
    "wrong": Style(color="red"),
}
_SELECTED = Style(reverse=True)
_SELECTED_STRONG = Style(reverse=True, bold=True)


class Clicked(Message):
    """A piece with an action was clicked."""

    def __init__(self, action: str) -> None:
        self.action = action
        super().__init__()


class Bar(Widget):
    """One line or more of pieces, each drawn again only when it says something else."""

    DEFAULT_CSS = "Bar { height: 1; width: 1fr; }"

    def __init__(self, *, id: str | None = None, fitted: bool = False) -> None:
        """A fitted bar is as wide as what it says."""
        super().__init__(id=id)
        self._fitted = fitted
        self._lines: list[list[Piece]] = []

    def show(self, *lines: Sequence[Piece]) -> None:
        wanted = [list(line) for line in lines]
        if wanted == self._lines:
            return
        self._lines = wanted
        if self._fitted:
            self.styles.width = max((sum(piece.cells for piece in line) for line in wanted), default=0)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        pieces = self._lines[y] if y < len(self._lines) else ()
        return _strip(pieces, self.size.width)

    def on_click(self, event: events.Click) -> None:
        if event.y < len(self._lines) and (action := _action_at(self._lines[event.y], event.x)):
            self.post_message(Clicked(action))


class RowList(ScrollView, can_focus=True, inherit_bindings=False):
    """Rows by key. What is selected stays selected and stays on its line of the screen while rows come and go."""

    DEFAULT_CSS = """
    RowList {
        height: 1fr; overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1;
        scrollbar-background: ansi_default; scrollbar-background-hover: ansi_default;
        scrollbar-background-active: ansi_default; scrollbar-color: ansi_bright_black;
        scrollbar-color-hover: ansi_bright_black; scrollbar-color-active: ansi_bright_black;
    }
    """

    class Selected(Message):
        """The person clicked another row."""

    class Acted(Message):
        """The person clicked a row as they would press Enter on it."""

    def __init__(self, draw: Callable[[Row, int], list[Piece]]) -> None:
        super().__init__()
        self._draw = draw
        self._rows: tuple[Row, ...] = ()
        self._at = 0

    @property
    def selected(self) -> Row | None:
        return self._rows[self._at] if self._rows else None

    def show(self, rows: Sequence[Row], *, key: str = "") -> None:
        """`key` names the row to select; else what was selected stays so, or the nearest to it."""
        wanted = key or (self.selected.key if self.selected else "")
        offset = self._at - self.scroll_offset.y
        was_seen = 0 <= offset < max(self.size.height, 1)
        self._rows = tuple(rows)
        found = next((at for at, row in enumerate(rows) if row.key == wanted), None)
        self._at = min(self._at, max(len(rows) - 1, 0)) if found is None else found
        self.virtual_size = Size(self.size.width, len(rows))
        if found is not None and not key:
            self.scroll_to(y=max(self._at - offset, 0), animate=False, force=True, immediate=True)
        if key or was_seen:  # the wheel may have taken the eye elsewhere; it stays there
            self._reveal()
        self.refresh()

    def select(self, at: int) -> None:
        at = min(max(at, 0), max(len(self._rows) - 1, 0))
        if at != self._at:
            self._at = at
            self._reveal()
            self.refresh()

    def move(self, rows: int) -> None:
        self.select(self._at + rows)

    def page(self, direction: int) -> None:
        self.move(direction * max(self.size.height - 1, 1))

    def to_next(self, step: int, fits: Callable[[Row], bool]) -> None:
        """The nearest row in that direction that `fits`."""
        ways = range(self._at + step, len(self._rows) if step > 0 else -1, step)
        self.select(next((at for at in ways if fits(self._rows[at])), self._at))

    def render_line(self, y: int) -> Strip:
        at = y + self.scroll_offset.y
        width = self.scrollable_content_region.width
        if at >= len(self._rows):
            return Strip.blank(width, Style())
        return _strip(self._draw(self._rows[at], width), width, is_selected=at == self._at)

    def on_resize(self) -> None:
        self.virtual_size = Size(self.size.width, len(self._rows))
        self._reveal()

    def on_click(self, event: events.Click) -> None:
        at = event.y + self.scroll_offset.y
        if at >= len(self._rows):
            return
        row, was_selected = self._rows[at], at == self._at
        action = _action_at(self._draw(row, self.scrollable_content_region.width), event.x)
        if not was_selected:
            self.select(at)
            self.post_message(self.Selected())
        if action:
            self.post_message(Clicked(action))
        elif not isinstance(row, ToolLine) or event.x < MARK_CELLS or was_selected:
            self.post_message(self.Acted())  # a tool's text selects first: a stray click changes nothing

    def _reveal(self) -> None:
        top, height = self.scroll_offset.y, self.size.height
        if self._at < top:
            self.scroll_to(y=self._at, animate=False, force=True, immediate=True)
        elif height and self._at >= top + height:
            self.scroll_to(y=self._at - height + 1, animate=False, force=True, immediate=True)


def _strip(pieces: Sequence[Piece], width: int, *, is_selected: bool = False) -> Strip:
    """The selected line has no colours, which would be patches in its bar."""
    segments = [
        Segment(piece.text, _selected_style(piece.role) if is_selected else _STYLES[piece.role]) for piece in pieces
    ]
    return Strip(segments).adjust_cell_length(width, _SELECTED if is_selected else Style()).crop(0, width)


def _selected_style(role: Role) -> Style:
    return _SELECTED_STRONG if role == "strong" else _SELECTED


def _action_at(pieces: Sequence[Piece], x: int) -> str:
    start = 0
    for piece in pieces:
        if start <= x < start + piece.cells:
            return piece.action
        start += piece.cells
    return ""
