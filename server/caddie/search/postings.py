"""Which tools hold a term, and how often in each field: the counts that both rankers work from.

Nothing here depends on the whole catalogue (no idf, no mean length), so adding and removing a tool touches its own
terms only and leaves exactly what a fresh build would have.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from dataclasses import dataclass

from caddie.search.document import FIELDS, Counts, Document
from caddie.tools.tool import ToolSpec

_WIDTH = len(FIELDS)


class Posting:
    """The rows that hold one term, ascending, and for each row one count per field."""

    __slots__ = ("counts", "rows", "term")

    def __init__(self, term: str) -> None:
        self.term = term
        self.rows = array("i")
        self.counts = array("d")

    def insert(self, row: int, counts: Counts) -> None:
        at = bisect_left(self.rows, row)
        self.rows.insert(at, row)
        self.counts[at * _WIDTH : at * _WIDTH] = array("d", counts)

    def remove(self, row: int) -> None:
        at = bisect_left(self.rows, row)
        del self.rows[at]
        del self.counts[at * _WIDTH : (at + 1) * _WIDTH]

    def find(self, row: int) -> Counts | None:
        at = bisect_left(self.rows, row)
        if at == len(self.rows) or self.rows[at] != row:
            return None
        return tuple(self.counts[at * _WIDTH : (at + 1) * _WIDTH])


@dataclass(frozen=True, slots=True)
class Entry:
    spec: ToolSpec
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All postings in alphabetical order, end to end; safe to read in another thread while tools come and go."""

    revision: int
    terms: tuple[str, ...]
    sizes: tuple[int, ...]
    rows: bytes
    counts: bytes
    height: int


class Postings:
    """Tools in numbered rows; the row of a removed one is given to the next that comes."""

    def __init__(self) -> None:
        self.terms: dict[str, Posting] = {}
        self.entries: list[Entry | None] = []
        self.lengths = array("d")
        self.revision = 0
        self._rows: dict[str, int] = {}
        self._free: list[int] = []
        self._order: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self._rows)

    def find(self, name: str) -> int | None:
        """The row of a tool."""
        return self._rows.get(name)

    def spec(self, row: int) -> ToolSpec:
        entry = self.entries[row]
        if entry is None:
            raise KeyError(row)
        return entry.spec

    def frequency(self, term: str) -> int:
        """How many tools hold the term."""
        posting = self.terms.get(term)
        return len(posting.rows) if posting else 0

    def add(self, document: Document) -> list[str]:
        """Returns the terms that no tool held before. The tool's name must not be there yet."""
        row = self._take_row(document.lengths)
        new, held = [], []
        for term, counts in document.counts.items():
            posting = self.terms.get(term)
            if posting is None:
                posting = self.terms[term] = Posting(term)
                new.append(term)
            posting.insert(row, counts)
            held.append(posting.term)
        self.entries[row] = Entry(document.spec, tuple(held))
        self._rows[document.spec.name] = row
        self.revision += 1
        return new

    def remove(self, name: str) -> list[str]:
        """Returns the terms that no tool holds any more."""
        row = self._rows.pop(name)
        entry = self.entries[row]
        self.entries[row] = None
        gone = []
        for term in entry.terms if entry else ():
            self.terms[term].remove(row)
            if not self.terms[term].rows:
                del self.terms[term]
                gone.append(term)
        self.lengths[row * _WIDTH : (row + 1) * _WIDTH] = array("d", [0.0] * _WIDTH)
        self._free.append(row)
        self.revision += 1
        return gone

    def snapshot(self) -> Snapshot:
        if len(terms := [term for term in self._order if term in self.terms]) < len(self.terms):
            terms += self.terms.keys() - set(terms)
            terms.sort()  # nearly sorted already, which makes it cheap
        self._order = tuple(terms)
        postings = [self.terms[term] for term in terms]
        return Snapshot(
            revision=self.revision,
            terms=self._order,
            sizes=tuple(len(posting.rows) for posting in postings),
            rows=b"".join(posting.rows for posting in postings),
            counts=b"".join(posting.counts for posting in postings),
            height=len(self.entries),
        )

    def _take_row(self, lengths: Counts) -> int:
        if self._free:
            row = self._free.pop()
            self.lengths[row * _WIDTH : (row + 1) * _WIDTH] = array("d", lengths)
            return row
        self.entries.append(None)
        self.lengths.extend(lengths)
        return len(self.entries) - 1
