"""What does a request to the Anthropic Messages API hold? The same request gives the same bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from caddie.chat.messages import (
    Image,
    Message,
    ModelRequest,
    Part,
    Text,
    Thinking,
    ToolAnswer,
    ToolDefinition,
    ToolsAdded,
    ToolUse,
)
from caddie.providers.history import IMAGE_TYPES, fit, readable, wire_id, wire_name
from caddie.providers.prefix import Rendered
from caddie.providers.schema import for_anthropic
from caddie.tools.tool import ImageContent, TextContent

_CACHE = {"type": "ephemeral"}
Renamed = Mapping[str, Mapping[str, str]]
"""By tool: from its keys on the wire to its own."""


@dataclass(frozen=True, slots=True)
class Tools:
    """`entries` stand in the request, the deferred ones last; `loadable` are those a search may refer to."""

    entries: list[dict[str, Any]]
    renamed: Renamed
    loadable: Mapping[str, ToolDefinition]

    @property
    def names(self) -> list[str]:
        return [entry["name"] for entry in self.entries]


class ToolRenderer:
    """Cleans each tool once, however many requests carry it."""

    def __init__(self) -> None:
        self._whole = Rendered(lambda tools: _entries(tools))
        self._deferred = Rendered(lambda tools: _entries(tools, defer_loading=True))

    def of(self, request: ModelRequest) -> Tools:
        # The mark for the cache stands on the last tool that is loaded: a deferred one may not bear it.
        whole, renamed = self._whole.of(request.tools)
        if request.deferral != "native":
            return Tools(_marked(whole), renamed, {})
        deferred, renamed_too = self._deferred.of(request.deferred)
        loadable = {tool.name: tool for tool in request.deferred}
        return Tools([*_marked(whole), *deferred], {**renamed, **renamed_too}, loadable)


def body_of(request: ModelRequest, tools: Tools, *, late_tools: bool) -> dict[str, Any]:
    body: dict[str, Any] = {"model": request.model, "max_tokens": request.max_output_tokens, "stream": True}
    if tools.entries:
        body["tools"] = tools.entries
    if request.system.strip():
        body["system"] = [{"type": "text", "text": request.system, "cache_control": _CACHE}]
    body["messages"] = _messages(fit(request.messages, late_tools=late_tools), tools)
    return body


def has_late_tools(body: Mapping[str, Any]) -> bool:
    return any(message["role"] == "system" for message in body["messages"])


def _entries(
    definitions: tuple[ToolDefinition, ...], *, defer_loading: bool = False
) -> tuple[list[dict[str, Any]], Renamed]:
    entries: list[dict[str, Any]] = []
    renamed: dict[str, dict[str, str]] = {}
    for tool in definitions:
        made, keys = entry(tool)
        entries.append({**made, "defer_loading": True} if defer_loading else made)
        if keys:
            renamed[tool.name] = keys
    return entries, renamed


def entry(tool: ToolDefinition) -> tuple[dict[str, Any], dict[str, str]]:
    """A tool as it stands in a request, and the keys that had to be renamed: from the wire to its own."""
    schema = for_anthropic(tool.input_schema)
    description = f"{tool.description}\n{schema.note}".strip()
    made = {"name": tool.name, "description": description, "input_schema": schema.schema}
    return made, dict(schema.renamed)


def _marked(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [*entries[:-1], {**entries[-1], "cache_control": _CACHE}] if entries else []


def _messages(messages: list[Message], tools: Tools) -> list[dict[str, Any]]:
    rendered = [one for message in messages for one in _message(message, tools)]
    newest = next((one for one in reversed(rendered) if one["role"] != "system"), None)
    if newest and newest["role"] == "user":
        # Moves along with each request, so the history before it is read from the cache.
        newest["content"][-1]["cache_control"] = _CACHE
    return rendered


def _message(message: Message, tools: Tools) -> Iterator[dict[str, Any]]:
    content = [block for part in message.parts if (block := _block(part, tools))]
    results = sum(block["type"] == "tool_result" for block in content)
    # Text beside a reference is refused, text after all results is not.
    content[results:results] = [{"type": "text", "text": text} for text in _notes(message.parts, tools)]
    if content:
        yield {"role": message.role, "content": content}
    added = [tool for part in message.parts if isinstance(part, ToolsAdded) for tool in part.tools]
    if added and content:
        yield {"role": "system", "content": [_addition(tool, tools) for tool in added]}


def _block(part: Part, tools: Tools) -> dict[str, Any] | None:
    match part:
        case Text(text):
            return {"type": "text", "text": text} if text.strip() else None
        case Thinking(_, opaque):
            # Another provider's reasoning has no signature that this one would take.
            return dict(opaque) if opaque.get("type") in ("thinking", "redacted_thinking") else None
        case Image(data, media_type):
            return _image(data, media_type)
        case ToolUse(call_id, name, arguments, _):
            keys = {own: wire for wire, own in tools.renamed.get(name, {}).items()}
            given = {keys.get(key, key): value for key, value in (arguments or {}).items()}
            return {"type": "tool_use", "id": wire_id(call_id), "name": wire_name(name), "input": given}
        case ToolAnswer():
            return _answer(part, tools)
        case ToolsAdded():
            return None  # a message of its own


def _answer(answer: ToolAnswer, tools: Tools) -> dict[str, Any]:
    content = [_result_block(part) for part in readable(answer)]
    if _is_loaded(answer, tools):
        content = [{"type": "tool_reference", "tool_name": tool.name} for tool in answer.found]
    block: dict[str, Any] = {"type": "tool_result", "tool_use_id": wire_id(answer.tool_use_id), "content": content}
    return {**block, "is_error": True} if answer.is_error else block


def _is_loaded(answer: ToolAnswer, tools: Tools) -> bool:
    """Each reference of the whole history must name a tool of this request; other answers stay words."""
    return bool(answer.found) and all(tool.name in tools.loadable for tool in answer.found)


def _notes(parts: Iterable[Part], tools: Tools) -> Iterator[str]:
    for part in parts:
        if isinstance(part, ToolAnswer) and part.note.strip() and _is_loaded(part, tools):
            yield part.note


def _addition(tool: ToolDefinition, tools: Tools) -> dict[str, Any]:
    if tools.loadable.get(tool.name) == tool:
        return {"type": "tool_addition", "tool": {"type": "tool_reference", "name": tool.name}}
    return {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": entry(tool)[0]}}


def _result_block(part: TextContent | ImageContent) -> dict[str, Any]:
    return _image(part.data, part.media_type) if isinstance(part, ImageContent) else {"type": "text", "text": part.text}


def _image(data: str, media_type: str) -> dict[str, Any]:
    if media_type not in IMAGE_TYPES:
        return {"type": "text", "text": f"[an image of type {media_type or 'unknown'}, which the model cannot see]"}
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}
