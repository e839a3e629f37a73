"""How do prompts, hints and the lines round the input look? Each fits the room it is given."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any, Literal

from rich.box import ROUNDED
from rich.cells import cell_len, set_cell_size
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from caddie.protocol.permissions import CommandPreview, DiffPreview, PermissionAsk, TextPreview
from caddie.protocol.tools import HintInfo
from caddie.terminal.prompts import PermissionPrompt, Prompt, QuestionPrompt
from caddie.terminal.text import clean, fit, one_line, reveal
from caddie.terminal.view import ACCENT, DIM, WAITING, compact

Place = Literal["selected", "first", "other"]
_NAMES = 12
_FOLDED = 12
_ROOMY = 40
_MEASURE = Console(file=io.StringIO(), width=200)
_WORDS = {
    "allowOnce": "[a]llow once",
    "allowSession": "this [s]ession",
    "allowAlways": "al[w]ays",
    "allowServerSession": "[e]very tool of {server} this session",
    "reject": "[r]eject…",
}


def card(prompt: Prompt, width: int, rows: int, *, armed: bool, waiting: int = 0) -> RenderableType:
    """`rows` is the room; the keys are always in it. Not `armed`: the person is typing and no key counts yet."""
    inner = width - 4
    if isinstance(prompt, PermissionPrompt):
        title, keys = _title(prompt.ask), _permission_keys(prompt)
        body = permission_lines(prompt.ask, inner, full=False)
    else:
        title, keys = _question_title(prompt), _question_keys(prompt)
        body = _question_lines(prompt, inner)
    if not armed:
        keys = Text("keys answer as soon as you stop typing", style=DIM)
    if waiting:
        keys.append(f"   {waiting} more to come", DIM)
    ways = keys.wrap(_MEASURE, inner)
    lines = _cut([piece for line in body for piece in line.wrap(_MEASURE, inner)], max(rows - 2 - len(ways), 1))
    return Panel(Group(*lines, *ways), title=title, title_align="left", box=ROUNDED, border_style=WAITING, width=width)


def full_request(ask: PermissionAsk, width: int) -> RenderableType:
    """Everything that would be sent, unfolded, for the scrollback."""
    return Group(_title(ask), *permission_lines(ask, width, full=True))


def _title(ask: PermissionAsk) -> Text:
    kind = ask.preview.kind if ask.preview else "text"
    verb = {"diff": "Change this file?", "command": "Run this command?", "text": "Run this tool?"}[kind]
    who = one_line(ask.label) + (f" · {one_line(ask.server)}" if ask.server else "")
    return Text.assemble((verb, "bold"), f"  {who}", overflow="ellipsis", no_wrap=True)


def permission_lines(ask: PermissionAsk, width: int, *, full: bool) -> list[Text]:
    lines = []
    if ask.definition_changed:
        changed = reveal(ask.definition_changed).split("\n")
        lines += [Text(f"! changed since you allowed it: {changed[0]}", style=WAITING)]
        lines += [Text(fit("  " + line, width), style=WAITING) for line in changed[1:]]
    match ask.preview:
        case DiffPreview(path=path, unified=unified):
            lines += [Text(fit(_flat(path), width), style="bold"), *_diff(unified, width, full)]
        case CommandPreview(command=command, cwd=cwd, note=note):
            words = [Text.assemble((sign, DIM), line) for sign, line in _signed(command)]
            lines += words if full else _cut(words, _FOLDED)
            lines += [Text(fit(f"in {_flat(cwd)}", width), style=DIM)]
            lines += [Text(fit(_flat(note), width), style=DIM)] if note else []
        case TextPreview(text=text):
            words = [Text(line) for line in reveal(text).split("\n")]
            lines += words if full else _cut(words, _FOLDED)
    lines += _params(ask, width, full)
    if ask.reason:
        lines.append(Text(fit(one_line(ask.reason), width) if not full else one_line(ask.reason), style=DIM))
    return lines


def _flat(text: str) -> str:
    return reveal(text).replace("\n", "␊")


def _signed(command: str) -> list[tuple[str, str]]:
    first, *rest = reveal(command).split("\n")
    return [("$ ", first), *(("  ", line) for line in rest)]


def _params(ask: PermissionAsk, width: int, full: bool) -> list[Text]:
    """Every argument, folded to a line unless `full`; only what the command preview shows word for word is left out."""
    shown = ask.preview.command if isinstance(ask.preview, CommandPreview) else None
    params = {name: value for name, value in ask.params.items() if shown is None or value != shown}
    names = min(max((cell_len(_flat(name)) for name in params), default=0), _NAMES)
    return [line for name, value in params.items() for line in _param(_flat(name), value, names, width, full)]


def _param(name: str, value: Any, names: int, width: int, full: bool) -> list[Text]:
    lines = reveal(value if isinstance(value, str) else compact(value)).split("\n") or [""]
    start = Text.assemble((name.ljust(names) if full else fit(name, max(names, 4)).ljust(names), DIM), "  ")
    indent = " " * (names + 2)
    if full:
        return [start.append(lines[0]), *(Text(indent + line) for line in lines[1:])]
    room = width - start.cell_len
    if len(lines) == 1 and cell_len(lines[0]) <= room:
        return [start.append(lines[0])]
    more = _more(len(lines) - 1) if len(lines) > 1 else f"{len(lines[0])} characters"
    note = f" ({more}, v shows all)" if room > _ROOMY else f" ({more}, v)"
    first = lines[0] if cell_len(lines[0]) + cell_len(note) <= room else fit(lines[0], max(room - cell_len(note), 8))
    return [start.append(first).append(note, DIM)]


def _diff(unified: str, width: int, full: bool) -> list[Text]:
    """Signs as well as colours; the two lines with the file's name are left out, the name stands above."""
    lines = reveal(unified).rstrip("\n").split("\n")
    lines = lines[2:] if lines[0].startswith("--- ") else lines
    styles = {"+": "green", "-": "red", "@": DIM}
    shown = [Text(line if full else fit(line, width), style=styles.get(line[:1], "")) for line in lines]
    return shown if full else _cut(shown, _FOLDED)


