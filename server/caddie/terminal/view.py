"""How does each thing look? One function per item, from values to rich renderables; `Pen` turns them into text.

Strangers' text goes through `clean` and into `Text`, never into markup.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.text import Text
from rich.theme import Theme

from caddie.protocol.chat import ToolCallEvent, Usage
from caddie.terminal.text import amount, clean, duration, fit, one_line
from caddie.terminal.turn import UNSETTLED, Answer, Checklist, Item, Thought

ACCENT, WAITING, WRONG, DIM = "cyan", "yellow", "red", "dim"
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_WIDEST = 100
_LABEL = 16
_PROGRESS_LINES = 3
_BARE = ("command", "file_path", "path", "pattern", "query", "url", "skill", "description")
_MARKS = {"done": ("✓", "green"), "failed": ("✗", WRONG), "refused": ("✗", WAITING), "cancelled": ("◌", DIM)}
_BOXES = {"pending": ("☐", DIM), "in_progress": ("◉", ACCENT), "completed": ("☑", DIM)}
_LEVELS = {"info": ("·", DIM), "warning": ("!", WAITING), "error": ("✗", WRONG)}

_THEME = Theme(
    {
        "markdown.h1": "bold underline",
        "markdown.h2": "bold",
        "markdown.h3": "bold",
        "markdown.h4": "italic bold",
        "markdown.h5": "italic",
        "markdown.h6": "italic",
        "markdown.code": "cyan",
        "markdown.item.bullet": "dim",
        "markdown.item.number": "dim",
        "markdown.list": "none",
        "markdown.block_quote": "dim",
        "markdown.hr": "dim",
        "markdown.link": "underline",
        "markdown.link_url": "dim",
        "markdown.table.border": "dim",
        "markdown.table.header": "bold",
    }
)


class Pen:
    """Draws for one terminal: its colours, its width at the moment."""

    def __init__(self, colors: Console, columns: Callable[[], int]) -> None:
        self._colors = colors
        self._columns = columns

    @property
    def width(self) -> int:
        return min(self._columns(), _WIDEST)

    def draw(self, renderable: RenderableType) -> str:
        """ANSI text that ends with a line end."""
        if isinstance(renderable, Text) and not renderable.plain:
            return ""
        file = io.StringIO()
        console = Console(
            file=file,
            width=self.width,
            force_terminal=self._colors.is_terminal,
            color_system=self._colors.color_system,  # type: ignore[arg-type]
            no_color=self._colors.no_color,
            legacy_windows=False,
            markup=False,
            highlight=False,
            emoji=False,
            theme=_THEME,
        )
        console.print(renderable)
        lines = [line.rstrip() for line in file.getvalue().rstrip("\n").split("\n")]
        while len(lines) > 1 and not Text.from_ansi(lines[0]).plain.strip():
            del lines[0]  # rich sets tables apart by itself; here the empty lines are ours
        while len(lines) > 1 and not Text.from_ansi(lines[-1]).plain.strip():
            del lines[-1]
        return "\n".join(lines) + "\n"


def item(thing: Item, width: int, since: float = 0, frame: int = 0) -> RenderableType:
    """`since`: seconds that a running call has been seen; `frame` moves the spinner."""
    match thing:
        case Answer(text=text):
            from caddie.terminal.markdown import markdown  # the first prompt need not wait for pygments

            return markdown(text)
        case Thought(text=text):
            return Text(fit("· thought  " + one_line(text), width), style="dim italic")
        case Checklist():
            return _checklist(thing)
        case ToolCallEvent():
            return call(thing, width, since, frame)
    return notice(thing.level, thing.message)


def header(workspace: str, model: str, width: int) -> Text:
    left, right = f"caddie · {one_line(workspace)}", model
    left = fit(left, max(width - cell_len(right) - 2, 8))
    gap = " " * max(width - cell_len(left) - cell_len(right), 1)
    return Text.assemble((left, "bold"), gap, (right, DIM), "\n", ("─" * width, DIM))


def welcome() -> Text:
    return Text(
        "Ask about this folder, or have something done; Caddie asks before it changes anything.\n"
        "/help shows the commands · Ctrl-C stops a turn · Ctrl-D leaves",
        style=DIM,
    )


def said(message: str) -> Text:
    """What the person wrote."""
    lines = clean(message).split("\n")
    return Text.assemble(("› ", ACCENT), (lines[0], "bold"), *((f"\n  {line}", "bold") for line in lines[1:]))


def notice(level: str, message: str) -> Text:
    mark, style = _LEVELS.get(level, _LEVELS["info"])
    first, *rest = clean(message).split("\n")
    return Text.assemble((f"{mark} {first}", style), *((f"\n  {line}", DIM) for line in rest))


def usage(spent: Usage) -> Text:
    total = spent.input_tokens + spent.output_tokens
    cached = f" · {100 * spent.cached_tokens // spent.input_tokens} % cached" if spent.input_tokens else ""
    return Text(f"{amount(total)} tokens{cached}", style=DIM)


def call(event: ToolCallEvent, width: int, since: float = 0, frame: int = 0) -> RenderableType:
    running = event.status in UNSETTLED
    mark, style = _MARKS.get(event.status, (SPINNER[frame % len(SPINNER)], ACCENT))
    right = _call_right(event, since)
    if event.status == "awaitingPermission":
        mark, style = "?", WAITING
    label = _call_label(event)
    detail = fit(_call_detail(event), max(width - max(cell_len(label), _LABEL) - cell_len(right) - 6, 0))
    line = Text.assemble((mark, style), " ", (label, "" if running else DIM))
    line.append(" " * max(_LABEL - cell_len(label), 0) + "  ")
    line.append(detail, DIM)
    line.append(" " * max(width - line.cell_len - cell_len(right), 2))
    line.append(right, DIM)
    line.truncate(width)
    return Group(line, *_call_lines(event, width))


def _call_label(event: ToolCallEvent) -> str:
    if event.tool == "ToolSearch":
        return "looking for tools" if event.status in UNSETTLED else "looked for tools"
    return one_line(event.label)


def _call_right(event: ToolCallEvent, since: float) -> str:
    match event.status:
        case "pending":
            return "preparing"
        case "awaitingPermission":
            return "waits for you"
        case "running":
            return f"{duration(int(max(since, event.elapsed_ms / 1000)))}  (Ctrl-C stops)"
        case "done" | "failed":
            return duration(event.elapsed_ms / 1000)
    return event.status


def _call_detail(event: ToolCallEvent) -> str:
    parts = [one_line(event.server)] if event.server else []
    if summary := arguments(event.params):
        parts.append(summary)
    return " · ".join(parts)


def _call_lines(event: ToolCallEvent, width: int) -> list[Text]:
    """The newest output while it runs, the reason when it did not work."""
    if event.status == "running" and event.progress:
        lines = clean(event.progress).rstrip().split("\n")[-_PROGRESS_LINES:]
        return [Text(fit("  │ " + line, width), style=DIM) for line in lines]
    if event.status in ("failed", "refused") and event.result:
        lines = [line for line in clean(event.result).split("\n") if line.strip()][:_PROGRESS_LINES]
        style = WRONG if event.status == "failed" else ""
        return [Text(fit("  " + line, width), style=style) for line in lines]
    return []


def arguments(params: Mapping[str, Any]) -> str:
    """`invoices.py` or `status=overdue`: enough to tell calls apart on one line."""
    parts = []
    for name, value in params.items():
        if value is None or value == "":
            continue
        shown = one_line(value if isinstance(value, str) else compact(value))
        parts.append(shown if name in _BARE else f"{one_line(name)}={shown}")
    return "  ".join(parts)


def compact(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)


def _checklist(checklist: Checklist) -> Text:
    text = Text()
    for todo in checklist.items:
        box, style = _BOXES[todo.status]
        doing = todo.status == "in_progress" and todo.active_form
        words = one_line(todo.active_form if doing and todo.active_form else todo.content)
        text.append(f"{box} ", style)
        text.append(words + "\n", "" if todo.status == "in_progress" else DIM)
    text.right_crop(1)
    return text


def needs_blank(before: Item | str | None, now: Item | str) -> bool:
    """Calls stand together; everything else is set apart by an empty line."""
    return before is not None and not (isinstance(before, ToolCallEvent) and isinstance(now, ToolCallEvent))


def columns(rows: Sequence[tuple[str, str, str]], width: int) -> Text:
    """`mark name   description`, one row each, cut to the width."""
    name_width = min(max((cell_len(name) for _, name, _ in rows), default=0), 34)
    text = Text()
    for mark, name, description in rows:
        text.append(f"{mark} " if mark else "")
        text.append(fit(name, name_width).ljust(name_width), ACCENT if not mark else "")
        room = width - name_width - (2 if mark else 0) - 2
        text.append("  " + fit(one_line(description), room) + "\n", DIM)
    text.right_crop(1)
    return text
