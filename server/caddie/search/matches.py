"""Where do the terms of a question stand? Gathered once for each question; both rankers put their values on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from caddie.search.document import FIELDS
from caddie.search.postings import Postings
from caddie.search.query import Query, QueryTerm

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Matches:
    """The postings of `terms` end to end: of each place the row, the counts by field and the weight.

    First the plain terms of the query (`plain` places), then the glossed ones: for each word, for each meaning, the
    borders of its terms' places in `meanings`."""

    terms: tuple[QueryTerm, ...]
    sizes: tuple[int, ...]
    rows: NDArray[np.int32]
    counts: NDArray[np.uint8]
    weights: NDArray[np.float32]
    height: int
    plain: int
    meanings: tuple[tuple[tuple[tuple[int, int], ...], ...], ...]

    def total(self, *values: Floats) -> Floats:
        """For each kind of value (a number for each place) its sum over the terms, row by row. Of a glossed word the
        meaning counts that fits best, not the sum. Always added in the order of the terms, so a sum never varies."""
        import numpy as np

        rows = self.rows[: self.plain]
        result = np.stack([np.bincount(rows, line[: self.plain], self.height) for line in values]).astype(np.float64)
        if self.meanings:
            stacked = np.stack(values)
            for word in self.meanings:
                result += self._best(word, stacked)
        return result

    def words(self, rows: Sequence[int]) -> dict[int, dict[int, dict[str, None]]]:
        """Row -> field -> the words of the question that stand there, in the order of the question's terms."""
        import numpy as np

        found: dict[int, dict[int, dict[str, None]]] = {row: {} for row in rows}
        for place, term in self._places(rows):
            fields = found[int(self.rows[place])]
            for field in np.flatnonzero(self.counts[place]).tolist():
                fields.setdefault(field, {})[term.word] = None
        return found

    def terms_of(self, row: int) -> list[QueryTerm]:
        """The terms that stand in a row."""
        return [term for _, term in self._places([row])]

    def _places(self, rows: Sequence[int]) -> list[tuple[int, QueryTerm]]:
        import numpy as np

        wanted = np.zeros(self.height, bool)
        wanted[list(rows)] = True
        places = np.flatnonzero(wanted[self.rows])
        terms = np.searchsorted(np.cumsum(self.sizes), places, side="right")
        return [(place, self.terms[term]) for place, term in zip(places.tolist(), terms.tolist(), strict=True)]

    def _best(self, word: tuple[tuple[tuple[int, int], ...], ...], values: Floats) -> Floats:
        import numpy as np

        best = np.zeros((len(values), self.height))
        for places in word:
            if len(places) == 1:
                start, end = places[0]
                rows, found = self.rows[start:end], values[:, start:end]
            else:
                start, end = places[0][0], places[-1][1]
                rows, inverse = np.unique(self.rows[start:end], return_inverse=True)
                found = np.stack([np.bincount(inverse, line[start:end], len(rows)) for line in values])
            best[:, rows] = np.maximum(best[:, rows], found)
        return best


def gather(postings: Postings, query: Query) -> Matches:
    import numpy as np  # 70 ms that the start of the server need not pay

    plain = [term for term in query.terms if term.text in postings.terms]
    terms = plain + [term for choices in query.glossed for choice in choices for term in choice]
    found = [postings.terms[term.text] for term in terms]
    borders = [0]
    for posting in found:
        borders.append(borders[-1] + len(posting.rows))
    places = zip(borders[len(plain) :], borders[len(plain) + 1 :], strict=False)
    meanings = tuple(tuple(tuple(next(places) for _ in choice) for choice in choices) for choices in query.glossed)
    return Matches(
        terms=tuple(terms),
        sizes=tuple(len(posting.rows) for posting in found),
        rows=np.frombuffer(b"".join(posting.rows for posting in found), np.int32),
        counts=np.frombuffer(b"".join(posting.counts for posting in found), np.uint8).reshape(-1, len(FIELDS)),
        weights=np.frombuffer(b"".join(posting.weights for posting in found), np.float32),
        height=len(postings.entries),
        plain=borders[len(plain)],
        meanings=meanings,
    )


def each(matches: Matches, weights: list[float]) -> Any:
    """One number for each term, repeated for each of its places."""
    import numpy as np

    return np.repeat(np.array(weights, np.float64), matches.sizes)