def _cut(lines: Sequence[Text], room: int) -> list[Text]:
    if len(lines) <= room:
        return list(lines)
    return [*lines[: room - 1], Text(f"… ({_more(len(lines) - room + 1)}, v shows all)", style=DIM)]


def _more(lines: int) -> str:
    return "+1 line" if lines == 1 else f"+{lines} lines"


def _permission_keys(prompt: PermissionPrompt) -> Text:
    if prompt.entry:
        return Text("Why not? The model is told. Enter sends (empty is fine) · Esc goes back", style=DIM)
    server = one_line(prompt.ask.server or "the server")
    words = [_WORDS[choice.kind].format(server=server) for _, choice in prompt.keys]
    if not prompt.shown_all:
        words.append("[v]iew all")
    return keyed("   ".join(words))


def keyed(words: str) -> Text:
    """`[a]llow once`, the key in the accent."""
    text = Text(words)
    text.highlight_regex(r"\[\w+\]", f"bold {ACCENT}")
    return text


def _question_title(prompt: QuestionPrompt) -> Text:
    count = f" ({prompt.at + 1} of {len(prompt.ask.questions)})" if len(prompt.ask.questions) > 1 else ""
    return Text(f"{one_line(prompt.question.header or prompt.ask.title)}{count}", style="bold", overflow="ellipsis")


def _question_lines(prompt: QuestionPrompt, width: int) -> list[Text]:
    question = prompt.question
    lines = [Text(line) for line in clean(question.question).split("\n")]
    for at, option in enumerate(question.options, 1):
        mark = ("☑ " if option.label in prompt.chosen else "☐ ") if question.multiple else ""
        text = Text.assemble((f"[{at}] ", f"bold {ACCENT}"), mark, one_line(option.label))
        if option.description:
            text.append("  " + one_line(option.description), DIM)
        text.truncate(width, overflow="ellipsis")
        lines.append(text)
    return lines


def _question_keys(prompt: QuestionPrompt) -> Text:
    if prompt.entry:
        back = "goes back" if prompt.labels else "declines"
        return Text(f"Enter answers · Esc {back}", style=DIM)
    words = "numbers choose, Enter goes on" if prompt.question.multiple else "a number answers"
    return Text(f"{words}   Esc declines", style=DIM)


def name_width(hints: Sequence[HintInfo], width: int) -> int:
    """Names stand in one column, of a third of the width at most."""
    return min(max((cell_len(one_line(hint.label)) for hint in hints), default=0), max(width // 3, 12))


def hint_line(hint: HintInfo, width: int, names: int, place: Place) -> Text:
    """`⌁ name  description   0.83 acme   Tab ⇥ ⏎`: the keys stand where they work."""
    selected = place == "selected"
    keys = {"selected": "   ⏎ takes it", "first": "   Tab ⇥", "other": ""}[place]
    keys += " " * (13 - cell_len(keys))
    right = f"   {hint.score:.2f} {one_line(hint.server or '')}".rstrip()
    name = set_cell_size(fit(one_line(hint.label), names), names)
    room = width - names - cell_len(right) - cell_len(keys) - 4
    description = fit(one_line(hint.description), max(room, 0))
    line = Text.assemble(("▸ " if selected else "⌁ ", ACCENT), (name, f"bold {ACCENT}" if selected else ""), "  ")
    line.append(description.ljust(max(room, 0)), DIM)
    line.append(right + keys.rstrip(), ACCENT if selected else DIM)
    line.truncate(width)
    return line


def chips(picked: Sequence[HintInfo], width: int) -> Text:
    names = ", ".join(one_line(hint.label) for hint in picked)
    return Text(fit(f"with: {names}  (Backspace takes it out)", width), style=ACCENT)


def queued(messages: Sequence[str], word: str, width: int) -> Text:
    return Text("\n").join(Text(fit(f"⋯ {word}: {one_line(message)}", width), style=DIM) for message in messages)


def status(mode: str, model: str, connecting: Sequence[str], note: str, width: int) -> Text:
    """The one line under the input."""
    if note:
        return Text(fit(note, width), style=DIM)
    text = Text.assemble((mode, WAITING if mode == "plan" else DIM))
    if mode == "plan":
        text.append(" (nothing is changed)", DIM)
    if model:
        text.append(f" · {one_line(model)}", DIM)
    if connecting:
        text.append(f" · connecting {', '.join(map(one_line, connecting))}", DIM)
    text.truncate(width, overflow="ellipsis")
    return text
