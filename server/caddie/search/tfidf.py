"""The TF-IDF ranker: cosine over the same weighted terms, fitted by scikit-learn. The only module that imports it.

It works from the counts of analysed tools, so a difference never reads a text again: new idf values and row lengths
come out of one pass over numbers, and are those of a fresh fit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from caddie.search.matches import Matches, each
from caddie.search.postings import Postings
from caddie.search.query import Query, QueryTerm

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def load() -> None:
    """Import what a fit needs; takes seconds on a slow machine, so it belongs in a thread."""
    import sklearn.feature_extraction.text  # noqa: F401


class TfidfRanker:
    """Scores over the rows of `postings`; refitted when asked for the first time after a difference.

    A term counts in a tool with the logarithm of its occurrences, each multiplied by its field's weight.
    """

    def __init__(self, postings: Postings) -> None:
        self._postings = postings
        self._revision = -1
        self._idf: Any = None
        self._lengths: Any = None

    def fit(self) -> None:
        if self._revision == self._postings.revision:
            return
        import numpy as np
        from scipy.sparse import csr_matrix
        from sklearn.feature_extraction.text import TfidfTransformer
        from sklearn.utils.extmath import row_norms

        rows = self._postings.row_wise()
        numbers = np.frombuffer(rows.numbers, np.int32)
        values = np.frombuffer(rows.weights, np.float32).astype(np.float64)
        # Rows of removed tools are left out of the fit: empty ones would count as tools that hold no term.
        taken = np.flatnonzero(np.frombuffer(rows.taken, np.int8))
        sizes = np.frombuffer(rows.sizes, np.int32)[taken] if len(taken) else np.zeros(1, np.int32)
        pointers = np.concatenate(([0], np.cumsum(sizes, dtype=np.int32)))
        shape = (len(sizes), max(self._postings.width, 1))
        idf = TfidfTransformer().fit(csr_matrix((values, numbers, pointers), shape=shape)).idf_
        norms = row_norms(csr_matrix((values * idf[numbers], numbers, pointers), shape=shape))
        lengths = np.ones(len(self._postings.entries))
        lengths[taken] = np.where(norms > 0, norms, 1.0)[: len(taken)]
        self._idf, self._lengths, self._revision = idf, lengths, self._postings.revision

    def scores(self, query: Query, matches: Matches) -> Floats:
        """The cosine of each row with the known words of the query, in 0..1."""
        self.fit()
        idf = [self._idf_of(term) for term in matches.terms]
        weights = [term.weight * value**2 for term, value in zip(matches.terms, idf, strict=True)]
        products = matches.total(each(matches, weights) * matches.weights)[0]
        norm = self._squares(query.terms) + sum(max(map(self._squares, choices)) for choices in query.glossed)
        return (products / (self._lengths * (math.sqrt(norm) or 1.0))).clip(max=1.0)  # type: ignore[no-any-return]

    def _squares(self, terms: Sequence[QueryTerm]) -> float:
        return sum((term.weight * self._idf_of(term)) ** 2 for term in terms)

    def _idf_of(self, term: QueryTerm) -> float:
        posting = self._postings.terms.get(term.text)
        return float(self._idf[posting.number]) if posting else 0.0
