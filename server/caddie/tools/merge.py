"""What is left of a text when one change to it is taken back, and all later ones stay? A three-way merge by lines.

Pure. `after` is the text that the change left behind, `now` what others have made of it since. Where both touched the
same lines nobody can tell what is meant: that is a clash, and the caller leaves the text as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

MANY_PAIRS = 500_000
"""So many pairs of equal lines, and frequent lines are no anchors any more: a coarser difference, in bounded time."""


@dataclass(frozen=True, slots=True)
class Clash:
    """Lines of `now`, counted from 1, that cannot be taken back; `last` is `first - 1` where they are gone."""

    first: int
    last: int

    def __str__(self) -> str:
        if self.last < self.first:
            return f"after line {self.last}"
        return f"line {self.first}" if self.first == self.last else f"lines {self.first}-{self.last}"


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines `start` to `end` of one text become `lines`; these begin at `at` in the other text. All counted from 0."""

    start: int
    end: int
    lines: tuple[str, ...]
    at: int

    def meets(self, other: Hunk) -> bool:
        if self.start == self.end and other.start == other.end:
            return self.start == other.start
        return self.start < other.end and other.start < self.end

    def does_the_same(self, other: Hunk) -> bool:
        return (self.start, self.end, self.lines) == (other.start, other.end, other.lines)

    @property
    def only_deletes(self) -> bool:
        return not self.lines


def taken_back(before: str, after: str, now: str) -> str | tuple[Clash, ...]:
    """`now` with the change from `before` to `after` undone, or where it clashes with what others did since."""
    base = ended_lines(after)
    back, theirs = list(_hunks(base, ended_lines(before))), list(_hunks(base, ended_lines(now)))
    clashes = tuple(
        Clash(their.at + 1, their.at + len(their.lines))
        for their in theirs
        if any(their.meets(hunk) and not _go_together(their, hunk) for hunk in back)
    )
    return clashes or _apply(base, [*theirs, *(hunk for hunk in back if not any(map(hunk.does_the_same, theirs)))])


def hunks(text: str, other: str) -> list[Hunk]:
    """What must be replaced in `text` for it to become `other`."""
    return list(_hunks(ended_lines(text), ended_lines(other)))


def applied(text: str, chosen: Iterable[Hunk]) -> str:
    """`text` with some of its hunks replaced."""
    return _apply(ended_lines(text), list(chosen))


def _go_together(one: Hunk, other: Hunk) -> bool:
    return one.does_the_same(other) or (one.only_deletes and other.only_deletes)


def _apply(base: Sequence[str], hunks: Sequence[Hunk]) -> str:
    pieces: list[str] = []
    at = 0
    for hunk in sorted(hunks, key=lambda hunk: (hunk.start, hunk.end)):
        pieces += base[at : hunk.start]
        pieces += hunk.lines
        at = max(at, hunk.end)
    return _joined([*pieces, *base[at:]])


def _joined(lines: Sequence[str]) -> str:
    """Only the last line may be without an end."""
    ended = [line if line.endswith("\n") else line + "\n" for line in lines[:-1]]
    return "".join([*ended, *lines[-1:]])


def ended_lines(text: str) -> list[str]:
    """The lines with their ends; only LF ends one."""
    lines = [line + "\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _hunks(base: Sequence[str], other: Sequence[str]) -> Iterator[Hunk]:
    start = _equal(base, other)
    end = _equal(base[start:][::-1], other[start:][::-1])
    old, new = base[start : len(base) - end], other[start : len(other) - end]
    counts = Counter(old)
    matcher = SequenceMatcher(None, old, new, autojunk=sum(counts[line] for line in new) > MANY_PAIRS)
    for tag, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        if tag != "equal":
            yield Hunk(start + old_start, start + old_end, tuple(new[new_start:new_end]), start + new_start)


def _equal(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines at the beginning are the same."""
    shorter = min(len(one), len(other))
    return next((at for at in range(shorter) if one[at] != other[at]), shorter)
