"""How does a conversation travel to the Responses API, of OpenAI, of xAI, or of a server that speaks it too?

Nothing is kept there: each request holds the whole conversation, with the model's own reasoning, encrypted.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Any

import httpx

from caddie.chat.messages import Completed, ModelRequest, StreamEvent, ToolDefinition
from caddie.chat.provider import Capabilities, ModelInfo
from caddie.errors import ProviderError, ProviderRejected
from caddie.providers.answers import answered
from caddie.providers.capabilities import capabilities_of
from caddie.providers.faults import Service
from caddie.providers.history import fit
from caddie.providers.http import Endpoint, host_of, join, shown
from caddie.providers.openai_models import compatible_models, openai_count, openai_models, xai_models
from caddie.providers.openai_responses_items import Dialect, Item, function_tool, input_items, search_tool
from caddie.providers.openai_responses_stream import ResponsesDecoder
from caddie.providers.prefix import LostSchemas, Rendered
from caddie.providers.schema import for_openai
from caddie.providers.suspicions import Suspicions
from caddie.tools.core_tools import BRIDGE, TOOL_SEARCH

BASE_URL = "https://api.openai.com/v1"
_OPENAI_HOST, _XAI_HOST, _AZURE_HOST = "api.openai.com", "api.x.ai", ".openai.azure.com"
# Others refuse the parameters of reasoning. The chat models of these families are named for what they are.
_REASONS = re.compile(r"(?:ft:)?(?:gpt-(?:[5-9]|\d\d)|gpt-(?:daybreak|rosalind)|o\d|codex-)(?!.*\bchat\b)")
_XAI_SILENCE = 900.0
MAX_TOOLS = 128
_REFUSED = (400, 422)
_NO_SUCH_ADDRESS = (404, 405, 501)
_KEPT_SEARCHES = 512


@dataclass(frozen=True, slots=True)
class Manners:
    """What of the optional fields is sent; given up for good, once, when a server or an account is refused them."""

    summary: bool = True
    encrypted: bool = True
    cache_key: bool = True
    tools: int | None = None
    """At most so many."""


class OpenAIResponses:
    """A Provider. `name` is the settings' word, `openai` or `xai`."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        *,
        base_url: str = BASE_URL,
        api_key: str = "",
        idle_timeout: float,
        default_model: str,
        name: str = "openai",
        key_name: str = "OPENAI_API_KEY",
    ) -> None:
        self.name = name
        self.default_model = default_model
        self._host = host_of(base_url)
        self._xai = name == "xai" or self._host == _XAI_HOST
        self._openai = self._host == _OPENAI_HOST or self._host.endswith(_AZURE_HOST)
        official = self._openai or self._host == _XAI_HOST
        self._manners = Manners(summary=not self._xai, tools=MAX_TOOLS if official else None)
        vendor = {_OPENAI_HOST: "OpenAI", _XAI_HOST: "xAI"}.get(self._host)
        self._endpoint = Endpoint(
            client,
            service=Service(vendor or f"The {name} server at {shown(base_url)}", shown(base_url), api_key, key_name),
            url=join(base_url, prefix="/v1", path="/responses"),
            headers={"authorization": f"Bearer {api_key}"} if api_key else {},
            # Grok may think for many minutes without a word.
            idle_timeout=max(idle_timeout, _XAI_SILENCE) if self._host == _XAI_HOST else idle_timeout,
        )
        self._functions = Rendered(lambda tools: self._render(tools, searches=False))
        self._searching = Rendered(lambda tools: self._render(tools, searches=True))
        self._suspicions = Suspicions(self._endpoint.service.name)
        self._lost = LostSchemas(lambda schema: for_openai(schema, compatible=not self._openai))
        self._loaded = Rendered(lambda tools: [self._function(tool) for tool in tools], kept=_KEPT_SEARCHES)

    def capabilities(self, model: str) -> Capabilities:
        if self._xai:
            return Capabilities(why="xAI has no deferred tools of its own")
        return capabilities_of("tool_search", self._host, model)

    async def list_models(self) -> tuple[ModelInfo, ...]:
        if self._host == _XAI_HOST:
            return await xai_models(self._endpoint)
        return await (openai_models if self._host == _OPENAI_HOST else compatible_models)(self._endpoint)

    async def count_tokens(self, request: ModelRequest) -> int | None:
        """xAI counts plain text only, which is not a request."""
        return None if self._xai else await openai_count(self._endpoint, self._body(request))

    def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        return answered(
            request,
            self._endpoint,
            post=lambda: self._post(self._body(request)),
            concede=self._concede,
            decoder=lambda: ResponsesDecoder(self._endpoint),
            is_answer=_is_answer,
            noted=lambda answer: self._noted(request, answer),
        )

    def _post(self, body: dict[str, Any]) -> AbstractAsyncContextManager[httpx.Response]:
        return self._endpoint.post(body, tools=[tool.get("name", TOOL_SEARCH) for tool in body.get("tools", ())])

    def _concede(self, error: ProviderError) -> bool:
        if error.status in _NO_SUCH_ADDRESS and not self.default_model:
            advice = "If it speaks Chat Completions only, set caddie.provider to openai-chat."
            raise ProviderRejected(f"{error.message} {advice}", status=error.status) from error
        conceded = concede(self._manners, error.message) if error.status in _REFUSED else None
        self._manners = conceded or self._manners
        return conceded is not None

    def _noted(self, request: ModelRequest, answer: Completed) -> Completed:
        notes = [
            self._suspicions.too_many(request, self._manners.tools),
            self._lost.among((*request.tools, *request.deferred)),
        ]
        if not self.default_model:
            notes.append(self._suspicions.about(request, answer))
        note = " ".join(filter(None, notes))
        return replace(answer, note=note) if note else answer

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": request.model,
            "stream": True,
            "store": False,
            "max_output_tokens": request.max_output_tokens,
        }
        if self._manners.cache_key:
            body["prompt_cache_key"] = hashlib.sha256(request.session_id.encode()).hexdigest()[:32]
        if self._reasons(request.model):
            if self._manners.encrypted:
                body["include"] = ["reasoning.encrypted_content"]
            if self._manners.summary:
                body["reasoning"] = {"summary": "auto"}
        # From here on in the order in which the prompt is cached.
        if tools := self._tools(request):
            body["tools"] = tools
        if request.system.strip():
            body["instructions"] = request.system
        late_tools = self.capabilities(request.model).late_tools == "additional_tools"
        body["input"] = input_items(fit(request.messages, late_tools=late_tools), self._dialect(request))
        return body

    def _reasons(self, model: str) -> bool:
        if self._xai:
            return "non-reasoning" not in model
        return bool(_REASONS.match(model.rpartition("/")[2]))

    def _dialect(self, request: ModelRequest) -> Dialect:
        known = frozenset(tool.name for tool in request.tools)

        def load(tools: tuple[ToolDefinition, ...]) -> list[Item]:
            return [item for item in self._loaded.of(tools) if item["name"] not in known]

        return Dialect(request.deferral == "native", self._openai, load)

    def _tools(self, request: ModelRequest) -> list[Item]:
        rendered = (self._searching if request.deferral == "native" else self._functions).of(request.tools)
        return capped(rendered, self._manners.tools)

    def _render(self, definitions: tuple[ToolDefinition, ...], *, searches: bool) -> list[Item]:
        return [
            search_tool(tool, self._function(tool)["parameters"])
            if searches and tool.name == TOOL_SEARCH
            else self._function(tool)
            for tool in definitions
        ]

    def _function(self, definition: ToolDefinition) -> Item:
        cleaned = for_openai(definition.input_schema, compatible=not self._openai)
        return function_tool(definition, cleaned.schema, cleaned.note)


