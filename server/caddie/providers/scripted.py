"""A provider that plays back given answers: for tests, demos and docs. It needs no network and no key."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from typing import Any

from caddie.chat.messages import (
    Completed,
    Message,
    ModelRequest,
    Part,
    StreamEvent,
    Text,
    TextDelta,
    ToolUse,
    Usage,
)
from caddie.chat.provider import Capabilities, ModelInfo


@dataclass(frozen=True, slots=True)
class Wait:
    """Holds the stream until `release` is set; `reached` is set when it gets there."""

    reached: asyncio.Event
    release: asyncio.Event


Step = str | ToolUse | Wait | Exception


class Scripted:
    """Each answer is a list of steps: text, a tool call, a wait, an error to raise. `requests` keeps what was asked."""

    name = "scripted"
    default_model = "scripted"

    def __init__(self, *answers: Iterable[Step], can: Capabilities = Capabilities()) -> None:  # noqa: B008  # frozen
        self.can = can
        self._answers = [tuple(answer) for answer in answers]
        self.requests: list[ModelRequest] = []

    def capabilities(self, model: str) -> Capabilities:
        return self.can

    async def list_models(self) -> tuple[ModelInfo, ...]:
        return (ModelInfo("scripted"),)

    async def count_tokens(self, request: ModelRequest) -> int | None:
        return None

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        self.requests.append(request)
        if not self._answers:
            raise AssertionError("the script has no more answers")
        parts: list[Part] = []
        for step in self._answers.pop(0):
            if isinstance(step, Wait):
                step.reached.set()
                await step.release.wait()
            elif isinstance(step, Exception):
                raise step
            elif isinstance(step, str):
                parts.append(Text(step))
                yield TextDelta(step)
            else:
                parts.append(step)
        has_calls = any(isinstance(part, ToolUse) for part in parts)
        yield Completed(Message("assistant", tuple(parts)), "tool_use" if has_calls else "end_turn", Usage(10, 5, 3))


def use(name: str, call_id: str = "", /, **arguments: Any) -> ToolUse:
    """A tool call as a model makes it."""
    return ToolUse(call_id or f"call_{name}_{len(arguments)}", name, arguments)
