"""What stands at the top of the tools panel: the tabs, trouble with servers, and the scope that changes go to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from caddie.protocol.mcp import ServerInfo
from caddie.terminal.panel_desk import Scope
from caddie.terminal.panel_lines import Piece, spread
from caddie.terminal.panel_words import Words

Tab = Literal["tools", "mcp", "permissions"]
TABS: tuple[Tab, ...] = ("tools", "mcp", "permissions")


def head(tab: Tab, scope: Scope, servers: Iterable[ServerInfo], width: int, words: Words) -> list[Piece]:
    said = words("scope", scope=words.scope(scope))
    return spread(_tabs(tab, servers, words), [Piece(said, "accent", "scope"), Piece(" (Tab) ", "dim", "scope")], width)


def _tabs(here: Tab, servers: Iterable[ServerInfo], words: Words) -> list[Piece]:
    pieces = [Piece(" ")]
    for number, tab in enumerate(TABS, 1):
        name, action = f"{number} {words(tab)}", f"tab {tab}"
        pieces.append(Piece(f"[{name}]", "strong", action) if tab == here else Piece(f" {name} ", "dim", action))
        if tab == "mcp":
            pieces += _trouble(servers, words)
        pieces.append(Piece(" "))
    return pieces


def _trouble(servers: Iterable[ServerInfo], words: Words) -> list[Piece]:
    states = [status.status for status in servers]
    bad = sum(state in ("failed", "needsAuth") for state in states)
    if coming := states.count("connecting"):
        return [Piece(f" {words('n_connecting', n=coming)} ", "dim", "tab mcp")]
    return [Piece(f" {words('n_failed', n=bad)} ", "wrong", "tab mcp")] if bad else []
