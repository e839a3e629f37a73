"""What do the events of a Responses stream say, and was the answer whole?"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from caddie.chat.messages import (
    Completed,
    Message,
    Part,
    StopReason,
    StreamEvent,
    TextDelta,
    ThinkingDelta,
    ToolUse,
    ToolUseStarted,
    Usage,
)
from caddie.errors import StreamTruncated
from caddie.providers.faults import fault_of_event
from caddie.providers.http import Endpoint
from caddie.providers.openai_responses_output import BREAK, PIECES, Item, call_id, call_name, parts_of, refuses, text_of
from caddie.providers.sse import Event

logger = logging.getLogger(__name__)

_INCOMPLETE: Mapping[str, StopReason] = {"max_output_tokens": "max_tokens", "content_filter": "refusal"}
# Codes of errors that the request itself caused; all others may pass.
_OUR_FAULT = re.compile(
    r"invalid_|unsupported_|image|policy|context_length|insufficient_quota|residency|_not_found|_above_max|billing"
)
_CALLS = ("function_call", "tool_search_call")


@dataclass(slots=True)
class _Growing:
    """One item of the answer as its events tell it; `whole` is set when it came complete."""

    begun: Item = field(default_factory=dict)
    text: str = ""
    arguments: str = ""
    announced: bool = False
    whole: Item | None = None


class ResponsesDecoder:
    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._items: dict[int, _Growing] = {}
        self._response: Item | None = None

    @property
    def ended(self) -> bool:
        return self._response is not None

    @property
    def closed(self) -> bool:
        return self.ended

    def feed(self, event: Event) -> list[StreamEvent]:
        if self.ended or event[1].strip() == "[DONE]":
            return []
        data = self._loads(event[1])
        match data.get("type", event[0]):
            case "response.output_item.added":
                return self._begin(self._at(data), _dict(data.get("item")))
            case "response.output_item.done":
                return self._complete(self._at(data), _dict(data.get("item")))
            case "response.output_text.delta" | "response.refusal.delta":
                return self._grow(self._at(data), _str(data.get("delta")))
            case "response.function_call_arguments.delta":
                self._at(data).arguments += _str(data.get("delta"))
            case "response.function_call_arguments.done":
                self._at(data).arguments = _str(data.get("arguments")) or self._at(data).arguments
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                return [ThinkingDelta(delta)] if (delta := _str(data.get("delta"))) else []
            case "response.reasoning_summary_part.added" if data.get("summary_index"):
                return [ThinkingDelta("\n\n")]
            case "response.completed" | "response.incomplete":
                self._end(_dict(data.get("response")))
            case "response.failed" | "response.cancelled":
                raise self._failed(_dict(data.get("response")).get("error"))
            case "error":
                raise self._failed(data.get("error") or data)
            case _:
                pass  # The API adds event types without notice.
        return []

    def feed_whole(self, response: Mapping[str, Any]) -> list[StreamEvent]:
        """A plain JSON answer, from a server that does not stream although it was asked to."""
        output = response.get("output")
        events: list[StreamEvent] = []
        for index, item in enumerate(output if isinstance(output, list) else ()):
            events += self._complete(self._items.setdefault(index, _Growing()), _dict(item))
        self._end(dict(response))
        return events

    def _end(self, response: Item) -> None:
        if response.get("error") or response.get("status") in ("failed", "cancelled"):
            raise self._failed(response.get("error"))
        self._response = response

    def finish(self) -> Completed:
        if self._response is None:
            raise StreamTruncated(f"The answer of {self._endpoint.service.name} broke off before its end.")
        items = self._output()
        parts = parts_of(items, self._cut())
        return Completed(Message("assistant", parts), self._stop_reason(items, parts), _counted(self._response))

    def _loads(self, data: str) -> Item:
        try:
            return _dict(json.loads(data))
        except (ValueError, RecursionError) as error:
            name = self._endpoint.service.name
            raise StreamTruncated(f"The answer of {name} was damaged on its way (an event is not JSON).") from error

    def _failed(self, told: object) -> Exception:
        error = {"message": told} if isinstance(told, str) else _dict(told)
        code = str(error.get("code") or "")
        kind = "invalid_request_error" if _OUR_FAULT.search(code) else "server_error"
        return self._endpoint.rejected(fault_of_event({"error": {"type": kind, **_without_nulls(error)}}))

    def _at(self, data: Mapping[str, Any]) -> _Growing:
        """The item that an event is about. Item ids may differ from event to event on gateways, places do not."""
        index = data.get("output_index")
        if not isinstance(index, int):
            index = max(self._items, default=0)
        return self._items.setdefault(index, _Growing())

    def _begin(self, growing: _Growing, item: Item) -> list[StreamEvent]:
        growing.begun = item
        if growing.announced or item.get("type") not in _CALLS:
            return []
        growing.announced = True
        return [ToolUseStarted(call_id(item), call_name(item))]

    def _grow(self, growing: _Growing, delta: str) -> list[StreamEvent]:
        begins = not growing.text and any(other.text for other in self._items.values())
        growing.text += delta
        return [TextDelta(BREAK + delta if begins else delta)] if delta else []

    def _complete(self, growing: _Growing, item: Item) -> list[StreamEvent]:
        """Some servers send an item whole only, so what was not told yet is told now."""
        growing.whole = item
        if item.get("type") != "message":
            return self._begin(growing, item)
        text = text_of(item)
        return self._grow(growing, text[len(growing.text) :]) if text.startswith(growing.text) else []

    def _output(self) -> list[Item]:
        """The items of the answer: as the last event lists them, where it lists all, else as they were completed."""
        listed = _dict(self._response).get("output")
        if isinstance(listed, list) and listed and len(listed) >= len(self._items):
            return [_dict(item) for item in listed]
        return [_whole(self._items[index]) for index in sorted(self._items)]

    def _cut(self) -> str:
        """Why the answer is incomplete; empty when it is whole."""
        details = _dict(_dict(self._response).get("incomplete_details"))
        status = _dict(self._response).get("status")
        return _str(details.get("reason")) or ("no reason" if status == "incomplete" else "")

    def _stop_reason(self, items: list[Item], parts: tuple[Part, ...]) -> StopReason:
        if cut := self._cut():
            if cut not in _INCOMPLETE:
                logger.warning("unknown reason %r of an incomplete model answer", cut)
            return _INCOMPLETE.get(cut, "other")
        if any(isinstance(part, ToolUse) for part in parts):
            return "tool_use"
        return "refusal" if any(refuses(item) for item in items) else "end_turn"


def _whole(growing: _Growing) -> Item:
    """An item that was never completed is put together from its pieces; the API would not know it again."""
    if growing.whole is not None:
        return growing.whole
    kind = growing.begun.get("type") or ("message" if growing.text else "")
    pieces = {"message": {"content": [{"type": "output_text", "text": growing.text}]}}
    return {**growing.begun, "arguments": growing.arguments, **pieces.get(kind, {}), "type": kind, "status": PIECES}


def _counted(response: Mapping[str, Any]) -> Usage:
    usage = _dict(response.get("usage"))
    cached = _dict(usage.get("input_tokens_details")).get("cached_tokens")
    return Usage(_count(usage.get("input_tokens")), _count(cached), _count(usage.get("output_tokens")))


def _without_nulls(value: Mapping[str, Any]) -> Item:
    return {key: inner for key, inner in value.items() if inner is not None and inner != "error"}


def _dict(value: object) -> Item:
    return value if isinstance(value, dict) else {}


def _str(value: object) -> str:
    return value if isinstance(value, str) else ""


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0
