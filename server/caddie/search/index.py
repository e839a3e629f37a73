"""What a search finds, and the port that the rest of the house searches through."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Protocol

from caddie.tools.tool import ToolSpec


@dataclass(frozen=True, slots=True)
class Hit:
    """`score` is the merged one in 0..1; `keyword` and `tfidf` are its two parts on the same scale before weighting. An
    `exact` one comes first because the question names it or its server; a `named` one is named itself, though perhaps
    only by what may be a plain word, and no limit cuts it."""

    tool: ToolSpec
    score: float
    keyword: float
    tfidf: float
    reasons: tuple[str, ...]
    exact: bool = False
    named: bool = False


@dataclass(frozen=True, slots=True)
class Ranking:
    """The ranked hits up to the limit, then the tools that the question names besides. `total` counts all tools that
    matched at all, before the limit; `missing` the `+words` that no tool has."""

    hits: tuple[Hit, ...]
    total: int
    nothing_fits: bool
    missing: tuple[str, ...] = ()


class SearchIndex(Protocol):
    """Follows the catalogue by difference. Answers at once after construction. Safe to use from several threads."""

    def update(self, *, added: Iterable[ToolSpec] = (), removed: Iterable[str] = ()) -> None:
        """`added` replaces tools of the same name."""
        ...

    def search(self, query: str, limit: int, *, without: Collection[str] = ()) -> Ranking:
        """Words, `+word` required. Deterministic: the same tools and query give the same answer in any order. The
        tools named by `without` are neither found nor counted."""
        ...
