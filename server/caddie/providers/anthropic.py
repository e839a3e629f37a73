"""How does a conversation travel to the Anthropic Messages API?"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import httpx

from caddie.chat.messages import (
    Image,
    Message,
    ModelRequest,
    Part,
    StreamEvent,
    Text,
    Thinking,
    ToolAnswer,
    ToolDefinition,
    ToolsAdded,
    ToolUse,
)
from caddie.chat.provider import Capabilities, ModelInfo
from caddie.providers.anthropic_stream import AnthropicDecoder
from caddie.providers.capabilities import capabilities_of
from caddie.providers.faults import Service, fault_of_response
from caddie.providers.history import IMAGE_TYPES, fit, readable, wire_id, wire_name
from caddie.providers.http import Endpoint, decode, host_of, is_event_stream, join, read_json, shown
from caddie.providers.listing import anthropic_count, anthropic_models
from caddie.providers.prefix import Rendered
from caddie.providers.schema import WireSchema, for_anthropic
from caddie.tools.tool import ImageContent, TextContent

BASE_URL = "https://api.anthropic.com"
DEFAULT_MODEL = "claude-opus-5-5"
_VERSION = "2023-06-01"
_CACHE = {"type": "ephemeral"}
_MODEL = re.compile(r"claude-[a-z]+-(\d{1,2})(?:-(\d{1,2}))?(?:-\d{8})?")
# Releases that think by themselves when asked with `adaptive`; others get no thinking parameter at all.
_ADAPTIVE_FROM, _ADAPTIVE_BEFORE = (4, 6), (6, 0)


class Anthropic:
    """A Provider. `key_name` is the environment variable that messages name; the key itself is never shown."""

    name = "anthropic"
    default_model = DEFAULT_MODEL

    def __init__(
        self,
        client: httpx.AsyncClient,
        *,
        base_url: str = BASE_URL,
        api_key: str,
        idle_timeout: float,
        key_name: str = "ANTHROPIC_API_KEY",
    ) -> None:
        url = join(base_url, prefix="/v1", path="/messages")
        if not url.path.endswith("/v1/messages"):
            url = join(base_url, prefix="", path="/v1/messages")
        self._host = host_of(base_url)
        self._official = self._host == "api.anthropic.com"
        self._endpoint = Endpoint(
            client,
            service=Service("Anthropic", shown(base_url), api_key, key_name),
            url=url,
            headers={"anthropic-version": _VERSION, **({"x-api-key": api_key} if api_key else {})},
            idle_timeout=idle_timeout,
        )
        self._tools = Rendered(_tools)

    def capabilities(self, model: str) -> Capabilities:
        return capabilities_of("tool_reference", self._host, model)

    async def list_models(self) -> tuple[ModelInfo, ...]:
        return await anthropic_models(self._endpoint)

    async def count_tokens(self, request: ModelRequest) -> int | None:
        tools, renamed = self._tools.of(request.tools)
        return await anthropic_count(self._endpoint, _body(request, tools, renamed, thinking=False))

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        tools, renamed = self._tools.of(request.tools)
        body = _body(request, tools, renamed, thinking=self._official and _thinks(request.model))
        async with self._endpoint.post(body, tools=[tool["name"] for tool in tools]) as response:
            if not is_event_stream(response):
                raise await self._not_a_stream(response)
            async for event in decode(response, AnthropicDecoder(self._endpoint, renamed)):
                yield event

    async def _not_a_stream(self, response: httpx.Response) -> Exception:
        body = await read_json(response)
        if b'"error"' in body:
            return self._endpoint.rejected(fault_of_response(400, response.headers, body))
        return self._endpoint.not_a_stream(response)


Renamed = dict[str, dict[str, str]]


def _thinks(model: str) -> bool:
    found = _MODEL.fullmatch(model)
    return found is not None and _ADAPTIVE_FROM <= (int(found[1]), int(found[2] or 0)) < _ADAPTIVE_BEFORE


def _body(request: ModelRequest, tools: list[Any], renamed: Renamed, *, thinking: bool) -> dict[str, Any]:
    body: dict[str, Any] = {"model": request.model, "max_tokens": request.max_output_tokens, "stream": True}
    if thinking:
        body["thinking"] = {"type": "adaptive", "display": "summarized"}
    if tools:
        body["tools"] = tools
    if request.system.strip():
        body["system"] = [{"type": "text", "text": request.system, "cache_control": _CACHE}]
    body["messages"] = _messages(fit(request.messages), renamed)
    return body


def _tools(definitions: tuple[ToolDefinition, ...]) -> tuple[list[Any], Renamed]:
    schemas = [for_anthropic(definition.input_schema) for definition in definitions]
    tools = [_tool(definition, schema) for definition, schema in zip(definitions, schemas, strict=True)]
    if tools:
        tools[-1]["cache_control"] = _CACHE
    named = zip(definitions, schemas, strict=True)
    return tools, {definition.name: dict(schema.renamed) for definition, schema in named if schema.renamed}


def _tool(definition: ToolDefinition, schema: WireSchema) -> dict[str, Any]:
    description = f"{definition.description}\n{schema.note}".strip()
    return {"name": definition.name, "description": description, "input_schema": schema.schema}


def _messages(messages: list[Message], renamed: Renamed) -> list[dict[str, Any]]:
    kept = [(message.role, content) for message in messages if (content := _content(message, renamed))]
    if kept and kept[-1][0] == "user":
        # Moves along with each request, so the history before it is read from the cache.
        kept[-1][1][-1]["cache_control"] = _CACHE
    return [{"role": role, "content": content} for role, content in kept]


def _content(message: Message, renamed: Renamed) -> list[dict[str, Any]]:
    return [block for part in message.parts if (block := _block(part, renamed))]


def _block(part: Part, renamed: Renamed) -> dict[str, Any] | None:
    match part:
        case Text(text) | ToolsAdded(_, text):
            return {"type": "text", "text": text}
        case Thinking(_, opaque):
            # Another provider's reasoning has no signature that this one would take.
            return dict(opaque) if opaque.get("type") in ("thinking", "redacted_thinking") else None
        case Image(data, media_type):
            return _image(data, media_type)
        case ToolUse(call_id, name, arguments, _):
            keys = {own: wire for wire, own in renamed.get(name, {}).items()}
            given = {keys.get(key, key): value for key, value in (arguments or {}).items()}
            return {"type": "tool_use", "id": wire_id(call_id), "name": wire_name(name), "input": given}
        case ToolAnswer():
            return _answer(part)


def _answer(answer: ToolAnswer) -> dict[str, Any]:
    block: dict[str, Any] = {
        "type": "tool_result",
        "tool_use_id": wire_id(answer.tool_use_id),
        "content": [_result_block(part) for part in readable(answer)],
    }
    return {**block, "is_error": True} if answer.is_error else block


def _result_block(part: TextContent | ImageContent) -> dict[str, Any]:
    return _image(part.data, part.media_type) if isinstance(part, ImageContent) else {"type": "text", "text": part.text}


def _image(data: str, media_type: str) -> dict[str, Any]:
    if media_type not in IMAGE_TYPES:
        return {"type": "text", "text": f"[an image of type {media_type or 'unknown'}, which the model cannot see]"}
    return {"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}
