"""Every tool is found by its bare name inside a sentence, in whatever catalogue."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import bench_data
import names
import pytest
from searcher import to_spec

from caddie.tools.tool import ToolSpec

CATALOGUES = Path(__file__).parents[1] / "fixtures" / "catalogues"
TOOLS_OF_A_SET = 150


def repository_catalogues() -> list[ToolSpec]:
    return [
        to_spec({**item, "id": f"mcp__{catalogue['server']}__{item['name']}", "server": catalogue["server"]})
        for path in sorted(CATALOGUES.glob("*.json"))
        if isinstance(catalogue := json.loads(path.read_text(encoding="utf-8")), dict) and "server" in catalogue
        for item in catalogue["tools"]
    ]


def test_every_tool_of_the_repositorys_catalogues_is_found_by_its_name_in_a_sentence() -> None:
    (small,) = bench_data.read_sets(bench_data.SMALL, 1)
    for specs in (repository_catalogues(), list(map(to_spec, small.tools))):
        asked = names.ask(specs, specs)
        assert len(asked) > 100
        assert [(one.name, one.sentence) for one in asked if not one.found] == []
        assert sum(one.first for one in asked) >= 0.98 * len(asked)


@pytest.mark.skipif(not bench_data.SHARED.exists(), reason="the public data sets are not beside the repository")
@pytest.mark.parametrize("name", ["dify", "livemcp", "metatool", "tldr"])
def test_tools_of_public_catalogues_are_found_by_their_names_in_sentences(name: str) -> None:
    data = next(data for data in bench_data.read_sets(bench_data.SHARED, 1) if data.name == name)
    specs = [to_spec(item) for item in data.tools[:1000]]
    asked = names.ask(specs, islice(specs, TOOLS_OF_A_SET))
    assert [(one.name, one.sentence) for one in asked if not one.found] == []
