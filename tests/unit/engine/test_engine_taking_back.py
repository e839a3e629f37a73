"""A change to a file's content taken back, whatever its encoding and line ends, and however an editor shows it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caddie.engine.taking_back import CannotTakeBack, NothingToTakeBack, content_before

ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "latin-1")
ENDS = ("\n", "\r\n")
WORDS = st.lists(st.sampled_from(["é", "ü1", "x", ""]), min_size=1, max_size=6)


def lines(*texts: str) -> str:
    return "".join(f"{text}\n" for text in texts)


@given(
    before=WORDS, agent=WORDS, person=WORDS, encoding=st.sampled_from(ENCODINGS), end=st.sampled_from(ENDS),
    shown_end=st.sampled_from(ENDS), in_editor=st.booleans(),
)  # fmt: skip
def test_the_persons_lines_stay_and_the_agents_go_in_any_encoding(
    before: list[str], agent: list[str], person: list[str], encoding: str, end: str, shown_end: str, in_editor: bool
) -> None:
    """é is in each text, so that Latin-1 cannot be taken for UTF-8."""
    old, new = lines("first é", *before, "last"), lines("first é", *before, *(f"agent {a}" for a in agent), "last")
    mine = [f"person {p}" for p in person]
    now, wanted = lines(*mine, *new.splitlines()), lines(*mine, *old.splitlines())
    stored = [text.replace("\n", end).encode(encoding) for text in (old, new)]
    shown, its_end = ("utf-8", shown_end) if in_editor else (encoding, end)
    result = content_before(stored[0], stored[1], now.replace("\n", its_end).encode(shown))
    assert result == wanted.replace("\n", its_end).encode(shown)


@given(st.binary(max_size=50), st.binary(max_size=50))
def test_unchanged_bytes_come_back_exactly_even_if_they_are_no_text(before: bytes, after: bytes) -> None:
    assert content_before(before, after, after) == before
    assert content_before(None, after, after) is None
    assert content_before(before, None, None) == before


def test_a_change_of_the_line_ends_alone_is_taken_back_too() -> None:
    assert content_before(b"a\r\nb\r\n", b"a\nb\n", b"a\nb\n") == b"a\r\nb\r\n"
    with pytest.raises(CannotTakeBack):
        content_before(b"a\r\nb\r\n", b"a\nb\n", b"a\nB\n")


@pytest.mark.parametrize(
    ("before", "after", "now", "said"),
    [
        (b"a", b"b", b"a", "already as it was"),
        (b"a", b"b", None, "deleted since"),
        (b"a\r\nb\r\n", b"a\r\nc\r\n", b"a\nb\n", "already as it was"),
    ],
)
def test_where_the_change_is_gone_there_is_nothing_to_do(before: bytes, after: bytes, now: bytes, said: str) -> None:
    with pytest.raises(NothingToTakeBack, match=said):
        content_before(before, after, now)


@pytest.mark.parametrize(
    ("before", "after", "now", "said"),
    [
        (None, b"a", b"b", "created by it and changed since"),
        (b"a", None, b"b", "deleted by it and is there again"),
        (b"\0a", b"\0b", b"\0c", "no text"),
        (b"1\n2\n", b"1\nx\n", b"1\ny\n", r"same place \(line 2\)"),
    ],
)
def test_what_cannot_be_told_apart_is_left_with_its_reason(
    before: bytes | None, after: bytes | None, now: bytes, said: str
) -> None:
    with pytest.raises(CannotTakeBack, match=said):
        content_before(before, after, now)
