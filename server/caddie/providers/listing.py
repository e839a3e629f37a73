"""Which models does a server have, how much does each read, and how many tokens is a request?

Lists are the vendors' own; a compatible server that tells no sizes is asked over its richer address too. Whatever it
answers there, or not at all, costs at most a few seconds and never the list.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import httpx

from caddie.chat.provider import ModelInfo
from caddie.errors import ProviderError
from caddie.providers.http import Endpoint

_PAGES = 5
_RICHER_SECONDS = 3.0
_SHOWN_ASKED = 40
# Listed beside chat models, but they cannot chat.
_NOT_FOR_CHAT = ("embed", "rerank", "whisper", "tts-", "dall-e", "moderation", "transcribe")
# They generate content too, but speech and pictures.
_GEMINI_MEDIA = ("-tts", "-audio", "-image", "imagen", "veo-")
_CONTEXT_FIELDS = ("max_model_len", "context_length", "max_context_length", "context_window", "max_input_tokens")
_OUTPUT_FIELDS = ("max_output_tokens", "max_completion_tokens", "max_tokens")
# What the address of a count answers where nobody counts.
_NO_SUCH_ADDRESS = (404, 405, 501)
_COUNTED = ("model", "messages", "system", "tools")


def can_chat(model: str) -> bool:
    return not any(word in model.lower() for word in _NOT_FOR_CHAT)


async def anthropic_models(endpoint: Endpoint) -> tuple[ModelInfo, ...]:
    """Raises: ProviderError."""
    url = instead(endpoint.url, "/messages", "/models")
    found: list[ModelInfo] = []
    after: dict[str, str] = {}
    for _ in range(_PAGES):
        page = await endpoint.ask(url.copy_merge_params({"limit": "1000", **after}))
        entries = [entry for entry in _entries(page) if entry.get("lifecycle") != "retired"]
        found += [_model(entry, str(entry.get("display_name") or "")) for entry in entries]
        if not (page.get("has_more") and isinstance(page.get("last_id"), str)):
            break
        after = {"after_id": page["last_id"]}
    return tuple(found)


async def anthropic_count(endpoint: Endpoint, body: Mapping[str, Any]) -> int | None:
    """What a request of this body holds; None at an address that does not count. Raises: ProviderError."""
    url = endpoint.url.copy_with(path=f"{endpoint.url.path}/count_tokens")
    try:
        answer = await endpoint.ask(url, {key: body[key] for key in _COUNTED if key in body})
    except ProviderError as error:
        if error.status in _NO_SUCH_ADDRESS:
            return None
        raise
    return _size(answer.get("input_tokens"))


async def chat_models(endpoint: Endpoint, *, is_vendor: bool, path: str = "/chat/completions") -> tuple[ModelInfo, ...]:
    """`path` is what the endpoint's own address ends in. Raises: ProviderError."""
    listed = await endpoint.ask(instead(endpoint.url, path, "/models"))
    models = [_model(entry) for entry in _entries(listed) if can_chat(entry["id"])]
    if is_vendor or not models or any(model.context for model in models):
        return tuple(models)
    return await _with_sizes(endpoint, models)


async def gemini_models(endpoint: Endpoint) -> tuple[ModelInfo, ...]:
    """Raises: ProviderError."""
    url = endpoint.url.copy_with(path=f"{endpoint.url.path}/models")
    found: list[ModelInfo] = []
    after: dict[str, str] = {}
    for _ in range(_PAGES):
        page = await endpoint.ask(url.copy_merge_params({"pageSize": "1000", **after}))
        found += [_gemini_model(entry) for entry in _entries(page, "models", "name") if _generates(entry)]
        if not isinstance(page.get("nextPageToken"), str) or not page["nextPageToken"]:
            break
        after = {"pageToken": page["nextPageToken"]}
    return tuple(model for model in found if can_chat(model.id))


def _generates(entry: Mapping[str, Any]) -> bool:
    methods = entry.get("supportedGenerationMethods")
    if any(word in entry["name"] for word in _GEMINI_MEDIA):
        return False
    return not isinstance(methods, list) or "generateContent" in methods


def _gemini_model(entry: Mapping[str, Any]) -> ModelInfo:
    sizes = _size(entry.get("inputTokenLimit")), _size(entry.get("outputTokenLimit"))
    return ModelInfo(entry["name"].removeprefix("models/"), str(entry.get("displayName") or ""), *sizes)


