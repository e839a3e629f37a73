"""What of JSON Schema is kept for every model API, and how is it put right?

Whatever is dropped makes the schema allow more. Keywords under which more means less (`not`, `if`, the "exactly one"
of `oneOf`) therefore go, for what stands in them may itself have become wider.
"""

from __future__ import annotations

import functools
import json
import math
import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from caddie.providers.schema_refs import MAPS

Schema = dict[str, Any]
Dialect = Callable[[Schema], None]
TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")
ONE = frozenset({"items", "additionalProperties", "additionalItems", "contains", "propertyNames"})
MANY = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_NOISE = frozenset(
    {
        "$schema", "$id", "id", "$anchor", "$comment", "$vocabulary", "$dynamicRef", "$dynamicAnchor",
        "$recursiveRef", "$recursiveAnchor", "$ref", "$defs", "definitions", "examples", "example",
        "not", "if", "then", "else", "unevaluatedProperties", "unevaluatedItems", "dependencies", "maxContains",
        "contentSchema",
    }
)  # fmt: skip
_BOOLEAN_MAY_STAY = frozenset({"additionalProperties", "additionalItems", "items"})
_DEPTH = 40
_DROP = object()


def clean_node(value: object, dialect: Dialect, depth: int = 0) -> Schema | None:
    """A clean copy of a sub-schema; None for `false`, which nothing satisfies. The root keeps its `oneOf`."""
    if value is False:
        return None
    if not isinstance(value, Mapping) or depth > _DEPTH:
        return {}
    node: Schema = {}
    for key, inner in value.items():
        if not isinstance(key, str) or key in _NOISE or key.startswith("x-"):
            continue
        if (kept := _keyword(key, inner, dialect, depth + 1)) is not _DROP:
            node[key] = kept
    _fix_type(node)
    _fix_bounds(node)
    _fix_patterns(node)
    if depth:
        _fix_one_of(node)
    dialect(node)
    _fix_array(node)
    _fix_enum(node)
    _fix_required(node, value.get("properties"))
    return node


def _keyword(key: str, value: object, dialect: Dialect, depth: int) -> object:
    if key in MAPS:
        return _map(value, dialect, depth)
    if key == "prefixItems" or (key == "items" and isinstance(value, list)):
        # Places count here, so one that nothing satisfies stays as one that anything does.
        members = [clean_node(inner, dialect, depth) for inner in value] if isinstance(value, list) else []
        return [member or {} for member in members] or _DROP
    if key in MANY:
        nodes = [clean_node(inner, dialect, depth) for inner in value] if isinstance(value, list) else []
        return [node for node in nodes if node is not None] or _DROP
    if key in ONE:
        if isinstance(value, bool) and key in _BOOLEAN_MAY_STAY:
            return value
        node = clean_node(value, dialect, depth)
        return node if node is not None else _DROP
    return _data(value)


def _map(value: object, dialect: Dialect, depth: int) -> object:
    if not isinstance(value, Mapping):
        return _DROP
    nodes = {str(key): clean_node(inner, dialect, depth) for key, inner in value.items()}
    return {key: node for key, node in nodes.items() if node is not None}


