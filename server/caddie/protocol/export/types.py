"""How is a JSON Schema node written as a type of TypeScript, Lua, or the reference page?"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Dialect:
    """`words` are the scalar types; `anything` what has no type; the functions build the rest."""

    words: Mapping[str, str]
    anything: str
    reference: Callable[[str], str]
    record: Callable[[str], str]
    union: str = " | "


def type_of(node: Schema, dialect: Dialect) -> str:
    options = _options(node)
    if options:
        return dialect.union.join(dict.fromkeys(filter(None, (type_of(option, dialect) for option in options))))
    if "$ref" in node:
        return dialect.reference(node["$ref"].rpartition("/")[2])
    if "const" in node:
        return json.dumps(node["const"])
    if node.get("type") == "array":
        return _array(type_of(node.get("items", {}), dialect), dialect)
    if node.get("type") == "object":
        values = node.get("additionalProperties", True)
        return dialect.record(type_of(values if isinstance(values, dict) else {}, dialect))
    return dialect.words.get(node.get("type", ""), dialect.anything)


def fields(model: Schema) -> list[tuple[str, Schema, bool]]:
    """Name, schema and whether it must be there, of each field."""
    required = model.get("required", [])
    return [(name, node, name in required) for name, node in model.get("properties", {}).items()]


def _options(node: Schema) -> list[Schema]:
    if "enum" in node:
        return [{"const": value} for value in node["enum"]]
    options: list[Schema] = node.get("anyOf") or node.get("oneOf") or []
    return options


def _array(item: str, dialect: Dialect) -> str:
    return f"({item})[]" if dialect.union.strip() in item and not item.endswith(">") else f"{item}[]"
