"""Do arguments fit their schema? With `jsonschema-rs` as the judge of random ones, and schemas made to be hard."""

from __future__ import annotations

import json
import time
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caddie.errors import InvalidArguments
from caddie.tools.arguments import Checked, check_arguments
from caddie.tools.tool import ToolSpec

AT_ONCE = 10.0  # seconds, on a busy machine; the hard cases take minutes when they are not bounded


def spec(schema: Any) -> ToolSpec:
    return ToolSpec(name="mcp__acme__create", description="", input_schema=schema, original_name="create")


def check(schema: Any, arguments: object) -> Checked:
    return check_arguments(spec(schema), arguments)


def refusal(schema: Any, arguments: object) -> str:
    with pytest.raises(InvalidArguments) as caught:
        check(schema, arguments)
    return caught.value.message


# Random schemas and arguments.

NAMES = st.sampled_from(["id", "title", "state", "limit", "tags", "owner"])
SCALARS = st.none() | st.booleans() | st.integers(-5, 50) | st.floats(-5, 5, width=32) | st.text("ab1 -", max_size=4)
VALUES = st.recursive(
    SCALARS | st.sampled_from(["10", "true", "null", "[1]", '{"id": "3"}', "1.5", "010", "yes"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
TYPES = st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"])
LEAVES = st.one_of(
    st.builds(lambda kind: {"type": kind}, TYPES),
    st.builds(lambda kinds: {"type": kinds}, st.lists(TYPES, min_size=1, max_size=3, unique=True)),
    st.builds(lambda options: {"enum": options}, st.lists(SCALARS, min_size=1, max_size=3, unique_by=repr)),
    st.builds(lambda value: {"const": value}, SCALARS),
    st.builds(lambda low: {"type": "number", "minimum": low}, st.integers(-5, 5)),
    st.builds(lambda size: {"type": "string", "maxLength": size, "pattern": "^[a-z0-9 ]*$"}, st.integers(0, 4)),
    st.just({"$ref": "#/$defs/node"}),
    st.just({}),
)


def objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.dictionaries(NAMES, inner, max_size=4)},
        optional={
            "required": st.lists(NAMES, max_size=2, unique=True),
            "additionalProperties": st.booleans(),
            "unevaluatedProperties": st.just(False),
        },
    )


def branches(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    word = st.sampled_from(["anyOf", "oneOf", "allOf"])
    return st.builds(lambda key, parts: {key: parts}, word, st.lists(inner, min_size=1, max_size=3))


SCHEMAS = st.builds(
    lambda top, node: {**top, "$defs": {"node": node}},
    objects(
        st.recursive(
            LEAVES,
            lambda inner: objects(inner) | branches(inner) | st.builds(lambda item: {"items": item}, inner),
            max_leaves=6,
        )
    ),
    LEAVES.filter(lambda leaf: "$ref" not in leaf) | objects(LEAVES),
)


@settings(max_examples=400)
@given(SCHEMAS, st.dictionaries(NAMES, VALUES, max_size=4))
def test_the_judge_agrees_with_every_word(schema: dict[str, Any], arguments: dict[str, Any]) -> None:
    fits = jsonschema_rs.is_valid(schema, arguments)
    try:
        checked = check(schema, arguments)
    except InvalidArguments:
        assert not fits, "what fits is never refused"
        return
    assert jsonschema_rs.is_valid(schema, checked.arguments), "what is run fits"
    if fits:
        assert checked.arguments == json.loads(json.dumps(arguments)), "what fits is never changed"
    else:
        assert any("was read as" in note for note in checked.notes), "a change is always told"


# Conversions.


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"type": "integer"}, "10", 10),
        ({"type": "integer"}, " -3 ", -3),
        ({"type": "number"}, "0.1", 0.1),
        ({"type": "number"}, "7", 7),
        ({"type": "boolean"}, "false", False),
        ({"type": "null"}, "null", None),
        ({"type": "array", "items": {"type": "integer"}}, '["1", 2]', [1, 2]),
        ({"type": "object", "properties": {"n": {"type": "integer"}}}, '{"n": "4"}', {"n": 4}),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "5", 5),
        ({"oneOf": [{"type": "boolean"}, {"type": "null"}]}, "true", True),
        ({"enum": [1, 2, 3]}, "2", 2),
        ({"const": True}, "true", True),
        ({"$ref": "#/$defs/size"}, "12", 12),
    ],
)
def test_what_can_mean_one_thing_only_is_converted_and_noted(schema: Any, text: str, value: Any) -> None:
    checked = check({"properties": {"a": schema}, "$defs": {"size": {"type": "integer"}}}, {"a": text})
    assert checked.arguments == {"a": value}
    assert type(checked.arguments["a"]) is type(value)
    assert f"$.a: the text {json.dumps(text)} was read as" in checked.notes[0]


