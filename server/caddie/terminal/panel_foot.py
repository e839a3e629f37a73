"""What stands at the bottom of the tools panel: the keys that work now, and a longer answer in a few lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import chop_cells

from caddie.terminal.panel_lines import Piece
from caddie.terminal.panel_rows import GrantLine, Header, Row, ServerLine, ToolLine
from caddie.terminal.panel_words import Words
from caddie.terminal.text import clean

Hint = tuple[str, str, str]
"""Key, what it does, and the app's action for a click."""


def keys_for(
    tab: str, row: Row | None, words: Words, *, typing: bool, asking: bool, use: bool, detail: bool
) -> tuple[list[Hint], list[Hint]]:
    """Two lines of hints, most useful first."""
    if asking:
        return [("y", words("k_yes"), "yes"), ("Esc", words("k_no"), "step_back")], []
    if typing:
        return [("⏎", words("k_list"), ""), ("Esc", words("k_clear"), "step_back")], []
    done = ("Esc", words("k_close" if detail else "k_done"), "step_back")
    if tab != "tools":
        return [*_here(row, words), done], [("1 2 3", words("k_tabs"), ""), _scope(words)]
    first = [
        *_here(row, words),
        ("a", words("k_all_on"), "all('enabled')"),
        ("d", words("k_all_off"), "all_off"),
        ("t", words("k_master_off" if use else "k_master_on"), "master"),
        done,
    ]
    second = [
        ("/", words("k_filter"), "filter"),
        _scope(words),
        ("u", words("k_undo"), "undo"),
        ("R", words("k_reset_all"), "all('default')"),
        ("", words("k_saved"), ""),
        ("[ ]", words("k_groups"), ""),
        ("1 2 3", words("k_tabs"), ""),
    ]
    return first, second


def _scope(words: Words) -> Hint:
    return ("Tab", words("k_scope"), "scope")


def _here(row: Row | None, words: Words) -> list[Hint]:
    """What can be done with the selected row."""
    why = ("?", words("k_why"), "why")
    match row:
        case ToolLine():
            return [("⏎", words("k_cycle"), "act"), ("r", words("k_reset"), "reset"), why]
        case Header(is_open=is_open, server=server):
            fold = ("⏎", words("k_fold" if is_open else "k_unfold"), "act")
            return [fold, *(_server_keys(words) if server else []), why]
        case ServerLine():
            return [*_server_keys(words), why]
        case GrantLine():
            return [("x", words("k_revoke"), "revoke")]
        case _:
            return []


def _server_keys(words: Words) -> list[Hint]:
    return [("r", words("k_restart"), "reset"), ("l", words("k_log"), "log")]


def hints(wanted: Sequence[Hint], width: int) -> list[Piece]:
    """As many as fit; the last one, which leads out, always does."""
    *others, last = wanted or [("", "", "")]
    room = width - 1 - _cells(last)
    shown: list[Hint] = []
    for hint in others:
        if _cells(hint) <= room:
            room -= _cells(hint)
            shown.append(hint)
    pieces = [Piece(" ")]
    for key, text, action in (*shown, *([last] if wanted else [])):
        if key:
            pieces.append(Piece(f"{key} ", "accent", action))
        pieces += [Piece(text, "dim", action), Piece("   ")]
    return pieces


def _cells(hint: Hint) -> int:
    key, text, _ = hint
    return Piece(f"{key} {text}" if key else text).cells + 3


def detail_lines(texts: Iterable[str], width: int, limit: int, *, is_log: bool = False) -> list[str]:
    """Wrapped and cut to `limit` lines; of a log the last ones count, of an answer the first."""
    lines = [f" {part}" for text in texts for line in clean(text).splitlines() for part in _wrapped(line, width - 2)]
    if len(lines) <= limit:
        return lines
    return [" …", *lines[len(lines) - limit + 1 :]] if is_log else [*lines[: limit - 1], " …"]


def _wrapped(line: str, width: int) -> list[str]:
    """At spaces where there are any."""
    parts: list[str] = []
    current = ""
    for word in line.split(" "):
        joined = f"{current} {word}" if current else word
        if Piece(joined).cells <= width:
            current = joined
            continue
        if current:
            parts.append(current)
        *whole, current = chop_cells(word, width) or [""]
        parts += whole
    return [*parts, current]
