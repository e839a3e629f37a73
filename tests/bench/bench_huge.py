"""What does a catalogue cost that is far too large? 50,000 tools with descriptions of 10 KB, each its own.

Memory is counted for the whole process, so this table wants a process of its own: `bench.py --huge`.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import psutil
from bench_data import DataSet
from bench_measure import DIFFERENCE, percentile, sample, timed

from caddie.search.engine import ToolIndex
from caddie.tools.tool import ToolSpec

TOOLS = 50_000
DESCRIPTION_CHARS = 10_000
PROPERTIES = 8
QUERIES = 100
BATCH = 1_000
WORDS_OF_ONE_TOOL = 400


@dataclass(frozen=True, slots=True)
class Huge:
    tools: int
    texts_mb: float
    """The tools themselves, before anything is indexed."""
    index_mb: float
    """What the index adds, at its most."""
    build_seconds: float
    warm_seconds: float
    p50_ms: float
    p99_ms: float
    difference_ms: float
    """20 tools changed, until the next answer."""


def huge_tools(sets: Sequence[DataSet], count: int, chars: int = DESCRIPTION_CHARS) -> Iterator[ToolSpec]:
    """Words of the sets' descriptions, mixed anew for each tool; every tool brings some that no other has."""
    words = sorted({word for data in sets for tool in data.tools for word in (tool.get("description") or "").split()})
    chance = random.Random(11)
    for number in range(count):
        own = [f"{chance.choice(words)}{number}" for _ in range(3)]
        text = " ".join([*own, *chance.choices(words, k=WORDS_OF_ONE_TOOL)])
        text = (text + " ") * (chars // len(text) + 1)
        names = chance.sample(words, min(PROPERTIES, len(words)))
        properties = {name: {"type": "string", "description": " ".join(chance.choices(words, k=12))} for name in names}
        server = f"server{number // 500}"
        name = f"{chance.choice(words)}_{number}"
        schema = {"type": "object", "properties": properties}
        yield ToolSpec(f"mcp__{server}__{name}", text[:chars], schema, original_name=name, server=server)


def measure(sets: Sequence[DataSet], count: int = TOOLS, chars: int = DESCRIPTION_CHARS) -> Huge:
    before = _megabytes()
    tools = list(huge_tools(sets, count, chars))
    texts = _megabytes()
    index = ToolIndex()
    peak = texts
    started = time.process_time()
    for at in range(0, count, BATCH):
        index.update(added=tools[at : at + BATCH])
        peak = max(peak, _megabytes())
    built = time.process_time()
    asyncio.run(index.warm())
    warmed = time.process_time()
    peak = max(peak, _megabytes())
    times = sorted(timed(lambda query=query: index.search(query, 5)) for query in sample(sets, QUERIES))
    changed = [replace(tool, description=tools[-1].description) for tool in tools[:DIFFERENCE]]

    def change() -> None:
        index.update(added=changed)
        index.search("create a file", 5)

    difference = timed(change)
    peak = max(peak, _megabytes())
    return Huge(
        tools=count,
        texts_mb=texts - before,
        index_mb=peak - texts,
        build_seconds=built - started,
        warm_seconds=warmed - built,
        p50_ms=percentile(times, 0.5),
        p99_ms=percentile(times, 0.99),
        difference_ms=difference,
    )


def _megabytes() -> float:
    return psutil.Process().memory_info().rss / 2**20
