"""Caddie without a language model: a planner by rules that takes the model's place and says so."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

from caddie.chat.messages import (
    Completed,
    Message,
    ModelRequest,
    Part,
    StreamEvent,
    Text,
    TextDelta,
    ToolUse,
    ToolUseStarted,
    Usage,
)
from caddie.chat.provider import Capabilities, ModelInfo
from caddie.providers.planning.plan import Call, plan

_CHUNK = 400


class Offline:
    """Searches, fills arguments by rules, calls, shows the result. Same messages, same answer; no I/O, no tokens."""

    @property
    def name(self) -> str:
        return "offline"

    @property
    def default_model(self) -> str:
        return "no language model"

    def capabilities(self, model: str) -> Capabilities:
        return Capabilities(why="there is no language model")

    async def list_models(self) -> tuple[ModelInfo, ...]:
        return ()

    async def count_tokens(self, request: ModelRequest) -> int | None:
        return None

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        step = plan(request)
        text = step.before if isinstance(step, Call) else step.text
        for chunk in _chunks(text):
            yield TextDelta(chunk)
            await asyncio.sleep(0)
        parts: tuple[Part, ...] = (Text(text),) if text else ()
        if isinstance(step, Call):
            yield ToolUseStarted(step.id, step.name)
            parts += (ToolUse(step.id, step.name, step.arguments),)
        yield Completed(Message("assistant", parts), "tool_use" if isinstance(step, Call) else "end_turn", Usage())


def _chunks(text: str) -> Iterator[str]:
    for start in range(0, len(text), _CHUNK):
        yield text[start : start + _CHUNK]
