"""The keyword ranker: BM25F over the fields of a tool, ready at once and exact after every difference."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from caddie.search.document import FIELDS
from caddie.search.postings import Postings
from caddie.search.query import Query

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SATURATION = 1.2
"""BM25's k1: how soon more of the same word stops to matter."""


@dataclass(frozen=True, slots=True)
class KeywordScores:
    """For each row: its score, and how much of the question it answers, both as a share of its words (`coverage`)
    and with regard to how weighty the places are where the words stand (`strength`); both shares in 0..1."""

    score: Floats
    coverage: Floats
    strength: Floats


class KeywordRanker:
    """Scores over the rows of `postings`. Document frequencies and mean lengths are taken when asked."""

    def __init__(self, postings: Postings) -> None:
        self._postings = postings
        self._revision = -1
        self._field_factors: Any = None

    def scores(self, query: Query) -> KeywordScores:
        import numpy as np  # 70 ms that the start of the server need not pay

        known = [term for term in query.terms if term.text in self._postings.terms]
        postings = [self._postings.terms[term.text] for term in known]
        sizes = [len(posting.rows) for posting in postings]
        rows = np.frombuffer(b"".join(posting.rows for posting in postings), np.int32)
        evidence = self._evidence(rows, np.frombuffer(b"".join(posting.counts for posting in postings)))
        rarity = [term.weight * self.rarity(term.text) for term in known]
        idf = [term.weight * self._idf(size) for term, size in zip(known, sizes, strict=True)]
        asked = sum(term.weight * self.rarity(term.text) for term in query.terms if not term.extra) or 1.0

        def total(weights: list[float], per_row: Floats | float = 1.0) -> Floats:
            """The sum over all terms for each row; `bincount` adds in the order of the terms, so it never varies."""
            values = np.repeat(np.array(weights, dtype=np.float64), sizes) * per_row
            return np.bincount(rows, weights=values, minlength=len(self._postings.entries)).astype(np.float64)

        coverage = np.minimum(total(rarity) / asked, 1.0)
        return KeywordScores(total(idf, evidence), coverage, np.minimum(total(rarity, evidence) / asked, 1.0))

    def rarity(self, term: str) -> float:
        """At least 1, so that in a catalogue of one tool a known word weighs about as much as an unknown one."""
        return 1.0 + math.log((len(self._postings) + 1) / (self._postings.frequency(term) + 1))

    def _idf(self, frequency: int) -> float:
        return math.log(1 + (len(self._postings) - frequency + 0.5) / (frequency + 0.5))

    def _evidence(self, rows: NDArray[np.int32], counts: Floats) -> Floats:
        """For each posting the saturated weight of its occurrences, in 0..1."""
        weighted: Floats = (counts.reshape(-1, len(FIELDS)) * self._factors()[rows]).sum(axis=1)
        return weighted / (SATURATION + weighted)

    def _factors(self) -> Floats:
        """Per row and field: the field's weight, discounted by how long this text is beside the mean of its field."""
        if self._revision != self._postings.revision:
            import numpy as np

            lengths = np.array(self._postings.lengths).reshape(-1, len(FIELDS))
            filled = np.maximum((lengths > 0).sum(axis=0), 1)
            mean = np.maximum(lengths.sum(axis=0) / filled, 1e-9)
            effect = np.array([field.length_effect for field in FIELDS])
            self._field_factors = np.array([f.weight for f in FIELDS]) / (1 - effect + effect * lengths / mean)
            self._revision = self._postings.revision
        return self._field_factors  # type: ignore[no-any-return]
