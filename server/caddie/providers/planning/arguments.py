"""What are the values of a core call called in the schema that is really there?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from caddie.chat.messages import ToolUse
from caddie.providers.planning.coerce import NOTHING, coerce, resolved
from caddie.providers.planning.core import CoreCall
from caddie.providers.planning.slots import Filled, written

_NAMES: dict[str, tuple[str, ...]] = {
    "path": ("file_path", "path", "filePath", "file", "directory"),
    "pattern": ("pattern", "query", "regex"),
    "glob": ("glob", "include"),
    "mode": ("output_mode",),
    "ignore": ("case_insensitive", "ignore_case"),
    "command": ("command", "cmd"),
    "note": ("prompt", "description"),
    "url": ("url", "uri"),
    "offset": ("offset", "start_line", "start"),
    "limit": ("limit", "max_lines", "lines"),
    "old": ("old_string", "old_text", "oldText", "old"),
    "new": ("new_string", "new_text", "newText", "new"),
    "every": ("replace_all", "replaceAll"),
    "content": ("content", "text"),
    "seconds": ("seconds", "duration", "duration_seconds", "milliseconds", "ms", "duration_ms", "minutes"),
}
_UNITS = {"milliseconds": 1000.0, "ms": 1000.0, "duration_ms": 1000.0, "minutes": 1 / 60}


def core_arguments(call: CoreCall, schema: Mapping[str, Any], earlier: Sequence[ToolUse], text: str) -> Filled:
    properties = schema.get("properties", {})
    required = schema.get("required", [])
    params: dict[str, Any] = {}
    for role, value in call.values.items():
        name = next((name for name in _NAMES.get(role, ()) if name in properties), None)
        if name is None or value is None or (role == "note" and name not in required):
            continue
        value = round(value * _UNITS.get(name, 1.0), 3) if role == "seconds" else value
        fitted = coerce(value, resolved(properties[name], schema))
        if fitted is not NOTHING:
            params[name] = fitted
    if call.tool == "TodoWrite":
        params |= _todo_list(call, schema, earlier)
    params |= {name: value for name, value in written(schema, text).items() if name not in params}
    return Filled(params, tuple(name for name in required if name not in params))


def _todo_list(call: CoreCall, schema: Mapping[str, Any], earlier: Sequence[ToolUse]) -> dict[str, Any]:
    """The whole list, as the tool replaces it: what it held before, and the change."""
    properties = schema.get("properties", {})
    name = next((name for name in ("todos", "items", "todo") if name in properties), None)
    if name is None:
        return {}
    items = resolved(resolved(properties[name], schema).get("items", {}), schema).get("properties", {})
    held = [dict(item) for item in _held(earlier, name) if isinstance(item, Mapping)]
    wanted = str(call.values.get("done", "")).lower()
    matching = _meant(wanted, held) if wanted else []
    for item in matching:
        item["status"] = "completed"
    if wanted and not matching:
        return {}
    known = {str(item.get("content", "")) for item in held}
    added = [text for text in call.values.get("add", []) if text not in known]
    return {name: [*held, *(_todo_item(text, items) for text in added)]}


_ORDINALS = {"first": 0, "1st": 0, "second": 1, "2nd": 1, "third": 2, "3rd": 2, "fourth": 3, "last": -1}
_ORDINALS |= {"第一": 0, "第二": 1, "第三": 2, "最后": -1}


def _meant(wanted: str, held: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The items whose words are said, else the one whose place is: "the first todo", "todo 2", "all of them"."""
    said = [item for item in held if wanted in str(item.get("content", "")).lower()]
    if said or not held:
        return said
    if re.search(r"\b(?:all|every|everything)\b|所有|全部", wanted):
        return held
    number = re.search(r"(?:^|#|\b(?:to-?do|item|task|number)\s*)(\d+)\s*$", wanted)
    place = next((at for word, at in _ORDINALS.items() if word in wanted), int(number[1]) - 1 if number else None)
    return [held[place]] if place is not None and -1 <= place < len(held) else []


def held_todos(earlier: Sequence[ToolUse]) -> list[tuple[str, str]]:
    """What the list of todos holds: text and status."""
    items = next((found for name in ("todos", "items", "todo") if (found := _held(earlier, name))), [])
    return [(str(item.get("content", "")), str(item.get("status", ""))) for item in items if isinstance(item, Mapping)]


def _held(earlier: Sequence[ToolUse], name: str) -> list[Any]:
    lists = [(use.arguments or {}).get(name) for use in earlier if use.name == "TodoWrite"]
    return next((value for value in reversed(lists) if isinstance(value, list)), [])


def _todo_item(text: str, properties: Mapping[str, Any]) -> dict[str, str]:
    item = {"content": text, "status": "pending", "activeForm": text, "active_form": text}
    return {key: value for key, value in item.items() if key in properties} or {"content": text, "status": "pending"}
