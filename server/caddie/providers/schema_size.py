"""How does a schema that would fill the context become small enough, with as little lost as can be?"""

from __future__ import annotations

import json
from typing import Any

from caddie.providers.schema_node import MANY, ONE, Schema, includes_type
from caddie.providers.schema_refs import MAPS

SIZE = 64_000
_DEPTHS = (20, 12, 8, 6, 5, 4, 3, 2)
_SHORT = 80


def shrunk(schema: Schema) -> Schema:
    """The deepest parts go first, then long descriptions, then what properties are, and at last properties."""
    for depth in (*_DEPTHS, 1):
        if size(schema) <= SIZE:
            return schema
        if depth == 1:
            schema = _shortened(schema)
        if size(schema) > SIZE:
            schema = cut_below(schema, depth)
    return schema if size(schema) <= SIZE else _fewer(schema)


def trimmed(inlined: Schema) -> Schema:
    """Cut before it is cleaned, for cleaning takes time: only what is many times too large."""
    for depth in _DEPTHS:
        try:
            if size(inlined) <= 4 * SIZE:
                return inlined
        except (TypeError, ValueError, RecursionError):
            return inlined  # Some value is no JSON; it goes when it is cleaned.
        inlined = cut_below(inlined, depth)
    return inlined


def size(schema: Schema) -> int:
    return len(json.dumps(schema, ensure_ascii=False))


def cut_below(node: Any, depth: int) -> Any:
    """What stands deeper than `depth` keeps its type and description."""
    if not isinstance(node, dict):
        return node
    if depth == 0:
        return _bare(node)
    cut: Schema = {}
    for key, inner in node.items():
        if key in MAPS and isinstance(inner, dict):
            cut[key] = {name: cut_below(member, depth - 1) for name, member in inner.items()}
        elif (key in MANY or key == "items") and isinstance(inner, list):
            cut[key] = [cut_below(member, depth - 1) for member in inner]
        elif key in ONE:
            cut[key] = cut_below(inner, depth - 1)
        else:
            cut[key] = inner
    return cut


def _bare(node: Schema) -> Schema:
    kept: Schema = {key: node[key] for key in ("type", "description") if key in node}
    return {**kept, "items": {}} if includes_type(kept, "array") else kept


def _shortened(node: Any) -> Any:
    """With descriptions of a line at most."""
    if isinstance(node, list):
        return [_shortened(inner) for inner in node]
    if not isinstance(node, dict):
        return node
    copy = {key: _shortened(inner) for key, inner in node.items()}
    text = copy.get("description")
    if isinstance(text, str) and len(text) > _SHORT:
        copy["description"] = text[: _SHORT - 1] + "…"
    return copy


def _fewer(schema: Schema) -> Schema:
    """The first properties, the required ones before the others; more are allowed, but not named."""
    required = set(schema.get("required", ()))
    ordered = sorted(schema["properties"].items(), key=lambda item: item[0] not in required)
    kept: Schema = {}
    left = SIZE - 1000
    for name, node in ordered:
        left -= 2 * len(name) + size(node) + 12
        if left < 0:
            break
        kept[name] = node
    named = {name: node for name, node in schema["properties"].items() if name in kept}
    return {"type": "object", "properties": named, "required": [name for name in named if name in required]}
