"""What a turn tells its door while it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from caddie.chat.messages import Usage
from caddie.search.prefetch import ToolHint
from caddie.tools.call import CallUpdate
from caddie.tools.context import Mode, TodoItem

TurnStop = Literal["endTurn", "maxTokens", "refusal", "emptyAnswer", "turnLimit"]


@dataclass(frozen=True, slots=True)
class TextChunk:
    text: str


@dataclass(frozen=True, slots=True)
class ThinkingChunk:
    text: str


@dataclass(frozen=True, slots=True)
class TodoChanged:
    items: tuple[TodoItem, ...]


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence for the person. `discard_text` says that the text streamed so far in this request is void."""

    level: Literal["info", "warning", "error"]
    message: str
    code: str = ""
    discard_text: bool = False


@dataclass(frozen=True, slots=True)
class ModeChanged:
    mode: Mode


@dataclass(frozen=True, slots=True)
class UsageUpdate:
    usage: Usage


@dataclass(frozen=True, slots=True)
class Hinted:
    """Hints found for this turn; an empty tuple clears."""

    hints: tuple[ToolHint, ...]


@dataclass(frozen=True, slots=True)
class Done:
    stop: TurnStop
    text: str


TurnEvent = TextChunk | ThinkingChunk | CallUpdate | TodoChanged | Notice | ModeChanged | UsageUpdate | Hinted | Done
Emit = Callable[[TurnEvent], None]
