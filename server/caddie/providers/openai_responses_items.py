"""Which input items of the Responses API stand for a conversation?

What the model itself put out goes back exactly as it came; all else is written in the plainest form the API knows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from caddie.chat.messages import Image, Message, Text, Thinking, ToolAnswer, ToolDefinition, ToolsAdded, ToolUse
from caddie.chat.prompt import block
from caddie.providers.history import IMAGE_TYPES, readable, wire_id, wire_name
from caddie.tools.core_tools import TOOL_SEARCH
from caddie.tools.tool import ImageContent, TextContent

Item = dict[str, Any]
_FOREIGN = frozenset({"thinking", "redacted_thinking"})


@dataclass(frozen=True, slots=True)
class Dialect:
    """What this API, at this address, in this session takes. `load` renders tools that join the conversation later."""

    searches: bool
    images_in_outputs: bool
    load: Callable[[tuple[ToolDefinition, ...]], list[Item]]


def input_items(messages: Sequence[Message], dialect: Dialect) -> list[Item]:
    """`messages` are fitted: the answers to a message's calls stand in the next one."""
    items: list[Item] = []
    searched: frozenset[str] = frozenset()
    for place, message in enumerate(messages):
        if message.role == "user":
            items += _user(message, searched, dialect)
            continue
        following = messages[place + 1] if place + 1 < len(messages) else None
        searched = _searches(message, following) if dialect.searches else frozenset()
        items += [item for part in message.parts if (item := _said(part, searched))]
    return items


def function_tool(definition: ToolDefinition, schema: Mapping[str, Any], note: str = "") -> Item:
    """`strict` is always told: left out, the API may rewrite the schema."""
    return {
        "type": "function",
        "name": definition.name,
        "description": f"{definition.description}\n{note}".strip(),
        "parameters": schema,
        "strict": False,
    }


def search_tool(definition: ToolDefinition, schema: Mapping[str, Any]) -> Item:
    return {
        "type": "tool_search",
        "execution": "client",
        "description": definition.description,
        "parameters": schema,
    }


def _searches(message: Message, following: Message | None) -> frozenset[str]:
    """The calls that travel as searches: the API's own, and those of other providers that loaded tools."""
    answers = following.parts if following else ()
    loaded = {part.tool_use_id for part in answers if isinstance(part, ToolAnswer) and part.found}
    return frozenset(
        use.id
        for use in message.tool_uses
        if use.opaque.get("type") == "tool_search_call"
        or (use.name == TOOL_SEARCH and not use.opaque and use.id in loaded)
    )


def _said(part: object, searched: frozenset[str]) -> Item | None:
    match part:
        case Thinking(_, opaque):
            return dict(opaque) if opaque.get("type", "thinking") not in _FOREIGN else None
        case Text(text, opaque):
            if opaque.get("type") == "message":
                return dict(opaque)
            return {"role": "assistant", "content": text} if text.strip() else None
        case ToolUse():
            return _search_call(part) if part.id in searched else _function_call(part)
        case _:
            return None


def _function_call(use: ToolUse) -> Item:
    if use.opaque.get("type") == "function_call":
        item = dict(use.opaque)
        # Half a call helps nobody, and some servers read the arguments of old calls.
        return item if use.arguments is not None else {**item, "arguments": "{}", "status": "completed"}
    arguments = json.dumps(use.arguments or {}, ensure_ascii=False)
    return {"type": "function_call", "call_id": wire_id(use.id), "name": wire_name(use.name), "arguments": arguments}


def _search_call(use: ToolUse) -> Item:
    if use.opaque and use.arguments is not None:
        return dict(use.opaque)
    return {
        "type": "tool_search_call",
        "call_id": wire_id(use.id),
        "execution": "client",
        "status": "completed",
        "arguments": use.arguments or {},
    }


def _user(message: Message, searched: frozenset[str], dialect: Dialect) -> Iterator[Item]:
    """All outputs first; what they could not hold, then what was said, in its order."""
    answers = [part for part in message.parts if isinstance(part, ToolAnswer)]
    content: list[Item] = []
    for answer in answers:
        if answer.tool_use_id in searched:
            yield _search_output(answer, dialect)
            content += _search_note(answer)
        else:
            yield _function_output(answer, dialect)
            content += [] if dialect.images_in_outputs else _images_of(answer)
    for part in message.parts:
        match part:
            case ToolsAdded(tools, _):
                yield from _message(content)
                content = []
                yield {"type": "additional_tools", "role": "developer", "tools": dialect.load(tools)}
            case Text(text):
                content.append({"type": "input_text", "text": text})
            case Image(data, media_type):
                content.append(_image(data, media_type))
    yield from _message(content)


def _message(content: list[Item]) -> Iterator[Item]:
    if content:
        yield {"role": "user", "content": content}


def _search_output(answer: ToolAnswer, dialect: Dialect) -> Item:
    tools = [{**tool, "defer_loading": True} for tool in dialect.load(answer.found)]
    return {
        "type": "tool_search_output",
        "call_id": wire_id(answer.tool_use_id),
        "execution": "client",
        "status": "completed",
        "tools": tools,
    }


def _search_note(answer: ToolAnswer) -> list[Item]:
    """The output holds tools and nothing else, so what the search said comes after all outputs. It quotes strangers,
    which is why the developer does not say it."""
    said = answer.note if answer.found else _text_of(answer)
    return [{"type": "input_text", "text": block("tool-search", said)}] if said.strip() else []


def _function_output(answer: ToolAnswer, dialect: Dialect) -> Item:
    output: str | list[Item] = _text_of(answer)
    content = readable(answer)
    if dialect.images_in_outputs and any(isinstance(part, ImageContent) for part in content):
        output = [_output_block(part) for part in content]
        if answer.is_error:
            output.insert(0, {"type": "input_text", "text": "Error:"})
    return {"type": "function_call_output", "call_id": wire_id(answer.tool_use_id), "output": output}


def _text_of(answer: ToolAnswer) -> str:
    """There is no flag for an error, so the text says it."""
    texts = [part.text for part in readable(answer) if isinstance(part, TextContent)]
    text = "\n\n".join(texts) or "The result is an image; it follows below."
    return f"Error: {text}" if answer.is_error and not text.startswith("Error: ") else text


def _images_of(answer: ToolAnswer) -> list[Item]:
    images = [part for part in readable(answer) if isinstance(part, ImageContent)]
    if not images:
        return []
    lead = {"type": "input_text", "text": f"Image result of {wire_name(answer.name)}:"}
    return [lead, *(_image(part.data, part.media_type) for part in images)]


def _output_block(part: TextContent | ImageContent) -> Item:
    if isinstance(part, ImageContent):
        return _image(part.data, part.media_type)
    return {"type": "input_text", "text": part.text}


def _image(data: str, media_type: str) -> Item:
    if media_type not in IMAGE_TYPES:
        kind = media_type or "unknown"
        return {"type": "input_text", "text": f"[an image of type {kind}, which the model cannot see]"}
    return {"type": "input_image", "image_url": f"data:{media_type};base64,{data}", "detail": "auto"}
