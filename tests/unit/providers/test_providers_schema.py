from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caddie.providers.schema import WireSchema, for_anthropic, for_openai

CLEANERS: dict[str, Callable[[object], WireSchema]] = {
    "anthropic": for_anthropic,
    "openai": lambda schema: for_openai(schema, compatible=False),
    "compatible": lambda schema: for_openai(schema, compatible=True),
}
NOT_AT_ROOT = {"anyOf", "oneOf", "allOf", "not", "enum", "const", "if", "then", "else", "$ref", "$defs"}
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
    "vendor words": {"$schema": "x", "x-order": 1, "properties": {"x-y": {"x-z": 1, "examples": [1]}}},
}


def check(wire: WireSchema, name: str) -> None:
    schema = wire.schema
    assert schema["type"] == "object"
    assert isinstance(schema["properties"], dict)
    assert not NOT_AT_ROOT & set(schema)
    assert set(schema.get("required", ())) <= set(schema["properties"])
    jsonschema_rs.meta.validate({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})
    text = json.dumps(schema, allow_nan=False)
    assert '"$ref": "' not in text
    if name == "anthropic":
        assert all(key.isascii() and len(key) <= 64 and " " not in key for key in schema["properties"])


@pytest.mark.parametrize("name", CLEANERS)
@pytest.mark.parametrize("vector", VECTORS)
def test_any_schema_becomes_one_that_the_api_takes(name: str, vector: str) -> None:
    given_schema = VECTORS[vector]
    before = copy.deepcopy(given_schema) if vector != "deep" else None
    first, second = CLEANERS[name](given_schema), CLEANERS[name](given_schema)
    check(first, name)
    assert json.dumps(first.schema) == json.dumps(second.schema)
    assert before is None or repr(given_schema) == repr(before), "the original is needed for validation"


KEYWORDS = st.sampled_from(
    """type properties required items anyOf allOf oneOf not $ref $defs enum const default minimum exclusiveMinimum
    pattern format additionalProperties prefixItems minLength description if then patternProperties x-a""".split()  # noqa: SIM905
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(["object", "array", "string", "#", "#/properties/a", "#/$defs/a", "(", "a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYWORDS | st.sampled_from("ab"), inner, max_size=4),
    max_leaves=25,
)


@pytest.mark.parametrize("name", CLEANERS)
def test_whatever_comes_in_a_valid_schema_goes_out(name: str) -> None:
    @settings(max_examples=300, deadline=None)
    @given(VALUES)
    def holds(schema: object) -> None:
        check(CLEANERS[name](schema), name)

    holds()


@pytest.mark.parametrize("name", CLEANERS)
def test_what_the_tool_takes_its_cleaned_schema_takes_too(name: str) -> None:
    cases = [
        ("root anyOf of required", {"a": "x", "b": 1}),
        ("root anyOf of required", {"c": 1}),
        ("root oneOf of objects", {"kind": "x", "x": "1"}),
        ("root oneOf of objects", {"kind": "y", "y": 1}),
        ("root allOf", {"a": 1}),
        ("recursive tree", {"root": {"kids": [{"kids": [{"kids": []}]}]}}),
        ("definitions and tuples", {"t": [1, "x"]}),
        ("properties named like keywords", {"type": "a", "$ref": "b", "required": True}),
        ("mixed enum", {"e": None, "c": None}),
        ("additionalProperties", {"any": "text"}),
    ]
    for vector, arguments in cases:
        wire = CLEANERS[name](VECTORS[vector])
        names = {own: key for key, own in wire.renamed.items()}
        jsonschema_rs.validate(wire.schema, {names.get(key, key): value for key, value in arguments.items()})


def test_a_choice_at_the_root_is_told_in_words() -> None:
    wire = for_anthropic(VECTORS["root anyOf of required"])
    assert wire.note == "At least one of: (a, b) | (c)."
    assert "required" not in wire.schema
    other = for_anthropic(VECTORS["root oneOf of objects"])
    assert other.note == "Exactly one of: (x) | (y)."
    assert other.schema["required"] == ["kind"]
    assert other.schema["properties"]["kind"] == {"anyOf": [{"const": "x"}, {"const": "y"}]}


def test_the_order_of_properties_is_kept() -> None:
    assert list(for_anthropic({"properties": {"z": {}, "a": {}, "m": {}}}).schema["properties"]) == ["z", "a", "m"]


def test_keys_that_anthropic_refuses_are_renamed_and_lead_back() -> None:
    wire = for_anthropic(VECTORS["odd keys"])
    assert set(wire.renamed.values()) == {"a key", "k" * 70, "名前", "住所"}
    assert set(wire.renamed) <= set(wire.schema["properties"])
    assert [wire.renamed[key] for key in wire.schema["required"]] == ["名前"]


def test_a_huge_schema_loses_its_deepest_parts_only() -> None:
    big = {"properties": {"a": {"properties": {f"p{i}": HUGE for i in range(3)}}, "b": {"type": "string"}}}
    schema = for_anthropic(big).schema
    assert len(json.dumps(schema)) <= 64_000
    assert set(schema["properties"]) == {"a", "b"}


def test_compatible_servers_get_no_format_and_no_look_around() -> None:
    vector = VECTORS["look-behind"]
    assert for_openai(vector, compatible=True).schema["properties"]["a"] == {"type": "string"}
    assert for_openai(vector, compatible=False).schema["properties"]["a"]["format"] == "date"


def test_draft_4_bounds_are_rewritten() -> None:
    wire = for_anthropic(VECTORS["boolean exclusiveMinimum"])
    assert wire.schema["properties"]["n"] == {"type": "number", "exclusiveMinimum": 0}
