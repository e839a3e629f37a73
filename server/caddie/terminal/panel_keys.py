"""Which key does what in the tools panel: keys of Textual, and the name of an action of the app."""

from __future__ import annotations

from caddie.terminal.panel_head import TABS

KEYS: tuple[tuple[str, str], ...] = (
    ("ctrl+c,q", "leave"),
    ("tab,shift+tab,S", "scope"),
    ("escape", "step_back"),
    *((str(number), f"tab('{tab}')") for number, tab in enumerate(TABS, 1)),
    ("slash", "filter"),
    ("enter,space", "act"),
    ("left,h", "fold(True)"),
    ("right", "fold(False)"),
    ("left_square_bracket", "group(-1)"),
    ("right_square_bracket", "group(1)"),
    ("up,k", "move(-1)"),
    ("down,j", "move(1)"),
    ("pageup", "page(-1)"),
    ("pagedown", "page(1)"),
    ("home", "move(-1000000)"),
    ("end", "move(1000000)"),
    ("a", "all('enabled')"),
    ("d", "all_off"),
    ("R", "all('default')"),
    ("r", "reset"),
    ("l", "log"),
    ("t", "master"),
    ("u", "undo"),
    ("x", "revoke"),
    ("y", "yes"),
    ("question_mark", "why"),
)

WHILE_TYPING = frozenset({"ctrl+c", "tab", "shift+tab", "escape", "up", "down", "pageup", "pagedown"})
