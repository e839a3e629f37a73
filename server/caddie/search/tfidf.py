"""The TF-IDF ranker: cosine over the same weighted terms, computed with scikit-learn. The only module that imports it.

The matrix is refitted from the counts of analysed tools, so a difference never reads a text again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from caddie.search.document import FIELDS
from caddie.search.postings import Snapshot
from caddie.search.query import Query

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def load() -> None:
    """Import what `fit` needs; takes seconds on a slow machine, so it belongs in a thread."""
    import sklearn.feature_extraction.text  # noqa: F401


@dataclass(frozen=True, slots=True)
class TfidfModel:
    """`columns` is a CSC matrix whose rows have length 1; `revision` names the postings that it was made from."""

    revision: int
    column_of: Mapping[str, int]
    idf: Any
    columns: Any

    def scores(self, query: Query) -> NDArray[np.float64]:
        """The cosine of each row with the known words of the query, in 0..1."""
        import numpy as np

        result = np.zeros(self.columns.shape[0])
        pointers, rows, values = self.columns.indptr, self.columns.indices, self.columns.data
        norm = 0.0
        for term in query.terms:
            column = self.column_of.get(term.text)
            if column is None:
                continue
            weight = term.weight * float(self.idf[column])
            norm += weight * weight
            part = slice(pointers[column], pointers[column + 1])
            result[rows[part]] += weight * values[part]
        return result / math.sqrt(norm) if norm else result


def fit(snapshot: Snapshot) -> TfidfModel:
    """A term counts in a tool with the logarithm of its occurrences, each multiplied by its field's weight."""
    import numpy as np
    from scipy.sparse import csc_matrix
    from sklearn.feature_extraction.text import TfidfTransformer

    counts = np.frombuffer(snapshot.counts, np.float64).reshape(-1, len(FIELDS))
    values = np.log1p(counts @ np.array([field.weight for field in FIELDS]))
    rows = np.frombuffer(snapshot.rows, np.int32)
    taken = np.flatnonzero(np.bincount(rows, minlength=1))
    packed = np.zeros(snapshot.height, np.int32)
    packed[taken] = np.arange(len(taken), dtype=np.int32)
    pointers = np.cumsum([0, *(snapshot.sizes or (0,))])
    # Rows of removed tools are left out of the fit: empty ones would count as tools that hold no term.
    matrix = csc_matrix((values, packed[rows], pointers), shape=(max(len(taken), 1), max(len(snapshot.terms), 1)))
    transformer = TfidfTransformer()
    fitted = transformer.fit_transform(matrix.tocsr()).tocsc()
    columns = csc_matrix((fitted.data, taken[fitted.indices], fitted.indptr), shape=(snapshot.height, matrix.shape[1]))
    column_of = {term: column for column, term in enumerate(snapshot.terms)}
    return TfidfModel(snapshot.revision, column_of, transformer.idf_, columns)
