"""Refit what decides that nothing fits, and print its error rates.

    PYTHONPATH=tests/bench python tests/bench/fitness.py [--limit N]

Right answers: the dev queries of all sets, each weighted by the share of its relevant tools among the first five, each
set alike. Impossible questions: `impossible.py`. Fitted on the even half of the impossible questions; the threshold is
the highest at which recall@5 falls by `MOST_LOST`, as a mean of the sets and of the queries.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import impossible
import numpy as np
from bench_data import SHARED, SMALL
from searcher import to_spec
from sklearn.linear_model import LogisticRegression

from caddie.search.engine import ToolIndex
from caddie.search.fitness import BOTH_RANKERS, KEYWORD_ALONE, Judge

MOST_LOST = 0.0175
SETS = (
    *("livemcp", "livemcp_large", "vscode_agent", "metatool", "sealtools", "toolalpaca", "bfcl", "restbench"),
    *("apibank", "acebench_en", "acebench_zh", "dify", "c3tools", "tldr", "small"),
)


@dataclass(frozen=True, slots=True)
class Case:
    """`worth` is the recall that is lost when the answer is "nothing fits"; nothing at all for impossible questions.
    Settled are those with an exact name, or whose words a tool holds all. Without features no tool holds any."""

    group: str
    features: tuple[float, ...] | None
    is_settled: bool
    worth: float
    is_for_fitting: bool = True


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, default=300, help="questions for each set")
    limit = parser.parse_args(arguments).limit
    root = Path(os.environ.get("CADDIE_BENCH", SHARED))
    if not root.exists():
        print(f"No data sets in {root}: using the small set kept in the repository. Do not take its constants over.")
        root = SMALL
    for warm, judge in ((True, BOTH_RANKERS), (False, KEYWORD_ALONE)):
        print(f"\n{'both rankers' if warm else 'keyword ranker alone'}")
        real, vain = cases(root, limit, warm)
        fitted = fit(real, vain)
        print(f"  fitted  Judge({tuple(round(float(w), 2) for w in fitted.weights)}, {fitted.threshold:.2f})")
        print(f"  in use  {judge}")
        report(judge, real, vain)


def cases(root: Path, limit: int, warm: bool) -> tuple[list[Case], list[Case]]:
    sets = [name for name in SETS if (root / name).exists()]
    tools = {name: read(next((root / name).glob("tools.jsonl*"))) for name in sets}
    queries = {name: read(root / name / "queries.jsonl") for name in sets}
    specs = {name: [to_spec(tool) for tool in found] for name, found in tools.items()}
    source = specs.get("livemcp", specs.get("small", []))
    specs["developer"] = [spec for spec in source if spec.server in impossible.DEVELOPER_SERVERS]
    indexes = {name: built(found, warm) for name, found in specs.items()}
    real = [real_case(name, indexes[name], query) for name in sets for query in queries[name][:limit]]
    questions = [one for one in (*impossible.talk(), *impossible.elsewhere(queries)) if one.catalogue in indexes]
    return real, [vain_case(indexes[question.catalogue], question) for question in questions]


def read(path: Path) -> list[dict[str, Any]]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def built(specs: Sequence[Any], warm: bool) -> ToolIndex:
    index = ToolIndex()
    index.update(added=specs)
    if warm:
        asyncio.run(index.warm())
    return index


def real_case(name: str, index: ToolIndex, query: dict[str, Any]) -> Case:
    hits = index.search(query["text"], 5).hits
    relevant = set(query["relevant"])
    worth = len(relevant & {hit.tool.name for hit in hits}) / len(relevant)
    return Case(name, *features(index, query["text"]), worth)


def vain_case(index: ToolIndex, question: impossible.Impossible) -> Case:
    return Case(question.group, *features(index, question.text), 0.0, question.is_for_fitting)


def features(index: ToolIndex, text: str) -> tuple[tuple[float, ...] | None, bool]:
    hits = index.search(text, 5).hits
    evidence = index.evidence(text) if hits else None
    settled = any(hit.exact for hit in hits) or bool(evidence and evidence.is_complete)
    return evidence.features if evidence else None, settled


def fit(real: list[Case], vain: list[Case]) -> Judge:
    """Each set of real questions counts the same, and each group of impossible ones."""
    right = [case for case in real if case.features and not case.is_settled and case.worth]
    wrong = [case for case in vain if case.features and not case.is_settled and case.is_for_fitting]
    weights = [case.worth / share for case, share in shares(right, real)]
    against = [1 / share for _, share in shares(wrong, vain)]
    weight = np.array([*np.array(weights) / sum(weights), *np.array(against) / sum(against)])
    table = np.array([case.features for case in (*right, *wrong)])
    truth = [1] * len(right) + [0] * len(wrong)
    model = LogisticRegression(C=100, max_iter=5000).fit(table, truth, sample_weight=weight * len(truth))
    raw = tuple(float(w) for w in model.coef_[0])
    thresholds = np.linspace(-15, 15, 1501)
    kept = [t for t in thresholds if max(lost(Judge(raw, float(t)), real)) <= MOST_LOST]  # type: ignore[arg-type]
    return Judge(raw, float(max(kept)))  # type: ignore[arg-type]


def shares(some: Iterable[Case], of: Iterable[Case]) -> list[tuple[Case, int]]:
    size: dict[str, int] = defaultdict(int)
    for case in of:
        size[case.group] += 1
    return [(case, size[case.group]) for case in some]


def says_nothing(judge: Judge, case: Case) -> bool:
    if case.is_settled:
        return False
    if case.features is None:
        return True
    return sum(w * f for w, f in zip(judge.weights, case.features, strict=True)) < judge.threshold


def lost(judge: Judge, real: list[Case]) -> tuple[float, float]:
    """Recall lost, as the mean of the sets and as the mean of the questions."""
    by_set = defaultdict(list)
    for case in real:
        by_set[case.group].append(case.worth * says_nothing(judge, case))
    everything = [loss for losses in by_set.values() for loss in losses]
    return float(np.mean([np.mean(losses) for losses in by_set.values()])), float(np.mean(everything))


def report(judge: Judge, real: list[Case], vain: list[Case]) -> None:
    by_set, of_set = lost(judge, real)
    print(f"  recall@5 lost: {by_set:.1%} as the mean of the sets, {of_set:.1%} as that of the questions")
    for group in dict.fromkeys(case.group for case in real):
        losses = [case.worth * says_nothing(judge, case) for case in real if case.group == group]
        print(f"    {group:<28}{np.mean(losses):6.1%} of {len(losses)}")
    for kind in ("talk", "elsewhere"):
        judged = [says_nothing(judge, case) for case in vain if case.group.startswith(kind) and not case.is_for_fitting]
        if not judged:
            continue
        print(f"  impossible, held out, {kind}: {np.mean(judged):.1%} of {len(judged)} answered with nothing fits")
        for group in dict.fromkeys(case.group for case in vain if case.group.startswith(kind)):
            answers = [says_nothing(judge, case) for case in vain if case.group == group and not case.is_for_fitting]
            print(f"    {group:<40}{np.mean(answers):6.1%} of {len(answers)}")


if __name__ == "__main__":
    main()
