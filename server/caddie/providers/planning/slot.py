"""What is to be filled, and what a message has to fill it with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from caddie.providers.planning.coerce import Schema
from caddie.providers.planning.found import FoundTool
from caddie.providers.planning.values import Number, Values


@dataclass(frozen=True, slots=True)
class Slot:
    name: str
    words: tuple[str, ...]
    schema: Schema
    types: tuple[str, ...]
    required: bool

    @property
    def about(self) -> str:
        return str(self.schema.get("description", ""))

    def says(self, *words: str) -> bool:
        return any(word in self.words for word in words)

    @property
    def is_text(self) -> bool:
        return "string" in self.types

    @property
    def is_number(self) -> bool:
        return "integer" in self.types or "number" in self.types


@dataclass(slots=True)
class Source:
    """The message's values, and which of them already have a place."""

    values: Values
    workspace: str
    tool: FoundTool
    used: set[str] = field(default_factory=set)

    @property
    def text(self) -> str:
        return self.values.text

    def use(self, value: Any) -> None:
        self.used.update(str(item) for item in (value if isinstance(value, list | tuple) else [value]))

    def unused(self, values: tuple[str, ...]) -> list[str]:
        return [value for value in values if value not in self.used]

    def unused_numbers(self) -> list[Number]:
        return [number for number in self.values.numbers if str(number.plain) not in self.used]


Rule = Callable[[Slot, Source], Any]
