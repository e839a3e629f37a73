"""When are the arguments a model streamed complete enough to run a tool with them?"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from caddie.chat.messages import Part, ToolUse


def tool_use(call_id: str, name: str, raw: str, *, cut: bool = False) -> ToolUse:
    """`cut`: the answer ended at the token limit inside this call, so that even nothing is not "no arguments"."""
    return ToolUse(call_id, name, _parse(raw, cut), raw)


def is_object(raw: str) -> bool:
    return _parse(raw, cut=True) is not None


def _parse(raw: str, cut: bool) -> dict[str, Any] | None:
    if raw.strip() in ("", "null"):
        return None if cut else {}
    try:
        # NaN and Infinity are not JSON, and no API takes them back.
        value = json.loads(raw, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def with_own_ids(parts: Iterable[Part]) -> Iterator[Part]:
    """Of two calls with one id (gateways send such) the second gets another, so that each has its own result."""
    taken: set[str] = set()
    for part in parts:
        if isinstance(part, ToolUse):
            if part.id in taken:
                call_id = f"call_{secrets.token_hex(8)}"
                told = {"call_id": call_id} if "call_id" in part.opaque else {}
                part = replace(part, id=call_id, opaque={**part.opaque, **told})
            taken.add(part.id)
        yield part
