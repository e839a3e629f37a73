"""Which models do OpenAI and xAI list, of which many cannot chat, and how many tokens would a request be?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from caddie.chat.provider import ModelInfo
from caddie.errors import ProviderError
from caddie.providers.http import Endpoint
from caddie.providers.listing import chat_models, instead

_CHATS = re.compile(r"(?:ft:)?(?:gpt-|o\d|chatgpt-|codex)")
# Only those that answer in words and take functions over Responses.
_CANNOT = re.compile(r"audio|realtime|image|instruct|search|research|live|computer|gpt-3\.5|tts|transcribe|-translate")
_COUNTED = ("model", "instructions", "tools", "input", "reasoning")
_NO_SUCH_ADDRESS = (404, 405, 501)


async def openai_models(endpoint: Endpoint) -> tuple[ModelInfo, ...]:
    """Newest first. Raises: ProviderError."""
    listed = await endpoint.ask(instead(endpoint.url, "/responses", "/models"))
    entries = [entry for entry in _entries(listed, "data") if _CHATS.match(entry["id"])]
    entries.sort(key=lambda entry: (-_number(entry.get("created")), entry["id"]))
    return tuple(ModelInfo(entry["id"]) for entry in entries if not _CANNOT.search(entry["id"]))


async def xai_models(endpoint: Endpoint) -> tuple[ModelInfo, ...]:
    """The richer list tells what goes in and comes out. Raises: ProviderError."""
    listed = await endpoint.ask(instead(endpoint.url, "/responses", "/language-models"))
    sized = ("context_length", "max_prompt_length", "context_window")
    return tuple(
        ModelInfo(entry["id"], context=next((size for key in sized if (size := _number(entry.get(key)))), None))
        for entry in _entries(listed, "models")
        if "text" in entry.get("output_modalities", ["text"])
    )


async def compatible_models(endpoint: Endpoint) -> tuple[ModelInfo, ...]:
    """Raises: ProviderError."""
    return await chat_models(endpoint, is_vendor=False, path="/responses")


async def openai_count(endpoint: Endpoint, body: Mapping[str, Any]) -> int | None:
    """None at an address that does not count. Raises: ProviderError."""
    url = endpoint.url.copy_with(path=f"{endpoint.url.path}/input_tokens")
    try:
        answer = await endpoint.ask(url, {key: body[key] for key in _COUNTED if key in body})
    except ProviderError as error:
        if error.status in _NO_SUCH_ADDRESS:
            return None
        raise
    return _number(answer.get("input_tokens")) or None


def _entries(answer: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    listed = answer.get(key)
    entries = listed if isinstance(listed, list) else []
    return [entry for entry in entries if isinstance(entry, dict) and isinstance(entry.get("id"), str) and entry["id"]]


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
