"""How does a session's tools array come out byte for byte the same each time, without being cleaned each time?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from caddie.chat.messages import ToolDefinition
from caddie.providers.schema import WireSchema

T = TypeVar("T")
_KEPT = 16


class Rendered(Generic[T]):
    """Remembers what was made of the last few tool tuples. They are found by identity: a session keeps its own."""

    def __init__(self, render: Callable[[tuple[ToolDefinition, ...]], T], *, kept: int = _KEPT) -> None:
        self._render = render
        self._kept = kept
        # The tuple is kept beside its result, so its id cannot pass to another one.
        self._made: dict[int, tuple[tuple[ToolDefinition, ...], T]] = {}

    def of(self, tools: tuple[ToolDefinition, ...]) -> T:
        known = self._made.pop(id(tools), None) or (tools, self._render(tools))
        self._made[id(tools)] = known
        while len(self._made) > self._kept:
            del self._made[next(iter(self._made))]
        return known[1]


class LostSchemas:
    """Tells the person, once for each tool, that the model does not see what its parameters are."""

    def __init__(self, clean: Callable[[object], WireSchema]) -> None:
        self._clean = clean
        self._seen: set[str] = set()

    def among(self, tools: Iterable[ToolDefinition]) -> str:
        new = [tool for tool in tools if tool.name not in self._seen]
        self._seen.update(tool.name for tool in new)
        lost = [tool.name for tool in new if self._clean(tool.input_schema).is_lost]
        if not lost:
            return ""
        return f"The schema of {', '.join(lost)} cannot be used, so the model has to guess the parameters."
