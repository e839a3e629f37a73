"""How does a conversation travel to a Chat Completions API, be it OpenAI's own or a local server's?

Only the fields that nearly all servers know are sent; the few others are given up, once, when a server names them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import httpx

from caddie.chat.messages import (
    Completed,
    Image,
    Message,
    ModelRequest,
    StreamEvent,
    Text,
    Thinking,
    ToolAnswer,
    ToolDefinition,
    ToolUse,
)
from caddie.chat.provider import Capabilities, ModelInfo
from caddie.errors import ProviderError
from caddie.providers.answers import answered
from caddie.providers.faults import Service
from caddie.providers.history import IMAGE_TYPES, fit, readable, wire_id, wire_name
from caddie.providers.http import Endpoint, host_of, join, shown
from caddie.providers.listing import chat_models
from caddie.providers.openai_chat_stream import REASONING_FIELDS, OpenAIChatDecoder
from caddie.providers.prefix import LostSchemas, Rendered
from caddie.providers.schema import for_openai
from caddie.providers.suspicions import Suspicions
from caddie.tools.tool import ImageContent, TextContent

BASE_URL = "https://api.openai.com/v1"
_DESCRIPTION_LIMIT = 1024
_ID_LIMIT = 40
MAX_TOOLS = 128
# These call functions over Chat Completions only when they do not reason.
_NO_REASONING = re.compile(r"gpt-6-(?:sol|luna)\b")


@dataclass(frozen=True, slots=True)
class Manners:
    """What this one server wants; learned from its refusals and kept for its adapter's life."""

    usage: bool = True
    tokens: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    reasoning: Literal["echo", "always", "never"] = "echo"
    tools: int | None = None
    """At most so many."""


