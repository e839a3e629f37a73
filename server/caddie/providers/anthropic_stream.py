"""What do the events of an Anthropic stream say, and was the answer whole?"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
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
from caddie.providers.calls import tool_use, with_own_ids
from caddie.providers.faults import fault_of_event
from caddie.providers.http import Endpoint
from caddie.providers.sse import Event

logger = logging.getLogger(__name__)

_STOP: Mapping[str, StopReason] = {
    "end_turn": "end_turn",
    "stop_sequence": "end_turn",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "refusal": "refusal",
    "model_context_window_exceeded": "context_overflow",
}


@dataclass(slots=True)
class _Block:
    """`start` is kept whole: thinking goes back exactly as it came, unknown fields included."""

    start: dict[str, Any]
    text: str = ""
    signature: str = ""


class AnthropicDecoder:
    """`renamed` leads from a tool's keys on the wire to its own."""

    def __init__(self, endpoint: Endpoint, renamed: Mapping[str, Mapping[str, str]]) -> None:
        self._endpoint = endpoint
        self._renamed = renamed
        self._blocks: dict[int, _Block] = {}
        self._usage: dict[str, Any] = {}
        self._stop = ""
        self._cache_miss = ""
        self.message_id = ""
        self.ended = False

    @property
    def closed(self) -> bool:
        return self.ended

    def feed(self, event: Event) -> list[StreamEvent]:
        data = self._loads(event[1])
        match data.get("type", event[0]):
            case "message_start":
                message = _dict(data.get("message"))
                self.message_id = str(message.get("id") or "")
                self._add_usage(message.get("usage"))
                self._add_diagnosis(message.get("diagnostics"))
            case "content_block_start":
                return self._start(data)
            case "content_block_delta":
                return self._delta(data)
            case "message_delta":
                self._stop = _dict(data.get("delta")).get("stop_reason") or self._stop
                self._add_usage(data.get("usage"))
                self._add_diagnosis(data.get("diagnostics") or _dict(data.get("delta")).get("diagnostics"))
            case "message_stop":
                self.ended = True
            case "error":
                raise self._endpoint.rejected(fault_of_event(data))
            case _:
                pass  # The API adds event types without notice.
        return []

    def finish(self) -> Completed:
        if not (self.ended and self._stop):
            raise StreamTruncated(f"The answer of {self._endpoint.service.name} broke off before its end.")
        parts = tuple(with_own_ids(part for index in sorted(self._blocks) if (part := self._part(index))))
        return Completed(Message("assistant", parts), self._stop_reason(parts), self._counted(), self._cache_miss)

    def _loads(self, data: str) -> dict[str, Any]:
        try:
            return _dict(json.loads(data))
        except (ValueError, RecursionError) as error:
            name = self._endpoint.service.name
            raise StreamTruncated(f"The answer of {name} was damaged on its way (an event is not JSON).") from error

    def _start(self, data: dict[str, Any]) -> list[StreamEvent]:
        block = _dict(data.get("content_block"))
        self._blocks[_index(data)] = _Block(block)
        match block.get("type"):
            case "tool_use":
                return [ToolUseStarted(str(block.get("id", "")), str(block.get("name", "")))]
            case "text" if block.get("text"):
                return self._grow(_index(data), TextDelta(str(block["text"])))
            case "thinking" if block.get("thinking"):
                return self._grow(_index(data), ThinkingDelta(str(block["thinking"])))
            case _:
                return []

    def _delta(self, data: dict[str, Any]) -> list[StreamEvent]:
        delta, index = _dict(data.get("delta")), _index(data)
        block = self._blocks.get(index)
        match delta.get("type"):
            case "text_delta":
                return self._grow(index, TextDelta(str(delta.get("text") or "")))
            case "thinking_delta":
                return self._grow(index, ThinkingDelta(str(delta.get("thinking") or "")))
            case "input_json_delta" if block:
                block.text += str(delta.get("partial_json") or "")
            case "signature_delta" if block:
                block.signature += str(delta.get("signature") or "")
        return []

    def _grow(self, index: int, event: TextDelta | ThinkingDelta) -> list[StreamEvent]:
        kind = "text" if isinstance(event, TextDelta) else "thinking"
        self._blocks.setdefault(index, _Block({"type": kind})).text += event.text
        return [event] if event.text else []

    def _part(self, index: int) -> Part | None:
        block = self._blocks[index]
        match block.start.get("type"):
            case "text":
                return Text(block.text) if block.text else None
            case "thinking":
                signature = block.signature or block.start.get("signature", "")
                return Thinking(block.text, {**block.start, "thinking": block.text, "signature": signature})
            case "redacted_thinking":
                return Thinking("", block.start)
            case "tool_use":
                return self._call(block, last=index == max(self._blocks))
            case _:
                return None

    def _call(self, block: _Block, *, last: bool) -> ToolUse:
        name = str(block.start.get("name", ""))
        whole = _dict(block.start.get("input"))
        raw = block.text or (json.dumps(whole) if whole else "")
        call = tool_use(str(block.start.get("id", "")), name, raw, cut=last and self._stop == "max_tokens")
        keys = self._renamed.get(name)
        if not keys or call.arguments is None:
            return call
        own = {keys.get(key, key): value for key, value in call.arguments.items()}
        return ToolUse(call.id, call.name, own, call.raw)

    def _stop_reason(self, parts: tuple[Part, ...]) -> StopReason:
        if self._stop not in _STOP:
            logger.warning("unknown stop reason %r of a model answer", self._stop)
        reason = _STOP.get(self._stop, "other")
        calls = any(isinstance(part, ToolUse) for part in parts)
        return "tool_use" if calls and reason == "end_turn" else reason

    def _add_usage(self, usage: object) -> None:
        """Counts are cumulative; a field that is absent or null keeps its earlier value."""
        self._usage.update({key: value for key, value in _dict(usage).items() if value is not None})

    def _add_diagnosis(self, diagnostics: object) -> None:
        reason = _dict(_dict(diagnostics).get("cache_miss_reason"))
        if kind := str(reason.get("type") or ""):
            missed = _count(reason.get("cache_missed_input_tokens"))
            tokens = f" ({missed:,} tokens)" if missed else ""
            self._cache_miss = f"the provider says: {kind.replace('_', ' ')}{tokens}"

    def _counted(self) -> Usage:
        cached = _count(self._usage.get("cache_read_input_tokens"))
        written = _count(self._usage.get("cache_creation_input_tokens"))
        fresh = _count(self._usage.get("input_tokens"))
        return Usage(fresh + written + cached, cached, _count(self._usage.get("output_tokens")))


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _index(data: dict[str, Any]) -> int:
    index = data.get("index")
    return index if isinstance(index, int) else 0


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0
