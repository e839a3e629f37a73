"""Which tools fit a question? Exact names first, then the keyword and the TF-IDF ranking merged."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from caddie.search.analysis import fold, stem
from caddie.search.document import FIELDS, Document, analyse
from caddie.search.exact_index import ExactIndex, Named, Place
from caddie.search.fitness import BOTH_RANKERS, KEYWORD_ALONE, Evidence, weigh
from caddie.search.index import Hit, Ranking
from caddie.search.keyword import KeywordRanker, KeywordScores
from caddie.search.matches import Matches, gather
from caddie.search.postings import Postings
from caddie.search.query import Query, Trigrams, parse
from caddie.search.turnstile import Turnstile
from caddie.tools.exact import normalise, resolve, spellings
from caddie.tools.tool import ToolSpec

if TYPE_CHECKING:
    from caddie.search.semantic import SemanticRanker
    from caddie.search.tfidf import TfidfRanker

COVERAGE_FLOOR = 0.3
"""A tool that holds none of the question's weight would keep this share of its score, one that holds all of it 1."""

MAX_BEYOND_LIMIT = 200
"""So many tools that a question names are found beside those within the limit."""

_UNNAMED = 99

_DIGITS = 6
"""Scores are compared after rounding: below that, differences are those of summation, not of fit."""


@dataclass(frozen=True, slots=True)
class _Scores:
    """Per row, before anything is cut off."""

    merged: Any
    keyword: Any
    tfidf: Any
    similarity: Any
    """The cosine as it is, or BM25F's strength until there is one."""
    coverage: float
    """Of the tool that covers most of the question."""
    asked: float
    """The weight of the whole question."""
    meaning: Any = None
    """The cosine of the semantic ranker, where it was asked."""


