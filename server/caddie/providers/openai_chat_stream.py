"""What do the chunks of a Chat Completions stream say? Many servers speak it, each a little differently."""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from caddie.chat.messages import (
    Completed,
    Message,
    Part,
    StopReason,
    StreamEvent,
    Text,
    TextDelta,
    Thinking,
    ThinkingDelta,
    ToolUse,
    ToolUseStarted,
    Usage,
)
from caddie.errors import StreamTruncated
from caddie.providers.calls import is_object, tool_use
from caddie.providers.faults import fault_of_event
from caddie.providers.http import Endpoint
from caddie.providers.sse import Event

logger = logging.getLogger(__name__)

_STOP: Mapping[str, StopReason] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refusal",
}
REASONING_FIELDS = ("reasoning_content", "reasoning")


@dataclass(slots=True)
class _Call:
    id: str
    name: str = ""
    raw: str = ""
    # What the server itself called it; empty when the id is ours.
    server_id: str = ""
    extra: Any = None


@dataclass(slots=True)
class _Calls:
    """Puts tool call deltas together. Neither index nor id can be trusted alone; a name begins a call."""

    all: list[_Call] = field(default_factory=list)
    by_index: dict[int, _Call] = field(default_factory=dict)

    def add(self, delta: Mapping[str, Any]) -> ToolUseStarted | None:
        function = _dict(delta.get("function"))
        name, server_id = _str(function.get("name")), _str(delta.get("id"))
        index = delta["index"] if isinstance(delta.get("index"), int) else None
        call, begun = self._find(index, name, server_id), False
        if call is None:
            fresh = bool(server_id) and all(server_id != other.id for other in self.all)
            call = _Call(server_id if fresh else f"call_{secrets.token_hex(8)}", server_id=server_id)
            self.all.append(call)
        if index is not None:
            self.by_index[index] = call
        if name and not call.name:
            call.name, begun = name, True
        call.raw += _arguments(function.get("arguments"))
        call.extra = delta.get("extra_content") or call.extra
        return ToolUseStarted(call.id, call.name) if begun else None

    def _find(self, index: int | None, name: str, server_id: str) -> _Call | None:
        """The call that this delta goes on with, or None for a new one."""
        last = self.all[-1] if self.all else None
        known = self.by_index.get(index) if index is not None else last
        if known is None:
            return None if name or not last or (server_id and server_id != last.server_id) else last
        if not name or not known.name:
            return known
        if server_id and known.server_id:
            return known if server_id == known.server_id else None
        return None if is_object(known.raw) or name != known.name else known


class OpenAIChatDecoder:
    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._reasoning_field = ""
        self._calls = _Calls()
        self._usage: dict[str, Any] = {}
        self._finish = ""
        self._refused = False
        self.closed = False

    @property
    def ended(self) -> bool:
        return bool(self._finish) or self.closed

    def feed(self, event: Event) -> list[StreamEvent]:
        if event[1].strip() == "[DONE]":
            self.closed = True
            return []
        chunk = self._loads(event[1])
        if chunk.get("error") or event[0] == "error":
            raise self._endpoint.rejected(fault_of_event(chunk))
        return self._chunk(chunk)

    def feed_whole(self, completion: Mapping[str, Any]) -> list[StreamEvent]:
        """A plain JSON answer, from a server that does not stream although it was asked to."""
        if completion.get("error"):
            raise self._endpoint.rejected(fault_of_event(completion))
        events = self._chunk(completion)
        self.closed = True
        return events

    def finish(self) -> Completed:
        calls = self._tool_uses()
        text = "".join(self._text)
        if not (self._finish or (self.closed and (text or calls))):
            raise StreamTruncated(f"The answer of {self._endpoint.service.name} broke off before its end.")
        parts: list[Part] = [*self._thinking()]
        if text:
            parts.append(Text(text))
        return Completed(Message("assistant", (*parts, *calls)), self._stop_reason(calls), self._counted())

    def _loads(self, data: str) -> dict[str, Any]:
        try:
            return _dict(json.loads(data))
        except (ValueError, RecursionError) as error:
            name = self._endpoint.service.name
            raise StreamTruncated(f"The answer of {name} was damaged on its way (an event is not JSON).") from error

    def _chunk(self, chunk: Mapping[str, Any]) -> list[StreamEvent]:
        self._usage = _dict(chunk.get("usage")) or self._usage
        choices = chunk.get("choices")
        choice = _dict(choices[0]) if isinstance(choices, list) and choices else {}
        self._finish = _str(choice.get("finish_reason")) or self._finish
        whole = _dict(choice.get("message"))
        return list(self._delta(_dict(choice.get("delta")) or _numbered(whole)))

    def _delta(self, delta: Mapping[str, Any]) -> Iterator[StreamEvent]:
        for key in REASONING_FIELDS:
            if isinstance(thought := delta.get(key), str):
                self._reasoning_field = self._reasoning_field or key
                if thought and key == self._reasoning_field:
                    self._reasoning.append(thought)
                    yield ThinkingDelta(thought)
        self._refused = self._refused or bool(_str(delta.get("refusal")))
        if text := _plain(delta.get("content")) or _str(delta.get("refusal")):
            self._text.append(text)
            yield TextDelta(text)
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if started := self._calls.add(_dict(call)):
                yield started

    def _thinking(self) -> Iterator[Thinking]:
        text = "".join(self._reasoning)
        if text or self._reasoning_field == "reasoning_content":
            yield Thinking(text, {self._reasoning_field: text})
        extras = {call.id: call.extra for call in self._calls.all if call.extra}
        if extras:
            # Gemini's signatures: its compatible endpoint refuses a conversation whose calls lost them.
            yield Thinking("", {"extra_content": extras})

    def _tool_uses(self) -> tuple[ToolUse, ...]:
        real = [call for call in self._calls.all if call.name or call.raw.strip()]
        cut = self._finish == "length"
        return tuple(tool_use(call.id, call.name, call.raw, cut=cut and call is real[-1]) for call in real)

    def _stop_reason(self, calls: tuple[ToolUse, ...]) -> StopReason:
        if self._finish and self._finish not in _STOP:
            logger.warning("unknown finish reason %r of a model answer", self._finish)
        reason = _STOP.get(self._finish, "other") if self._finish else "end_turn"
        if self._refused:
            return "refusal"
        if calls and reason in ("end_turn", "other"):
            return "tool_use"
        return "end_turn" if reason == "tool_use" and not calls else reason

    def _counted(self) -> Usage:
        details = _dict(self._usage.get("prompt_tokens_details"))
        cached = _count(details.get("cached_tokens")) or _count(self._usage.get("prompt_cache_hit_tokens"))
        return Usage(_count(self._usage.get("prompt_tokens")), cached, _count(self._usage.get("completion_tokens")))


def _numbered(message: dict[str, Any]) -> dict[str, Any]:
    """A whole message as one delta: its calls are complete and each its own."""
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return message
    return {**message, "tool_calls": [{**_dict(call), "index": index} for index, call in enumerate(calls)]}


def _arguments(value: object) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _plain(content: object) -> str:
    """Text of a delta; a few servers send a list of typed parts."""
    if isinstance(content, list):
        return "".join(_str(_dict(part).get("text")) for part in content if _dict(part).get("type") == "text")
    return _str(content)


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _str(value: object) -> str:
    return value if isinstance(value, str) else ""


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0
