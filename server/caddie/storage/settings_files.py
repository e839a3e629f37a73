"""The user's and the workspace's settings files: as layers, as text with places, and changed in place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from caddie.layers import Layer, Problem
from caddie.storage.files import Stamp, parse_object, read_text, stamp, update_json
from caddie.storage.jsonc import BadJson, Node, find, parse, position
from caddie.storage.places import Places

FileScope = Literal["user", "workspace"]
SCOPES: tuple[FileScope, ...] = ("user", "workspace")
VERSION = 1
MAX_BYTES = 256 * 1024  # the reader of comments and odd spellings takes about a second for this much
_ABOUT_THE_FILE = ("$schema", "version")


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """One file as it was read. `layer` has no keys about the file itself."""

    path: Path
    text: str
    layer: Layer
    problems: tuple[Problem, ...]

    @property
    def is_broken(self) -> bool:
        """It could not be read, so `layer` says nothing."""
        return any(not problem.location for problem in self.problems)

    def range_of(self, location: tuple[int | str, ...]) -> tuple[tuple[int, int], tuple[int, int]]:
        """Line and column, from 0, of where a problem is to be shown: a key, an item, else the file's first line."""
        try:
            entry = find(_parsed(self.text), location)
        except BadJson as error:
            start = position(self.text, error.offset)
            return start, (start[0], start[1] + 1)
        if entry is None:
            return (0, 0), (0, len(self.text.partition("\n")[0]))
        end = entry.node.end if entry.key is None or not entry.node.entries else entry.node.start
        return position(self.text, entry.start), position(self.text, end)


@lru_cache(8)  # many problems of one file are placed one after the other
def _parsed(text: str) -> Node:
    return parse(text)


def path_of(places: Places, scope: FileScope) -> Path:
    return places.user_settings if scope == "user" else places.workspace_settings


def stamps(places: Places) -> tuple[Stamp | None, ...]:
    return tuple(stamp(path_of(places, scope)) for scope in SCOPES)


def read_settings_files(places: Places) -> dict[FileScope, SettingsFile]:
    return {scope: read_settings_file(places, scope) for scope in SCOPES}


def read_settings_file(places: Places, scope: FileScope) -> SettingsFile:
    path = path_of(places, scope)
    text, problem = read_text(path, MAX_BYTES)
    tree: dict[str, Any] = {}
    if not problem:
        tree, problem = parse_object(text, path.name)
    problems = [Problem(scope, "", problem)] if problem else []
    problems += _version_problems(scope, tree.get("version"))
    settings = {key: value for key, value in tree.items() if key not in _ABOUT_THE_FILE}
    return SettingsFile(path, text, Layer(scope, settings, str(path) if tree else ""), tuple(problems))


def _version_problems(scope: FileScope, version: Any) -> list[Problem]:
    """A file without a version is an old one, and loads."""
    if version is None or version == VERSION:
        return []
    if isinstance(version, int) and not isinstance(version, bool) and version > VERSION:
        text = (
            f"a newer Caddie wrote this file (version {version}; this one knows {VERSION}); what it knows is in force"
        )
        return [Problem(scope, "version", text, ("version",), "notice")]
    text = f"expected {VERSION}, or nothing; got {version!r}"
    return [Problem(scope, "version", text, ("version",))]


def update_settings(places: Places, scope: FileScope, change: Callable[[dict[str, Any]], None]) -> str:
    """Change a file under its lock; its path. Blocks for the disk. Raises: InvalidInput."""
    path = path_of(places, scope)
    update_json(path, change)
    return str(path)


def put(tree: dict[str, Any], key: str, value: Any) -> None:
    """Set a dotted key; None removes it."""
    head, dot, rest = key.partition(".")
    child = tree.get(head)
    if dot and value is None:
        if isinstance(child, dict):
            put(child, rest, None)
    elif dot:
        tree[head] = child if isinstance(child, dict) else {}
        put(tree[head], rest, value)
    elif value is None:
        tree.pop(head, None)
    else:
        tree[head] = value
