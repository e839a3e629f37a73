"""Hints: the tools that fit what the person writes, before the model asks. The same search as ToolSearch."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from caddie.search.index import Hit
from caddie.search.tool_search import ToolSearcher
from caddie.settings import Hints
from caddie.tools.patterns import first_match

MAX_TEXT_CHARS = 4_000
MAX_DESCRIPTION_CHARS = 100


@dataclass(frozen=True, slots=True)
class ToolHint:
    tool: str
    label: str
    description: str
    score: float
    server: str
    state: str = "deferred"


async def find_hints(
    searcher: ToolSearcher, text: str, settings: Hints, servers: Collection[str] = ()
) -> tuple[ToolHint, ...]:
    """Of `servers` only, if any are named. A search over thousands of tools must not hold up the request that leaves
    meanwhile."""
    if len(text.strip()) < 2:
        return ()
    limit = settings.limit
    while True:
        found = await searcher.search(text[:MAX_TEXT_CHARS], limit=limit, servers=servers)
        if found.nothing_fits:
            return ()
        good = [hit for hit in found.hits if hit.score >= settings.threshold]
        wanted = [hit for hit in good if not first_match(settings.exclude, hit.tool)][: settings.limit]
        is_all = len(good) < len(found.hits) or len(found.hits) < limit
        if len(wanted) == settings.limit or is_all or not settings.exclude:
            return tuple(map(_hint, wanted))
        limit *= 4  # what is excluded makes room for the next


def _hint(hit: Hit) -> ToolHint:
    first_line = next((line.strip() for line in hit.tool.description.splitlines() if line.strip()), "")
    short = first_line if len(first_line) <= MAX_DESCRIPTION_CHARS else first_line[: MAX_DESCRIPTION_CHARS - 1] + "…"
    return ToolHint(hit.tool.name, hit.tool.label, short, round(hit.score, 3), hit.tool.server)
