"""Which class speaks to which API, where, with whose key? Classes are imported when one is built."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from caddie.chat.provider import Provider
from caddie.errors import ProviderAuth
from caddie.providers.faults import looks_like_key
from caddie.settings import Provider as ProviderName
from caddie.settings import Settings

if TYPE_CHECKING:
    import httpx


@dataclass(frozen=True, slots=True)
class Row:
    """One provider of the settings. `model` is used when the person names none; `auto` takes it when its key is set."""

    target: str
    base_url: str
    key_name: str
    model: str = ""
    auto: bool = True


# `auto` looks for the keys in this order.
PROVIDERS: Mapping[ProviderName, Row] = {
    "anthropic": Row(
        "caddie.providers.anthropic:Anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY", "claude-opus-5-5"
    ),
    "openai": Row(
        "caddie.providers.openai_responses:OpenAIResponses", "https://api.openai.com/v1", "OPENAI_API_KEY", "gpt-5.5"
    ),
    "gemini": Row(
        "caddie.providers.gemini:Gemini",
        "https://generativelanguage.googleapis.com",
        "GEMINI_API_KEY",
        "gemini-3.8-flash",
    ),
    "xai": Row("caddie.providers.openai_responses:OpenAIResponses", "https://api.x.ai/v1", "XAI_API_KEY", "grok-4.5"),
    "deepseek": Row(
        "caddie.providers.openai_chat:OpenAIChat", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", "deepseek-v4-pro"
    ),
    "openai-chat": Row(
        "caddie.providers.openai_chat:OpenAIChat", "https://api.openai.com/v1", "OPENAI_API_KEY", "gpt-5.5", auto=False
    ),
}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OFFLINE = "caddie.providers.offline:Offline"


def build_provider(settings: Settings, environ: Mapping[str, str], client: httpx.AsyncClient) -> Provider:
    """The provider that `settings.provider` names (not `auto`, which `choose_provider` resolves).

    Raises: ProviderAuth, ProviderRejected.
    """
    if settings.provider == "offline":
        return cast(Provider, _load(_OFFLINE)())
    row = PROVIDERS[settings.provider]
    key_name = settings.api_key_env or row.key_name
    if not is_variable_name(key_name):
        raise ProviderAuth(
            "caddie.apiKeyEnv holds something that is not the name of an environment variable, perhaps the key itself: "
            f"put the key into a variable such as {row.key_name} and name that variable."
        )
    key = environ.get(key_name, "").strip()
    if not key and not _works_without_key(settings):
        raise ProviderAuth(
            f"No key for the provider {settings.provider!r}: set the environment variable {key_name}, "
            "or name another one in caddie.apiKeyEnv."
        )
    make = _load(row.target)
    return cast(
        Provider,
        make(
            client,
            base_url=settings.base_url or row.base_url,
            api_key=key,
            idle_timeout=settings.request_timeout,
            key_name=key_name,
            name=settings.provider,
            default_model="" if settings.base_url else row.model,  # a foreign server knows none of the vendor's models
        ),
    )


def is_variable_name(text: str) -> bool:
    return bool(_NAME.fullmatch(text)) and not looks_like_key(text)


def _works_without_key(settings: Settings) -> bool:
    return bool(settings.base_url) and not settings.api_key_env


def _load(target: str) -> Callable[..., object]:
    # httpx costs a good part of the server's start, and most providers are never used.
    module, _, name = target.partition(":")
    return cast(Callable[..., object], getattr(importlib.import_module(module), name))
