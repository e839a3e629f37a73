"""The settings as one flat table, from which the editors' files and the schema of the two JSON files are rendered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from caddie.protocol.export.schema import GENERATED, Schema
from caddie.settings import MEANINGS, Settings

GROUPS = {
    "": "Model",
    "tools": "Tools",
    "search": "Search",
    "hints": "Hints",
    "mcp": "MCP servers",
    "permissions": "Permissions",
    "checkpoints": "Undo",
    "sandbox": "Sandbox",
}


@dataclass(frozen=True, slots=True)
class Leaf:
    """A setting that is a value, a list or a map; `node` has no references."""

    path: str
    group: str
    node: Schema


def leaves() -> list[Leaf]:
    return list(_leaves(whole(), ""))


def whole() -> Schema:
    """The tree as one schema without references and titles; choices with their meanings."""
    tree = Settings.model_json_schema()
    return _described(_inlined(tree, tree["$defs"]), "")


def file_schema() -> Schema:
    """The schema of `settings.json`, by which editors complete and check it."""
    tree = whole()
    about = {
        "$schema": {"type": "string"},
        "version": {"type": "integer", "description": "Version of the file's format.", "default": 1},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": GENERATED,
        "title": "Caddie's settings",
        **{key: value for key, value in tree.items() if key != "properties"},
        "properties": {**about, **tree["properties"]},
    }


def _leaves(node: Schema, prefix: str) -> Iterator[Leaf]:
    for key, inner in node["properties"].items():
        path = f"{prefix}.{key}" if prefix else key
        if "properties" in inner:
            yield from _leaves(inner, path)
        else:
            yield Leaf(path, prefix.partition(".")[0], inner)


def _inlined(node: Any, models: dict[str, Schema]) -> Any:
    if isinstance(node, list):
        return [_inlined(item, models) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target = models[node["$ref"].rpartition("/")[2]]
        return _inlined(
            {**target, **{key: value for key, value in node.items() if key not in ("$ref", "default")}}, models
        )
    return {
        key: {name: _inlined(item, models) for name, item in value.items()}
        if key == "properties"
        else _inlined(value, models)
        for key, value in node.items()
        if key not in ("title", "$defs")
    }


def _described(node: Schema, path: str) -> Schema:
    if "properties" in node:
        inner = {key: _described(value, f"{path}.{key}".lstrip(".")) for key, value in node["properties"].items()}
        return {**node, "properties": inner}
    if meanings := MEANINGS.get(path):
        return {**node, "markdownEnumDescriptions": [meanings[choice] for choice in node["enum"]]}
    return node
