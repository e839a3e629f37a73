"""What of a stranger's tool schema does each model API accept?

One bad tool fails a whole request, so whatever comes in, a valid JSON Schema of an object comes out. It may allow
more than the original, as little less as can be: the tool itself is called with arguments checked against the original.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from caddie.providers.schema_refs import MAPS, inline
from caddie.providers.schema_root import flatten_root

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

Schema = dict[str, Any]
_TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")
_NOISE = frozenset(
    {
        "$schema", "$id", "id", "$anchor", "$comment", "$vocabulary", "$dynamicRef", "$dynamicAnchor",
        "$recursiveRef", "$recursiveAnchor", "$ref", "$defs", "definitions", "examples", "example",
    }
)  # fmt: skip
_ONE = frozenset(
    {
        "items", "additionalProperties", "additionalItems", "contains", "not", "if", "then", "else",
        "propertyNames", "unevaluatedProperties", "unevaluatedItems", "contentSchema",
    }
)  # fmt: skip
_MANY = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_BOOLEAN_MAY_STAY = frozenset({"additionalProperties", "additionalItems", "unevaluatedProperties", "unevaluatedItems"})
_LOOK_AROUND = re.compile(r"\(\?(?:[=!]|<[=!])")
_ANTHROPIC_KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_DEPTH = 40
_SIZE = 64_000
_MENDS = 4


@dataclass(frozen=True, slots=True)
class WireSchema:
    """`note` belongs at the end of the description; `renamed` maps a key on the wire to the tool's own."""

    schema: Schema
    note: str = ""
    renamed: Mapping[str, str] = field(default_factory=dict)


def for_anthropic(original: object) -> WireSchema:
    schema, note = _clean(original, _anthropic_keywords)
    schema, renamed = _rename_keys(schema)
    return WireSchema(schema, note, renamed)


def for_openai_chat(original: object, *, compatible: bool) -> WireSchema:
    """`compatible` servers build grammars out of schemas and fail on formats and look-arounds."""
    schema, note = _clean(original, _openai_compatible_keywords if compatible else _openai_keywords)
    return WireSchema(schema, note)


def _clean(original: object, dialect: Callable[[Schema], None]) -> tuple[Schema, str]:
    root = inline(original) if isinstance(original, Mapping) else {}
    flat, note = flatten_root(_node(root, dialect, 0) or {})
    cleaned = _mended(_shrunk(flat))
    if not _is_object_schema(cleaned):
        return {"type": "object", "properties": {}}, ""
    return cleaned, note


def _is_object_schema(schema: Schema) -> bool:
    return schema.get("type") == "object" and isinstance(schema.get("properties"), dict)


def _node(value: object, dialect: Callable[[Schema], None], depth: int) -> Schema | None:
    """A clean copy of a sub-schema; None for `false`, which nothing satisfies."""
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
    dialect(node)
    _fix_array(node)
    _fix_required(node, value.get("properties"))
    return node


_DROP = object()


def _keyword(key: str, value: object, dialect: Callable[[Schema], None], depth: int) -> object:
    if key in MAPS:
        return _map(value, dialect, depth)
    if key in _MANY or (key == "items" and isinstance(value, list)):
        return _list(value, dialect, depth)
    if key in _ONE:
        if isinstance(value, bool) and key in _BOOLEAN_MAY_STAY:
            return value
        node = _node(value, dialect, depth)
        return node if node is not None else ({} if key == "items" else {"not": {}})
    return _data(value)


def _map(value: object, dialect: Callable[[Schema], None], depth: int) -> object:
    if not isinstance(value, Mapping):
        return _DROP
    nodes = {str(key): _node(inner, dialect, depth) for key, inner in value.items()}
    return {key: node for key, node in nodes.items() if node is not None}


def _list(value: object, dialect: Callable[[Schema], None], depth: int) -> object:
    nodes = [_node(inner, dialect, depth) for inner in value] if isinstance(value, list) else []
    return [node for node in nodes if node is not None] or _DROP


def _data(value: object) -> object:
    """A copy of an annotation or a bound, or nothing when JSON or a model API cannot carry it."""
    try:
        text = json.dumps(value, allow_nan=False)
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
    known = list(dict.fromkeys(t.lower() for t in given if isinstance(t, str) and t.lower() in _TYPES))
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


def _fix_array(node: Schema) -> None:
    kind = node.get("type")
    is_array = kind == "array" or (isinstance(kind, list) and "array" in kind)
    if is_array and "items" not in node:
        node["items"] = {}
    if node.get("enum") == []:
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


