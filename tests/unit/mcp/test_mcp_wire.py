"""Bytes of a server, one line at a time."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caddie.mcp.wire import LineJoiner, LongLine, mend_tool_list, read_message, refuse_line


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=6))
def test_lines_are_the_same_however_they_are_cut(data: bytes, cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    joiner = LineJoiner()
    lines = [line for a, b in pairwise(edges) for line in joiner.feed(data[a:b])]
    assert lines == data.split(b"\n")[:-1]


def test_a_line_over_the_cap_keeps_its_edges_only_and_the_next_is_whole() -> None:
    joiner = LineJoiner(cap=1000)
    lines = joiner.feed(b"a" * 600) + joiner.feed(b"b" * 3000) + joiner.feed(b"c\nnext\n")
    [long, following] = lines
    assert isinstance(long, LongLine)
    assert (long.length, long.head[:1], long.tail[-2:]) == (3601, b"a", b"bc")
    assert following == b"next"


@pytest.mark.parametrize("line", [b"", b"Server running", b"{", b"[]", b"null", b'"{}"', b"{}", b"{" * 100_000])
def test_what_is_no_message_is_none(line: bytes) -> None:
    assert read_message(line) is None


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":7,"result":{"content":[{"text":"a " quote"}]}}',
        b'{"result":{"content":[{"text":"a " quote"}]},"jsonrpc":"2.0","id":7}',
    ],
)
def test_an_unreadable_answer_is_refused_for_the_call_it_belongs_to(line: bytes) -> None:
    assert read_message(line) is None
    refusal = refuse_line(line)
    assert refusal is not None
    assert refusal.id == 7


@pytest.mark.parametrize("line", [b"{", b'{"jsonrpc":"2.0","id":7,"method":"ping" oops}', b"log: id 7"])
def test_what_is_no_answer_is_refused_for_nobody(line: bytes) -> None:
    assert refuse_line(line) is None


def test_a_bad_definition_is_mended_and_a_good_schema_kept_to_the_letter() -> None:
    good = {"type": "object", "properties": {"b": {"enum": ["x"]}, "a": {}}, "required": ["b"], "x-own": 1}
    result = {
        "tools": [
            {"name": "good", "inputSchema": good, "annotations": {"readOnlyHint": True, "title": 3}},
            {"name": "php", "inputSchema": {"type": "object", "properties": []}},
            {"name": "list", "inputSchema": {"type": "array"}, "description": None},
            {"name": 4},
            "nothing",
        ]
    }
    mend_tool_list(result)
    first, second, third = result["tools"]
    assert json.dumps(first["inputSchema"]) == json.dumps(good)
    assert first["annotations"] == {"readOnlyHint": True}
    assert second["inputSchema"] == third["inputSchema"] == {"type": "object"}
