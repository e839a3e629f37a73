"""What the schema tests share: the corpus, every cleaner with its judge, and arguments that fit a schema."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import jsonschema_rs
from gemini_kit import check_json_schema, check_proto, nodes

from caddie.providers.schema import WireSchema, for_anthropic, for_gemini, for_gemini_proto, for_openai

FIXTURES = Path(__file__).parents[2] / "fixtures"
NOT_AT_ROOT = {"anyOf", "oneOf", "allOf", "not", "enum", "const", "if", "then", "else", "$ref", "$defs"}
ANY = "(any JSON value)"
TREE = {
    "type": "object",
    "properties": {"root": {"$ref": "#/$defs/node"}},
    "$defs": {"node": {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/node"}}}}},
}
BOMB = {
    "properties": {"a": {"$ref": "#/$defs/d0"}},
    "$defs": {f"d{i}": {"anyOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 10} for i in range(30)},
}
HUGE = {"properties": {f"p{i}": {"type": "string", "description": "x" * 200} for i in range(1000)}}


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"in": schema}}
    return schema


VECTORS: dict[str, Any] = {
    "root anyOf of required": {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {}, "c": {}},
        "anyOf": [{"required": ["a", "b"]}, {"required": ["c"]}],
    },
    "root oneOf of objects": {
        "oneOf": [
            {"properties": {"kind": {"const": "x"}, "x": {"type": "string"}}, "required": ["kind", "x"]},
            {"properties": {"kind": {"const": "y"}, "y": {"type": "number"}}, "required": ["kind", "y"]},
        ]
    },
    "root allOf": {"allOf": [{"properties": {"a": {}}, "required": ["a"]}, {"properties": {"b": {}}}]},
    "root ref": {"$ref": "#/$defs/in", "$defs": {"in": {"type": "object", "properties": {"a": {"type": "string"}}}}},
    "ref to the root": {"properties": {"again": {"$ref": "#"}}},
    "recursive tree": TREE,
    "ref bomb": BOMB,
    "external ref": {"properties": {"a": {"$ref": "https://example.com/s.json"}, "b": {"$ref": "#/$defs/none"}}},
    "escaped ref": {"properties": {"a": {"$ref": "#/$defs/x~1y%20z"}}, "$defs": {"x/y z": {"type": "string"}}},
    "definitions and tuples": {
        "definitions": {"p": {"type": "number"}},
        "properties": {"t": {"type": "array", "items": [{"$ref": "#/definitions/p"}, {"type": "string"}]}},
    },
    "properties named like keywords": {
        "properties": {"type": {"type": "string"}, "$ref": {"type": "string"}, "required": {"type": "boolean"}},
        "required": ["type", "$ref"],
    },
    "required true on a property": {"properties": {"a": {"type": "string", "required": True}, "b": {}}},
    "required names nobody": {"properties": {"a": {}}, "required": ["a", "a", "z", 3]},
    "boolean exclusiveMinimum": {"properties": {"n": {"type": "number", "minimum": 0, "exclusiveMinimum": True}}},
    "mixed enum": {"properties": {"e": {"enum": [1, 2, None]}, "c": {"const": None}, "n": {"enum": []}}},
    "empty": {},
    "null": None,
    "true": True,
    "list": [1],
    "nullable object": {"type": ["object", "null"], "properties": {"a": {}}},
    "wrong root type": {"type": "string"},
    "array without items": {"properties": {"a": {"type": "array"}, "b": {"type": ["array", "null"]}}},
    "odd keys": {
        "properties": {"user.name": {}, "a key": {}, "k" * 70: {}, "名前": {}, "住所": {}},
        "required": ["名前"],
    },
    "huge": HUGE,
    "deep": nested(300),
    "not a number": {"properties": {"a": {"type": "number", "default": float("nan"), "maximum": float("inf")}}},
    "very large number": {"properties": {"a": {"type": "integer", "maximum": 10**40}}},
    "look-behind": {"properties": {"a": {"type": "string", "pattern": "(?<=x)y", "format": "date"}}},
    "broken pattern": {"properties": {"a": {"pattern": "((", "patternProperties": {"((": {}}}}},
    "odd types": {
        "properties": {"a": {"type": ""}, "b": {"type": "STRING"}, "c": {"type": "any"}, "d": {"type": None}}
    },
    "schemas that are none": {"properties": {"a": "string", "b": None, "c": 3, "d": True, "e": False}},
    "additionalProperties": {"properties": {}, "additionalProperties": {"type": "string"}},
    "wrong keyword types": {"title": 5, "properties": {"a": {"minLength": "3", "items": 7, "anyOf": "x", "enum": 4}}},
    "properties is a list": {"properties": [1], "required": "a"},
    "200 KB": {"properties": {f"p{i}": {"type": "object", "properties": HUGE["properties"]} for i in range(2)}},
    "name that reads like a keyword at the root": {
        "properties": {"anyOf": {"type": "string"}, "enum": {"enum": ["a"]}}
    },
    "$ref with siblings": {
        "properties": {"a": {"$ref": "#/$defs/a", "description": "own", "properties": {"y": {"type": "integer"}}}},
        "$defs": {"a": {"type": "object", "properties": {"x": {"type": "string"}}, "description": "theirs"}},
    },
    "recursion through a choice": {
        "properties": {"value": {"$ref": "#/$defs/json"}},
        "$defs": {
            "json": {
                "anyOf": [
                    {"type": ["string", "number", "null"]},
                    {"type": "array", "items": {"$ref": "#/$defs/json"}},
                    {"type": "object", "additionalProperties": {"$ref": "#/$defs/json"}},
                ]
            }
        },
    },
    "closed and open tuples": {
        "properties": {
            "closed": {"prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False},
            "fixed": {"prefixItems": [{"type": "string"}, {"type": "integer"}], "minItems": 2, "maxItems": 2},
            "open": {"type": "array", "prefixItems": [{"type": "string"}]},
            "rest": {"type": "array", "prefixItems": [False, {"type": "string"}], "items": {"type": "integer"}},
        }
    },
    "less by more": {
        "properties": {
            "not": {"not": {"$ref": "https://example.com/unknown"}},
            "one": {"oneOf": [{"type": "string", "pattern": "(?<=x)y"}, {"type": "string", "format": "date"}]},
            "when": {"if": {"pattern": "\\p{Greek}"}, "then": {"maxLength": 1}, "else": {"minLength": 1}},
            "sum": {
                "allOf": [
                    {"properties": {"a": {}}, "additionalProperties": False},
                    {"patternProperties": {"((": {"type": "string"}}, "additionalProperties": False},
                ]
            },
            "rest": {"$ref": "#/$defs/base", "unevaluatedProperties": False},
            "few": {"contains": {"pattern": "(?<=x)y"}, "maxContains": 0},
        },
        "$defs": {"base": {"type": "object", "properties": {"b": {"type": "string"}}}},
    },
    "patterns that Python cannot read": {
        "properties": {"a": {"patternProperties": {"^\\p{L}$": {"type": "null"}}, "additionalProperties": False}}
    },
    "all in one": {
        "properties": {
            "a": {
                "allOf": [
                    {"type": "object", "properties": {"x": {"minimum": 1}}},
                    {"properties": {"x": {"maximum": 5}}},
                ]
            },
            "b": {"type": ["string", "integer", "null"], "enum": ["", "a", 1, None], "default": None},
            "c": {"anyOf": [{"type": "string", "enum": ["a", "b"]}, {"type": "null"}], "description": "one or none"},
            "d": {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 10.5, "multipleOf": 2},
            "e": {"type": "array", "uniqueItems": True, "items": {"type": "string", "format": "uri"}, "minItems": 1},
            "f": {"type": "object", "patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": False},
            "g": {"enum": [1, 2.5, "x", True, None, [1], {"a": 1}]},
            "h": {"type": "object", "properties": {}, "required": ["unknown"]},
            "i": {"type": "null"},
        },
        "required": ["a"],
    },
    "vendor words": {"$schema": "x", "x-order": 1, "properties": {"x-y": {"x-z": 1, "examples": [1]}}},
}


def catalogues() -> dict[str, dict[str, Any]]:
    """The input schemas of public MCP servers, by server and tool."""
    found: dict[str, dict[str, Any]] = json.loads((FIXTURES / "schemas" / "mcp_servers.json").read_text("utf-8"))
    for file in sorted((FIXTURES / "catalogues").glob("*.json")):
        listed = json.loads(file.read_text("utf-8"))
        tools = listed["tools"] if isinstance(listed, dict) else listed
        found[file.stem] = {tool["name"]: tool["inputSchema"] for tool in tools}
    return found


def _judge_all(wire: WireSchema) -> None:
    schema = wire.schema
    assert schema["type"] == "object"
    assert isinstance(schema["properties"], dict)
    assert not NOT_AT_ROOT & set(schema)
    assert set(schema.get("required", ())) <= set(schema["properties"])
    jsonschema.Draft202012Validator.check_schema(schema)
    assert not any("$ref" in node or "$defs" in node for node in nodes(schema))


def _judge_anthropic(wire: WireSchema) -> None:
    _judge_all(wire)
    assert all(key.isascii() and 0 < len(key) <= 64 and " " not in key for key in wire.schema["properties"])
    assert all(not isinstance(node.get("items"), list) for node in nodes(wire.schema))


def _judge_openai(wire: WireSchema) -> None:
    """The rules of function schemas without `strict`."""
    _judge_all(wire)
    for node in nodes(wire.schema):
        kinds = node.get("type", ())
        assert "array" not in ([kinds] if isinstance(kinds, str) else kinds) or isinstance(node.get("items"), dict)
        assert "prefixItems" not in node


def _judge_compatible(wire: WireSchema) -> None:
    """Grammars are built of these."""
    _judge_openai(wire)
    for node in nodes(wire.schema):
        assert "format" not in node
        assert "(?=" not in node.get("pattern", "")
        assert "(?<" not in node.get("pattern", "")


def _judge_gemini(wire: WireSchema) -> None:
    from google.genai import types

    _judge_all(wire)
    check_json_schema(wire.schema)
    types.FunctionDeclaration.model_validate({"name": "f", "parametersJsonSchema": wire.schema})


def _judge_proto(wire: WireSchema) -> None:
    from google.genai import types

    check_proto(wire.schema)
    types.FunctionDeclaration.model_validate({"name": "f", "parameters": wire.schema})


@dataclass(frozen=True)
class Cleaner:
    clean: Callable[[object], WireSchema]
    judge: Callable[[WireSchema], None]
    as_json_schema: Callable[[dict[str, Any]], dict[str, Any]] = lambda schema: schema

    def takes(self, wire: WireSchema, arguments: object) -> bool:
        schema = self.as_json_schema(wire.schema)
        return jsonschema_rs.Draft202012Validator(schema).is_valid(wire.keys.to_wire(arguments))


def read_proto(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A Schema message as the JSON Schema that means the same."""
    if str(schema.get("description", "")).endswith(ANY):
        return {}
    plain = {key: inner for key, inner in schema.items() if key not in ("nullable", "format", "default")}
    if "type" in plain:
        plain["type"] = plain["type"].lower()
    if "properties" in plain:
        plain["properties"] = {key: read_proto(inner) for key, inner in plain["properties"].items()}
    if "items" in plain:
        plain["items"] = read_proto(plain["items"])
    if "anyOf" in plain:
        plain["anyOf"] = [read_proto(inner) for inner in plain["anyOf"]]
    return {"anyOf": [plain, {"type": "null"}]} if schema.get("nullable") else plain


