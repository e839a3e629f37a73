"""Which tools fit a question? Exact names first, then the keyword and the TF-IDF ranking merged."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from caddie.search.analysis import fold, stem
from caddie.search.document import FIELDS, analyse
from caddie.search.exact_index import ExactIndex, Named
from caddie.search.index import Hit, Ranking
from caddie.search.keyword import KeywordRanker, KeywordScores
from caddie.search.postings import Postings
from caddie.search.query import Query, Trigrams, parse
from caddie.tools.exact import normalise, resolve, spellings
from caddie.tools.tool import ToolSpec

if TYPE_CHECKING:
    from caddie.search.tfidf import TfidfModel

FITS_FROM = 0.10
"""Nothing fits when the best hit's score is lower. Calibrated on public data: the questions about other catalogues that
are told apart by it cost two of a hundred right answers."""

FITS_FROM_KEYWORD_ALONE = 0.05

COVERAGE_FLOOR = 0.3
"""A tool that holds none of the question's weight would keep this share of its score, one that holds all of it 1."""

_UNNAMED = 99

_DIGITS = 6
"""Scores are compared after rounding: below that, differences are those of summation, not of fit."""


@dataclass(frozen=True, slots=True)
class _Scores:
    """Per row, before anything is cut off."""

    merged: Any
    keyword: Any
    tfidf: Any


