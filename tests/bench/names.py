"""Is every tool found by its bare name inside a sentence, with all others of that name, whatever the limit?

PYTHONPATH=tests/bench python tests/bench/names.py [--limit N]
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from bench_data import SHARED, SMALL, read_sets
from searcher import to_spec

from caddie.search.engine import MAX_BEYOND_LIMIT, ToolIndex
from caddie.search.exact_index import MAX_BEARERS
from caddie.tools.exact import bare_name, normalise
from caddie.tools.tool import ToolSpec

SENTENCES = (
    "please call {} on this for me",
    "could the {} tool help here, or is there another one?",
    "I have heard of {} before and wonder about it",
    "run `{}` and tell me",
    "请调用 {} 处理这个文件",
)
LIMIT = 5


@dataclass(frozen=True, slots=True)
class Asked:
    """`found`: all tools of that name are among the hits. `first`: one of them leads; of names that few bear."""

    name: str
    sentence: str
    found: bool
    first: bool


def ask(specs: Sequence[ToolSpec], some: Iterable[ToolSpec], sentences: Sequence[str] = SENTENCES) -> list[Asked]:
    """One after the other for each of `some`, in the company of all `specs`, before scikit-learn is ready."""
    index = ToolIndex()
    index.update(added=specs)
    bearers: defaultdict[str, set[str]] = defaultdict(set)
    for spec in specs:
        bearers[normalise(bare_name(spec))].add(spec.name)
    return [_asked(index, spec, bearers[normalise(bare_name(spec))], text) for spec in some for text in sentences]


def _asked(index: ToolIndex, spec: ToolSpec, bearers: set[str], sentence: str) -> Asked:
    hits = [hit.tool.name for hit in index.search(sentence.format(bare_name(spec)), LIMIT).hits]
    wanted = len(bearers & set(hits)) == min(len(bearers), MAX_BEYOND_LIMIT)
    return Asked(bare_name(spec), sentence, wanted, hits[0] in bearers or len(bearers) > MAX_BEARERS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, default=0, help="tools of each set, 0 for all")
    limit = parser.parse_args().limit or None
    if not SHARED.exists():
        print(f"No data sets in {SHARED}: using the small set kept in the repository.")
    print(f"{'set':<16}{'sentences':>10}{'found':>9}{'first':>9}  not found")
    for data in read_sets(SHARED if SHARED.exists() else SMALL, 1):
        specs = list(map(to_spec, data.tools))
        asked = ask(specs, islice(specs, limit))
        found, first = (sum(getattr(one, which) for one in asked) / len(asked) for which in ("found", "first"))
        missing = dict.fromkeys(one.name for one in asked if not one.found)
        print(
            f"{data.name:<16}{len(asked):>10,}{found:>9.2%}{first:>9.2%}  {' '.join(islice(missing, 12))}", flush=True
        )


if __name__ == "__main__":
    main()
