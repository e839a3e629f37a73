"""Hand-written JSON keeps its comments, order and line ends; whatever is written says what was meant."""

from __future__ import annotations

import itertools
import json
import random
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caddie.storage.json_edit import edited
from caddie.storage.jsonc import BadJson, find, parse, position

HAND = """\
// mine
{
  "provider": "auto", // whichever is there
  "tools": {
    "disabled": [
      "a", // too slow
      "b"
    ], /* for now */
    "profile": "lean"
  },
  'model': 'x',
}
"""


def test_a_new_item_leaves_every_comment_where_it_is() -> None:
    tree = parse(HAND).value
    tree["tools"]["disabled"].append("c")
    assert edited(HAND, tree) == HAND.replace('      "b"\n', '      "b",\n      "c"\n')


def test_a_removed_item_takes_its_line_and_its_comma_along() -> None:
    tree = parse(HAND).value
    tree["tools"]["disabled"] = ["a"]
    assert edited(HAND, tree) == HAND.replace('"a", // too slow\n      "b"\n', '"a" // too slow\n')


def test_a_new_key_comes_last_and_follows_the_style_of_the_file() -> None:
    tree = parse(HAND).value | {"hints": {"enabled": False}}
    added = """  'model': 'x',\n  "hints": {\n    "enabled": false\n  },\n}\n"""
    assert edited(HAND, tree) == HAND.replace("  'model': 'x',\n}\n", added)


def test_a_comment_beside_the_last_member_stays_beside_it() -> None:
    text = '{\n\t"a": 1 // one\n}\n'
    assert edited(text, {"a": 1, "b": 2}) == '{\n\t"a": 1, // one\n\t"b": 2\n}\n'


def test_one_line_stays_one_line_and_windows_line_ends_stay() -> None:
    assert edited('{"a": [1, 2]} // x', {"a": [1, 2, 3]}) == '{"a": [1, 2, 3]} // x'
    assert edited('{\r\n  "a": 1\r\n}\r\n', {"a": 1, "b": [2]}) == '{\r\n  "a": 1,\r\n  "b": [\r\n    2\r\n  ]\r\n}\r\n'


def test_an_empty_text_and_an_emptied_object_work() -> None:
    assert edited("", {"a": 1}) == '{\n  "a": 1\n}\n'
    assert parse(edited("{ /* nothing */ }", {"a": 1})).value == {"a": 1}
    assert parse(edited('{"a": 1, /* why */ "b": 2}', {})).value == {}
    assert "why" in edited('{"a": 1, /* why */ "b": 2}', {})


@pytest.mark.parametrize("text", ['{"a": 1', '{"a" 1}', '{"a": }', "{]", '{"a": "x', "{} {}", "[" * 500, "", "{,}"])
def test_what_is_not_json_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(BadJson, match=r"line \d+, column \d+"):
        parse(text)


def test_a_value_is_found_where_it_stands() -> None:
    entry = find(parse(HAND), ("tools", "disabled", 1))
    assert entry is not None
    assert position(HAND, entry.node.start) == (6, 6)
    assert find(parse(HAND), ("nothing",)) is None


KEYS = st.text(min_size=1, max_size=6).filter(lambda text: "\x00" not in text)
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8)
)
TREES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)
OBJECTS = st.dictionaries(KEYS, TREES, max_size=5)


GAPS = ["", " ", "\n", "\n  ", "\t", "/*{}*/", " // {}\n", "\r\n/* {}\n*/ "]


def as_by_hand(tree: Any, seed: int) -> str:
    """A tree as people write it: comments, odd spaces, trailing commas. Seeded, for drawing each would be slow."""
    chance, counter = random.Random(seed), itertools.count()

    def gap() -> str:
        return chance.choice(GAPS).format(f"c{next(counter)}")

    def written(node: Any) -> str:
        if isinstance(node, dict):
            parts = [f"{gap()}{json.dumps(key)}{gap()}:{gap()}{written(value)}{gap()}" for key, value in node.items()]
        elif isinstance(node, list):
            parts = [f"{gap()}{written(item)}{gap()}" for item in node]
        else:
            return json.dumps(node, ensure_ascii=chance.random() < 0.5)
        trailing = "," + gap() if parts and chance.random() < 0.5 else gap()
        opening, closing = "{}" if isinstance(node, dict) else "[]"
        return opening + ",".join(parts) + trailing + closing

    return gap() + written(tree) + gap()


def comments(text: str) -> list[str]:
    return re.findall(r"(?:/\*|//)\s*(c\d+)\b", text)


SEEDS = st.integers(0, 10_000)


@settings(max_examples=100)
@given(before=OBJECTS, seed=SEEDS, tree=OBJECTS)
def test_whatever_is_asked_is_what_the_text_then_says(before: dict[str, Any], seed: int, tree: dict[str, Any]) -> None:
    text = as_by_hand(before, seed)
    for wanted in (tree, {**before, **tree}):
        assert json.dumps(parse(edited(text, wanted)).value, sort_keys=True) == json.dumps(wanted, sort_keys=True)


@settings(max_examples=100)
@given(before=OBJECTS, seed=SEEDS, index=st.integers(0, 5), value=TREES)
def test_setting_or_removing_one_key_keeps_all_comments_outside_of_it(
    before: dict[str, Any], seed: int, index: int, value: Any
) -> None:
    text = as_by_hand(before, seed)
    key = [*before, "new"][index % (len(before) + 1)]
    entry = find(parse(text), (key,))
    inside = comments(text[entry.start : (entry.node.end if entry.comma is None else entry.comma)]) if entry else []
    for tree in ({**before, key: value}, {name: item for name, item in before.items() if name != key}):
        now = comments(edited(text, tree))
        assert [comment for comment in comments(text) if comment not in inside] == [c for c in now if c not in inside]
