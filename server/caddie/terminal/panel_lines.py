"""How does a row of the tools panel look at a given width? From rows to pieces of text with a role; no widget here.

Whatever a stranger wrote passes `one_line`, and pieces are plain text: nothing in them is ever read as markup.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len

from caddie.protocol.mcp import ServerInfo
from caddie.protocol.permissions import GrantInfo, RuleInfo
from caddie.protocol.tools import StateSource, ToolInfo
from caddie.terminal.panel_rows import (
    GrantLine,
    Header,
    Note,
    Row,
    RuleLine,
    ServerLine,
    Title,
    ToolLine,
    Totals,
    tokens_now,
)
from caddie.terminal.panel_words import Words
from caddie.terminal.text import amount, fit, one_line

Role = Literal["plain", "dim", "strong", "accent", "waiting", "wrong"]
MARKS = {"enabled": "✓", "deferred": "◐", "disabled": "✗"}
MARK_CELLS = 5
_SERVER_MARKS: Mapping[str, tuple[str, Role]] = {
    "ready": ("✓", "plain"),
    "connecting": ("◌", "dim"),
    "failed": ("✗", "wrong"),
    "needsAuth": ("!", "waiting"),
    "stopped": ("·", "dim"),
}
_STATE_ROLES: Mapping[str, Role] = {"failed": "wrong", "needsAuth": "waiting"}
_HOW_IT_ENDED = re.compile(r"^exited with \d+ after [\d.]+ s: (?=.)")
_GLOB = frozenset("*?[")
_TOKENS = 9
_ROOM_FOR_SOURCES = 60


@dataclass(frozen=True, slots=True)
class Piece:
    """`action` is what a click on it does, by the name of the app's action."""

    text: str
    role: Role = "plain"
    action: str = ""

    @property
    def cells(self) -> int:
        return cell_len(self.text)


def draw(row: Row, width: int, words: Words, waited: Mapping[str, int] | None = None) -> list[Piece]:
    """`waited` has the whole seconds since a server began to connect."""
    match row:
        case Header():
            return _header(row, width, words, waited or {})
        case ToolLine(tool):
            return _tool(tool, width, words)
        case ServerLine(status):
            return _server(status, width, words, waited or {})
        case RuleLine(rule):
            return _rule(rule, width, words)
        case GrantLine(grant):
            return _grant(grant, width, words)
        case Title(word):
            return [Piece(f" {words(word)}", "strong")]
        case Note(word, text):
            said = words(word, query=one_line(text)) if word and text else words(word) if word else one_line(text)
            return [Piece(fit(f"   {said}", width), "dim")]


def spread(left: Sequence[Piece], right: Sequence[Piece], width: int) -> list[Piece]:
    """`left` and `right` at the two ends of a line."""
    gap = width - sum(piece.cells for piece in (*left, *right))
    return [*left, Piece(" " * max(gap, 1)), *right]


def source_words(source: StateSource, words: Words) -> str:
    """Who decided, in a word or two: the scope, and the pattern where it is more than the tool's own name."""
    match source.kind:
        case "setting":
            scope = words.scope(source.scope or "")
            pattern = one_line(source.pattern or "")
            is_glob = bool(_GLOB & set(pattern)) or source.setting == "tools.deferral"
            return f"{scope} · {pattern}" if is_glob else scope
        case "masterSwitch":
            return "tools.use"
        case "alwaysLoad":
            return words("always_load")
        case "bridge":
            return words("bridge")
        case _:
            return ""


def totals_pieces(totals: Totals, words: Words, *, use: bool) -> list[Piece]:
    """`31 ✓  118 ◐  6 ✗   7.9k of 61k tokens`."""
    tokens = words("of_tokens", now=amount(totals.tokens_now), all=amount(totals.tokens_all))
    if not use:
        return [Piece(words("off"), "strong"), Piece(f"   {tokens} ", "dim")]
    counts = f"{totals.enabled} ✓  {totals.deferred} ◐  {totals.disabled} ✗"
    return [Piece(counts), Piece(f"   {tokens} ", "dim")]