class OpenAIChat:
    """A Provider. `name` is the settings' word (`deepseek` speaks this API too)."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        *,
        base_url: str = BASE_URL,
        api_key: str = "",
        idle_timeout: float,
        default_model: str,
        name: str = "openai-chat",
        key_name: str = "OPENAI_API_KEY",
    ) -> None:
        self.name = name
        self.default_model = default_model
        self._openai = host_of(base_url) == "api.openai.com"
        official = Manners(tokens="max_completion_tokens", reasoning="never", tools=MAX_TOOLS)
        self._manners = official if self._openai else Manners()
        self._endpoint = Endpoint(
            client,
            service=Service(f"The {name} server at {shown(base_url)}", shown(base_url), api_key, key_name),
            url=join(base_url, prefix="/v1", path="/chat/completions"),
            headers={"authorization": f"Bearer {api_key}"} if api_key else {},
            idle_timeout=idle_timeout,
        )
        self._tools = Rendered(self._render_tools)
        self._suspicions = Suspicions(self._endpoint.service.name)
        self._lost = LostSchemas(lambda schema: for_openai(schema, compatible=not self._openai))

    def capabilities(self, model: str) -> Capabilities:
        return Capabilities(why="Chat Completions has no deferred tools of its own")

    async def list_models(self) -> tuple[ModelInfo, ...]:
        return await chat_models(self._endpoint, is_vendor=bool(self.default_model))

    async def count_tokens(self, request: ModelRequest) -> int | None:
        return None

    def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        return answered(
            request,
            self._endpoint,
            post=lambda: self._endpoint.post(self._body(request), tools=[tool.name for tool in request.tools]),
            concede=self._concede,
            decoder=lambda: OpenAIChatDecoder(self._endpoint),
            is_answer=lambda parsed: isinstance(parsed, dict) and bool(parsed.get("choices") or parsed.get("error")),
            noted=lambda answer: self._noted(request, answer),
        )

    def _concede(self, error: ProviderError) -> bool:
        conceded = concede(self._manners, error.message) if _refused(error) else None
        self._manners = conceded or self._manners
        return conceded is not None

    def _noted(self, request: ModelRequest, answer: Completed) -> Completed:
        notes = [self._suspicions.too_many(request, self._manners.tools), self._lost.among(request.tools)]
        if not self.default_model:
            notes.append(self._suspicions.about(request, answer))
        note = " ".join(filter(None, notes))
        return replace(answer, note=note) if note else answer

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        body: dict[str, Any] = {"model": request.model, "stream": True, self._manners.tokens: request.max_output_tokens}
        if self._manners.usage:
            body["stream_options"] = {"include_usage": True}
        if self._openai:
            body["prompt_cache_key"] = hashlib.sha256(request.session_id.encode()).hexdigest()[:32]
        if self._openai and request.tools and _NO_REASONING.match(request.model):
            body["reasoning_effort"] = "none"
        if request.tools:
            body["tools"] = self._tools.of(request.tools)[: self._manners.tools]
        system = [{"role": "system", "content": request.system}] if request.system.strip() else []
        body["messages"] = system + _messages(fit(request.messages), self._manners)
        return body

    def _render_tools(self, definitions: tuple[ToolDefinition, ...]) -> list[dict[str, Any]]:
        return [_tool(definition, compatible=not self._openai) for definition in definitions]


def concede(manners: Manners, refusal: str) -> Manners | None:
    """What to do differently after this refusal; None when it is about something else or was tried already."""
    text = refusal.lower()
    changed = manners
    if "stream_options" in text or "include_usage" in text:
        changed = replace(manners, usage=False)
    elif "max_completion_tokens" in text and "max_tokens" in text:
        other = "max_tokens" if manners.tokens == "max_completion_tokens" else "max_completion_tokens"
        wanted = re.search(r"use ['\"`]?(max_completion_tokens|max_tokens)", text)
        if wanted is None or wanted[1] == other:
            changed = replace(manners, tokens=other)  # type: ignore[arg-type]
    elif "array_above_max_length" in text or ("tools" in text and "array too long" in text):
        limit = re.search(r"maximum length (\d+)", text)
        changed = replace(manners, tools=int(limit[1]) if limit else MAX_TOOLS)
    elif "must be passed back" in text and "reasoning_content" in text:
        changed = replace(manners, reasoning="always")
    elif "content and thinking" in text and manners.reasoning != "never":
        changed = replace(manners, reasoning="never")
    return None if changed == manners else changed


def _refused(error: ProviderError) -> bool:
    return error.status in (400, 422, 500)


def _tool(definition: ToolDefinition, *, compatible: bool) -> dict[str, Any]:
    schema = for_openai(definition.input_schema, compatible=compatible)
    return {
        "type": "function",
        "function": {
            "name": definition.name,
            "description": _capped(definition.description, schema.note),
            "parameters": schema.schema,
        },
    }


def _capped(description: str, note: str) -> str:
    tail = f"\n{note}" if note else ""
    room = _DESCRIPTION_LIMIT - len(tail)
    return (description if len(description) <= room else description[: room - 1] + "…") + tail


def _messages(messages: list[Message], manners: Manners) -> list[dict[str, Any]]:
    rendered: list[dict[str, Any]] = []
    seen_reasoning = manners.reasoning == "always"
    for message in messages:
        if message.role == "user":
            rendered += _user(message)
            continue
        seen_reasoning = seen_reasoning or "reasoning_content" in _opaque(message)
        rendered += _assistant(message, manners, seen_reasoning=seen_reasoning)
    return rendered


def _assistant(message: Message, manners: Manners, *, seen_reasoning: bool) -> list[dict[str, Any]]:
    calls = message.tool_uses
    if not calls:
        return [{"role": "assistant", "content": message.text}] if message.text else []
    opaque = _opaque(message) if manners.reasoning != "never" else {}
    rendered: dict[str, Any] = {"role": "assistant", "content": message.text or None}
    for key in REASONING_FIELDS:
        if key in opaque:
            rendered[key] = opaque[key]
    if seen_reasoning and manners.reasoning != "never":
        rendered.setdefault("reasoning_content", "")
    extras = opaque.get("extra_content") or {}
    rendered["tool_calls"] = [_call(call, extras.get(call.id)) for call in calls]
    return [rendered]


def _opaque(message: Message) -> dict[str, Any]:
    """What a Chat Completions server added to the message; blocks of other APIs have a `type` and stay behind."""
    thoughts = [dict(part.opaque) for part in message.parts if isinstance(part, Thinking) and "type" not in part.opaque]
    return {key: value for thought in thoughts for key, value in thought.items()}


def _call(call: ToolUse, extra: object) -> dict[str, Any]:
    arguments = json.dumps(call.arguments or {}, ensure_ascii=False)
    rendered: dict[str, Any] = {
        "id": wire_id(call.id, _ID_LIMIT),
        "type": "function",
        "function": {"name": wire_name(call.name), "arguments": arguments},
    }
    return {**rendered, "extra_content": extra} if extra else rendered


def _user(message: Message) -> list[dict[str, Any]]:
    answers = [part for part in message.parts if isinstance(part, ToolAnswer)]
    said = [part for part in message.parts if isinstance(part, (Text, Image))]
    tools = [
        {"role": "tool", "tool_call_id": wire_id(answer.tool_use_id, _ID_LIMIT), "content": _answer_text(answer)}
        for answer in answers
    ]
    # A tool message holds text only, and no other message may come before the last of them.
    content = [block for answer in answers for block in _answer_images(answer)]
    content += [_said(part) for part in said]
    return [*tools, {"role": "user", "content": _joined(content)}] if content else [*tools]


def _answer_text(answer: ToolAnswer) -> str:
    content = readable(answer)
    text = "\n\n".join(part.text for part in content if isinstance(part, TextContent))
    text = text or "The result is an image; it follows below."
    return f"Error: {text}" if answer.is_error and not text.startswith("Error: ") else text


def _answer_images(answer: ToolAnswer) -> list[dict[str, Any]]:
    images = [part for part in readable(answer) if isinstance(part, ImageContent)]
    if not images:
        return []
    lead = {"type": "text", "text": f"Image result of {wire_name(answer.name)}:"}
    return [lead, *(_image(part.data, part.media_type) for part in images)]


def _said(part: Text | Image) -> dict[str, Any]:
    return {"type": "text", "text": part.text} if isinstance(part, Text) else _image(part.data, part.media_type)


def _image(data: str, media_type: str) -> dict[str, Any]:
    if media_type not in IMAGE_TYPES:
        return {"type": "text", "text": f"[an image of type {media_type or 'unknown'}, which the model cannot see]"}
    return {"type": "image_url", "image_url": {"url": f"data:{media_type};base64,{data}"}}


def _joined(content: list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """Plain text where it is only text: many local servers know no other form."""
    if all(block["type"] == "text" for block in content):
        return "\n\n".join(block["text"] for block in content)
    return content
