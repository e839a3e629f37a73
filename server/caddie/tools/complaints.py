"""What exactly is wrong with the arguments of a call, so that the next one can be right?

Each line names the place, what was expected, what was given, the values allowed, and the nearest name for one that is
misspelt. The schema is attached, in bounded size.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from caddie.tools.schemas import Problem, resolve_ref
from caddie.tools.tool import ToolSpec

MAX_SHOWN = 8
MAX_ATTACHED_CHARS = 8_000
_MAX_DEPTH = 12
_MAX_NODES = 100
_MAX_COMPARED = 200
_LONGEST_NAME = 64


def complaint(spec: ToolSpec, arguments: Any, errors: Sequence[Problem]) -> str:
    lines: list[str] = []
    for error in errors[:MAX_SHOWN]:
        lines += [f"- {path_of(error)}: {words}" for words in [_explain(spec.input_schema, error)]]
    if len(errors) > MAX_SHOWN:
        lines.append(f"- and {len(errors) - MAX_SHOWN} more")
    said = "\n".join(lines)
    lines += [f"- {hint}" for hint in misspelt(spec.input_schema, arguments) if hint.partition(":")[0] not in said]
    listing = "\n".join(lines)
    return f"The arguments for {spec.label} do not fit its schema; nothing was run:\n{listing}{attached(spec, errors)}"


def unexplained(spec: ToolSpec) -> str:
    return (
        f"The arguments for {spec.label} do not fit its schema; nothing was run. The schema has too many alternatives "
        f"to say which of them is missed; compare the arguments with it.{attached(spec)}"
    )


def attached(spec: ToolSpec, errors: Sequence[Problem] = ()) -> str:
    text = json.dumps(spec.input_schema, ensure_ascii=False)
    if len(text) <= MAX_ATTACHED_CHARS:
        return f"\n\nSchema of {spec.name}:\n{text}"
    parts = {name: part for error in errors[:MAX_SHOWN] for name, part in _part(spec.input_schema, error)}
    about = json.dumps(parts, ensure_ascii=False)
    shown = about if parts and len(about) <= MAX_ATTACHED_CHARS else text[:MAX_ATTACHED_CHARS] + " …"
    what = "The properties in question" if shown is about else "The beginning"
    return f"\n\n{what} of the schema of {spec.name}, which has {len(text):,} characters:\n{shown}"


def _part(schema: Mapping[str, Any], error: Problem) -> Iterator[tuple[str, Any]]:
    """The top-level properties that an error is about."""
    properties = schema.get("properties")
    names = error.instance_path[:1] or [getattr(error.kind, "property", "")]
    for name in names:
        if isinstance(properties, Mapping) and name in properties:
            yield str(name), resolve_ref(schema, properties[name])


def path_of(error: Problem) -> str:
    return _path(error.instance_path)


def _path(parts: Sequence[str | int]) -> str:
    return "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts)


def _explain(root: Mapping[str, Any], error: Problem) -> str:
    kind = error.kind
    match kind.name:
        case "required":
            return f"the required property {getattr(kind, 'property', '?')!r} is missing"
        case "enum":
            return f"expected one of {short(getattr(kind, 'options', []), 400)}; got {short(error.instance)}"
        case "const":
            return f"expected {short(getattr(kind, 'expected_value', None), 400)}; got {short(error.instance)}"
        case "type":
            return f"expected {' or '.join(expected_types(error))}; got {kind_of(error.instance)}"
        case "additionalProperties" | "unevaluatedProperties":
            return "; ".join(_unknown(root, error, name) for name in getattr(kind, "unexpected", [])[:MAX_SHOWN])
        case "anyOf" | "oneOf":
            return _alternatives(root, error)
        case "pattern":
            return f"expected text that matches {short(getattr(kind, 'pattern', ''))}; got {short(error.instance)}"
        case "falseSchema":
            return "nothing is allowed here"
        case _:
            return _shortened(error.message)


def _shortened(message: str) -> str:
    """The judge repeats the whole value first, which may be long."""
    return message if len(message) <= 300 else f"{message[:120]} … {message[-160:]}"


def _unknown(root: Mapping[str, Any], error: Problem, name: str) -> str:
    known = _known_names(root, error.instance_path)
    near = _nearest(name, known, cutoff=0.5)
    hint = f"; did you mean {near!r}?" if near else f"; known are {', '.join(known[:20])}" if known else ""
    return f"unknown property {name!r}{hint}"


def _known_names(root: Mapping[str, Any], path: Sequence[str | int]) -> list[str]:
    return sorted({name for node in _nodes_at(root, path) for name in _properties(node)})


def _nodes_at(root: Mapping[str, Any], path: Sequence[str | int]) -> list[Mapping[str, Any]]:
    """The parts of the schema that speak of a place in the arguments."""
    nodes = list(_unfolded(root, root))
    for part in path:
        following: list[Any] = []
        for node in nodes:
            if isinstance(part, int):
                following.append(node.get("items"))
            else:
                following.append(_properties(node).get(part, node.get("additionalProperties")))
        nodes = list(islice((one for item in following for one in _unfolded(root, item)), _MAX_NODES))
    return nodes


def _unfolded(root: Any, node: Any, depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """A node and its alternatives, references followed."""
    found = resolve_ref(root, node)
    if not isinstance(found, Mapping) or depth > 3:
        return
    yield found
    for key in ("allOf", "anyOf", "oneOf"):
        for branch in (found.get(key) or ())[:20]:
            yield from _unfolded(root, branch, depth + 1)


def _properties(node: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = node.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def _alternatives(root: Mapping[str, Any], error: Problem) -> str:
    """Of several forms, the one that is nearest; or the values that would choose one."""
    branches: list[list[Problem]] = getattr(error.kind, "context", [])
    if not branches or not any(branches):
        return f"it fits more than one of {len(branches)} forms, and only one is allowed; got {short(error.instance)}"
    if types := list(dict.fromkeys(branch_types(error))):
        return f"expected {' or '.join(types)}; got {kind_of(error.instance)}"
    if choices := _choosing(branches, error.instance_path):
        return choices
    best = min(branches, key=_distance)
    lines = "; ".join(f"{path_of(one)}: {_explain(root, one)}" for one in best[:3])
    return f"it fits none of {len(branches)} forms. The nearest one says: {lines}"


def _choosing(branches: Sequence[Sequence[Problem]], path: Sequence[str | int]) -> str:
    """Where each form asks for another constant at one place, the constants."""
    allowed: list[Any] = []
    place, given = "", None
    for branch in branches:
        fixed = [
            one for one in branch if one.kind.name in ("const", "enum") and len(one.instance_path) <= len(path) + 1
        ]
        if not fixed or (place and path_of(fixed[0]) != place):
            return ""
        place, given = path_of(fixed[0]), fixed[0].instance
        kind = fixed[0].kind
        allowed += getattr(kind, "options", None) or [getattr(kind, "expected_value", None)]
    return f"{place}: expected one of {short(allowed, 400)}; got {short(given)}"


def _distance(branch: Sequence[Problem]) -> tuple[bool, int]:
    return any(one.kind.name in ("const", "enum", "type") for one in branch), len(branch)


def branch_types(error: Problem) -> list[str]:
    """The types of an `anyOf` or `oneOf` whose forms all ask for another type of the value itself."""
    if error.kind.name not in ("anyOf", "oneOf"):
        return []
    types: list[str] = []
    for branch in getattr(error.kind, "context", []):
        own = [one for one in branch if one.kind.name == "type" and one.instance_path == error.instance_path]
        if not own:
            return []
        types += [name for one in own for name in expected_types(one)]
    return types


def expected_types(error: Problem) -> list[str]:
    return [str(name) for name in getattr(error.kind, "types", ())]


def misspelt(schema: Mapping[str, Any], value: Any) -> list[str]:
    """Optional keys that no schema forbids but that look like a known one misspelt."""
    found: list[str] = []
    tried = 0
    pending: list[tuple[list[Mapping[str, Any]], Any, list[str | int]]] = [(list(_unfolded(schema, schema)), value, [])]
    while pending and len(found) < MAX_SHOWN:
        nodes, part, path = pending.pop(0)
        known = sorted({name for node in nodes for name in _properties(node)})
        if len(path) > _MAX_DEPTH or not known or not isinstance(part, Mapping):
            continue
        for key, inner in part.items():
            if key in known:
                below = (one for node in nodes for one in _unfolded(schema, _properties(node).get(key)))
                pending.append((list(islice(below, _MAX_NODES)), inner, [*path, key]))
                continue
            tried += 1
            if tried <= MAX_SHOWN and (near := _nearest(key, [one for one in known if one not in part], cutoff=0.6)):
                found.append(f"{_path([*path, key])}: unknown; did you mean {near!r}?")
    return found


def _nearest(name: str, known: Sequence[str], *, cutoff: float) -> str:
    """Comparing takes time with the square of a name's length, and strangers choose the names."""
    likely = [one for one in known if abs(len(one) - len(name)) <= len(name) // 2][:_MAX_COMPARED]
    close = difflib.get_close_matches(name, likely, n=1, cutoff=cutoff) if len(name) <= _LONGEST_NAME else []
    return close[0] if close else ""


def kind_of(value: object) -> str:
    names = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}
    return "null" if value is None else f"the {names.get(type(value), 'value')} {short(value)}"


def short(value: object, limit: int = 120) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= limit else text[:limit] + " …"
