"""How do deferred tools reach this model: by its provider's own mechanism, over the bridge, as stubs, or not at all?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from caddie.chat.messages import Deferral, ToolDefinition
from caddie.chat.prompt import inert
from caddie.chat.provider import Capabilities, NativeDeferral
from caddie.chat.session import Prefix
from caddie.search.tool_search import describe
from caddie.tools.tool import ToolResult, ToolSpec

Wanted = Literal["auto", "native", "bridge", "stub", "off"]


@dataclass(frozen=True, slots=True)
class Effective:
    """`why` completes "… is in effect, because", for a person."""

    mode: Deferral
    why: str


def effective(wanted: Wanted, who: str, can: Capabilities, refusal: str = "") -> Effective:
    """`who` decided what is wanted, in words; `refusal` is what the provider said when it refused its own mechanism.

    `native` is taken at its word also where the table knows nothing, as long as the adapter speaks of such a thing.
    """
    if wanted in ("off", "bridge", "stub"):
        return Effective(wanted, f"{who} says {wanted}")
    if refusal:
        return Effective("bridge", f"{who} says {wanted}, but the provider refused its own mechanism ({refusal})")
    if can.deferral or (wanted == "native" and can.api):
        told = can.why if can.deferral else f"{can.why}, but it was asked for"
        return Effective("native", f"{who} says {wanted}, and {told}")
    return Effective("bridge", f"{who} says {wanted}, and {can.why or 'this provider has no mechanism of its own'}")


def definition(spec: ToolSpec) -> ToolDefinition:
    return ToolDefinition(spec.name, spec.description, spec.input_schema)


def stub(spec: ToolSpec) -> ToolDefinition:
    """A deferred tool's entry without its parameters, open so that no decoder keeps the model from giving them."""
    text = f"(deferred) Use ToolSearch with select:{spec.name} to get its description and parameters, then call it."
    return ToolDefinition(spec.name, text, {"type": "object", "properties": {}, "additionalProperties": True})


def loaded(result: ToolResult, prefix: Prefix, api: NativeDeferral) -> tuple[tuple[ToolDefinition, ...], str]:
    """What of a search's result the provider loads itself, and what is to be said beside it.

    With `tool_reference` only tools that stand in the prefix, exactly as they stand there, can be loaded.
    """
    if prefix.deferral != "native" or not result.found:
        return (), ""
    known = {tool.name for tool in prefix.tools}
    loadable = {tool.name: tool for tool in prefix.loadable}
    found = [(spec, definition(spec)) for spec in result.found]
    takes = [
        tool for _, tool in found
        if (loadable.get(tool.name) == tool if api == "tool_reference" else tool.name not in known)
    ]  # fmt: skip
    if not takes:
        return (), ""
    names = {tool.name for tool in takes}
    return tuple(takes), "\n".join([result.note, *_others(spec for spec, _ in found if spec.name not in names)])


def _others(specs: Iterable[ToolSpec]) -> Iterable[str]:
    for spec in specs:
        yield f"\n{inert(describe(spec))}\nIt has not joined your tools: call it with ExecuteTool."
