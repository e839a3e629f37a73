"""What does a `$ref` inside a tool schema stand for? Local ones are put in place, all others allow anything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

# Keywords whose value maps names to schemas: the names are not keywords, even `$ref` or `type`.
MAPS = frozenset({"properties", "patternProperties", "dependentSchemas"})
_DEFINITIONS = frozenset({"$defs", "definitions"})
_PLAIN_DATA = frozenset({"enum", "const", "default", "examples", "example", "required"})
_REF_DEPTH = 8
_DEPTH = 60
_NODES = 4000


def inline(root: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of `root` without any `$ref`. Recursion ends in a plain object, endless growth in `{}`."""
    result = _Inliner(root).node(root, (), 0)
    return result if isinstance(result, dict) else {}


class _Inliner:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._left = _NODES

    def node(self, value: Any, open_refs: tuple[str, ...], depth: int) -> Any:
        if isinstance(value, list):
            return [self.node(item, open_refs, depth + 1) for item in value]
        if not isinstance(value, Mapping):
            return value
        if open_refs:
            self._left -= 1
        if depth > _DEPTH or self._left < 0:
            return {}
        ref = value.get("$ref")
        siblings = {
            key: self._keyword(key, inner, open_refs, depth)
            for key, inner in value.items()
            if key != "$ref" and key not in _DEFINITIONS
        }
        return _beside(self._target(ref, open_refs, depth), siblings) if isinstance(ref, str) else siblings

    def _keyword(self, key: str, value: Any, open_refs: tuple[str, ...], depth: int) -> Any:
        if key in _PLAIN_DATA:
            return value
        if key in MAPS and isinstance(value, Mapping):
            return {name: self.node(inner, open_refs, depth + 1) for name, inner in value.items()}
        return self.node(value, open_refs, depth + 1)

    def _target(self, ref: str, open_refs: tuple[str, ...], depth: int) -> dict[str, Any]:
        found = _lookup(self._root, ref)
        if not isinstance(found, Mapping):
            return {}
        if ref in open_refs or len(open_refs) >= _REF_DEPTH:
            return _bare(found)
        inlined = self.node(found, (*open_refs, ref), depth + 1)
        return inlined if isinstance(inlined, dict) else {}


def _bare(found: Mapping[str, Any]) -> dict[str, Any]:
    """What is left of a schema where recursion ends: its type, as far as it says one."""
    kind = found.get("type") or ("object" if "properties" in found else None)
    return {**({"type": kind} if isinstance(kind, str) else {}), "description": "recursive"}


def _beside(target: dict[str, Any], siblings: dict[str, Any]) -> dict[str, Any]:
    """Keywords beside a `$ref` override the target's, but properties add to each other."""
    both = {**target, **siblings}
    theirs, own = target.get("properties"), siblings.get("properties")
    if isinstance(theirs, dict) and isinstance(own, dict):
        both["properties"] = {**theirs, **own}
    return both


def _lookup(root: Any, ref: str) -> Any:
    """The value a local JSON pointer names, or None."""
    if ref == "#":
        return root
    if not ref.startswith("#/"):
        return None
    value = root
    for step in unquote(ref[2:]).split("/"):
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping):
            value = value.get(name)
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value
