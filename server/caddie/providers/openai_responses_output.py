"""What did the model put out? Items of a Responses answer become parts of a message, each with its item beside it.

The items are kept as they came: only then does the API know its own reasoning again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from caddie.chat.messages import Part, Text, Thinking, ToolUse
from caddie.providers.calls import tool_use, with_own_ids
from caddie.providers.history import wire_id
from caddie.tools.core_tools import TOOL_SEARCH

Item = dict[str, Any]
PIECES = "pieces"
"""The status, ours, of an item that never came whole."""


BREAK = "\n\n"
"""Between the messages of one answer, of which there may be several: remarks, and the answer itself."""


def parts_of(items: Sequence[Item], cut: str) -> tuple[Part, ...]:
    said = [(item, part) for index, item in enumerate(items) if (part := _part(item, cut and index == len(items) - 1))]
    last = max((place for place, (item, _) in enumerate(said) if item.get("type") != "reasoning"), default=-1)
    # Reasoning is taken back only whole, and only before what came out of it.
    known = all(_is_known_again(item) for item, _ in said[: last + 1])
    parts = [part if known and place <= last else _unmarked(part) for place, (_, part) in enumerate(said)]
    return tuple(with_own_ids(part for part in _apart(parts) if part != Thinking("")))


def _apart(parts: Sequence[Part]) -> Iterator[Part]:
    spoke = False
    for part in parts:
        yield replace(part, text=BREAK + part.text) if spoke and isinstance(part, Text) else part
        spoke = spoke or isinstance(part, Text)


def _is_known_again(item: Mapping[str, Any]) -> bool:
    if item.get("type") == "reasoning":
        return bool(item.get("encrypted_content") or item.get("content"))
    return item.get("status") != PIECES


def _unmarked(part: Part) -> Part:
    return replace(part, opaque={}) if isinstance(part, Text | Thinking | ToolUse) else part


def _part(item: Item, cut: object) -> Part | None:
    match item.get("type"):
        case "message":
            text = text_of(item)
            return Text(text, item) if text.strip() else None
        case "reasoning":
            return Thinking(_summary(item), item)
        case "function_call":
            return _call({**item, "arguments": _raw(item)}, cut)
        case "tool_search_call" if item.get("execution") != "server":
            return _call(item, cut)
        case "" | None:
            return None
        case _:
            return Thinking("", item)  # nothing to show, but it is part of what goes back


def _call(item: Item, cut: object) -> ToolUse:
    raw = _raw(item)
    call = tool_use(call_id(item), call_name(item), raw, cut=bool(cut))
    # A cut call may look whole, but only the API knows whether it is.
    broken = item.get("status") == "incomplete" or (bool(cut) and item.get("status") != "completed")
    return ToolUse(call.id, call.name, None if broken else call.arguments, raw, {**item, "call_id": call.id})


def _raw(item: Mapping[str, Any]) -> str:
    """Arguments of a function are text, those of a search an object; gateways mix that up."""
    given = item.get("arguments")
    return given if isinstance(given, str) else "" if given is None else json.dumps(given, ensure_ascii=False)


def call_id(item: Mapping[str, Any]) -> str:
    return wire_id(_str(item.get("call_id")) or _str(item.get("id")) or f"{call_name(item)}{item.get('arguments')}")


def call_name(item: Mapping[str, Any]) -> str:
    return TOOL_SEARCH if item.get("type") == "tool_search_call" else _str(item.get("name"))


def text_of(item: Mapping[str, Any]) -> str:
    content = item.get("content")
    blocks = [_dict(block) for block in content] if isinstance(content, list) else []
    return "".join(_str(block.get("text")) or _str(block.get("refusal")) for block in blocks)


def _summary(item: Mapping[str, Any]) -> str:
    """The summary, or the thoughts themselves where an open model tells them."""
    for key in ("summary", "content"):
        blocks = item.get(key)
        texts = [_str(_dict(block).get("text")) for block in blocks] if isinstance(blocks, list) else []
        if any(texts):
            return "\n\n".join(text for text in texts if text)
    return ""


def refuses(item: Mapping[str, Any]) -> bool:
    content = item.get("content") if item.get("type") == "message" else None
    return isinstance(content, list) and any(_dict(block).get("type") == "refusal" for block in content)


def _dict(value: object) -> Item:
    return value if isinstance(value, dict) else {}


def _str(value: object) -> str:
    return value if isinstance(value, str) else ""
