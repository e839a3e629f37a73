from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from schema_kit import CLEANERS, HUGE, VECTORS, Spoiled, catalogues, nested, samples

from caddie.providers.schema import for_anthropic, for_openai
from caddie.tools.builtin import BUILTIN


@pytest.mark.parametrize("name", CLEANERS)
@pytest.mark.parametrize("vector", VECTORS)
def test_any_schema_becomes_one_that_the_api_takes(name: str, vector: str) -> None:
    given_schema = VECTORS[vector]
    before = copy.deepcopy(given_schema) if vector != "deep" else None
    first, second = CLEANERS[name].clean(given_schema), CLEANERS[name].clean(given_schema)
    CLEANERS[name].judge(first)
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
    @settings(max_examples=120)
    @given(VALUES)
    def holds(schema: object) -> None:
        CLEANERS[name].judge(CLEANERS[name].clean(schema))

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
        ("patterns that Python cannot read", {"a": {"b": None}}),
        ("recursion through a choice", {"value": [[[["deep"]]]]}),
    ]
    cleaner = CLEANERS[name]
    for vector, arguments in cases:
        assert cleaner.takes(cleaner.clean(VECTORS[vector]), arguments), (vector, arguments)


def corpus() -> Mapping[str, Any]:
    """Each tool of the public servers and each of our own, and the vectors."""
    public = {f"{server}/{tool}": schema for server, tools in catalogues().items() for tool, schema in tools.items()}
    own = {f"own/{tool.name}": dict(tool.spec.input_schema) for tool in BUILTIN}
    return {**public, **own, **{f"vector/{name}": schema for name, schema in VECTORS.items()}}


def test_the_corpus_holds_seven_servers_and_our_own_tools() -> None:
    assert len(catalogues()) == 9  # one of them with and without its client's capabilities, and our core tools
    assert len(corpus()) > 100


@pytest.mark.parametrize("name", CLEANERS)
def test_every_tool_of_every_server_is_clean_and_takes_at_least_what_it_took(name: str) -> None:
    cleaner, taken = CLEANERS[name], 0
    for tool, schema in corpus().items():
        before = repr(schema)
        wire = cleaner.clean(schema)
        cleaner.judge(wire)
        assert not wire.is_lost
        assert repr(schema) == before
        for arguments in samples(schema, seed=7, count=25):
            assert cleaner.takes(wire, arguments), (tool, arguments)
            assert wire.keys.to_own(wire.keys.to_wire(arguments)) == arguments
            taken += 1
    assert taken > 1000


SCALARS = st.sampled_from(
    [
        {"type": "string"}, {"type": "integer", "minimum": 1, "exclusiveMaximum": 9}, {"type": "number"},
        {"type": "boolean"}, {"type": "null"}, {"type": ["string", "null"]}, {"type": ["integer", "string"]},
        {"enum": ["a", "b"]}, {"enum": ["", 1, None]}, {"const": "x"}, {"const": 0}, {}, True,
        {"type": "string", "pattern": "^(?=a)"}, {"type": "string", "format": "date"}, {"$ref": "#/$defs/d"},
        {"not": {"type": "string"}}, {"type": "string", "enum": ["a", "a b"], "description": "one"},
    ]
)  # fmt: skip
NAMES = st.sampled_from(["a", "b", "x-1", "user.name", "1st", "type", "名前"])


def composed(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, min_size=1, max_size=3)
    objects = st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.dictionaries(NAMES, inner, max_size=3)},
        optional={
            "required": st.lists(NAMES, max_size=2, unique=True),
            "additionalProperties": st.booleans() | inner,
            "patternProperties": st.dictionaries(st.sampled_from(["^x-", "((?"]), inner, max_size=1),
        },
    )
    return st.one_of(
        objects,
        st.builds(lambda items: {"type": "array", "items": items}, inner),
        st.builds(lambda members, rest: {"type": "array", "prefixItems": members, "items": rest}, several, inner),
        *(st.builds(lambda branches, key=key: {key: branches}, several) for key in ("anyOf", "oneOf", "allOf")),
        st.builds(lambda node, branches: {**node, "anyOf": branches}, objects, several),
        st.builds(
            lambda node, other: {"type": "object", "if": node, "then": other, "properties": {"a": {}}}, inner, inner
        ),
        st.builds(lambda node: {"not": node}, inner),
    )


