"""Taking one change back and keeping all others."""

from __future__ import annotations

import time
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caddie.tools.merge import Clash, applied, hunks, taken_back

LINE = st.sampled_from("abc") | st.text("xyz é", max_size=3)
TEXT = st.builds(lambda lines, end: "\n".join(lines) + end, st.lists(LINE, max_size=12), st.sampled_from(["", "\n"]))


def test_only_the_change_goes_and_what_others_did_elsewhere_stays() -> None:
    before = "one\ntwo\nthree\nfour\n"
    after = "one\nTWO\nthree\nfour\n"
    assert taken_back(before, after, "zero\none\nTWO\nthree\n4\n") == "zero\none\ntwo\nthree\n4\n"


@pytest.mark.parametrize(
    ("now", "left"),
    [
        ("a\nB\nC!\nd\n", "a\nb\nC!\nd\n"),  # the next line was changed
        ("A!\nB\nc\nd\n", "A!\nb\nc\nd\n"),  # the line before it
        ("a\nnew\nB\nc\nd\n", "a\nnew\nb\nc\nd\n"),
        ("a\nB\nnew\nc\nd\n", "a\nb\nnew\nc\nd\n"),
    ],
)
def test_edits_that_touch_but_do_not_overlap_are_told_apart(now: str, left: str) -> None:
    assert taken_back("a\nb\nc\nd\n", "a\nB\nc\nd\n", now) == left


@pytest.mark.parametrize(
    ("before", "after", "now", "clash"),
    [
        ("a\nb\nc\n", "a\nB\nc\n", "a\nB!\nc\n", "line 2"),
        ("a\nb\nc\n", "a\nB\nc\n", "a\nB\nB\nc\nd\n", None),
        ("a\nc\n", "a\nx\ny\nc\n", "a\nx\nmine\ny\nc\n", "line 3"),
        ("a\nb\nc\n", "a\nB\nB2\nc\n", "a\nB2\nc\n", "after line 1"),
        ("a\nb\nc\n", "a\nc\n", "a\nmine\nc\n", "line 2"),
    ],
)
def test_where_both_changed_the_same_lines_the_clash_is_named(
    before: str, after: str, now: str, clash: str | None
) -> None:
    result = taken_back(before, after, now)
    assert (isinstance(result, tuple) and [str(item) for item in result] == [clash]) is (clash is not None)


def test_what_was_already_taken_back_or_deleted_by_the_person_is_no_clash() -> None:
    assert taken_back("a\nb\n", "a\nB\n", "a\nb\n") == "a\nb\n"
    assert taken_back("a\n", "a\nx\ny\nz\n", "a\nx\nz\n") == "a\n"


def test_a_missing_end_of_the_last_line_joins_no_lines() -> None:
    assert taken_back("x", "x\ny\n", "x\ny\nz\n") == "x\nz\n"
    assert taken_back("x\n", "x", "x") == "x\n"


@pytest.mark.parametrize("kinds", [7, 1_000_000])
def test_long_texts_end_in_time_and_are_never_mixed_up(kinds: int) -> None:
    before = "".join(f"l{number % kinds}\n" for number in range(40_000))
    middle = before[:2_000] + "mine\n" + before[2_000:]
    result = taken_back(before, f"agent\n{before}agent\n", f"agent\n{middle}agent\n")
    assert result == middle if kinds > 40_000 else isinstance(result, tuple) or result == middle


@given(TEXT, TEXT)
def test_with_no_later_edit_exactly_the_old_text_comes_back(before: str, after: str) -> None:
    assert taken_back(before, after, after) == before
    assert taken_back(before, after, before) == before


@given(
    st.integers(0, 20), st.integers(0, 6), st.integers(0, 6),
    st.integers(0, 20), st.integers(0, 6), st.integers(0, 6), st.integers(1, 10),
)  # fmt: skip
def test_edits_in_different_places_give_what_either_alone_would(
    start: int, removed: int, added: int, gap: int, their_removed: int, their_added: int, rest: int
) -> None:
    """Lines are all different, so that there is one right answer; which edit comes first in the file is both tried."""
    length = start + removed + 1 + gap + their_removed + rest
    before = [f"line {number}\n" for number in range(length)]
    agents = (start, start + removed, [f"agent {number}\n" for number in range(added)])
    at = start + removed + 1 + gap
    persons = (at, at + their_removed, [f"person {number}\n" for number in range(their_added)])
    for agent, person in ((agents, persons), (persons, agents)):
        after, now, wanted = _edited(before, agent), _edited(before, agent, person), _edited(before, person)
        assert taken_back("".join(before), "".join(after), "".join(now)) == "".join(wanted)


def _edited(lines: list[str], *edits: tuple[int, int, list[str]]) -> list[str]:
    result = list(lines)
    for start, end, new in sorted(edits, reverse=True):
        result[start:end] = new
    return result


@given(st.data())
def test_no_line_of_the_person_is_ever_lost_and_none_of_the_agent_stays(data: st.DataObject) -> None:
    before = [f"line {number}" for number in range(data.draw(st.integers(0, 12)))]
    after = _scribbled(before, "agent", data)
    now = _scribbled(after, "person", data)
    result = taken_back("\n".join(before), "\n".join(after), "\n".join(now))
    if isinstance(result, tuple):
        assert all(isinstance(clash, Clash) and 1 <= clash.first <= len(now) + 1 for clash in result)
        return
    counted = Counter(result.split("\n"))
    assert all(counted[line] == 1 for line in now if line.startswith("person"))
    assert not any(line.startswith("agent") for line in counted)
    by_person_removed = set(after) - set(now)
    assert all(counted[line] == 1 for line in before if line and line not in by_person_removed)


def _scribbled(lines: list[str], who: str, data: st.DataObject) -> list[str]:
    result = list(lines)
    for number in range(data.draw(st.integers(0, 4))):
        start = data.draw(st.integers(0, len(result)))
        end = data.draw(st.integers(start, min(len(result), start + 3)))
        result[start:end] = [f"{who} {number}.{nth}" for nth in range(data.draw(st.integers(0, 3)))]
    return result


def test_a_text_of_many_equal_lines_is_compared_in_bounded_time() -> None:
    before, after = "a\n" * 2_500, "b\n" + "a\nc\n" * 1_200
    started = time.process_time()
    assert applied(before, hunks(before, after)) == after
    assert time.process_time() - started < 5
