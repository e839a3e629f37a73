"""How well and how fast does the search find tools, beside others, in the same run?

make bench                      all tables, up to 150 questions for each set and language
make bench BENCH=--full         all questions
make bench BENCH="--limit 40 --only caddie --sizes 100,1000"
make bench BENCH=--huge         only this: time and memory of 50,000 tools with descriptions of 10 KB
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

# One core for everyone: threads of a linear algebra library would measure the machine, not the method.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import bench_data
import bench_huge
import bench_measure
from bench_peers import OURS, MakeSearch, absent, peers

QUERIES = 300


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    sets = _sets(options.data, 0 if options.full else options.limit)
    if options.huge:
        _huge_table(sets, options.tools)
        return 0
    searchers = {name: make for name, make in peers().items() if not options.only or name in options.only}
    if missing := absent():
        print(f"Not installed, so not measured: {', '.join(missing)} (pip install 'caddie-ls[bench,semantic]').\n")
    _quality_tables(sets, searchers)
    _speed_table(sets, searchers, options.sizes)
    if OURS in searchers:
        _difference_table(sets, options.sizes)
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=bench_data.SHARED, help="folder of the data sets")
    parser.add_argument("--limit", type=int, default=150, help="questions for each set and language (150)")
    parser.add_argument("--full", action="store_true", help="all questions")
    parser.add_argument("--only", type=_names, default=[], help="only these searchers, comma-separated")
    parser.add_argument("--sizes", type=_sizes, default=[100, 1_000, 10_000], help="catalogue sizes for the timings")
    parser.add_argument("--huge", action="store_true", help="only measure a catalogue that is far too large")
    parser.add_argument("--tools", type=int, default=bench_huge.TOOLS, help="how many tools --huge has (50,000)")
    return parser.parse_args(arguments)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def _sizes(text: str) -> list[int]:
    return [int(size) for size in text.split(",") if size]


def _sets(folder: Path, limit: int) -> list[bench_data.DataSet]:
    if sets := bench_data.read_sets(folder, limit):
        return sets
    print(f"No data sets in {folder}: using the small set kept in the repository. Its numbers do not compare.\n")
    return bench_data.read_sets(bench_data.SMALL, limit)


def _quality_tables(sets: Sequence[bench_data.DataSet], searchers: Mapping[str, MakeSearch]) -> None:
    found: dict[str, dict[str, bench_measure.Quality]] = {name: {} for name in searchers}
    for data in sets:
        for name, make in searchers.items():
            found[name].update(bench_measure.quality(make, data))
    parts = list(next(iter(found.values()), {}))
    rows = {
        part: [f"{values[part].ndcg:.3f} / {values[part].recall:.3f}" for values in found.values()] for part in parts
    }
    _print_table("Quality: nDCG@5 / recall@5", "set, language", list(found), rows)
    groups = {name: [_grouped(values, "ndcg"), _grouped(values, "recall")] for name, values in found.items()}
    lines = {
        group: [f"{ndcg[group]:.3f} / {recall[group]:.3f}" for ndcg, recall in groups.values()]
        for group in bench_data.GROUPS
        if all(group in ndcg for ndcg, _ in groups.values())
    }
    _print_table("By group of languages: nDCG@5 / recall@5", "group", list(found), lines)


def _grouped(values: Mapping[str, bench_measure.Quality], which: str) -> dict[str, float]:
    return bench_data.by_group({part: getattr(quality, which) for part, quality in values.items()})


def _speed_table(sets: list[bench_data.DataSet], searchers: Mapping[str, MakeSearch], sizes: Sequence[int]) -> None:
    queries = bench_measure.sample(sets, QUERIES)
    rows: dict[str, list[str]] = {name: [] for name in searchers}
    for size in sizes:
        tools = bench_data.catalogue(sets, size)
        for name, make in searchers.items():
            speed = bench_measure.speed(make, tools, queries)
            rows[name].append(f"{speed.build_ms:,.0f} / {speed.p50_ms:.2f} / {speed.p99_ms:.2f}")
    _print_table(
        "CPU milliseconds: build / query p50 / query p99", "searcher", [f"{size:,} tools" for size in sizes], rows
    )


def _difference_table(sets: list[bench_data.DataSet], sizes: Sequence[int]) -> None:
    columns = ["rebuild ms", "add ms", "first answer ms", "remove ms", "rebuild / (add + answer)"]
    rows = {}
    for size in sizes:
        cost = bench_measure.difference(bench_data.catalogue(sets, size + bench_measure.DIFFERENCE))
        ratio = cost["rebuild"] / (cost["add"] + cost["first answer"])
        rows[f"{size:,} tools"] = [*(f"{ms:,.1f}" for ms in cost.values()), f"{ratio:.1f} x"]
    _print_table(f"A difference of {bench_measure.DIFFERENCE} tools", "catalogue", columns, rows)


def _huge_table(sets: Sequence[bench_data.DataSet], count: int) -> None:
    cost = bench_huge.measure(sets, count)
    columns = ["tools MB", "index MB", "build s", "warm s", "query p50 ms", "query p99 ms", "20 changed ms"]
    values = (cost.texts_mb, cost.index_mb, cost.build_seconds, cost.warm_seconds, cost.p50_ms, cost.p99_ms)
    cells = [f"{value:,.0f}" for value in (*values, cost.difference_ms)]
    title = f"Descriptions of {bench_huge.DESCRIPTION_CHARS:,} characters: CPU time, and memory of the process"
    _print_table(title, "catalogue", columns, {f"{count:,} tools": cells})


def _print_table(title: str, corner: str, columns: Sequence[str], rows: Mapping[str, Sequence[str]]) -> None:
    if not rows or not columns:
        return
    first = max(map(len, [corner, *rows]))
    widths = [max(len(cell) for cell in (head, *(row[n] for row in rows.values()))) for n, head in enumerate(columns)]
    pad: Callable[[Sequence[str]], str] = lambda cells: "  ".join(  # noqa: E731
        cell.rjust(width) for cell, width in zip(cells, widths, strict=True)
    )
    print(f"{title}\n{corner.ljust(first)}  {pad(columns)}")
    for label, cells in rows.items():
        print(f"{label.ljust(first)}  {pad(cells)}")
    print(flush=True)


if __name__ == "__main__":
    sys.exit(main())
