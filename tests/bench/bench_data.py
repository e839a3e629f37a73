"""Which questions are asked of which tools? The public sets beside the repository, else the small one kept here."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SMALL = Path(__file__).resolve().parent / "data"
SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "bench"

MIXED = frozenset({"dify", "tldr", "small"})
"""Sets with questions in several languages, each of which is a part of its own in the groups."""

GROUPS = ("English", "Chinese on Chinese", "Chinese on English", "other languages")

Tool = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    lang: str
    relevant: frozenset[str]


@dataclass(frozen=True, slots=True)
class DataSet:
    name: str
    tools: tuple[Tool, ...]
    questions: tuple[Question, ...]

    def part(self, question: Question) -> str:
        """Mixed sets fall into one part for each language; of the others a stray foreign question is no part."""
        if self.name in MIXED:
            return f"{self.name} {question.lang}"
        return self.name


def read_sets(folder: Path, limit: int) -> list[DataSet]:
    """All sets of a folder by name, of each part the first `limit` questions (0: all)."""
    return [_read_set(path.parent, limit) for path in sorted(folder.glob("*/queries.jsonl"))]


def _read_set(folder: Path, limit: int) -> DataSet:
    tools = tuple(_lines(next(folder.glob("tools.jsonl*"))))
    questions = [
        Question(line["text"], line["lang"], frozenset(line["relevant"])) for line in _lines(folder / "queries.jsonl")
    ]
    data = DataSet(folder.name, tools, tuple(questions))
    taken: dict[str, int] = {}
    kept = []
    for question in questions:
        part = data.part(question)
        taken[part] = taken.get(part, 0) + 1
        if not limit or taken[part] <= limit:
            kept.append(question)
    return DataSet(folder.name, tools, tuple(kept))


def _lines(path: Path) -> list[Any]:
    packed = path.read_bytes()
    text = (gzip.decompress(packed) if path.suffix == ".gz" else packed).decode("utf-8")
    return [json.loads(line) for line in text.split("\n") if line.strip()]


def group_of(part: str) -> str:
    """The language group of a part as the data's own README defines them; traditional Chinese (zh-TW) is in none."""
    name, _, lang = part.partition(" ")
    if name == "acebench_zh":
        return "Chinese on Chinese"
    if name == "c3tools" or lang == "zh":
        return "Chinese on English"
    if lang == "zh-TW":
        return ""
    return "English" if lang in ("", "en") else "other languages"


def by_group(parts: Mapping[str, float]) -> dict[str, float]:
    """The mean over the parts of each group, in the groups' fixed order."""
    members = {group: [value for part, value in parts.items() if group_of(part) == group] for group in GROUPS}
    return {group: sum(values) / len(values) for group, values in members.items() if values}


def catalogue(sets: list[DataSet], size: int) -> list[Tool]:
    """`size` tools taken in turns from all sets, each with an id of its own, again and again if there are too few."""
    pool = [tool for row in _in_turns([data.tools for data in sets]) for tool in row]
    return [{**pool[n % len(pool)], "id": f"{pool[n % len(pool)]['id']}__{n}"} for n in range(size)]


def _in_turns(columns: list[tuple[Tool, ...]]) -> list[list[Tool]]:
    longest = max(map(len, columns))
    return [[column[n] for column in columns if n < len(column)] for n in range(longest)]
