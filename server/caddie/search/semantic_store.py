"""Where do vectors stay between runs? One SQLite file, by the hash of the texts they were made from.

A cache only: whatever is wrong with the file, the vectors are made anew and the search goes on.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sqlite3

    import numpy as np
    from numpy.typing import NDArray

    Vectors = dict[bytes, NDArray[np.float16]]

logger = logging.getLogger(__name__)

MAX_VECTORS = 50_000
"""About 50 MB; the oldest go first."""


def key_of(texts: Sequence[str]) -> bytes:
    return hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).digest()[:16]


class VectorStore:
    """Without a path nothing is kept."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def read(self, keys: Sequence[bytes]) -> Vectors:
        import numpy as np

        marks = ",".join("?" * len(keys))
        with self._problems_told(), self._open() as database:
            rows = database.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", list(keys))
            return {key: np.frombuffer(vector, np.float16) for key, vector in rows}
        return {}

    def write(self, vectors: Mapping[bytes, Any]) -> None:
        rows = [(key, vector.tobytes()) for key, vector in vectors.items()]
        oldest = "SELECT rowid FROM vectors ORDER BY rowid DESC LIMIT -1 OFFSET ?"
        with self._problems_told(), self._open() as database:
            database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
            database.execute(f"DELETE FROM vectors WHERE rowid IN ({oldest})", (MAX_VECTORS,))

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """A connection with an open transaction."""
        import sqlite3  # what does not rank by meaning need not load it

        if self._path:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.closing(sqlite3.connect(self._path or ":memory:", timeout=5)) as database, database:
            database.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB UNIQUE NOT NULL, vector BLOB NOT NULL)")
            yield database

    @contextlib.contextmanager
    def _problems_told(self) -> Iterator[None]:
        import sqlite3

        try:
            yield
        except (OSError, sqlite3.OperationalError) as error:
            logger.info("vectors are not cached: %s", error)
        except sqlite3.DatabaseError as error:  # the file is damaged, and nothing in it cannot be made again
            logger.info("the cached vectors are dropped: %s", error)
            if self._path:
                self._path.unlink(missing_ok=True)