def _is_answer(parsed: Any) -> bool:
    return isinstance(parsed, dict) and (isinstance(parsed.get("output"), list) or bool(parsed.get("error")))


def concede(manners: Manners, refusal: str) -> Manners | None:
    """What to do without after this refusal; None when it is about something else or was given up already."""
    text = refusal.lower()
    changed = manners
    if "reasoning summar" in text or "reasoning.summary" in text or re.search(r"parameter:? ['\"`]?reasoning\b", text):
        changed = replace(manners, summary=False)
    elif re.search(r"encrypted.content[^.]*not supported|['\"`]include\b", text):
        changed = replace(manners, encrypted=False)
    elif "array_above_max_length" in text or ("tools" in text and "array too long" in text):
        limit = re.search(r"maximum length (\d+)", text)
        changed = replace(manners, tools=int(limit[1]) if limit else MAX_TOOLS)
    elif "prompt_cache_key" in text:
        changed = replace(manners, cache_key=False)
    return None if changed == manners else changed


def capped(tools: list[Item], limit: int | None) -> list[Item]:
    """No more than the API takes. The two that reach all others stay in any case."""
    if limit is None or len(tools) <= limit:
        return tools
    entrances = [tool for tool in tools if _is_entrance(tool)]
    others = [tool for tool in tools if not _is_entrance(tool)][: max(0, limit - len(entrances))]
    kept = {id(tool) for tool in (*entrances, *others)}
    return [tool for tool in tools if id(tool) in kept]


def _is_entrance(tool: Item) -> bool:
    return tool["type"] == "tool_search" or tool["name"] in BRIDGE
