"""How does a conversation travel to the Anthropic Messages API?"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import AsyncIterator
from dataclasses import replace

import httpx

from caddie.chat.messages import Completed, ModelRequest, StreamEvent
from caddie.chat.provider import Capabilities, ModelInfo
from caddie.errors import ProviderRejected
from caddie.providers.anthropic_body import ToolRenderer, body_of, has_late_tools
from caddie.providers.anthropic_stream import AnthropicDecoder
from caddie.providers.capabilities import capabilities_of
from caddie.providers.faults import Service, fault_of_response
from caddie.providers.http import Endpoint, decode, host_of, is_event_stream, join, read_json, shown
from caddie.providers.listing import anthropic_count, anthropic_models
from caddie.providers.prefix import LostSchemas
from caddie.providers.schema import for_anthropic
from caddie.providers.suspicions import Suspicions

BASE_URL = "https://api.anthropic.com"
DEFAULT_MODEL = "claude-opus-5-5"
_VERSION = "2023-06-01"
_INLINE_TOOLS = "inline-tools-2026-09-15"
_SESSIONS_KEPT = 64
_MODEL = re.compile(r"claude-[a-z]+-(\d{1,2})(?:-(\d{1,2}))?(?:-\d{8})?")
# Releases that think by themselves when asked with `adaptive`; others get no thinking parameter at all.
_ADAPTIVE_FROM, _ADAPTIVE_BEFORE = (4, 6), (6, 0)


class Anthropic:
    """A Provider. `key_name` is the environment variable that messages name; the key itself is never shown."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        *,
        base_url: str = BASE_URL,
        api_key: str,
        idle_timeout: float,
        default_model: str = DEFAULT_MODEL,
        name: str = "anthropic",
        key_name: str = "ANTHROPIC_API_KEY",
    ) -> None:
        self.name = name
        self.default_model = default_model
        url = join(base_url, prefix="/v1", path="/messages")
        if not url.path.endswith("/v1/messages"):
            url = join(base_url, prefix="", path="/v1/messages")
        self._host = host_of(base_url)
        self._official = self._host == "api.anthropic.com"
        called = "Anthropic" if self._official else f"The {name} server at {shown(base_url)}"
        self._endpoint = Endpoint(
            client,
            service=Service(called, shown(base_url), api_key, key_name),
            url=url,
            headers={"anthropic-version": _VERSION, **({"x-api-key": api_key} if api_key else {})},
            idle_timeout=idle_timeout,
        )
        self._tools = ToolRenderer()
        self._suspicions = Suspicions(called)
        self._lost = LostSchemas(for_anthropic)
        self._last_ids: OrderedDict[str, str] = OrderedDict()

    def capabilities(self, model: str) -> Capabilities:
        return capabilities_of("tool_reference", self._host, model)

    async def list_models(self) -> tuple[ModelInfo, ...]:
        return await anthropic_models(self._endpoint)

    async def count_tokens(self, request: ModelRequest) -> int | None:
        body = body_of(request, self._tools.of(request), late_tools=False)
        return await anthropic_count(self._endpoint, body)

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        if not request.model:
            raise ProviderRejected(f"No model is named for {self._endpoint.service.address}; set caddie.model.")
        tools = self._tools.of(request)
        late = request.deferral == "native" and self.capabilities(request.model).late_tools == "inline_tools"
        body = body_of(request, tools, late_tools=late)
        if self._official:
            if _thinks(request.model):
                body["thinking"] = {"type": "adaptive", "display": "summarized"}
            body["diagnostics"] = {"previous_message_id": self._last_ids.get(request.session_id)}
        headers = {"anthropic-beta": _INLINE_TOOLS} if has_late_tools(body) else {}
        async with self._endpoint.post(body, tools=tools.names, headers=headers) as response:
            if not is_event_stream(response):
                raise await self._not_a_stream(response)
            decoder = AnthropicDecoder(self._endpoint, tools.renamed)
            async for event in decode(response, decoder):
                if isinstance(event, Completed):
                    self._remember(request.session_id, decoder.message_id)
                    event = self._noted(request, event)
                yield event

    def _noted(self, request: ModelRequest, answer: Completed) -> Completed:
        notes = [self._lost.among((*request.tools, *request.deferred))]
        if not self._official:
            notes.append(self._suspicions.about(request, answer))
        note = " ".join(filter(None, notes))
        return replace(answer, note=note) if note else answer

    def _remember(self, session_id: str, message_id: str) -> None:
        """The API tells why its cache was missed when it knows which answer came before."""
        self._last_ids[session_id] = message_id
        self._last_ids.move_to_end(session_id)
        while len(self._last_ids) > _SESSIONS_KEPT:
            self._last_ids.popitem(last=False)

    async def _not_a_stream(self, response: httpx.Response) -> Exception:
        body = await read_json(response)
        if b'"error"' in body:
            return self._endpoint.rejected(fault_of_response(400, response.headers, body))
        return self._endpoint.not_a_stream(response)


def _thinks(model: str) -> bool:
    found = _MODEL.fullmatch(model)
    return found is not None and _ADAPTIVE_FROM <= (int(found[1]), int(found[2] or 0)) < _ADAPTIVE_BEFORE
