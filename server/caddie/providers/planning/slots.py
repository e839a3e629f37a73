"""Which arguments does a message give a tool? Filled by rules from the words and the schema; nothing is guessed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from caddie.providers.planning.coerce import NOTHING, coerce, resolved, types_of
from caddie.providers.planning.found import FoundTool
from caddie.providers.planning.rules import RULES, written_out
from caddie.providers.planning.slot import Slot, Source
from caddie.providers.planning.values import Values, read_values
from caddie.providers.planning.words import words_of


@dataclass(frozen=True, slots=True)
class Filled:
    """`missing` names the required slots without a value; `used` are the message's values that found a place."""

    params: dict[str, Any]
    missing: tuple[str, ...] = ()
    used: frozenset[str] = field(default_factory=frozenset)


def fill(tool: FoundTool, values: Values, workspace: str) -> Filled:
    if (given := _json_params(values.text, tool.schema)) is not None:
        missing = tuple(name for name in _required(tool.schema) if name not in given)
        return Filled(given, missing, frozenset({*map(str, given.values())}))
    source = Source(values, workspace, tool)
    return _fill_object(tool.schema, source, tool.schema, depth=0)


def _fill_object(schema: Mapping[str, Any], source: Source, root: Mapping[str, Any], *, depth: int) -> Filled:
    params: dict[str, Any] = {}
    missing: list[str] = []
    slots = [_slot(name, part, schema, root) for name, part in _properties(schema).items()]
    # Required ones first: an optional slot must not take the value that a required one needs.
    for slot in sorted(slots, key=lambda slot: not slot.required):
        value = _value(slot, source, root, depth)
        if value is not NOTHING:
            params[slot.name] = value
        elif slot.required and "default" not in slot.schema:
            missing.append(slot.name)
    ordered = {slot.name: params[slot.name] for slot in slots if slot.name in params}
    return Filled(ordered, tuple(missing), frozenset(source.used))


def written(schema: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Only what the message writes out as `name=value`."""
    source = Source(read_values(text), ".", FoundTool("", "", schema))
    slots = [_slot(name, part, schema, schema) for name, part in _properties(schema).items()]
    given = {slot.name: coerce(written_out(slot, source), slot.schema) for slot in slots}
    return {name: value for name, value in given.items() if value is not NOTHING}


def _value(slot: Slot, source: Source, root: Mapping[str, Any], depth: int) -> Any:
    if "const" in slot.schema:
        return slot.schema["const"] if slot.required else NOTHING
    for rule in RULES:
        proposal = rule(slot, source)
        if proposal is not None and (value := coerce(proposal, slot.schema)) is not NOTHING:
            source.use(proposal)
            return value
    if slot.required and depth < 2:
        return _nested(slot, source, root, depth)
    return NOTHING


def _nested(slot: Slot, source: Source, root: Mapping[str, Any], depth: int) -> Any:
    """A required object, or a list of one object, whose own slots can all be filled."""
    items = resolved(slot.schema.get("items"), root) if "array" in types_of(slot.schema) else slot.schema
    if "properties" not in items:
        return NOTHING
    inner = _fill_object(items, source, root, depth=depth + 1)
    if inner.missing or not inner.params:
        return NOTHING
    return [inner.params] if items is not slot.schema else inner.params


def _slot(name: str, part: Any, parent: Mapping[str, Any], root: Mapping[str, Any]) -> Slot:
    schema = resolved(part, root)
    return Slot(name, words_of(name), schema, types_of(schema), name in _required(parent))


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = schema.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def _required(schema: Mapping[str, Any]) -> list[str]:
    required = schema.get("required")
    return [name for name in required if isinstance(name, str)] if isinstance(required, list) else []


def _json_params(text: str, schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Arguments that the person wrote out as a JSON object, if they are this tool's."""
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        return None
    try:
        given = json.loads(text[start : end + 1])
    except ValueError:
        return None
    known = _properties(schema)
    return given if isinstance(given, dict) and given and all(name in known for name in given) else None
