"""How does a conversation travel to Gemini's generateContent API?"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from urllib.parse import quote

import httpx

from caddie.chat.messages import Completed, ModelRequest, StreamEvent
from caddie.chat.provider import Capabilities, ModelInfo
from caddie.errors import ProviderError
from caddie.providers.answers import answered
from caddie.providers.faults import Service
from caddie.providers.gemini_body import MAX_TOOLS, Declared, Manners, body_of, declare
from caddie.providers.gemini_stream import GeminiDecoder
from caddie.providers.http import Endpoint, host_of, join, shown
from caddie.providers.listing import gemini_count, gemini_models
from caddie.providers.prefix import LostSchemas, Rendered
from caddie.providers.suspicions import Suspicions

BASE_URL = "https://generativelanguage.googleapis.com"
DEFAULT_MODEL = "gemini-3.8-flash"
_HOST = "generativelanguage.googleapis.com"
_VERSION = "/v1beta"
_ENDS_IN_VERSION = re.compile(r"/v\d+(?:(?:alpha|beta)\d*)?$")
_REFUSED = (400, 422)


class Gemini:
    """A Provider. The key travels in a header only; `base_url` may name the API version that it wants."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        *,
        base_url: str = BASE_URL,
        api_key: str = "",
        idle_timeout: float,
        default_model: str = DEFAULT_MODEL,
        name: str = "gemini",
        key_name: str = "GEMINI_API_KEY",
    ) -> None:
        self.name = name
        official = host_of(base_url) == _HOST
        self.default_model = default_model or (DEFAULT_MODEL if official else "")
        vendor = "Gemini" if official else f"The {name} server at {shown(base_url)}"
        self._endpoint = Endpoint(
            client,
            service=Service(vendor, shown(base_url), api_key, key_name),
            url=_base(base_url),
            headers={"x-goog-api-key": api_key} if api_key else {},
            idle_timeout=idle_timeout,
        )
        self._lost = LostSchemas(lambda schema: self._manners.clean(schema))
        self._suspicions = Suspicions(vendor)
        self._take(Manners())

    def capabilities(self, model: str) -> Capabilities:
        return Capabilities(why="Gemini's generateContent has no deferred tools of its own")

    async def list_models(self) -> tuple[ModelInfo, ...]:
        return await gemini_models(self._endpoint)

    async def count_tokens(self, request: ModelRequest) -> int | None:
        body = body_of(request, self._tools.of(request.tools), self._manners)
        return await gemini_count(self._endpoint, self._url(request.model, "countTokens"), _path(request.model), body)

    def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        return answered(
            request,
            self._endpoint,
            post=lambda: self._post(request),
            concede=self._concede,
            decoder=lambda: self._decoder(self._tools.of(request.tools)),
            is_answer=lambda parsed: parsed is not None,
            noted=lambda answer: self._noted(request, answer),
        )

    def _post(self, request: ModelRequest) -> AbstractAsyncContextManager[httpx.Response]:
        url = self._url(request.model, "streamGenerateContent").copy_merge_params({"alt": "sse"})
        declared = self._tools.of(request.tools)
        return self._endpoint.post(body_of(request, declared, self._manners), tools=declared.names, url=url)

    def _decoder(self, declared: Declared) -> GeminiDecoder:
        return GeminiDecoder(self._endpoint, declared.keys, declared.names)

    def _concede(self, error: ProviderError) -> bool:
        conceded = self._manners.concede(error.message) if error.status in _REFUSED else None
        if conceded is not None:
            self._take(conceded)
        return conceded is not None

    def _take(self, manners: Manners) -> None:
        self._manners = manners
        self._tools = Rendered(lambda tools: declare(tools, manners))

    def _noted(self, request: ModelRequest, answer: Completed) -> Completed:
        notes = [answer.note, self._suspicions.too_many(request, MAX_TOOLS), self._lost.among(request.tools)]
        return replace(answer, note=" ".join(filter(None, notes)))

    def _url(self, model: str, method: str) -> httpx.URL:
        return self._endpoint.url.copy_with(path=f"{self._endpoint.url.path}/{quote(_path(model), safe='/')}:{method}")


def _base(base_url: str) -> httpx.URL:
    """With the version in its path. An address of the OpenAI-like door of the same server leads here too."""
    url = join(base_url, prefix=_VERSION, path="")
    path = url.path.removesuffix("/openai")
    return url.copy_with(path=path if _ENDS_IN_VERSION.search(path) else path + _VERSION)


def _path(model: str) -> str:
    return model if model.startswith(("models/", "tunedModels/")) else f"models/{model}"