class ToolIndex:
    """The `SearchIndex` of the product.

    Equal scores are ordered by wire name. Until `warm` has ended the keyword ranker answers alone; from then on both
    rankers always answer, refitted at the first search after a difference. The semantic ranker, where there is one,
    joins in whenever all tools have their vectors.
    """

    def __init__(
        self,
        *,
        weight_keyword: float = 0.4,
        weight_tfidf: float = 0.6,
        aliases: Mapping[str, Sequence[str]] | None = None,
        semantic: SemanticRanker | None = None,
    ) -> None:
        self._lock = Turnstile()
        self._postings = Postings()
        self._trigrams = Trigrams()
        self._keyword = KeywordRanker(self._postings)
        self._tfidf: TfidfRanker | None = None
        self._semantic = semantic
        self._names: tuple[int, tuple[str, ...]] = (-1, ())
        self._meanings: Mapping[str, str] = {}
        self._exact = ExactIndex()
        self._aliases: dict[str, tuple[str, ...]] = {}
        self.set_weights(weight_keyword, weight_tfidf)
        self.set_aliases(aliases or {})

    @property
    def tfidf_ready(self) -> bool:
        return self._tfidf is not None

    def __len__(self) -> int:
        return len(self._postings)

    def update(self, *, added: Iterable[ToolSpec] = (), removed: Iterable[str] = ()) -> None:
        """Searches of other threads see all of a tool or nothing of it. Texts are read outside the lock."""
        added, removed = tuple(added), tuple(removed)
        if self._semantic:
            self._semantic.update(added=added, removed=removed)
        with self._lock:
            for name in removed:
                self._remove(name)
        for spec in added:
            if self._spec(spec.name) == spec:
                continue
            aliases = self._aliases_of(spec)
            document = analyse(spec, aliases)
            with self._lock:
                self._remove(spec.name)
                self._add(document, aliases if self._aliases_of(spec) == aliases else None)

    def set_aliases(self, aliases: Mapping[str, Sequence[str]]) -> None:
        """Words of the user's own for a tool, by any spelling of its name; only tools whose words change are redone."""
        changed = {normalise(name): tuple(words) for name, words in aliases.items()}
        with self._lock:
            keys = {key for key in changed.keys() | self._aliases.keys() if changed.get(key) != self._aliases.get(key)}
            names = {name for key in keys for name in self._exact.owners(key)}
            specs = [spec for name in sorted(names) if (spec := self._spec(name))]
            for spec in specs:
                self._remove(spec.name)
            self._aliases = changed
            for spec in specs:
                self._add(analyse(spec, words := self._aliases_of(spec)), words)

    def set_weights(self, keyword: float, tfidf: float) -> None:
        """What the two rankers count in the merged score; the same each when both are nothing."""
        self._weights = (keyword, tfidf) if keyword or tfidf else (0.5, 0.5)

    async def warm(self) -> None:
        """Make the dictionary, the TF-IDF and the semantic ranker ready; reads, imports and fits in threads."""
        await asyncio.to_thread(self._warm)
        if self._semantic:
            await self._semantic.load()

    def _warm(self) -> None:
        from caddie.search import lexicon, tfidf  # adapters; the core can do without them

        if self._tfidf:
            return
        meanings = lexicon.load()
        tfidf.load()
        with self._lock:
            ranker = tfidf.TfidfRanker(self._postings)
            ranker.fit()
            self._meanings, self._tfidf = meanings, ranker

    def resolve(self, name: str) -> tuple[ToolSpec, ...]:
        """The indexed tools that `name` can mean: none, one, or all candidates."""
        with self._lock:
            return resolve(name, list(filter(None, self._postings.entries)))

    def search(self, query: str, limit: int, *, without: Collection[str] = ()) -> Ranking:
        with self._lock:
            parsed = self._parse(query)
            named = {n: what for n, what in self._exact.find(query, self._uses).items() if n not in without}
            if not len(self._postings) or not (parsed.terms or parsed.glossed or named):
                return Ranking((), 0, True, self._missing(parsed))
            hidden = [row for n in without if (row := self._postings.find(n)) is not None]
            return self._rank(query, parsed, named, limit, hidden)

    def evidence(self, query: str) -> Evidence | None:
        """What speaks for the best hit, exact names aside; nothing when no tool holds a word of the question."""
        with self._lock:
            parsed = self._parse(query)
            matches = gather(self._postings, parsed)
            scores = self._scores(parsed, matches, [])
            best = self._best(scores.merged.round(_DIGITS), 1)
            return self._evidence(parsed, matches, scores, best[0]) if best else None

    def _parse(self, query: str) -> Query:
        share = self._postings.chinese / max(len(self._postings), 1)
        return parse(query, self._postings.frequency, self._trigrams, self._meanings, share)

    def _rank(self, text: str, query: Query, named: Mapping[str, Named], limit: int, hidden: list[int]) -> Ranking:
        matches = gather(self._postings, query)
        scores = self._with_meaning(text, self._scores(query, matches, hidden), hidden)
        merged = scores.merged.round(_DIGITS)
        for required in query.required:
            merged *= self._holds(required[1])
        rows = {self._row(name): what for name, what in named.items()}
        rows = {row: what for row, what in rows.items() if self._meets(row, query)}
        first = {row: what.rank for row, what in rows.items() if what.place == Place.FIRST}
        among = [row for row, what in rows.items() if what.place == Place.AMONG]
        best = self._best(merged, max(limit, 1))

        def order(found: Iterable[int]) -> list[int]:
            return sorted(
                found, key=lambda row: (first.get(row, _UNNAMED), -merged[row], self._postings.spec(row).name)
            )

        total = int((merged > 0).sum()) + sum(not merged[row] for row in rows)
        fits = bool(first) or bool(best and self._fits(self._evidence(query, matches, scores, best[0])))
        fits = fits or bool(best and self._means(scores, best[0]))
        shown = _within(order({*best, *first, *among}), among, max(limit, 0))
        if limit > 0:
            cut = {row for row, what in rows.items() if not what.by_server}.difference(shown)
            shown += order(cut)[:MAX_BEYOND_LIMIT]
        words = matches.words(shown)
        hits = tuple(self._hit(row, words[row], scores, rows.get(row)) for row in shown)
        return Ranking(hits, total, not fits, self._missing(query))

    def _fits(self, evidence: Evidence) -> bool:
        return (BOTH_RANKERS if self._tfidf else KEYWORD_ALONE).fits(evidence)

    def _evidence(self, query: Query, matches: Matches, scores: _Scores, row: int) -> Evidence:
        similarity = float(scores.similarity[row])
        return weigh(query, matches, row, similarity, self._keyword.rarity, scores.asked, len(self._postings))

    def _means(self, scores: _Scores, row: int) -> bool:
        from caddie.search import semantic  # an adapter; the core can do without it

        return scores.meaning is not None and scores.meaning[row] >= semantic.FITS_FROM

    def _with_meaning(self, text: str, scores: _Scores, hidden: list[int]) -> _Scores:
        """As they are, unless the semantic ranker has something to say on this question."""
        if self._semantic is None or self._tfidf is None:
            return scores
        from caddie.search import semantic

        weight = semantic.weight_for(text, scores.coverage)
        meaning = self._semantic.scores(text, self._row_names()) if weight else None
        if meaning is None:
            return scores
        meaning[hidden] = 0.0
        return replace(scores, merged=semantic.fuse(scores.merged, meaning, weight), meaning=meaning)

    def _row_names(self) -> tuple[str, ...]:
        """The same object until the catalogue changes."""
        if self._names[0] != self._postings.revision:
            names = tuple(spec.name if spec else "" for spec in self._postings.entries)
            self._names = self._postings.revision, names
        return self._names[1]

    def _scores(self, query: Query, matches: Matches, hidden: list[int]) -> _Scores:
        keyword = self._keyword.scores(query, matches)
        cosine = self._tfidf.scores(query, matches) if self._tfidf else None
        for scores in (keyword.score, cosine):
            if scores is not None:
                scores[hidden] = 0.0
        return self._merge(keyword, cosine)

    def _merge(self, keyword: KeywordScores, cosine: Any) -> _Scores:
        """Each ranker's scores are divided by its best, so that the weights mean what they say; the merged ones count
        the more, the more of the question a tool covers. Last, all are scaled so that the best hit has the geometric
        mean of its BM25F strength and its cosine: how well it answers the question as a whole, on the same scale for
        any question."""
        lexical = keyword.score
        weight_keyword, weight_tfidf = self._weights if cosine is not None else (1.0, 0.0)
        cosine = lexical * 0 if cosine is None else cosine
        parts = _by_best(lexical), _by_best(cosine)
        merged = (weight_keyword * parts[0] + weight_tfidf * parts[1]) / (weight_keyword + weight_tfidf)
        merged = _by_best(merged * (COVERAGE_FLOOR + (1 - COVERAGE_FLOOR) * keyword.coverage))
        similarity = keyword.strength if self._tfidf is None else cosine
        fit = (keyword.strength * similarity) ** 0.5
        fit = fit[merged >= merged.max() - 10**-_DIGITS].max()  # several best ones must not depend on their order
        coverage = float(keyword.coverage.max(initial=0.0))
        return _Scores(merged * fit, parts[0] * fit, parts[1] * fit, similarity, coverage, keyword.asked)

    def _best(self, merged: Any, limit: int) -> list[int]:
        """All rows that can be among the first `limit`, in order, those with equal scores at the cut included."""
        import numpy as np

        rows = np.flatnonzero(merged)
        if len(rows) > limit:
            values = merged[rows]
            rows = rows[values >= np.partition(values, len(values) - limit)[len(values) - limit]]
        return sorted(rows.tolist(), key=lambda row: (-merged[row], self._postings.spec(row).name))

    def _hit(self, row: int, words: Mapping[int, Iterable[str]], scores: _Scores, named: Named | None) -> Hit:
        exact = named is not None and named.place == Place.FIRST
        score, keyword, tfidf = (
            round(float(part[row]), _DIGITS) for part in (scores.merged, scores.keyword, scores.tfidf)
        )
        is_named = named is not None and not named.by_server
        by_name = [f"{named.by if exact else 'named in the question'}: {named.what}"] if named else []
        by_words = [f"{FIELDS[field].label}: {', '.join(words[field])}" for field in sorted(words)]
        by_score = f"keyword {keyword:.2f}, TF-IDF {tfidf:.2f}" if self.tfidf_ready else f"keyword {keyword:.2f}"
        if scores.meaning is not None:
            by_score += f", meaning {max(scores.meaning[row], 0.0):.2f}"
        reasons = (*by_name, *by_words, by_score)
        return Hit(self._postings.spec(row), 1.0 if exact else score, keyword, tfidf, reasons, exact, is_named)

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
        return all(t in postings and postings[t].holds(row) for _, wanted in query.required for t in wanted)

    def _uses(self, word: str) -> int:
        return self._postings.frequency(stem(fold(word)))

    def _row(self, name: str) -> int:
        row = self._postings.find(name)
        assert row is not None
        return row

    def _spec(self, name: str) -> ToolSpec | None:
        row = self._postings.find(name)
        return None if row is None else self._postings.spec(row)

    def _add(self, document: Document, aliases: tuple[str, ...] | None = None) -> None:
        """`aliases` are those that the document was analysed with, unless they have changed meanwhile."""
        if aliases is None:
            aliases = self._aliases_of(document.spec)
            document = analyse(document.spec, aliases)
        self._trigrams.add(self._postings.add(document))
        self._exact.add(document.spec, aliases)

    def _remove(self, name: str) -> None:
        spec = self._spec(name)
        if spec is None:
            return
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