class ToolIndex:
    """The `SearchIndex` of the product.

    Equal scores are ordered by wire name. Until `warm` has ended the keyword ranker answers alone; from then on both
    rankers always answer, refitted at the first search after a difference.
    """

    def __init__(
        self,
        *,
        weight_keyword: float = 0.4,
        weight_tfidf: float = 0.6,
        aliases: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self._weights = (weight_keyword, weight_tfidf) if weight_keyword or weight_tfidf else (0.5, 0.5)
        self._postings = Postings()
        self._trigrams = Trigrams()
        self._keyword = KeywordRanker(self._postings)
        self._exact = ExactIndex()
        self._aliases: dict[str, tuple[str, ...]] = {}
        self._model: TfidfModel | None = None
        self.set_aliases(aliases or {})

    @property
    def tfidf_ready(self) -> bool:
        return self._model is not None

    def __len__(self) -> int:
        return len(self._postings)

    def update(self, *, added: Iterable[ToolSpec] = (), removed: Iterable[str] = ()) -> None:
        for name in removed:
            self._remove(name)
        for spec in added:
            row = self._postings.find(spec.name)
            if row is None or self._postings.spec(row) != spec:
                self._remove(spec.name)
                self._add(spec)

    def set_aliases(self, aliases: Mapping[str, Sequence[str]]) -> None:
        """Words of the user's own for a tool, by any spelling of its name; only tools whose words change are redone."""
        specs = [entry.spec for entry in self._postings.entries if entry]
        before = {spec.name: self._aliases_of(spec) for spec in specs}
        changed = {normalise(name): tuple(words) for name, words in aliases.items()}
        for spec in specs:
            if before[spec.name] != _aliases_of(spec, changed):
                self._remove(spec.name)
        self._aliases = changed
        self.update(added=specs)

    async def warm(self) -> None:
        """Make the TF-IDF ranker ready; imports and builds in a thread."""
        from caddie.search import tfidf  # an adapter; the core can do without it

        await asyncio.to_thread(tfidf.load)
        model = await asyncio.to_thread(tfidf.fit, self._postings.snapshot())
        self._model = model

    def resolve(self, name: str) -> tuple[ToolSpec, ...]:
        """The indexed tools that `name` can mean: none, one, or all candidates."""
        return resolve(name, (entry.spec for entry in self._postings.entries if entry))

    def search(self, query: str, limit: int) -> Ranking:
        parsed = parse(query, self._postings.frequency, self._trigrams)
        named = self._exact.find(query, self._uses)
        if not len(self._postings) or not (parsed.terms or named):
            return Ranking((), 0, True, self._missing(parsed))
        return self._rank(parsed, named, limit)

    def _rank(self, query: Query, named: Mapping[str, Named], limit: int) -> Ranking:
        import numpy as np

        keyword = self._keyword.scores(query)
        scores = self._merge(query, keyword)
        merged = scores.merged.round(_DIGITS)
        for required in query.required:
            merged *= self._holds(required[1])
        rows = {self._row(name): what for name, what in named.items()}
        rows = {row: what for row, what in rows.items() if self._meets(row, query)}
        matching = np.flatnonzero(merged)
        best = self._best(merged, matching, limit)
        first = {row: what.rank for row, what in rows.items() if not what.in_passing}
        order = sorted(
            best | rows.keys(),
            key=lambda row: (first.get(row, _UNNAMED), -merged[row], self._postings.spec(row).name),
        )
        total = len(matching) + sum(not merged[row] for row in rows)
        threshold = FITS_FROM if self._model else FITS_FROM_KEYWORD_ALONE
        fits = bool(first) or bool(len(matching) and merged[matching].max() >= threshold)
        shown = _within(order, [row for row in order if row in rows and row not in first], max(limit, 0))
        hits = tuple(self._hit(row, query, scores, rows.get(row)) for row in shown)
        return Ranking(hits, total, not fits, self._missing(query))

    def _merge(self, query: Query, keyword: KeywordScores) -> _Scores:
        """Each ranker's scores are divided by its best, so that the weights mean what they say; the merged ones count
        the more, the more of the question a tool covers. Last, all are scaled so that the best hit has the geometric
        mean of its BM25F strength and its cosine: how well it answers the question as a whole, on the same scale for
        any question."""
        lexical, cosine = keyword.score, self._cosine(query)
        weight_keyword, weight_tfidf = self._weights if cosine is not None else (1.0, 0.0)
        cosine = lexical * 0 if cosine is None else cosine
        parts = _by_best(lexical), _by_best(cosine)
        merged = (weight_keyword * parts[0] + weight_tfidf * parts[1]) / (weight_keyword + weight_tfidf)
        merged = _by_best(merged * (COVERAGE_FLOOR + (1 - COVERAGE_FLOOR) * keyword.coverage))
        fit = keyword.strength if self._model is None else (keyword.strength * cosine) ** 0.5
        fit = fit[merged >= merged.max() - 10**-_DIGITS].max()  # several best ones must not depend on their order
        return _Scores(merged * fit, parts[0] * fit, parts[1] * fit)

    def _cosine(self, query: Query) -> Any:
        if self._model is None:
            return None
        if self._model.revision != self._postings.revision:
            from caddie.search import tfidf

            self._model = tfidf.fit(self._postings.snapshot())
        return self._model.scores(query)

    def _best(self, merged: Any, matching: Any, limit: int) -> set[int]:
        """All rows that can be among the first `limit`, those with equal scores at the cut included."""
        import numpy as np

        if limit <= 0:
            return set()
        if len(matching) > limit:
            values = merged[matching]
            matching = matching[values >= np.partition(values, len(values) - limit)[len(values) - limit]]
        return set(matching.tolist())

    def _hit(self, row: int, query: Query, scores: _Scores, named: Named | None) -> Hit:
        exact = named is not None and not named.in_passing
        score, keyword, tfidf = (
            round(float(part[row]), _DIGITS) for part in (scores.merged, scores.keyword, scores.tfidf)
        )
        by_name = [f"{named.by}: {named.what}"] if named else []
        by_score = f"keyword {keyword:.2f}, TF-IDF {tfidf:.2f}" if self.tfidf_ready else f"keyword {keyword:.2f}"
        reasons = (*by_name, *self._reasons(row, query), by_score)
        return Hit(self._postings.spec(row), 1.0 if exact else score, keyword, tfidf, reasons, exact)

    def _reasons(self, row: int, query: Query) -> list[str]:
        words: dict[int, dict[str, None]] = {}
        for term in query.terms:
            posting = self._postings.terms.get(term.text)
            counts = posting.find(row) if posting else None
            for field, count in enumerate(counts or ()):
                if count:
                    words.setdefault(field, {})[term.word] = None
        return [f"{FIELDS[field].label}: {', '.join(words[field])}" for field in sorted(words)]

    def _holds(self, wanted: tuple[str, ...]) -> Any:
        import numpy as np

        held = np.ones(len(self._postings.entries))
        for term in wanted:
            posting = self._postings.terms.get(term)
            rows = np.zeros(len(held))
            rows[np.array(posting.rows if posting else [], dtype=int)] = 1
            held *= rows
        return held

    def _missing(self, query: Query) -> tuple[str, ...]:
        return tuple(word for word, wanted in query.required if not all(map(self._postings.frequency, wanted)))

    def _meets(self, row: int, query: Query) -> bool:
        postings = self._postings.terms
        return all(t in postings and postings[t].find(row) is not None for _, wanted in query.required for t in wanted)

    def _uses(self, word: str) -> int:
        return self._postings.frequency(stem(fold(word)))

    def _row(self, name: str) -> int:
        row = self._postings.find(name)
        assert row is not None
        return row

    def _add(self, spec: ToolSpec) -> None:
        aliases = self._aliases_of(spec)
        self._trigrams.add(self._postings.add(analyse(spec, aliases)))
        self._exact.add(spec, aliases)

    def _remove(self, name: str) -> None:
        row = self._postings.find(name)
        if row is None:
            return
        spec = self._postings.spec(row)
        self._trigrams.remove(self._postings.remove(name))
        self._exact.remove(spec, self._aliases_of(spec))

    def _aliases_of(self, spec: ToolSpec) -> tuple[str, ...]:
        return _aliases_of(spec, self._aliases)


def _aliases_of(spec: ToolSpec, aliases: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    keys = dict.fromkeys(key for _, key in spellings(spec)) if aliases else ()
    return tuple(alias for key in keys for alias in aliases.get(key, ()))


def _within(order: list[int], kept: list[int], limit: int) -> list[int]:
    """The first `limit` rows, the last of them making room for `kept` ones that would be cut off."""
    cut = [row for row in kept if row in order[limit:]][:limit]
    return order[: limit - len(cut)] + cut


def _by_best(scores: Any) -> Any:
    best = scores.max(initial=0.0)
    return scores / best if best else scores
