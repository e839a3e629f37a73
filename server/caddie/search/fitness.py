"""Does the best hit answer the question, or does nothing fit? A small logistic model over four plain facts.

The constants come from public questions with a known answer and questions that no tool serves; `tests/bench/fitness.py`
makes both sets, fits, prints the error rates of each and the lines below.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from caddie.search.matches import Matches
from caddie.search.query import Query

LEAST_TOOLS = 40
"""A smaller catalogue is judged as one of this size: in one of three tools every word is common."""
COMMON = 2.0
"""A word that is no rarer than this tells nothing."""
NAMING_FIELDS = 3
"""The first fields of a tool are what it is called: name, hint, alias."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for a hit: its `similarity` (cosine, or BM25F strength until TF-IDF is ready), the share of the
    question in words that no tool knows, how many of its words name the tool, and how rare the words it holds are."""

    similarity: float
    unknown: float
    naming: int
    information: float
    is_complete: bool
    """It holds every word of the question, which settles the matter."""

    @property
    def features(self) -> tuple[float, float, float, float]:
        return math.log(self.similarity + 1e-3), self.unknown, math.log1p(self.naming), math.log1p(self.information)


@dataclass(frozen=True, slots=True)
class Judge:
    """Fits when the weighted sum of the features reaches `threshold`."""

    weights: tuple[float, float, float, float]
    threshold: float

    def fits(self, evidence: Evidence) -> bool:
        return (
            evidence.is_complete
            or sum(w * f for w, f in zip(self.weights, evidence.features, strict=True)) >= self.threshold
        )


BOTH_RANKERS = Judge((3.57, -7.47, 1.9, 3.55), -3.44)
KEYWORD_ALONE = Judge((0.72, -1.97, 3.04, 3.78), 2.34)


def weigh(
    query: Query,
    matches: Matches,
    row: int,
    similarity: float,
    rarity: Callable[[str], float],
    asked: float,
    tools: int,
) -> Evidence:
    """The evidence for the tool in `row`, one of `tools`; `asked` is the weight of the whole question."""
    extra = math.log((max(tools, LEAST_TOOLS) + 1) / (tools + 1))
    # A question of one Han character has nothing heavier than that character.
    scale = min(max((term.weight for term in query.terms if not term.extra), default=1.0), 1.0) or 1.0
    held: dict[str, float] = {}
    terms = matches.terms_of(row)
    for term in terms:
        held[term.word] = max(held.get(term.word, 0.0), term.weight / scale * (rarity(term.text) + extra) - COMMON)
    fields = matches.words([row])[row]
    naming = {word for field in range(NAMING_FIELDS) for word in fields.get(field, ())}
    unknown = sum(term.weight * rarity(term.text) for term in query.terms if term.unknown)
    unknown = unknown / asked if asked else 1.0
    return Evidence(
        similarity, unknown, len(naming), sum(held.values()), _is_complete(query, {term.text for term in terms})
    )


def _is_complete(query: Query, held: set[str]) -> bool:
    plain = all(term.text in held for term in query.terms if not term.extra)
    return plain and all(any(all(term.text in held for term in choice) for choice in word) for word in query.glossed)
