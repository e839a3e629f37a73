"""What does an error of a model API mean for us? Status, headers and body in; one of our exceptions out."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from caddie.errors import (
    ContextOverflow,
    DeferralRejected,
    ProviderAuth,
    ProviderBusy,
    ProviderError,
    ProviderRejected,
    ThinkingRejected,
    ToolRejected,
)

_OVERFLOW = re.compile(
    r"context_length_exceeded|exceed_context_size_error|prompt is too long|exceed context limit"
    r"|maximum context length|input token count.*exceeds the maximum|maximum prompt length"
    r"|exceeds the available context size|greater than the context length|input length.*exceeds",
    re.IGNORECASE | re.DOTALL,
)
_SPENT = re.compile(r"insufficient_quota|enforced_spend_limit_reached|billing_hard_limit_reached|PerDay(?![a-z])")
_BAD_KEY = re.compile(r"API_KEY_INVALID|invalid_api_key|API key not valid|incorrect API key", re.IGNORECASE)
_DEFERRAL = re.compile(
    r"defer_loading|tool_reference|tool reference|tool_search|tool_addition|additional_tools|inline-tools"
    r"|tool definitions/code execution functions",
    re.IGNORECASE,
)
_THINKING = re.compile(
    r"thinking.blocks?.*cannot be modified|signature.? in .?thinking.{1,2}block|thought.signature"
    r"|item with id 'rs_|of type 'reasoning' was provided without|without its required 'reasoning' item"
    r"|encrypted.content",
    re.IGNORECASE | re.DOTALL,
)
_TOOL_AT = re.compile(r"function_?declarations\[(\d+)\]|\btools(?:\.|\[)(\d+)", re.IGNORECASE)
_TOOL_NAMED = re.compile(r"\b(?:function|tool) ['\"`]([A-Za-z0-9_.:-]{1,128})['\"`]", re.IGNORECASE)
_KEY_SHAPE = re.compile(r"\b(?:sk-|xai-|gsk_|AIza)[A-Za-z0-9_*.\-]{6,}")
# Local servers are given words such as `none` or `x` for a key; cutting those out would garble every message.
_SHORTEST_KEY = 8
_BUSY = frozenset({408, 409, 429})
_NEVER_MENDS = frozenset({501, 505})
_STATUS_OF_TYPE = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "api_error": 500,
    "server_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_SHOWN = 500
# The patterns take time that grows with the square of a text.
_READ = 4_000


@dataclass(frozen=True, slots=True)
class Service:
    """Who answered, in a person's words. `key` is held only to be cut out of every text."""

    name: str
    address: str
    key: str = ""
    key_name: str = ""

    def redact(self, text: str) -> str:
        if len(self.key) >= _SHORTEST_KEY:
            text = text.replace(self.key, "[key]")
        return _KEY_SHAPE.sub("[key]", text)


def looks_like_key(text: str) -> bool:
    return bool(_KEY_SHAPE.match(text))


@dataclass(frozen=True, slots=True)
class Fault:
    """An error as the API told it. `marks` holds every short string of the body: types, codes, quota ids."""

    status: int
    message: str
    marks: str = ""
    retry_after: float | None = None
    should_retry: bool | None = None
    request_id: str = ""


def fault_of_response(status: int, headers: Mapping[str, str], body: bytes) -> Fault:
    parsed = _first(_loads(body))
    return Fault(
        status=status,
        message=message_of(parsed) or _plain(body),
        marks=_marks(parsed),
        retry_after=_retry_after(headers, parsed),
        should_retry={"true": True, "false": False}.get(headers.get("x-should-retry", "").lower()),
        request_id=headers.get("request-id") or headers.get("x-request-id") or "",
    )


def fault_of_event(payload: object) -> Fault:
    """An error inside a stream that began with HTTP 200: its type stands for the status it would have had."""
    return Fault(
        status=_status_in(payload),
        message=message_of(payload) or "no reason given",
        marks=_marks(payload),
        retry_after=_retry_delay(payload),
    )


def error_of(fault: Fault, service: Service, tools: Sequence[str] = ()) -> ProviderError:
    """`tools` are the names of the request's tools in their order: an API often names only the place of a bad one."""
    said = service.redact(fault.message)[:_SHOWN].strip()
    told = f"{fault.marks[:_READ]} {fault.message[:_READ]}"
    details: dict[str, Any] = {"status": fault.status, "request_id": service.redact(fault.request_id)}
    if fault.status == 401 or (fault.status in (400, 403) and _BAD_KEY.search(told)):
        return ProviderAuth(f"{service.name} refused the key: {said} {_key_advice(service)}", **details)
    if fault.status == 403:
        return ProviderAuth(
            f"{service.name} does not allow this key to do that: {said} {_key_advice(service)}", **details
        )
    if fault.status == 402 or _SPENT.search(told):
        return ProviderRejected(
            f"{service.name} will not go on without a larger quota or more credit: {said}", **details
        )
    if fault.status == 413 or (fault.status != 429 and _OVERFLOW.search(told)):
        return ContextOverflow(
            f"The conversation is longer than the model reads ({said}); compact it or begin a new one.", **details
        )
    if _may_be_tried_again(fault):
        return ProviderBusy(
            f"{service.name} is busy or out of order (HTTP {fault.status}): {said}",
            retry_after=fault.retry_after,
            **details,
        )
    text = f"{service.name} rejected the request (HTTP {fault.status}): {said}{_hint(fault, service)}"
    if fault.status in (400, 422):
        if _DEFERRAL.search(told):
            return DeferralRejected(text, **details)
        if _THINKING.search(told):
            return ThinkingRejected(text, **details)
        if tool := _tool_at_fault(told, tools):
            return ToolRejected(text, tool=tool, **details)
    return ProviderRejected(text, **details)


