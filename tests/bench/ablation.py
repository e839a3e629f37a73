"""What is each addition to the ranking worth? The groups' nDCG@5 without it, one at a time, on the dev queries.

PYTHONPATH=tests/bench python tests/bench/ablation.py [--limit N]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from bench_data import GROUPS, SHARED, SMALL, DataSet, by_group, read_sets
from searcher import to_spec

from caddie.search import analysis, document, engine, keyword, matches, query
from caddie.search.engine import ToolIndex

Patch = tuple[Any, str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Ablation:
    """`patches` are put in place of what the product has; `change` and `restore` are done to each index."""

    label: str
    patches: tuple[Patch, ...] = ()
    change: Callable[[ToolIndex], None] = lambda index: None
    restore: Callable[[ToolIndex], None] = lambda index: index.set_weights(0.4, 0.6)


def _weighing(weight: float, *labels: str) -> tuple[Patch, ...]:
    fields = tuple(
        dataclasses.replace(field, weight=weight) if field.label in labels else field for field in document.FIELDS
    )
    return tuple((module, "FIELDS", fields) for module in (document, keyword))


def _sum(self: matches.Matches, word: Any, values: Any) -> Any:
    total = np.zeros((len(values), self.height))
    for places in word:
        rows = self.rows[places[0][0] : places[-1][1]]
        total += np.stack([np.bincount(rows, line[places[0][0] : places[-1][1]], self.height) for line in values])
    return total


def _parse_without_meanings(self: ToolIndex, text: str) -> query.Query:
    return query.parse(text, self._postings.frequency, self._trigrams)


ABLATIONS = (
    Ablation("all of it"),
    Ablation("without TF-IDF (weights 1/0)", change=lambda index: index.set_weights(1.0, 0.0)),
    Ablation("without BM25F (weights 0/1)", change=lambda index: index.set_weights(0.0, 1.0)),
    Ablation("without schema fields", _weighing(0.0, "parameter", "parameter description")),
    Ablation("without the server's name", _weighing(0.0, "server")),
    Ablation("without field weights", _weighing(1.0, *(field.label for field in document.FIELDS))),
    Ablation("without stop words", ((query, "QUERY_STOP_WORDS", frozenset()),)),
    Ablation("without coverage", ((engine, "COVERAGE_FLOOR", 1.0),)),
    Ablation("without joined neighbours", ((query, "JOINED_WEIGHT", 0.0),)),
    Ablation("without taking compounds apart", ((query, "SPLIT_WEIGHT", 0.0), (query, "KNOWN_SPLIT_WEIGHT", 0.0))),
    Ablation("unknown names as heavy as words", ((query, "ARGUMENT_WEIGHT", 1.0),)),
    Ablation("all meanings alike", ((query, "GLOSS_DECAY", 1.0),)),
    Ablation("without sounds in trigrams", ((query, "_sound", lambda word: word),)),
    Ablation("without trigrams for unknown words", ((query, "MAX_TYPO_TERMS", 0),)),
    Ablation("numbers as heavy as words", ((query, "NUMBER_WEIGHT", 1.0),)),
    Ablation("single Han characters as heavy as pairs", ((analysis, "SINGLE_WEIGHT", 1.0),)),
    Ablation("without single Han characters", ((analysis, "SINGLE_WEIGHT", 0.0),)),
    Ablation("without the Chinese dictionary", ((ToolIndex, "_parse", _parse_without_meanings),)),
    Ablation("the sum of meanings, not the best", ((matches.Matches, "_best", _sum),)),
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, default=300, help="questions for each set and language, 0 for all")
    sets = read_sets(SHARED if SHARED.exists() else SMALL, parser.parse_args().limit)
    print(f"{'':<42}" + "".join(f"{group:>20}" for group in GROUPS))
    built = {data.name: build(data) for data in sets}
    whole: dict[str, float] = {}
    for ablation in ABLATIONS:
        scores = measure(ablation, sets, built)
        whole = whole or scores
        cells = (f"{scores[group]:.3f} ({scores[group] - whole[group]:+.3f})" for group in GROUPS)
        print(f"{ablation.label:<42}" + "".join(f"{cell:>20}" for cell in cells), flush=True)


def measure(ablation: Ablation, sets: Sequence[DataSet], built: dict[str, ToolIndex]) -> dict[str, float]:
    """`built` holds the product's indexes; only a change of what is read from a tool needs others."""
    parts: dict[str, list[float]] = defaultdict(list)
    reads_anew = any(owner in (document, analysis) or name == "_sound" for owner, name, _ in ablation.patches)
    with _patched(ablation.patches):
        for data in sets:
            index = build(data) if reads_anew else built[data.name]
            ablation.change(index)
            for question in data.questions:
                found = [hit.tool.name for hit in index.search(question.text, 5).hits]
                parts[data.part(question)].append(_ndcg(found, question.relevant))
            ablation.restore(index)
    return by_group({part: float(np.mean(scores)) for part, scores in parts.items()})


def build(data: DataSet) -> ToolIndex:
    index = ToolIndex()
    index.update(added=map(to_spec, data.tools))
    asyncio.run(index.warm())
    return index


def _ndcg(found: list[str], relevant: frozenset[str]) -> float:
    gained = sum(1 / math.log2(rank + 1) for rank, name in enumerate(found, 1) if name in relevant)
    return gained / sum(1 / math.log2(rank + 1) for rank in range(1, min(5, len(relevant)) + 1))


@contextlib.contextmanager
def _patched(patches: tuple[Patch, ...]) -> Iterator[None]:
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in patches]
    for owner, name, value in patches:
        setattr(owner, name, value)
    try:
        yield
    finally:
        for owner, name, value in before:
            setattr(owner, name, value)


if __name__ == "__main__":
    main()
