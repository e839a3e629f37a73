"""What a turn tells its door while it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from caddie.chat.messages import Usage
from caddie.tools.context import Mode, TodoItem

CallStatus = Literal["pending", "awaitingPermission", "running", "done", "failed", "refused", "cancelled"]
TurnStop = Literal["endTurn", "maxTokens", "refusal", "emptyAnswer", "turnLimit"]


@dataclass(frozen=True, slots=True)
class TextChunk:
    text: str


@dataclass(frozen=True, slots=True)
class ThinkingChunk:
    text: str


@dataclass(frozen=True, slots=True)
class CallUpdate:
    """One state of one tool call. `tool`, `label`, `server` and `params` are the real tool's, never the bridge's."""

    call_id: str
    tool: str
    label: str
    server: str
    status: CallStatus
    params: Mapping[str, Any]
    progress: str = ""
    result: str = ""
    is_error: bool = False
    elapsed_ms: int = 0


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
class ToolHint:
    tool: str
    label: str
    description: str
    score: float
    server: str
    state: str


@dataclass(frozen=True, slots=True)
class Done:
    stop: TurnStop
    text: str


TurnEvent = TextChunk | ThinkingChunk | CallUpdate | TodoChanged | Notice | ModeChanged | UsageUpdate | Hinted | Done
Emit = Callable[[TurnEvent], None]
