"""May this shell line run? A corpus of lines with the reason for each, and bash itself as the judge of random ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from caddie.layers import Layer, resolve
from caddie.tools.builtin import BUILTIN
from caddie.tools.permissions import decide, read_rules
from caddie.tools.places import Surroundings

CORPUS = Path(__file__).parents[2] / "fixtures" / "shell_lines.jsonl"
LINES = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").split("\n") if line]
SHOP = Path("/home/ada/shop")
BASH = next(tool for tool in BUILTIN if tool.name == "Bash")


def verdict(line: str, workspace: Path, permissions: dict[str, Any]) -> str:
    resolved = resolve([Layer("user", {"permissions": permissions})])
    assert resolved.problems == ()
    return decide(
        BASH,
        {"command": line},
        rules=read_rules(resolved),
        grants=(),
        permissions=resolved.settings.permissions,
        around=Surroundings(workspace),
    ).kind


@pytest.mark.parametrize("row", LINES, ids=lambda row: f"{row['verdict']}: {row['line']!r}")
def test_a_line_is_allowed_asked_or_denied(row: dict[str, Any]) -> None:
    assert verdict(row["line"], SHOP, row["rules"]) == row["verdict"], row["reason"]


def test_the_corpus_has_enough_lines_of_each_kind_and_none_twice() -> None:
    kinds = [row["verdict"] for row in LINES]
    assert len(kinds) >= 150
    assert min(kinds.count(kind) for kind in ("allow", "ask", "deny")) >= 40
    assert len({(row["line"], str(row["rules"])) for row in LINES}) == len(LINES)