def _tool_at_fault(told: str, tools: Sequence[str]) -> str:
    """The tool that an error names by its place in the request or by its name; empty when it names none."""
    if named := _TOOL_NAMED.search(told):
        return named[1]
    if "input[" in told:  # a tool that a search put into the conversation stands at no place of the request's own
        return ""
    for place in _TOOL_AT.finditer(told):
        index = int(place[1] or place[2])
        inner = "declarations" in told.lower()  # Gemini: `tools[0]` is the list, the declaration's index is the tool's
        if index < len(tools) and (place[1] or not inner):
            return tools[index]
    return ""


def message_of(parsed: object) -> str:
    """The sentence in an error body: error.message, error, message, then detail."""
    body = _first(parsed)
    if not isinstance(body, Mapping):
        return body.strip() if isinstance(body, str) else ""
    error = body.get("error")
    nested = error.get("message") if isinstance(error, Mapping) else error
    for found in (nested, body.get("message"), body.get("detail"), error):
        if found and (text := found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)):
            return text
    return ""


def _may_be_tried_again(fault: Fault) -> bool:
    if fault.should_retry is not None:
        return fault.should_retry
    return fault.status in _BUSY or (fault.status >= 500 and fault.status not in _NEVER_MENDS)


def _key_advice(service: Service) -> str:
    return f"Check the environment variable {service.key_name}." if service.key_name else "Set caddie.apiKeyEnv."


def _hint(fault: Fault, service: Service) -> str:
    if "does not support tools" in fault.message:
        return " (choose a model that calls tools, or set caddie.tools.use to false)"
    if fault.status == 404:
        return f" (is {service.address} the right caddie.baseUrl, and does the model exist there?)"
    if 300 <= fault.status < 400:
        return f" ({service.address} redirects; set caddie.baseUrl to the final address)"
    return ""


def _loads(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _first(parsed: object) -> object:
    return parsed[0] if isinstance(parsed, list) and parsed else parsed


def _plain(body: bytes) -> str:
    """Text of a body that is not JSON: web pages lose their markup."""
    text = body[:20_000].decode("utf-8", "replace")
    if re.search(r"<(?:!doctype|html|head|body)\b", text, re.IGNORECASE):
        title = re.search(r"<title[^>]*>([^<]*)", text, re.IGNORECASE)
        text = f"a web page instead of an answer: {title.group(1).strip() if title else 'no title'}"
    return " ".join(text.split())[:_SHOWN] or "no reason given"


def _marks(value: object, depth: int = 0) -> str:
    return " ".join(_strings(value, depth))


def _strings(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str) and len(value) <= 200:
        yield value
    elif depth < 6 and isinstance(value, Mapping):
        for inner in value.values():
            yield from _strings(inner, depth + 1)
    elif depth < 6 and isinstance(value, list):
        for inner in value[:50]:
            yield from _strings(inner, depth + 1)


def _status_in(payload: object) -> int:
    error = payload.get("error") if isinstance(payload, Mapping) else None
    fields = error if isinstance(error, Mapping) else payload if isinstance(payload, Mapping) else {}
    for key in ("status", "code", "type"):
        found = fields.get(key)
        if isinstance(found, int) and 400 <= found < 600:
            return found
        if isinstance(found, str) and found.isdecimal() and 400 <= int(found) < 600:
            return int(found)
        if isinstance(found, str) and found in _STATUS_OF_TYPE:
            return _STATUS_OF_TYPE[found]
    return 500


def _retry_after(headers: Mapping[str, str], parsed: object) -> float | None:
    if (millis := _seconds(headers.get("retry-after-ms", ""))) is not None:
        return millis / 1000
    plain = headers.get("retry-after", "")
    if (seconds := _seconds(plain)) is not None:
        return seconds
    return _until(plain) if plain else _retry_delay(parsed)


def _seconds(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _until(date: str) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
    except (ValueError, OverflowError):
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (aware - datetime.now(UTC)).total_seconds())


def _retry_delay(parsed: object) -> float | None:
    """Google's RetryInfo: `"retryDelay": "34s"` in error.details."""
    body = _first(parsed)
    error = body.get("error") if isinstance(body, Mapping) else None
    details = error.get("details") if isinstance(error, Mapping) else None
    for detail in details if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, Mapping) else None
        if isinstance(delay, str):
            return _seconds(delay.removesuffix("s"))
    return None
