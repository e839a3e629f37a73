"""The keyword ranker: BM25F over the fields of a tool, ready at once and exact after every difference."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from caddie.search.document import FIELDS, QUARTERS
from caddie.search.matches import Matches, each
from caddie.search.postings import Postings
from caddie.search.query import Query, QueryTerm

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SATURATION = 1.2
"""BM25's k1: how soon more of the same word stops to matter."""


@dataclass(frozen=True, slots=True)
class KeywordScores:
    """For each row: its score, and how much of the question it answers, both as a share of its words (`coverage`)
    and with regard to how weighty the places are where the words stand (`strength`); both shares in 0..1. `asked` is
    the weight of all that the question asks for, found or not."""

    score: Floats
    coverage: Floats
    strength: Floats
    asked: float


class KeywordRanker:
    """Scores over the rows of `postings`. Document frequencies and mean lengths are taken when asked."""

    def __init__(self, postings: Postings) -> None:
        self._postings = postings
        self._revision = -1
        self._field_factors: Any = None

    def scores(self, query: Query, matches: Matches) -> KeywordScores:
        import numpy as np

        evidence = self._evidence(matches.rows, matches.counts)
        rarity = each(matches, [term.weight * self.rarity(term.text) for term in matches.terms])
        idf = each(matches, [term.weight * self._idf(self._postings.frequency(term.text)) for term in matches.terms])
        score, *shares = matches.total(idf * evidence, rarity, rarity * evidence)
        asked = self._asked(query)
        coverage, strength = np.minimum(np.stack(shares) / (asked or 1.0), 1.0)
        return KeywordScores(score, coverage, strength, asked)

    def _asked(self, query: Query) -> float:
        plain = self._weight(term for term in query.terms if not term.extra)
        return plain + sum(max(map(self._weight, choices)) for choices in query.glossed)

    def _weight(self, terms: Iterable[QueryTerm]) -> float:
        return sum(term.weight * self.rarity(term.text) for term in terms)

    def rarity(self, term: str) -> float:
        """At least 1, so that in a catalogue of one tool a known word weighs about as much as an unknown one."""
        return 1.0 + math.log((len(self._postings) + 1) / (self._postings.frequency(term) + 1))

    def _idf(self, frequency: int) -> float:
        return math.log(1 + (len(self._postings) - frequency + 0.5) / (frequency + 0.5))

    def _evidence(self, rows: NDArray[np.int32], counts: NDArray[np.uint8]) -> Floats:
        """For each posting the saturated weight of its occurrences, in 0..1."""
        weighted: Floats = (counts * self._factors()[rows]).sum(axis=1)
        return weighted / (SATURATION + weighted)

    def _factors(self) -> Floats:
        """Per row and field: the field's weight, discounted by how long this text is beside the mean of its field."""
        if self._revision != self._postings.revision:
            import numpy as np

            lengths = np.array(self._postings.lengths).reshape(-1, len(FIELDS))
            filled = np.maximum((lengths > 0).sum(axis=0), 1)
            mean = np.maximum(lengths.sum(axis=0) / filled, 1e-9)
            effect = np.array([field.length_effect for field in FIELDS])
            self._field_factors = np.array([f.weight / QUARTERS for f in FIELDS]) / (
                1 - effect + effect * lengths / mean
            )
            self._revision = self._postings.revision
        return self._field_factors  # type: ignore[no-any-return]