def _anthropic_keywords(node: Schema) -> None:
    if isinstance(node.get("items"), list):
        node["prefixItems"] = node.pop("items")
        rest = node.pop("additionalItems", None)
        node["items"] = rest if isinstance(rest, dict) else {}
    node.pop("additionalItems", None)
    if "pattern" in node and not _compiles(node["pattern"]):
        del node["pattern"]
    _keep_valid_patterns(node)


def _openai_keywords(node: Schema) -> None:
    members = node.pop("prefixItems", None) or (node.pop("items") if isinstance(node.get("items"), list) else None)
    node.pop("additionalItems", None)
    if members:
        rest = node.get("items")
        unique = [m for i, m in enumerate(members) if m not in members[:i]] + ([rest] if rest else [])
        node["items"] = unique[0] if len(unique) == 1 else {"anyOf": unique}
    if "pattern" in node and not _compiles(node["pattern"]):
        del node["pattern"]
    _keep_valid_patterns(node)


def _openai_compatible_keywords(node: Schema) -> None:
    _openai_keywords(node)
    node.pop("format", None)
    if _LOOK_AROUND.search(str(node.get("pattern", ""))):
        del node["pattern"]


def _keep_valid_patterns(node: Schema) -> None:
    if "patternProperties" in node:
        node["patternProperties"] = {k: v for k, v in node["patternProperties"].items() if _compiles(k)}


def _compiles(pattern: object) -> bool:
    if not isinstance(pattern, str) or len(pattern) > 2000:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return False
    return True


def _shrunk(schema: Schema) -> Schema:
    """Schemas that would fill the context lose their deepest parts first."""
    for depth in (20, 12, 8, 6, 5, 4, 3, 2):
        if len(json.dumps(schema)) <= _SIZE:
            return schema
        schema = _cut_below(schema, depth)
    return schema


def _cut_below(value: Any, depth: int) -> Any:
    if not isinstance(value, dict):
        return value
    if depth == 0:
        return {"type": value["type"], **({"items": {}} if "items" in value else {})} if "type" in value else {}
    cut: Schema = {}
    for key, inner in value.items():
        if key in MAPS and isinstance(inner, dict):
            cut[key] = {name: _cut_below(node, depth - 1) for name, node in inner.items()}
        elif key in _MANY and isinstance(inner, list):
            cut[key] = [_cut_below(node, depth - 1) for node in inner]
        elif key in _ONE:
            cut[key] = _cut_below(inner, depth - 1)
        else:
            cut[key] = inner
    return cut


def _mended(schema: Schema) -> Schema:
    """Without the keywords that JSON Schema 2020-12 itself finds invalid (`minLength: "3"`)."""
    for _ in range(_MENDS):
        # A keyword may be reported more than once, and one wrong keyword may hide another.
        wrong = [list(error.instance_path) for error in _metaschema().iter_errors(schema)]
        if not wrong:
            return schema
        schema = _without(schema, wrong)
    return {}


@functools.cache
def _metaschema() -> Draft202012Validator:
    # A compiled extension that nothing needs before the first request.
    from jsonschema_rs import Draft202012Validator

    return Draft202012Validator({"$ref": "https://json-schema.org/draft/2020-12/schema"})


def _without(schema: Schema, paths: list[list[str | int]]) -> Schema:
    """A copy without the keywords at `paths`; an invalid member of a list goes with its whole keyword."""
    copy: Schema = json.loads(json.dumps(schema))
    for path in paths:
        while path and isinstance(path[-1], int):
            path = path[:-1]
        holder: Any = copy
        for step in path[:-1]:
            holder = holder[step] if isinstance(step, int) else holder.get(step, {})
        if path and isinstance(holder, dict):
            holder.pop(str(path[-1]), None)
    return copy


def _rename_keys(schema: Schema) -> tuple[Schema, dict[str, str]]:
    properties: Schema = schema["properties"]
    if all(_ANTHROPIC_KEY.fullmatch(key) for key in properties):
        return schema, {}
    taken = {key for key in properties if _ANTHROPIC_KEY.fullmatch(key)}
    names: dict[str, str] = {}
    for key in properties:
        names[key] = key if key in taken else _fitting(key, taken)
        taken.add(names[key])
    renamed = {**schema, "properties": {names[key]: node for key, node in properties.items()}}
    if "required" in schema:
        renamed["required"] = [names.get(key, key) for key in schema["required"]]
    return renamed, {wire: own for own, wire in names.items() if wire != own}


def _fitting(key: str, taken: set[str]) -> str:
    plain = re.sub(r"[^a-zA-Z0-9_.-]", "_", key)
    if 0 < len(plain) <= 64 and plain not in taken and plain.strip("_"):
        return plain
    return f"{plain[:55]}_{hashlib.sha256(key.encode('utf-8', 'replace')).hexdigest()[:8]}"
