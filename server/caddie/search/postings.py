"""Which tools hold a term, and how often in each field: the counts that both rankers work from.

Nothing here depends on the whole catalogue (no idf, no mean length), so adding and removing a tool touches its own
terms only and leaves exactly what a fresh build would have.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from dataclasses import dataclass

from caddie.search.analysis import is_han
from caddie.search.document import FIELDS, Document, Lengths
from caddie.tools.tool import ToolSpec

_WIDTH = len(FIELDS)


def _is_chinese(term: str) -> bool:
    return len(term) > 1 and is_han(term)


class Posting:
    """The rows that hold one term, ascending; for each row one count per field, and one weight for all fields.

    `number` is the term's own."""

    __slots__ = ("counts", "number", "rows", "term", "weights")

    def __init__(self, term: str, number: int) -> None:
        self.term = term
        self.number = number
        self.rows = array("i")
        self.counts = bytearray()
        self.weights = array("f")

    def insert(self, row: int, counts: bytes, weight: float) -> None:
        rows = self.rows
        if not rows or row > rows[-1]:
            rows.append(row)
            self.weights.append(weight)
            self.counts += counts
            return
        at = bisect_left(rows, row)
        rows.insert(at, row)
        self.weights.insert(at, weight)
        self.counts[at * _WIDTH : at * _WIDTH] = counts

    def remove(self, row: int) -> None:
        at = bisect_left(self.rows, row)
        del self.rows[at]
        del self.weights[at]
        del self.counts[at * _WIDTH : (at + 1) * _WIDTH]

    def holds(self, row: int) -> bool:
        at = bisect_left(self.rows, row)
        return at < len(self.rows) and self.rows[at] == row


@dataclass(frozen=True, slots=True)
class RowWise:
    """The numbers and weights of each tool's terms, row after row; `sizes` says how many each row has, `taken` (a
    byte for each row) whether a tool is there."""

    taken: bytes
    sizes: bytes
    numbers: bytes
    weights: bytes


class Postings:
    """Tools in numbered rows; the row of a removed one is given to the next that comes."""

    def __init__(self) -> None:
        self.terms: dict[str, Posting] = {}
        self.entries: list[ToolSpec | None] = []
        self.lengths = array("d")
        self.revision = 0
        self.chinese = 0
        """How many tools hold a Chinese word."""
        self._rows: dict[str, int] = {}
        self._free: list[int] = []
        self._numbers: list[array[int]] = []
        self._weights: list[array[float]] = []
        self._sizes = array("i")
        self._taken = bytearray()
        self._numbered: list[Posting | None] = []
        self._free_numbers: list[int] = []

    def __len__(self) -> int:
        return len(self._rows)

    def find(self, name: str) -> int | None:
        """The row of a tool."""
        return self._rows.get(name)

    def spec(self, row: int) -> ToolSpec:
        spec = self.entries[row]
        if spec is None:
            raise KeyError(row)
        return spec

    def frequency(self, term: str) -> int:
        """How many tools hold the term."""
        posting = self.terms.get(term)
        return len(posting.rows) if posting else 0

    def add(self, document: Document) -> list[str]:
        """Returns the terms that no tool held before. The tool's name must not be there yet."""
        row = self._take_row(document.lengths)
        new = []
        numbers, weights = array("i"), array("f")
        for term, counts in document.counts.items():
            posting = self.terms.get(term)
            if posting is None:
                posting = self._new_posting(term)
                new.append(term)
            weight = document.weights[term]
            posting.insert(row, counts, weight)
            numbers.append(posting.number)
            weights.append(weight)
        self.chinese += any(map(_is_chinese, document.counts))
        self.entries[row] = document.spec
        self._put(row, numbers, weights)
        self._rows[document.spec.name] = row
        self.revision += 1
        return new

    def remove(self, name: str) -> list[str]:
        """Returns the terms that no tool holds any more."""
        row = self._rows.pop(name)
        self.entries[row] = None
        held = [posting for number in self._numbers[row] if (posting := self._numbered[number])]
        self.chinese -= any(_is_chinese(posting.term) for posting in held)
        gone = []
        for posting in held:
            posting.remove(row)
            if not posting.rows:
                del self.terms[posting.term]
                self._numbered[posting.number] = None
                self._free_numbers.append(posting.number)
                gone.append(posting.term)
        self.lengths[row * _WIDTH : (row + 1) * _WIDTH] = array("d", [0.0] * _WIDTH)
        self._put(row, array("i"), array("f"))
        self._free.append(row)
        self.revision += 1
        return gone

    @property
    def width(self) -> int:
        """One more than the greatest number of a term."""
        return len(self._numbered)

    def row_wise(self) -> RowWise:
        return RowWise(bytes(self._taken), self._sizes.tobytes(), b"".join(self._numbers), b"".join(self._weights))

    def _put(self, row: int, numbers: array[int], weights: array[float]) -> None:
        self._numbers[row], self._weights[row] = numbers, weights
        self._sizes[row] = len(numbers)
        self._taken[row] = self.entries[row] is not None

    def _new_posting(self, term: str) -> Posting:
        if self._free_numbers:
            posting = Posting(term, self._free_numbers.pop())
            self._numbered[posting.number] = posting
        else:
            posting = Posting(term, len(self._numbered))
            self._numbered.append(posting)
        self.terms[term] = posting
        return posting

    def _take_row(self, lengths: Lengths) -> int:
        if self._free:
            row = self._free.pop()
            self.lengths[row * _WIDTH : (row + 1) * _WIDTH] = array("d", lengths)
            return row
        self.entries.append(None)
        self._numbers.append(array("i"))
        self._weights.append(array("f"))
        self._sizes.append(0)
        self._taken.append(0)
        self.lengths.extend(lengths)
        return len(self.entries) - 1
