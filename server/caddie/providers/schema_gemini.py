"""Which schemas does Gemini take: as JSON Schema, and as the older Schema message that is not JSON Schema?"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from caddie.providers.schema_node import Schema, join_tuple
from caddie.providers.schema_size import cut_below

_NOT_KNOWN = (
    "patternProperties", "propertyNames", "dependentRequired", "dependentSchemas", "contains", "minContains",
    "contentMediaType", "contentEncoding",
)  # fmt: skip
_FORMATS = frozenset({"int32", "int64", "float", "double", "enum", "date-time"})
_AS_THEY_ARE = ("title", "description", "pattern", "minimum", "maximum")
_COUNTS = ("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties")
_ANNOTATIONS = ("title", "description", "default")
_ANY = "(any JSON value)"
_VALUES_SHOWN = 300


def gemini_keywords(node: Schema) -> None:
    join_tuple(node)
    _merge_all_of(node)
    if "patternProperties" in node and node.get("additionalProperties") is not True:
        # What the patterns allowed are additional properties now.
        node.pop("additionalProperties", None)
    for keyword in _NOT_KNOWN:
        node.pop(keyword, None)
    if "const" in node:
        node["enum"] = [node.pop("const")]  # It reads `enum` alone.
    if "type" not in node and (kind := _inferred(node)):
        node["type"] = kind


def leveled(schema: Schema, levels: int | None) -> Schema:
    return schema if levels is None else cut_below(schema, levels)


def _merge_all_of(node: Schema) -> None:
    """Where two branches say something of the same keyword, the first is kept: one demand is less than both."""
    for branch in node.pop("allOf", ()):
        if {"properties", "additionalProperties"} & branch.keys():
            node.pop("additionalProperties", None)  # It closed its own branch, not the sum of all.
        for key, inner in branch.items():
            if key == "properties":
                node[key] = _both(node.get(key), inner)
            elif key == "required":
                own = node.get(key)
                node[key] = [*(own if isinstance(own, list) else ()), *inner]
            elif key != "additionalProperties":
                node.setdefault(key, inner)


def _both(own: object, other: Mapping[str, Schema]) -> Schema:
    merged = dict(own) if isinstance(own, Mapping) else {}
    for name, schema in other.items():
        known = merged.get(name, schema)
        merged[name] = schema if known == schema else {} if {} in (known, schema) else {"anyOf": [known, schema]}
    return merged


def _inferred(node: Mapping[str, Any]) -> str:
    values = _values(node)
    if values and all(isinstance(value, str) for value in values):
        return "string"
    return "object" if "properties" in node else "array" if "items" in node else ""


def _values(node: Mapping[str, Any]) -> list[Any]:
    enum = node.get("enum")
    return enum if isinstance(enum, list) else []


def to_proto(node: Mapping[str, Any]) -> Schema:
    """A schema that `gemini_keywords` cleaned, as a Schema message."""
    kinds = _kinds(node)
    options = _options(node, kinds)
    if options is not None:
        return _one_of(node, options)
    named = [kind for kind in kinds if kind != "null"]
    if kinds and not named:
        return {"type": "NULL", **_annotations(node)}
    kind = named[0] if named else "string"
    proto: Schema = {"type": kind.upper(), **({"nullable": True} if "null" in kinds else {})}
    proto.update({key: node[key] for key in _AS_THEY_ARE if key in node})
    proto.update({key: int(node[key]) for key in _COUNTS if key in node})
    if node.get("default") is not None:
        proto["default"] = node["default"]
    if node.get("format") in _FORMATS:
        proto["format"] = node["format"]
    _put_bounds(proto, node)
    _put_values(proto, node)
    _put_members(proto, node)
    if not kinds:
        _say(proto, _ANY)
    return proto


def _kinds(node: Mapping[str, Any]) -> list[str]:
    given = node.get("type")
    if given:
        return list(given) if isinstance(given, list) else [given]
    return list(dict.fromkeys(_kind_of(value) for value in _values(node)))


def _kind_of(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def _options(node: Mapping[str, Any], kinds: list[str]) -> list[Mapping[str, Any]] | None:
    """The choices of a node that has more than one type, or none where it is best told as one."""
    branches = node.get("anyOf")
    if branches and not {"properties", "items"} & node.keys():
        # A branch that says no type may be anything, and with it the whole choice.
        return branches if all(_kinds(branch) or "anyOf" in branch for branch in branches) else None
    if len([kind for kind in kinds if kind != "null"]) < 2:
        return None
    rest = {key: inner for key, inner in node.items() if key not in (*_ANNOTATIONS, "type", "anyOf")}
    return [{**rest, "type": kind} for kind in kinds]


def _one_of(node: Mapping[str, Any], options: Iterable[Mapping[str, Any]]) -> Schema:
    protos = [to_proto(option) for option in options]
    others = [proto for proto in protos if proto["type" if "type" in proto else "anyOf"] != "NULL"]
    nullable = {"nullable": True} if len(others) < len(protos) else {}
    if not others:
        return {"type": "NULL", **_annotations(node)}
    if len(others) == 1:
        return {**others[0], **_annotations(node), **nullable}
    return {"anyOf": others, **_annotations(node), **nullable}


def _annotations(node: Mapping[str, Any]) -> Schema:
    return {key: node[key] for key in ("title", "description") if key in node}


def _put_bounds(proto: Schema, node: Mapping[str, Any]) -> None:
    whole = proto["type"] == "INTEGER"
    if "exclusiveMinimum" in node:
        least = node["exclusiveMinimum"]
        proto["minimum"] = max(math.floor(least) + 1 if whole else least, node.get("minimum", -math.inf))
    if "exclusiveMaximum" in node:
        most = node["exclusiveMaximum"]
        proto["maximum"] = min(math.ceil(most) - 1 if whole else most, node.get("maximum", math.inf))


def _put_values(proto: Schema, node: Mapping[str, Any]) -> None:
    """`enum` holds strings, none of them empty; other values are told in words."""
    values = _values(node)
    if not values:
        return
    texts = [value for value in values if isinstance(value, str)]
    if None in values and "null" in _kinds(node):
        proto["nullable"] = True
    if proto["type"] == "STRING" and texts and "" not in texts:
        proto["enum"] = texts
    else:
        _say(proto, "One of: " + ", ".join(json.dumps(value, ensure_ascii=False) for value in values)[:_VALUES_SHOWN])


def _put_members(proto: Schema, node: Mapping[str, Any]) -> None:
    if proto["type"] == "ARRAY":
        proto["items"] = to_proto(node.get("items", {}))
    if proto["type"] == "OBJECT" and node.get("properties"):
        proto["properties"] = {key: to_proto(inner) for key, inner in node["properties"].items()}
        if required := [key for key in node.get("required", ()) if key in proto["properties"]]:
            proto["required"] = required


def _say(proto: Schema, text: str) -> None:
    proto["description"] = f"{proto.get('description', '')} {text}".strip()
