"""What does a call of ExecuteTool ask for? The real tool's name, and its arguments however the model put them.

Models send `params` as JSON text, wrap it twice, or leave the arguments beside `tool_name`. What can be meant in one
way only is put right and noted; the target's own schema has the last word.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from caddie.errors import InvalidArguments, ToolUnavailable
from caddie.tools.call import Call
from caddie.tools.core_tools import BRIDGE, EXECUTE_TOOL
from caddie.tools.exact import normalise, resolve
from caddie.tools.tool import ToolSpec

_VENDOR_PREFIXES = ("functions.", "default_api.", "tools.")
_NAMES = ("tool_name", "tool", "name")
_PARAMS = ("params", "arguments", "input")
_MAX_WRAPS = 4
_BRIDGE = frozenset(normalise(name) for name in BRIDGE)


@dataclass(frozen=True, slots=True)
class Target:
    """`params` as they were given for `name`; `beside` is what else stood in the call of ExecuteTool."""

    name: str
    params: object
    beside: Mapping[str, Any] = field(default_factory=dict)


def unwrap(call: Call) -> Target:
    """Raises: ToolUnavailable for the bridge through the bridge, InvalidArguments."""
    name = call.name.strip()
    for prefix in _VENDOR_PREFIXES:
        name = name.removeprefix(prefix)
    params = call.params if call.params is not None else call.raw
    if normalise(name) != normalise(EXECUTE_TOOL):
        return Target(name, params)
    given = _read(params)
    key = next((key for key in _NAMES if isinstance(given, Mapping) and isinstance(given.get(key), str)), None)
    if not isinstance(given, Mapping) or key is None:
        raise InvalidArguments(
            'ExecuteTool needs {"tool_name": <name>, "params": {…}}; got ' + repr(params)[:200], name=EXECUTE_TOOL
        )
    target = str(given[key]).strip()
    if normalise(target) in _BRIDGE:
        raise ToolUnavailable(f"Call {target} directly, not through ExecuteTool.", name=target, reason="bridge")
    beside = {name: value for name, value in given.items() if name not in (key, "params")}
    return Target(target, given.get("params"), beside)


def arguments_for(spec: ToolSpec, target: Target) -> tuple[object, tuple[str, ...]]:
    """The arguments meant, with a note for each thing put right. Raises: InvalidArguments."""
    own = _properties(spec)
    params, beside, notes = target.params, dict(target.beside), list[str]()
    other = next((key for key in _PARAMS[1:] if key in beside and key not in own), None)
    if params is None and other:
        params = beside.pop(other)
        notes.append(f"{other} was read as params")
    params = _inner(spec, params, own, notes)
    if not beside:
        return params, tuple(notes)
    if params is not None and not isinstance(params, Mapping) and params != "":
        return params, tuple(notes)
    inside = dict(params) if isinstance(params, Mapping) else {}
    if doubled := [key for key in beside if key in inside and inside[key] != beside[key]]:
        raise InvalidArguments(
            f"{', '.join(map(repr, doubled))} stands beside tool_name and, with another value, in params; "
            "put each argument into params once.",
            name=spec.name,
        )
    notes.append(f"{', '.join(beside)} stood beside tool_name and was read as part of params")
    return {**inside, **beside}, tuple(notes)


def _inner(spec: ToolSpec, params: object, own: frozenset[str], notes: list[str]) -> object:
    for _ in range(_MAX_WRAPS):
        read = _read(params)
        if isinstance(params, str) and isinstance(read, Mapping):
            notes.append("params was a JSON string and was read as an object")
            params = read
        wrap = next((key for key in _PARAMS if isinstance(params, Mapping) and key in params and key not in own), None)
        if wrap is None or not isinstance(params, Mapping) or not params.keys() <= {wrap, *_NAMES}:
            return params
        if own & params.keys():
            return params
        named = next((params[key] for key in _NAMES if isinstance(params.get(key), str)), None)
        if named is not None and not resolve(named, [spec]):
            raise InvalidArguments(
                f"ExecuteTool runs one tool; got {spec.name} and, in its params, {named!r}.", name=spec.name
            )
        params = params[wrap]
        notes.append(f"{wrap} was wrapped twice and was unwrapped")
    return params


def _read(value: object) -> object:
    """JSON text as what it says; anything else as it is."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _properties(spec: ToolSpec) -> frozenset[str]:
    properties = spec.input_schema.get("properties")
    return frozenset(properties) if isinstance(properties, Mapping) else frozenset()
