"""What do the chunks of a generateContent stream say, and was the answer whole?

Each chunk is a whole response; the end of the answer is its finish reason, for no event marks it.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Collection, Iterator, Mapping
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
from caddie.errors import ProviderBusy, ProviderRejected, StreamTruncated, ThinkingRejected
from caddie.providers.calls import tool_use
from caddie.providers.faults import fault_of_event
from caddie.providers.gemini_body import MARK
from caddie.providers.http import Endpoint
from caddie.providers.schema_keys import NO_KEYS, Keys
from caddie.providers.sse import Event

_STOP: Mapping[str, StopReason] = {
    "STOP": "end_turn",
    "MAX_TOKENS": "max_tokens",
    **dict.fromkeys(
        ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR", "IMAGE_SAFETY",
         "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"),
        "refusal",
    ),
}  # fmt: skip
# The model wrote something that is no answer; asked again, it mostly does better.
_AGAIN = frozenset({"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE"})
_UNSET = "FINISH_REASON_UNSPECIFIED"
_VENDOR_PREFIXES = ("default_api.", "functions.", "tools.")


class GeminiDecoder:
    """`keys` leads, by tool, from its keys on the wire to its own; `tools` are the names that were declared."""

    def __init__(self, endpoint: Endpoint, keys: Mapping[str, Keys], tools: Collection[str]) -> None:
        self._endpoint = endpoint
        self._keys = keys
        self._tools = tools
        self._parts: list[Part] = []
        self._usage: dict[str, Any] = {}
        self._finish = ""
        self._said = ""
        self._blocked = ""

    @property
    def ended(self) -> bool:
        return bool(self._finish or self._blocked)

    @property
    def closed(self) -> bool:
        return self.ended and bool(self._usage)

    def feed(self, event: Event) -> list[StreamEvent]:
        if event[1].strip() == "[DONE]":
            return []  # Some gateways end every stream so.
        try:
            return self.feed_whole(json.loads(event[1]))
        except (ValueError, RecursionError) as error:
            name = self._endpoint.service.name
            raise StreamTruncated(f"The answer of {name} was damaged on its way (an event is not JSON).") from error

    def feed_whole(self, answer: object) -> list[StreamEvent]:
        """One response, or a list of them, as a server sends that does not stream."""
        if isinstance(answer, list):
            return [event for chunk in answer for event in self.feed_whole(chunk)]
        chunk = _dict(answer)
        if chunk.get("error"):
            raise self._endpoint.rejected(fault_of_event(chunk))
        return list(self._chunk(chunk))

    def finish(self) -> Completed:
        name = self._endpoint.service.name
        if not self.ended:
            raise StreamTruncated(f"The answer of {name} broke off before its end.")
        reason = self._finish or "STOP"
        told = f"{reason}: {self._endpoint.service.redact(self._said)[:300]}" if self._said else reason
        if reason in _AGAIN:
            raise ProviderBusy(f"{name} wrote a tool call or an answer that cannot be read ({told}).")
        if reason == "MISSING_THOUGHT_SIGNATURE":
            raise ThinkingRejected(f"{name} misses a thought signature in the conversation ({told}).")
        if reason not in _STOP:
            raise ProviderRejected(f"{name} ended its answer before it was done ({told}).")
        stop = "refusal" if self._blocked else _STOP[reason]
        return Completed(Message("assistant", self._whole(stop)), self._stop_reason(stop), self._counted())

    def _chunk(self, chunk: Mapping[str, Any]) -> Iterator[StreamEvent]:
        told = _dict(chunk.get("usageMetadata")).items()
        self._usage.update({key: value for key, value in told if value is not None})
        feedback = _dict(chunk.get("promptFeedback"))
        if _str(feedback.get("blockReason")):
            self._blocked = _str(feedback["blockReason"])
            self._said = _str(feedback.get("blockReasonMessage"))
        for candidate in map(_dict, _list(chunk.get("candidates"))):
            if candidate.get("index", 0) != 0:
                continue
            for part in _list(_dict(candidate.get("content")).get("parts")):
                yield from self._part(_dict(part))
            reason = _str(candidate.get("finishReason"))
            self._finish = self._finish if reason in ("", _UNSET) else reason
            self._said = _str(candidate.get("finishMessage")) or self._said

    def _part(self, part: dict[str, Any]) -> Iterator[StreamEvent]:
        signature = _str(part.get("thoughtSignature"))
        if isinstance(part.get("functionCall"), dict):
            yield self._call(part["functionCall"], signature)
        elif part.get("thought") is True:
            yield from self._think(_str(part.get("text")))
        elif isinstance(part.get("inlineData"), dict):
            kind = _str(part["inlineData"].get("mimeType")) or "unknown"
            yield from self._say(f"[The model made a file of type {kind}, which cannot be shown here.]", signature)
        elif isinstance(part.get("text"), str) or signature:
            yield from self._say(_str(part.get("text")), signature)

    def _say(self, text: str, signature: str) -> Iterator[StreamEvent]:
        """Unsigned text goes on; a signature belongs to the very part that it came on."""
        last = self._parts[-1] if self._parts else None
        if signature:
            self._parts.append(Text(text, {"type": MARK, "thoughtSignature": signature}))
        elif text and isinstance(last, Text) and not last.opaque:
            self._parts[-1] = Text(last.text + text)
        elif text:
            self._parts.append(Text(text))
        if text:
            yield TextDelta(text)

    def _think(self, text: str) -> Iterator[StreamEvent]:
        last = self._parts[-1] if self._parts else None
        if isinstance(last, Thinking):
            self._parts[-1] = Thinking(last.text + text, last.opaque)
        elif text:
            self._parts.append(Thinking(text, {"type": MARK}))
        if text:
            yield ThinkingDelta(text)

    def _call(self, call: Mapping[str, Any], signature: str) -> ToolUseStarted:
        written, args = _str(call.get("name")), call.get("args")
        name = self._declared(written)
        raw = args if isinstance(args, str) else "" if args is None else json.dumps(args, ensure_ascii=False)
        parsed = tool_use("", name, raw).arguments
        keys = self._keys.get(name, NO_KEYS)
        opaque: dict[str, Any] = {"type": MARK}
        if signature:
            opaque["thoughtSignature"] = signature
        if given_id := _str(call.get("id")):
            opaque["id"] = given_id
        if written != name:
            opaque["name"] = written
        if keys:
            opaque["args"] = args if isinstance(args, dict) else {}
        use = ToolUse(
            self._free_id(given_id),
            name,
            keys.to_own(parsed) if parsed is not None else None,
            raw,
            opaque if len(opaque) > 1 else {},
        )
        self._parts.append(use)
        return ToolUseStarted(use.id, use.name)

    def _declared(self, written: str) -> str:
        """The tool that a model means by `default_api.Read`."""
        for prefix in _VENDOR_PREFIXES:
            if written not in self._tools and written.removeprefix(prefix) in self._tools:
                return written.removeprefix(prefix)
        return written

    def _free_id(self, given: str) -> str:
        taken = {part.id for part in self._parts if isinstance(part, ToolUse)}
        return given if given and given not in taken else f"call_{secrets.token_hex(8)}"

    def _whole(self, stop: StopReason) -> tuple[Part, ...]:
        """The parts that may be trusted: calls of an answer that was stopped are not run."""
        parts = list(self._parts)
        if stop == "refusal":
            parts = [part for part in parts if not isinstance(part, ToolUse)]
            if not any(isinstance(part, Text) for part in parts):
                why = f": {self._said}" if self._said else ""
                what = "the request" if self._blocked else "its answer"
                reason = self._blocked or self._finish
                parts.append(Text(f"[{self._endpoint.service.name} blocked {what} ({reason}{why}).]"))
        if stop == "max_tokens" and parts and isinstance(last := parts[-1], ToolUse) and not last.raw:
            # Without arguments at the length limit: they may be what was cut.
            parts[-1] = ToolUse(last.id, last.name, None, "", last.opaque)
        return tuple(parts)

    def _stop_reason(self, stop: StopReason) -> StopReason:
        """STOP stands for "answered" and for "calls tools" alike."""
        return "tool_use" if stop == "end_turn" and any(isinstance(part, ToolUse) for part in self._parts) else stop

    def _counted(self) -> Usage:
        output = _count(self._usage.get("candidatesTokenCount")) + _count(self._usage.get("thoughtsTokenCount"))
        cached = _count(self._usage.get("cachedContentTokenCount"))
        return Usage(_count(self._usage.get("promptTokenCount")), cached, output)


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _str(value: object) -> str:
    return value if isinstance(value, str) else ""


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0
