"""The settings tree as LuaCATS annotations, so that a language server completes `settings = { … }` in Neovim."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from caddie.protocol.export.lua import LUA
from caddie.protocol.export.schema import GENERATED, Schema
from caddie.protocol.export.settings_tree import whole
from caddie.protocol.export.types import type_of


def render() -> str:
    classes = ["\n".join(lines) + "\n" for lines in _classes("caddie.Settings", whole())]
    return "\n".join([f"-- {GENERATED}\n\n---@meta _\n", *classes])


def _classes(name: str, node: Schema) -> Iterator[list[str]]:
    """A class and, before it, those of its groups."""
    lines = [f"--- {node['description']}"] if node.get("description") else []
    lines.append(f"---@class {name}")
    for key, inner in node["properties"].items():
        kind = type_of(inner, LUA)
        values = inner.get("additionalProperties")
        entry = inner if "properties" in inner else values if isinstance(values, dict) else {}
        if "properties" in entry:
            own = f"{name}.{key[0].upper()}{key[1:]}"
            yield from _classes(own, entry)
            kind = own if entry is inner else f"table<string, {own}>"
        lines.append(f"---@field {key}? {kind} {_about(inner)}".rstrip())
    yield lines


def _about(node: dict[str, Any]) -> str:
    default = node.get("default")
    words = [node.get("description", "")] if "properties" not in node else []
    if isinstance(default, str | int | float) and default != "":
        words.append(f"(default {str(default).lower() if isinstance(default, bool) else default})")
    return " ".join(words)