def closed(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(
        lambda properties, required: {"properties": properties, "required": required, "additionalProperties": False},
        st.dictionaries(NAMES, inner, max_size=3),
        st.lists(NAMES, max_size=2, unique=True),
    )


SCHEMAS = st.builds(
    lambda properties, fields, target: {"properties": properties, "$defs": {"d": target}, **fields},
    st.dictionaries(NAMES, st.recursive(SCALARS, composed, max_leaves=8), min_size=1, max_size=3),
    st.fixed_dictionaries(
        {},
        optional={
            # A property that one option names is told to the model as that option tells it, so the others are closed.
            "anyOf": st.lists(closed(st.recursive(SCALARS, composed, max_leaves=4)), min_size=1, max_size=2),
            "oneOf": st.lists(closed(st.recursive(SCALARS, composed, max_leaves=4)), min_size=1, max_size=2),
            "allOf": st.lists(st.recursive(SCALARS, composed, max_leaves=4), min_size=1, max_size=2),
            "required": st.lists(NAMES, max_size=2, unique=True),
            "additionalProperties": st.booleans(),
            "unevaluatedProperties": st.just(False),
        },
    ),
    st.recursive(SCALARS, composed, max_leaves=6),
)


@pytest.mark.parametrize("name", CLEANERS)
def test_no_cleaning_ever_takes_away_what_a_tool_takes(name: str) -> None:
    cleaner = CLEANERS[name]

    @settings(max_examples=60)
    @given(SCHEMAS, st.integers(0, 1000))
    def holds(schema: dict[str, Any], seed: int) -> None:
        wire = cleaner.clean(schema)
        cleaner.judge(wire)
        for arguments in samples(schema, seed, count=15):
            assert cleaner.takes(wire, arguments), arguments

    holds()


HASHES = """
import hashlib, json, sys
sys.path[:0] = json.loads(sys.argv[1])
from schema_kit import CLEANERS, VECTORS, catalogues
everything = [schema for tools in catalogues().values() for schema in tools.values()] + list(VECTORS.values())
made = [cleaner.clean(schema) for cleaner in CLEANERS.values() for schema in everything]
text = json.dumps([[wire.schema, wire.note, dict(wire.renamed)] for wire in made])
print(hashlib.sha256(text.encode()).hexdigest(), len(made))
"""


def test_another_process_makes_the_same_bytes() -> None:
    paths = json.dumps([path for path in sys.path if "tests" in path])
    told = [
        subprocess.run(
            [sys.executable, "-c", HASHES, paths],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=240,
        ).stdout
        for seed in ("1", "4242")
    ]
    assert told[0] == told[1] != ""


def bottomless(levels: int) -> dict[str, Any]:
    return {**nested(levels), "properties": {"a": nested(levels), "default": {"default": nested(levels)}}}


LARGE = {
    "a megabyte of properties": {
        "properties": {f"p{i}": {"type": "string", "description": "y" * 90} for i in range(9000)}
    },
    "a megabyte of values": {"properties": {"e": {"enum": [f"value {i}" for i in range(60_000)]}}},
    "a megabyte of text": {"description": "z" * 1_000_000, "properties": {"a": {"description": "z" * 500_000}}},
    "a megabyte in depth": nested(15_000),
    "everywhere": {"properties": {f"p{i}": nested(30) for i in range(500)}},
    "many references": {
        "properties": {f"p{i}": {"$ref": "#/$defs/a"} for i in range(3000)},
        "$defs": {"a": {"properties": {f"q{i}": {"$ref": "#/$defs/b"} for i in range(300)}}, "b": {"type": "string"}},
    },
    "many choices": {"anyOf": [{"properties": {f"p{i}": {"type": "string"}}} for i in range(5000)]},
}


@pytest.mark.parametrize("name", ["anthropic", "gemini proto"])
@pytest.mark.parametrize("which", LARGE)
def test_a_huge_schema_is_small_and_clean_in_little_time(name: str, which: str) -> None:
    began = time.process_time()
    wire = CLEANERS[name].clean(LARGE[which])
    assert time.process_time() - began < 3
    jsonschema_rs.meta.validate(CLEANERS[name].as_json_schema(wire.schema))
    assert len(json.dumps(wire.schema)) <= (250_000 if name == "gemini proto" else 80_000)
    assert not wire.is_lost
    if which != "a megabyte in depth":
        assert wire.schema["properties"]


@pytest.mark.parametrize("name", CLEANERS)
def test_a_schema_that_cannot_be_cleaned_costs_its_tool_only_the_schema(name: str) -> None:
    wire = CLEANERS[name].clean({"type": "object", "properties": Spoiled(a=1)})
    assert wire.is_lost
    assert wire.schema == {"type": "object", "properties": {}, "additionalProperties": True}
    assert "cannot be shown" in wire.note


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