def _data(value: object) -> object:
    """A copy of an annotation or a bound, or nothing when JSON or a model API cannot carry it."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False).encode("utf-8", "replace")
        copy = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return _DROP
    return _DROP if _has_huge_number(copy) else copy


def _has_huge_number(value: object) -> bool:
    if isinstance(value, bool):
        return False
    if isinstance(value, int):
        return value.bit_length() > 63
    if isinstance(value, float):
        return not math.isfinite(value)
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_has_huge_number(item) for item in inner)


def _fix_type(node: Schema) -> None:
    if "type" not in node:
        return
    given = node["type"] if isinstance(node["type"], list) else [node["type"]]
    known = list(dict.fromkeys(t.lower() for t in given if isinstance(t, str) and t.lower() in TYPES))
    if not known:
        del node["type"]
    elif isinstance(node["type"], list):
        node["type"] = known
    else:
        node["type"] = known[0]


def _fix_bounds(node: Schema) -> None:
    """Draft 4 wrote `exclusiveMinimum: true` beside `minimum: n`."""
    for exclusive, plain in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        flag = node.get(exclusive)
        if isinstance(flag, bool):
            del node[exclusive]
            if flag and plain in node:
                node[exclusive] = node.pop(plain)


def _fix_patterns(node: Schema) -> None:
    if "pattern" in node and not compiles(node["pattern"]):
        del node["pattern"]
    named = node.get("patternProperties")
    if isinstance(named, dict) and not all(compiles(pattern) for pattern in named):
        node["patternProperties"] = {pattern: inner for pattern, inner in named.items() if compiles(pattern)}
        # The keys that the lost patterns allowed are additional ones now.
        node.pop("additionalProperties", None)


def _fix_one_of(node: Schema) -> None:
    """Branches that became wider may overlap, and then "exactly one" would refuse what the tool takes."""
    if "oneOf" not in node:
        return
    if "anyOf" in node:
        del node["oneOf"]
        return
    items = [("anyOf" if key == "oneOf" else key, inner) for key, inner in node.items()]
    node.clear()
    node.update(items)


def take_tuple(node: Schema) -> tuple[list[Schema], Any]:
    """The members of a tuple and what may follow them (a schema, or False for nothing), taken out of the node."""
    rest = node.pop("additionalItems", {})
    if not isinstance(node.get("items"), list):
        members, rest = node.pop("prefixItems", []), node.get("items", {})
    else:
        members = node.pop("items")
    if members:
        node.pop("items", None)
    return members, {} if rest is True else rest


def join_tuple(node: Schema) -> None:
    """A tuple as an array whose items are any of its members."""
    members, rest = take_tuple(node)
    if not members:
        return
    most = node.get("maxItems")
    is_closed = rest is False or (isinstance(most, int) and most <= len(members))
    options = members if is_closed else [*members, rest]
    unique = [option for place, option in enumerate(options) if option not in options[:place]]
    node["items"] = {} if {} in unique else unique[0] if len(unique) == 1 else {"anyOf": unique}


def _fix_array(node: Schema) -> None:
    if isinstance(node.get("items"), bool) and "prefixItems" not in node:
        node["items"] = {}
    if includes_type(node, "array") and "items" not in node:
        node["items"] = {}


def _fix_enum(node: Schema) -> None:
    given = node.get("enum")
    if isinstance(given, list):
        node["enum"] = list({json.dumps(value, sort_keys=True): value for value in given}.values())
    if given == []:
        del node["enum"]


def _fix_required(node: Schema, original: object) -> None:
    """Names that exist, each once. A property's own `required: true` (draft 3) moves up to its object."""
    own = node.pop("required", None)
    names = [name for name in own if isinstance(name, str)] if isinstance(own, list) else []
    properties = node.get("properties")
    if isinstance(properties, dict):
        if isinstance(original, Mapping):
            names += [str(k) for k, v in original.items() if isinstance(v, Mapping) and v.get("required") is True]
        names = [name for name in names if name in properties]
    if names:
        node["required"] = list(dict.fromkeys(names))


def includes_type(node: Mapping[str, Any], wanted: str) -> bool:
    kind = node.get("type")
    return kind == wanted or (isinstance(kind, list) and wanted in kind)


@functools.lru_cache(maxsize=512)
def _compiles(pattern: str) -> bool:
    # A compiled extension that nothing needs before the first request.
    import jsonschema_rs

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
        jsonschema_rs.Draft202012Validator({"pattern": pattern})
    except (re.error, OverflowError, RecursionError, ValueError):
        return False
    return True


def compiles(pattern: object) -> bool:
    """Both as the JSON Schema dialect of regular expressions and as Python's, in which some servers read it."""
    return isinstance(pattern, str) and len(pattern) <= 2000 and _compiles(pattern)