CLEANERS: dict[str, Cleaner] = {
    "anthropic": Cleaner(for_anthropic, _judge_anthropic),
    "openai": Cleaner(for_openai, _judge_openai),
    "compatible": Cleaner(lambda schema: for_openai(schema, compatible=True), _judge_compatible),
    "gemini": Cleaner(for_gemini, _judge_gemini),
    "gemini leveled": Cleaner(lambda schema: for_gemini(schema, levels=5), _judge_gemini),
    "gemini proto": Cleaner(for_gemini_proto, _judge_proto, read_proto),
}


class Spoiled(dict[str, Any]):
    """What no cleaner can walk over."""

    def items(self) -> Any:
        raise TypeError("no JSON is like this")


def samples(schema: Any, seed: int, count: int = 40) -> Iterator[Any]:
    """Arguments that `schema` itself accepts, made at random and then checked; none where it is no valid schema."""
    try:
        validator = jsonschema_rs.validator_for(schema)
    except (ValueError, jsonschema_rs.ReferencingError):
        return
    rng = random.Random(seed)
    maker = _Maker(schema, rng)
    for _ in range(count):
        made = maker.make(schema, 0)
        if isinstance(made, dict) and validator.is_valid(made):
            yield made


class _Maker:
    TEXTS = ("", "a", "b", "x-1", "2026-11-30", "https://example.com/a", "xy", "Ω")

    def __init__(self, root: Any, rng: random.Random) -> None:
        self._root = root
        self._rng = rng

    def make(self, schema: Any, depth: int) -> Any:
        if not isinstance(schema, dict) or depth > 8:
            return self._anything(depth)
        if isinstance(schema.get("$ref"), str):
            return self._joined(schema, [self._resolved(schema["$ref"])], depth)
        if "const" in schema:
            return schema["const"]
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            return self._rng.choice(schema["enum"])
        also = [branch for branch in schema.get("allOf", ()) if isinstance(branch, dict)]
        for keyword in ("anyOf", "oneOf"):
            if isinstance(schema.get(keyword), list) and schema[keyword]:
                also.append(self._rng.choice(schema[keyword]))
        return self._joined(schema, also, depth) if also else self._of_type(schema, depth)

    def _joined(self, schema: dict[str, Any], also: list[Any], depth: int) -> Any:
        rest = {key: inner for key, inner in schema.items() if key not in ("$ref", "allOf", "anyOf", "oneOf")}
        made = [self.make(branch, depth + 1) for branch in also]
        own = self._of_type(rest, depth) if {"type", "properties", "required"} & rest.keys() else None
        if all(isinstance(part, dict) for part in made):
            return {
                key: inner for part in ([own] if isinstance(own, dict) else []) + made for key, inner in part.items()
            }
        return made[0]

    def _of_type(self, schema: dict[str, Any], depth: int) -> Any:
        kinds = schema.get("type", self._guessed(schema))
        kind = self._rng.choice(kinds) if isinstance(kinds, list) and kinds else kinds
        match kind:
            case "object":
                return self._object(schema, depth)
            case "array":
                return self._array(schema, depth)
            case "string":
                return self._rng.choice(self.TEXTS)
            case "integer" | "number":
                ends = [schema.get(key) for key in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")]
                near = [end + step for end in ends if isinstance(end, int | float) for step in (-1, 0, 1, 2)]
                return self._rng.choice([*near, 0, 1, 7, *([2.5] if kind == "number" else [])])
            case "boolean":
                return self._rng.choice([True, False])
            case "null":
                return None
            case _:
                return self._anything(depth)

    def _guessed(self, schema: dict[str, Any]) -> str:
        if {"properties", "required", "additionalProperties", "patternProperties"} & schema.keys():
            return "object"
        return "array" if {"items", "prefixItems", "contains"} & schema.keys() else ""

    def _object(self, schema: dict[str, Any], depth: int) -> dict[str, Any]:
        properties = schema.get("properties")
        properties = properties if isinstance(properties, dict) else {}
        required = schema.get("required")
        required = required if isinstance(required, list) else []
        made = {
            name: self.make(inner, depth + 1)
            for name, inner in properties.items()
            if name in required or self._rng.random() < 0.6
        }
        for name in required:
            made.setdefault(name, self._anything(depth))
        if self._rng.random() < 0.3:
            made[self._rng.choice(["other", "x-1", "a"])] = self.make(schema.get("additionalProperties"), depth + 1)
        return made

    def _array(self, schema: dict[str, Any], depth: int) -> list[Any]:
        items = schema.get("items")
        members = schema.get("prefixItems", items if isinstance(items, list) else [])
        rest = items if isinstance(items, dict) else {}
        made = [self.make(member, depth + 1) for member in members]
        return made + [self.make(rest, depth + 1) for _ in range(self._rng.randint(0, 2))]

    def _anything(self, depth: int) -> Any:
        flat = [None, True, 0, 1.5, "", "a", [], {}]
        return self._rng.choice(flat if depth > 6 else [*flat, [self._rng.choice(flat)], {"a": self._rng.choice(flat)}])

    def _resolved(self, ref: str) -> Any:
        value = self._root
        for step in ref.removeprefix("#").split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~").replace("%20", " ")
            value = value.get(name, {}) if isinstance(value, dict) else {}
        return value
