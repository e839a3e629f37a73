"""A tool as it stands in a list: with its state and what it costs."""

from __future__ import annotations

from dataclasses import dataclass

from caddie.engine.tokens import tokens_of
from caddie.tools.states import Decision
from caddie.tools.tool import ToolSpec


@dataclass(frozen=True, slots=True)
class Listed:
    spec: ToolSpec
    decision: Decision
    tokens: int


def listed(spec: ToolSpec, decision: Decision) -> Listed:
    return Listed(spec, decision, tokens_of(spec.name, spec.description, spec.input_schema))
