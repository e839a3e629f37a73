"""One call of a tool: what was asked for, and how it goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

CallStatus = Literal["pending", "awaitingPermission", "running", "done", "failed", "refused", "cancelled"]


@dataclass(frozen=True, slots=True)
class Call:
    """`name` and `params` as the caller sent them: perhaps the bridge, perhaps JSON text, perhaps broken (`raw`)."""

    id: str
    name: str
    params: object
    raw: str = ""


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
    result_chars: int = 0
    """How long the whole result is, where `result` is its beginning."""
    kept_in: str = ""
    """The file that has the whole result, where the conversation has only a part of it."""


Report = Callable[[CallUpdate], None]