@pytest.mark.parametrize(
    ("kind", "text"),
    [("integer", "010"), ("integer", "1e3"), ("integer", "1.5"), ("integer", "+1"), ("integer", "１"), ("integer", ""),
     ("integer", "99999999999999999999"), ("number", "0.1000000000000000055"), ("number", "NaN"), ("number", "1,5"),
     ("boolean", "yes"), ("boolean", "True"), ("boolean", "1"), ("null", "None"), ("null", ""), ("array", "a,b"),
     ("array", "[1"), ("object", "[1]"), ("array", "[" * 100_000)],
)  # fmt: skip
def test_what_is_ambiguous_or_would_lose_something_is_refused(kind: str, text: str) -> None:
    assert f"$.a: expected {kind}; got the string" in refusal({"properties": {"a": {"type": kind}}}, {"a": text})


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("{", "are not valid JSON"),
        ("[1]", "must be one JSON object; got [1]"),
        ('"x"', 'must be one JSON object; got "x"'),
        (7, "must be one JSON object; got 7"),
        ({"a": float("nan")}, "hold what JSON does not have"),
        ({"a": "\ud800"}, "half of a character"),
        ({"\ud800": 1}, "half of a character"),
    ],
)
def test_what_is_no_json_object_is_refused_in_words(arguments: object, said: str) -> None:
    assert said in refusal({"type": "object"}, arguments)


def test_arguments_nested_without_end_are_refused() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    assert "nested too deeply" in refusal({"type": "object"}, {"a": deep})


# Words.

FORMS = {
    "properties": {
        "shape": {
            "oneOf": [
                {
                    "type": "object",
                    "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}},
                    "required": ["kind", "radius"],
                    "additionalProperties": False,
                },
                {
                    "type": "object",
                    "properties": {"kind": {"const": "square"}, "side": {"type": "number"}},
                    "required": ["kind", "side"],
                    "additionalProperties": False,
                },
            ]
        }
    }
}
CLOSED = {
    "type": "object",
    "properties": {"owner": {"$ref": "#/$defs/Person"}, "tags": {"type": "array", "items": {"$ref": "#/$defs/Tag"}}},
    "$defs": {
        "Person": {
            "type": "object",
            "properties": {"email": {"type": "string"}, "name": {"type": "string"}},
            "additionalProperties": False,
        },
        "Tag": {"allOf": [{"properties": {"label": {"type": "string"}}}], "unevaluatedProperties": False},
    },
}


@pytest.mark.parametrize(
    ("schema", "arguments", "said"),
    [
        (FORMS, {"shape": {"kind": "oval"}}, '$.shape.kind: expected one of ["circle", "square"]; got "oval"'),
        (FORMS, {"shape": {"kind": "circle", "radius": "wide"}}, "$.shape.radius: expected number; got the string"),
        (FORMS, {"shape": {"kind": "square"}}, "$.shape: the required property 'side' is missing"),
        (FORMS, {"shape": 7}, "$.shape: expected object; got the integer 7"),
        (CLOSED, {"owner": {"emial": "a@b"}}, "$.owner: unknown property 'emial'; did you mean 'email'?"),
        (CLOSED, {"tags": [{"lable": "x"}]}, "$.tags[0]: unknown property 'lable'; did you mean 'label'?"),
        (CLOSED, {"owner": {"x": 1}}, "unknown property 'x'; known are email, name"),
        ({"properties": {"a": {"const": 5}}}, {"a": 6}, "$.a: expected 5; got 6"),
        ({"properties": {"a": {"pattern": "^x"}}}, {"a": "y"}, '$.a: expected text that matches "^x"; got "y"'),
        ({"properties": {"a": {"oneOf": [{"minimum": 0}, {"maximum": 9}]}}}, {"a": 5}, "it fits more than one of 2"),
        ({"properties": {"a": False}}, {"a": 5}, "$.a: nothing is allowed here"),
        ({"properties": {"a": {"type": ["integer", "null"]}}}, {"a": "x"}, "$.a: expected null or integer; got"),
    ],
)  # fmt: skip
def test_a_refusal_says_where_what_and_what_instead(schema: Any, arguments: Any, said: str) -> None:
    message = refusal(schema, arguments)
    assert said in message
    assert "Schema of mcp__acme__create:" in message


def test_a_misspelt_key_that_no_schema_forbids_is_noted_at_any_depth() -> None:
    schema = {"properties": {"options": {"properties": {"recursive": {"type": "boolean"}}}}}
    checked = check(schema, {"options": {"recusive": True}})
    assert checked.notes == ("$.options.recusive: unknown; did you mean 'recursive'?",)


# Hard schemas.


