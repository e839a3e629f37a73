"""How good, how fast, and how dear is a change? One function for each table.

Times are CPU time of this process, so that what else the machine does is not measured.
"""

from __future__ import annotations

import asyncio
import gc
import math
import random
import statistics
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench_data import DataSet, Tool
from bench_peers import MakeSearch
from searcher import to_spec

from caddie.search.engine import ToolIndex

DIFFERENCE = 20


@dataclass(frozen=True, slots=True)
class Quality:
    ndcg: float
    recall: float


@dataclass(frozen=True, slots=True)
class Speed:
    build_ms: float
    p50_ms: float
    p99_ms: float


def quality(make: MakeSearch, data: DataSet) -> dict[str, Quality]:
    """nDCG@5 and recall@5 of each part of a set."""
    search = make(data.tools)
    found: defaultdict[str, list[Quality]] = defaultdict(list)
    for question in data.questions:
        ids = list(dict.fromkeys(search(question.text, 10)))[:5]
        found[data.part(question)].append(_score(ids, question.relevant))
    return {part: _mean(values) for part, values in sorted(found.items())}


def _score(ids: Sequence[str], relevant: frozenset[str]) -> Quality:
    gains = [1.0 if name in relevant else 0.0 for name in ids]
    gained = sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(5, len(relevant)) + 1))
    return Quality(gained / ideal, sum(gains) / len(relevant))


def _mean(values: Sequence[Quality]) -> Quality:
    return Quality(statistics.fmean(v.ndcg for v in values), statistics.fmean(v.recall for v in values))


def speed(make: MakeSearch, tools: Sequence[Tool], queries: Sequence[str]) -> Speed:
    """Build once, ask each query once. The first query is not counted: it pays for what is made on demand."""
    make(tools[:3])
    started = time.process_time()
    search = make(tools)
    built = time.process_time() - started
    search(queries[0], 5)
    times = sorted(timed(lambda query=query: search(query, 5)) for query in queries)
    return Speed(built * 1000, percentile(times, 0.50), percentile(times, 0.99))


def difference(tools: Sequence[Tool], rounds: int = 5) -> Mapping[str, float]:
    """Milliseconds to rebuild, and until the first answer after 20 tools came or went; the best of `rounds`."""
    specs = list(map(to_spec, tools))
    kept, late = specs[:-DIFFERENCE], specs[-DIFFERENCE:]
    rebuild = min(timed(lambda: _built(specs)) for _ in range(2))
    index = _built(kept)
    names = [spec.name for spec in late]
    adding, removing, asking = [], [], []
    for _ in range(rounds):
        adding.append(timed(lambda: index.update(added=late)))
        asking.append(timed(lambda: index.search("create a file", 5)))
        removing.append(timed(lambda: index.update(removed=names)))
        index.search("create a file", 5)
    return {"rebuild": rebuild, "add": min(adding), "first answer": min(asking), "remove": min(removing)}


def _built(specs: Sequence[object]) -> ToolIndex:
    index = ToolIndex()
    index.update(added=specs)  # type: ignore[arg-type]
    asyncio.run(index.warm())
    index.search("create a file", 5)
    return index


def sample(sets: Sequence[DataSet], count: int) -> list[str]:
    """Questions of all sets, the same ones every time."""
    texts = sorted({question.text for data in sets for question in data.questions})
    return random.Random(7).sample(texts, min(count, len(texts)))


def timed(action: object) -> float:
    gc.disable()  # a collection belongs to whoever made the garbage, not to the query it happens to hit
    try:
        started = time.process_time()
        action()  # type: ignore[operator]
        return (time.process_time() - started) * 1000
    finally:
        gc.enable()


def percentile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