def _tool(tool: ToolInfo, width: int, words: Words) -> list[Piece]:
    name_cells = min(max(width // 4, 16), 30)
    source = source_words(tool.state_source, words) if width >= _ROOM_FOR_SOURCES else ""
    source = fit(source, max(width // 4, 14))
    now = tokens_now(tool)
    tokens = amount(tool.tokens) if now else f"0 / {amount(tool.tokens)}"
    quiet: Role = "dim" if tool.state == "disabled" else "plain"
    left = [
        Piece(f"   {MARKS[tool.state]} ", "accent" if tool.state == "enabled" else quiet),
        Piece(_padded(one_line(tool.label), name_cells), quiet),
        Piece("  "),
    ]
    right = [Piece(f" {tokens:>{_TOKENS}} ", "dim" if not now else "plain")]
    if source:
        right.insert(0, Piece(f"  {source}", "dim"))
    room = width - sum(piece.cells for piece in (*left, *right))
    return spread([*left, Piece(fit(one_line(_first_line(tool.description)), room - 1), "dim")], right, width)


def _header(row: Header, width: int, words: Words, waited: Mapping[str, int]) -> list[Piece]:
    left = [Piece(f" {'▾' if row.is_open else '▸'} "), Piece(_name(row.server) or words("built-in"), "strong")]
    if row.status is None or row.status.status == "ready":
        state: list[Piece] = []
        count = words.tools(len(row.tools))
        text = f"{words('ready')} · {count}" if row.status else count
        right = [Piece(f" {_now_of_all(row)} ", "dim")]
        state = [Piece(fit(text, width - _cells(left) - _cells(right) - 3), "dim")]
    else:
        right = _server_keys(row.status, words) or [Piece(f" {_now_of_all(row)} " if row.tools else " ", "dim")]
        state = _server_state(row.status, width - _cells(left) - _cells(right) - 3, words, waited, len(row.tools))
    return spread([*left, Piece("  "), *state], right, width)


def _server(status: ServerInfo, width: int, words: Words, waited: Mapping[str, int]) -> list[Piece]:
    mark, role = _SERVER_MARKS[status.status]
    left = [Piece(f" {mark} ", role), Piece(_padded(_name(status.name), min(16, width // 4)), "strong"), Piece("  ")]
    if status.status == "ready":
        text = f"{words('ready')} · {words.tools(status.tools)}"
        origin = f"  {one_line(status.origin or '')} "
        left.append(Piece(text, "dim"))
        return spread(left, [Piece(fit(origin, max(width - _cells(left) - 1, 0)), "dim")], width)
    right = _server_keys(status, words)
    return spread(
        [*left, *_server_state(status, width - _cells(left) - _cells(right) - 1, words, waited, status.tools)],
        right,
        width,
    )


def _server_state(status: ServerInfo, room: int, words: Words, waited: Mapping[str, int], known: int) -> list[Piece]:
    """`failed: JIRA_TOKEN is not set`, and the same for every other state."""
    role = _STATE_ROLES.get(status.status, "dim")
    said = words(status.status)
    if status.status == "connecting" and status.name in waited:
        said += f" {words('seconds', n=waited[status.name])}"
    reason = one_line(status.reason or "")
    if cell_len(reason) > room - cell_len(said) - 2:
        reason = _HOW_IT_ENDED.sub("", reason)
    more = f": {reason}" if reason else ""
    if known:
        more += f" · {words('count_known', n=known)}"
    return [Piece(fit(said, room), role), Piece(fit(more, max(room - cell_len(said), 0)))]


def _server_keys(status: ServerInfo, words: Words) -> list[Piece]:
    if status.status not in ("failed", "needsAuth", "stopped"):
        return []
    word = "k_start" if status.status == "stopped" else "k_restart"
    name = status.name
    return [
        Piece("  "),
        Piece(f"r {words(word)}", "accent", f"restart {name}"),
        Piece("  "),
        Piece(f"l {words('k_log')}", "accent", f"log {name}"),
        Piece(" "),
    ]


def _rule(rule: RuleInfo, width: int, words: Words) -> list[Piece]:
    left = [Piece(f"   {_padded(words(rule.kind), 8)}"), Piece(" ")]
    right = [Piece(f"  {words.scope(rule.scope)} ", "dim")]
    return spread([*left, Piece(fit(one_line(rule.rule), width - _cells([*left, *right]) - 1))], right, width)


def _grant(grant: GrantInfo, width: int, words: Words) -> list[Piece]:
    what = one_line(grant.tool) + (f"  {one_line(grant.pattern)}" if grant.pattern else "")
    left = [Piece(f"   {_padded(words('allow'), 8)}"), Piece(" ")]
    right = [
        Piece(f"  {words(grant.scope)} · {one_line(grant.granted)[:10]}   ", "dim"),
        Piece(f"x {words('k_revoke')}", "accent", f"revoke {grant.id}"),
        Piece(" "),
    ]
    return spread([*left, Piece(fit(what, width - _cells([*left, *right]) - 1))], right, width)


def _now_of_all(row: Header) -> str:
    now, total = sum(map(tokens_now, row.tools)), sum(tool.tokens for tool in row.tools)
    return amount(total) if now == total else f"{amount(now)} / {amount(total)}"


def _name(server: str) -> str:
    return fit(one_line(server), 24)


def _padded(text: str, cells: int) -> str:
    text = fit(text, cells)
    return text + " " * (cells - cell_len(text))


def _cells(pieces: Sequence[Piece]) -> int:
    return sum(piece.cells for piece in pieces)


def _first_line(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip()), "")
