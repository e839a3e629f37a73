"""The bench runs anywhere, and the small set it falls back on is searched well enough."""

from __future__ import annotations

import re
from pathlib import Path

import bench_data
import bench_huge
import bench_measure
import fitness
import pytest
import semantic_searcher
from searcher import make_search

import bench
from caddie.search.document import MAX_TERMS, analyse


def test_the_small_set_is_found_in_english_and_chinese() -> None:
    (small,) = bench_data.read_sets(bench_data.SMALL, 0)

    found = bench_measure.quality(make_search, small)

    assert found["small en"].ndcg >= 0.75
    assert found["small en"].recall >= 0.9
    assert found["small zh"].ndcg >= 0.8


def test_with_the_extra_the_small_set_is_found_in_every_language() -> None:
    (small,) = bench_data.read_sets(bench_data.SMALL, 0)

    found = bench_measure.quality(semantic_searcher.make_search, small)
    groups = bench_data.by_group({part: quality.ndcg for part, quality in found.items()})

    assert groups["English"] >= 0.82
    assert groups["Chinese on English"] >= 0.9
    assert groups["other languages"] >= 0.9


def test_without_the_shared_data_the_small_set_is_used_and_said_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert bench.main(["--data", str(tmp_path), "--only", "caddie", "--sizes", "60"]) == 0

    shown = capsys.readouterr().out
    assert shown.startswith(f"No data sets in {tmp_path}: using the small set")
    for title in ("small zh", "By group of languages", "60 tools", "A difference of 20 tools"):
        assert title in shown


def test_long_descriptions_cost_a_bounded_amount_of_memory_and_time() -> None:
    sets = bench_data.read_sets(bench_data.SMALL, 0)
    few = list(bench_huge.huge_tools(sets, 50))
    assert {len(spec.description) for spec in few} == {bench_huge.DESCRIPTION_CHARS}

    cost = bench_huge.measure(sets, 300)

    documents = [analyse(spec) for spec in few]
    assert max(len(document.counts) for document in documents) <= MAX_TERMS
    assert cost.index_mb < 300  # scikit-learn and the dictionary are most of it
    assert cost.build_seconds < 20
    assert cost.p99_ms < 100


def test_without_the_shared_data_the_calibration_runs_on_the_small_set_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CADDIE_BENCH", str(tmp_path / "nowhere"))
    fitness.main(["--limit", "40"])

    shown = capsys.readouterr().out
    assert shown.startswith(f"No data sets in {tmp_path / 'nowhere'}: using the small set")
    lost = [float(share) for share in re.findall(r"recall@5 lost: ([\d.]+)%", shown)]
    held = [float(share) for share in re.findall(r"impossible, held out, talk: ([\d.]+)%", shown)]
    assert len(lost) == len(held) == 2
    assert lost[0] <= 25.0  # half of its questions are in other languages than the tools
    assert held[0] >= 85.0


def test_the_same_questions_are_asked_in_the_same_order_every_time() -> None:
    sets = bench_data.read_sets(bench_data.SMALL, 5)

    assert bench_measure.sample(sets, 9) == bench_measure.sample(sets, 9)
    assert len({tool["id"] for tool in bench_data.catalogue(sets, 120)}) == 120


def test_groups_follow_the_language_of_question_and_tools() -> None:
    parts = {
        "tldr en": 0.2,
        "bfcl": 0.6,
        "acebench_zh": 0.9,
        "c3tools": 0.7,
        "dify zh": 0.5,
        "dify ja": 0.3,
        "tldr zh-TW": 0.1,
    }

    assert bench_data.by_group(parts) == pytest.approx(
        {"English": 0.4, "Chinese on Chinese": 0.9, "Chinese on English": 0.6, "other languages": 0.3}
    )
