"""What can this model do at this address? One table, so that nothing is found out by trial.

The facts are those of the vendors' documentation of November 2026; whoever disagrees sets `tools.deferral`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from caddie.chat.provider import Capabilities, LateTools, NativeDeferral

_ANTHROPIC, _OPENAI = "api.anthropic.com", "api.openai.com"


@dataclass(frozen=True, slots=True)
class Row:
    """The first row whose host and model fit holds. `model` is a pattern for the whole name."""

    host: str
    model: str
    deferral: NativeDeferral
    late_tools: LateTools = ""


_DATED = r"(?:-\d{8})?"
TABLE: tuple[Row, ...] = (
    Row(_ANTHROPIC, rf"claude-opus-(?:4-8|5|5-5){_DATED}", "tool_reference", "inline_tools"),
    Row(_ANTHROPIC, rf"claude-(?:fable|mythos)-5(?:-1)?{_DATED}", "tool_reference", "inline_tools"),
    Row(_ANTHROPIC, rf"claude-(?:sonnet|opus)-[45](?:-\d{{1,2}})?{_DATED}", "tool_reference"),
    Row(_ANTHROPIC, rf"claude-(?:haiku|fable|mythos)-5(?:-\d{{1,2}})?{_DATED}", "tool_reference"),
    Row(_ANTHROPIC, rf"claude-haiku-4-5{_DATED}", "tool_reference"),
    Row(_OPENAI, r"gpt-5\.4-nano.*", ""),
    Row(_OPENAI, r"gpt-5\.(?:[4-9]|\d\d)(?:-.*)?|gpt-6(?:[.-].*)?", "tool_search", "additional_tools"),
)  # fmt: skip


def capabilities_of(api: NativeDeferral, host: str, model: str) -> Capabilities:
    """`api` is the native deferral that the adapter speaks at all."""
    for row in TABLE:
        if row.deferral in (api, "") and row.host == host and re.fullmatch(row.model, model):
            if row.deferral:
                return Capabilities(row.deferral, api, row.late_tools, f"{model} at {host} loads deferred tools itself")
            break
    return Capabilities(
        api=api, why=f"{model or 'this model'} at {host or 'this address'} is not known to load deferred tools itself"
    )
