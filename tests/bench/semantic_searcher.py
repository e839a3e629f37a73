"""The product's index with the extra `semantic`, behind the same door as without it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from searcher import to_spec

from caddie.search.engine import ToolIndex
from caddie.search.semantic import SemanticRanker


def make_search(tools: Sequence[dict[str, Any]]) -> Callable[[str, int], list[str]]:
    """Without cached vectors, as when the tools are seen for the first time."""
    index = ToolIndex(semantic=SemanticRanker())
    index.update(added=map(to_spec, tools))
    asyncio.run(index.warm())

    def search(query: str, k: int) -> list[str]:
        return [hit.tool.name for hit in index.search(query, k).hits]

    return search
