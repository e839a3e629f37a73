"""What of a tool is searched: its texts as fields, each field as weighted counts of terms."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from caddie.search.analysis import terms
from caddie.tools.exact import bare_name, server_name
from caddie.tools.tool import ToolSpec

NAME_WEIGHT = 3.0
HINT_WEIGHT = 2.5
DESCRIPTION_WEIGHT = 1.0

MAX_PROPERTIES = 64
MAX_SCHEMA_DEPTH = 3
MAX_TERMS = 500
"""Different terms of one tool, those of its name before those of its description: this bounds the index's memory. No
tool of the public data has more."""
QUARTERS = 4
"""Occurrences are kept as bytes: as quarters, for that is what a single Han character counts, and 63 at most."""


@dataclass(frozen=True, slots=True)
class Field:
    """`weight` multiplies each occurrence; `length_effect` (BM25's b) is how much a long text discounts its words."""

    label: str
    weight: float
    length_effect: float


FIELDS = (
    Field("name", NAME_WEIGHT, 0.3),
    Field("hint", HINT_WEIGHT, 0.3),
    Field("alias", HINT_WEIGHT, 0.3),
    Field("server", 1.0, 0.3),
    Field("description", DESCRIPTION_WEIGHT, 0.6),
    Field("parameter", 0.5, 0.3),
    Field("parameter description", 0.35, 0.5),
)

Lengths = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """One tool, analysed once. `counts` has for each term one byte per field, `weights` one number for all fields.
    The terms are in alphabetical order, so that no sum over them depends on anything but the tool."""

    spec: ToolSpec
    counts: Mapping[str, bytes]
    weights: Mapping[str, float]
    lengths: Lengths


def analyse(spec: ToolSpec, aliases: Sequence[str] = ()) -> Document:
    found: dict[str, list[float]] = {}
    lengths = [0.0] * len(FIELDS)
    for position, text in enumerate(_texts(spec, aliases)):
        for term in terms(text, join_neighbours=FIELDS[position].label in ("name", "alias")):
            counts = found.get(term.text)
            if counts is None:
                if len(found) == MAX_TERMS:
                    continue
                counts = found[term.text] = [0.0] * len(FIELDS)
            counts[position] += term.weight
            # A joined pair repeats words that were counted already.
            lengths[position] += 0.0 if term.joined else term.weight
    ordered = sorted(found)
    return Document(
        spec,
        {term: bytes([min(int(count * QUARTERS), 255) for count in found[term]]) for term in ordered},
        {term: _weight(found[term]) for term in ordered},
        tuple(lengths),
    )


def _weight(counts: Sequence[float]) -> float:
    total = 0.0
    for count, field in zip(counts, FIELDS, strict=True):
        if count:
            total += count * field.weight
    return math.log1p(total)


def _texts(spec: ToolSpec, aliases: Sequence[str]) -> tuple[str, ...]:
    names, descriptions = _schema_texts(spec.input_schema)
    name = bare_name(spec)
    title = "" if spec.title.casefold() == name.casefold() else spec.title
    hint = " . ".join(text for text in (spec.search_hint, title) if text)
    return name, hint, " . ".join(aliases), server_name(spec), spec.description, names, descriptions


def _schema_texts(schema: Any) -> tuple[str, str]:
    properties = list(islice(_properties(schema, MAX_SCHEMA_DEPTH), MAX_PROPERTIES))
    return " . ".join(name for name, _ in properties), " . ".join(text for _, text in properties if text)


def _properties(schema: Any, depth: int) -> Iterator[tuple[str, str]]:
    """Names and descriptions; other people's schemas hold anything at any place."""
    if not isinstance(schema, Mapping) or depth == 0:
        return
    properties = schema.get("properties")
    for name, node in properties.items() if isinstance(properties, Mapping) else ():
        text = node.get("description") if isinstance(node, Mapping) else None
        yield str(name), text if isinstance(text, str) else ""
        yield from _properties(node, depth - 1)
    yield from _properties(schema.get("items"), depth - 1)
