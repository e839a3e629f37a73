"""Which tools were called and searched for in the last conversations? Counted from the stored sessions alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from caddie.storage.files import stamp
from caddie.storage.places import Places
from caddie.tools.core_tools import TOOL_SEARCH

SESSIONS = 10


@dataclass(frozen=True, slots=True)
class Habits:
    """One conversation: the tools called, those called after a search, and the names asked for with `select:`."""

    called: frozenset[str]
    found: frozenset[str]
    selected: frozenset[str]


def read_habits(places: Places, limit: int = SESSIONS) -> tuple[Habits, ...]:
    """Of the newest conversations that used a tool, the newest first."""
    if not places.sessions.is_dir():
        return ()
    paths = sorted(places.sessions.glob("*.jsonl"), key=_written, reverse=True)
    habits = (_habits(path) for path in paths[: limit * 3])
    return tuple(one for one in habits if one.called)[:limit]


def _written(path: Path) -> int:
    """0 when another window deleted it at this moment."""
    found = stamp(path)
    return found[0] if found else 0


def _habits(path: Path) -> Habits:
    try:
        return _read(path)
    except OSError:
        return Habits(frozenset(), frozenset(), frozenset())


def _read(path: Path) -> Habits:
    called: dict[str, None] = {}
    found: set[str] = set()
    selected: set[str] = set()
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            if not line.startswith('{"type":"call"'):
                continue
            update = _update(line)
            name = str(update.get("tool", ""))
            if TOOL_SEARCH in called and name not in called:
                found.add(name)
            if name == TOOL_SEARCH:
                selected.update(_selected(update.get("params")))
            called[name] = None
    return Habits(frozenset(called), frozenset(found), frozenset(selected))


def _update(line: str) -> Mapping[str, Any]:
    try:
        update = json.loads(line).get("update")
    except ValueError:
        return {}
    return update if isinstance(update, dict) else {}


def _selected(params: object) -> list[str]:
    query = str(params.get("query", "")) if isinstance(params, dict) else ""
    head, colon, names = query.partition(":")
    return [name.strip() for name in names.split(",")] if colon and head.strip().casefold() == "select" else []