async def gemini_count(endpoint: Endpoint, url: httpx.URL, model: str, body: Mapping[str, Any]) -> int | None:
    """What a request of this body holds; None at an address that does not count. Raises: ProviderError."""
    try:
        answer = await endpoint.ask(url, {"generateContentRequest": {"model": model, **body}})
    except ProviderError as error:
        if error.status in _NO_SUCH_ADDRESS:
            return None
        raise
    return _size(answer.get("totalTokens"))


async def _with_sizes(endpoint: Endpoint, models: list[ModelInfo]) -> tuple[ModelInfo, ...]:
    """The sizes of LM Studio, Ollama or llama.cpp, whichever of them this is."""
    asked = (_lm_studio(endpoint), _ollama(endpoint, models), _llama_cpp(endpoint, models))
    known: dict[str, int | None] = {}
    for sizes in await asyncio.gather(*asked):
        known.update(sizes)
    # None: the server says that this one cannot chat.
    return tuple(
        replace(model, context=known.get(model.id) or None) for model in models if known.get(model.id, 0) is not None
    )


async def _lm_studio(endpoint: Endpoint) -> dict[str, int | None]:
    sizes: dict[str, int | None] = {}
    for entry in _entries(await _try(endpoint, "/api/v0/models")):
        size = _size(entry.get("loaded_context_length")) or _size(entry.get("max_context_length"))
        sizes[entry["id"]] = None if entry.get("type") == "embeddings" else size or 0
    return sizes


async def _ollama(endpoint: Endpoint, models: list[ModelInfo]) -> dict[str, int | None]:
    tags, running = await asyncio.gather(_try(endpoint, "/api/tags"), _try(endpoint, "/api/ps"))
    names = {str(entry.get("name")) for entry in _entries(tags, "models", "name")}
    asked = [model.id for model in models if model.id in names][:_SHOWN_ASKED]
    shown = await asyncio.gather(*(_try(endpoint, "/api/show", {"model": name}) for name in asked))
    sizes = {name: _ollama_size(answer) for name, answer in zip(asked, shown, strict=True)}
    for entry in _entries(running, "models", "name"):
        if size := _size(entry.get("context_length")):
            sizes[entry["name"]] = size
    return sizes


def _ollama_size(shown: Mapping[str, Any]) -> int | None:
    """What it will read: `num_ctx` where the model sets it, else at most what it was made for."""
    capabilities = shown.get("capabilities")
    if isinstance(capabilities, list) and capabilities and "completion" not in capabilities:
        return None
    for line in str(shown.get("parameters") or "").splitlines():
        name, _, value = line.strip().partition(" ")
        if name == "num_ctx" and value.strip().isdecimal():
            return int(value)
    told = shown.get("model_info")
    facts = told.items() if isinstance(told, dict) else ()
    return next((size for key, value in facts if key.endswith(".context_length") and (size := _size(value))), 0)


async def _llama_cpp(endpoint: Endpoint, models: list[ModelInfo]) -> dict[str, int | None]:
    defaults = (await _try(endpoint, "/props")).get("default_generation_settings")
    size = _size(defaults.get("n_ctx")) if isinstance(defaults, dict) else None
    return {model.id: size for model in models} if size else {}


async def _try(endpoint: Endpoint, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
    try:
        return await endpoint.ask(endpoint.url.copy_with(path=path), body, seconds=_RICHER_SECONDS)
    except ProviderError:
        return {}


def instead(url: httpx.URL, path: str, other: str) -> httpx.URL:
    """The address beside this one: `other` where it ends in `path`."""
    return url.copy_with(path=url.path.removesuffix(path) + other)


def _entries(answer: Mapping[str, Any], key: str = "data", name: str = "id") -> Iterator[dict[str, Any]]:
    listed = answer.get(key)
    for entry in listed if isinstance(listed, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get(name), str) and entry[name]:
            yield entry


def _model(entry: Mapping[str, Any], label: str = "") -> ModelInfo:
    return ModelInfo(entry["id"], label, _first(entry, _CONTEXT_FIELDS), _first(entry, _OUTPUT_FIELDS))


def _first(entry: Mapping[str, Any], fields: Iterable[str]) -> int | None:
    return next((size for field in fields if (size := _size(entry.get(field)))), None)


def _size(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