def test_a_recursive_schema_validates_every_level() -> None:
    schema = {
        "$defs": {"And": {"anyOf": [{"$ref": "#/$defs/And"}, {"type": "string"}]}},
        "properties": {"q": {"$ref": "#/$defs/And"}, "tree": {"$ref": "#"}},
    }
    assert check(schema, {"q": "x", "tree": {"tree": {"q": "y"}}}).notes == ()
    assert "$.tree.tree.q" in refusal(schema, {"tree": {"tree": {"q": 5}}})


def test_an_older_draft_is_read_as_what_it_is() -> None:
    pair = {"type": "array", "items": [{"type": "integer"}, {"type": "string"}], "additionalItems": False}
    named = {"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"pair": pair}}
    for schema in (named, {"properties": {"pair": pair}}):
        assert check(schema, {"pair": [1, "a"]}).notes == ()
        assert "$.pair[1]: expected string" in refusal(schema, {"pair": [1, 2]})
        assert refusal(schema, {"pair": [1, "a", 3]})


def test_a_dialect_that_nobody_knows_is_read_as_the_usual_one() -> None:
    schema = {"$schema": "https://example.org/own", "properties": {"a": {"type": "integer"}}}
    assert "$.a: expected integer" in refusal(schema, {"a": "x"})


def test_a_remote_reference_is_never_fetched_and_the_rest_of_the_schema_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_socket(*args: object, **more: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr("socket.socket.connect", no_socket)
    schema = {
        "properties": {"a": {"$ref": "http://127.0.0.1:9/x.json#/y"}, "b": {"type": "integer"}},
        "$defs": {"c": {"$ref": "file:///etc/passwd"}},
    }
    assert check(schema, {"a": ["anything"]}).notes == ()
    assert "$.b: expected integer" in refusal(schema, {"a": 1, "b": []})


def test_a_schema_of_a_megabyte_is_checked_and_only_its_part_in_question_is_shown() -> None:
    filler = "words " * 20
    big = {"properties": {f"p{n}": {"enum": ["a", "b"], "description": filler} for n in range(7_000)}}
    assert len(json.dumps(big)) > 1_000_000
    start = time.perf_counter()
    message = refusal(big, {"p1": "c"})
    assert time.perf_counter() - start < AT_ONCE
    assert '$.p1: expected one of ["a", "b"]; got "c"' in message
    assert '"p1": {"enum"' in message
    assert len(message) < 10_000


@pytest.mark.parametrize(
    "pattern",
    ["^(a+)+$", "^(?=(a+)+$)(?:a|a?)+b$", r"^(?:(a*)*\1)*b$", "(x{1000}){1000}", "((((a{100}){100}){100}){9})"],
)
def test_a_catastrophic_pattern_takes_no_time(pattern: str) -> None:
    start = time.perf_counter()
    try:
        check({"properties": {"a": {"items": {"pattern": pattern}}}}, {"a": ["a" * 400 + "c"] * 50})
    except InvalidArguments:
        pass
    assert time.perf_counter() - start < AT_ONCE


def test_alternatives_without_end_are_refused_in_time() -> None:
    forms = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}, {"$ref": f"#/$defs/d{n + 1}"}]} for n in range(24)}
    schema = {"$defs": {**forms, "d24": {"type": "integer"}}, "properties": {"x": {"$ref": "#/$defs/d0"}}}
    start = time.perf_counter()
    assert "too many alternatives" in refusal(schema, {"x": "q"})
    assert check(schema, {"x": 1}).arguments == {"x": 1}
    assert time.perf_counter() - start < AT_ONCE


@pytest.mark.parametrize("schema", [{"type": "objekt"}, {"required": True}, {"properties": {"a": {"$ref": "#/nope"}}}])
def test_arguments_for_an_unusable_schema_go_to_the_tool_unchanged(schema: Any) -> None:
    assert check(schema, {"a": "10"}).arguments == {"a": "10"}


def test_a_text_that_holds_what_json_does_not_have_is_read_as_nothing_else() -> None:
    for text in ("[NaN]", "[1e999]", "[-Infinity]"):
        assert "expected array" in refusal({"type": "object", "properties": {"a": {"type": "array"}}}, {"a": text})


def test_looking_for_misspelt_names_ends_soon_whatever_the_schema() -> None:
    leaf = {"properties": {"a": {"$ref": "#/$defs/N"}}}
    node = {"type": "object", "anyOf": [{"anyOf": [{"anyOf": [leaf] * 20}] * 20}] * 20}
    wide = {"type": "object", "properties": {f"{'abcdef' * 10}{at}": {} for at in range(500)}}
    started = time.monotonic()
    check({"$defs": {"N": node}, "type": "object", "properties": {"a": {"$ref": "#/$defs/N"}}}, {"a": {"a": {"x": 1}}})
    check(wide, {f"{'fedcba' * 10}{at}": 1 for at in range(500)})
    assert time.monotonic() - started < AT_ONCE
