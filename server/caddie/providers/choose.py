"""Who answers when the person chose no provider? A key that is there, else a local server, else nobody, honestly."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from caddie.chat.provider import Provider
from caddie.errors import ProviderError
from caddie.providers.table import PROVIDERS, build_provider
from caddie.settings import Provider as ProviderName
from caddie.settings import Settings

if TYPE_CHECKING:
    import httpx

_BY_KEY: tuple[ProviderName, ...] = tuple(name for name, row in PROVIDERS.items() if row.auto)
# A closed port refuses at once; a machine that runs a model may take its time to answer.
_PROBE_SECONDS = 1.0
_ASK_SECONDS = 3.0
# Listed beside chat models, but they cannot chat.
_NOT_FOR_CHAT = ("embed", "rerank", "whisper")


@dataclass(frozen=True, slots=True)
class LocalServer:
    name: str
    base_url: str


LOCAL_SERVERS = (
    LocalServer("Ollama", "http://127.0.0.1:11434/v1"),
    LocalServer("LM Studio", "http://127.0.0.1:1234/v1"),
    LocalServer("llama.cpp", "http://127.0.0.1:8080/v1"),
)


@dataclass(frozen=True, slots=True)
class Choice:
    """`why` is a sentence for the person. `local` is the server that was found on this machine."""

    provider: Provider
    model: str
    why: str
    local: LocalServer | None = None
    is_nobody: bool = False
    """Nobody was named and nobody was there; somebody may be later."""


async def choose_provider(
    settings: Settings,
    environ: Mapping[str, str],
    client: httpx.AsyncClient,
    *,
    local_servers: Sequence[LocalServer] = LOCAL_SERVERS,
) -> Choice:
    """Raises: ProviderAuth, ProviderRejected for a provider that the settings name but that cannot be built."""
    if settings.provider != "auto":
        why = f"The setting caddie.provider says {settings.provider}."
        return await _named(settings, settings.provider, environ, client, why)
    if settings.base_url:
        name: ProviderName = "anthropic" if _speaks_anthropic(settings.base_url) else "openai-chat"
        why = f"The setting caddie.baseUrl names a server; it is spoken to as {name}."
        return await _named(settings, name, environ, client, why)
    for name in _BY_KEY:
        key_name = PROVIDERS[name].key_name
        if environ.get(key_name, "").strip():
            # A key of the person's own naming says nothing about whose it is, so it goes to none of these.
            own = settings.model_copy(update={"api_key_env": ""})
            return await _named(own, name, environ, client, _by_key(name, environ))
    return await _local(settings, environ, client, local_servers)


def _by_key(name: ProviderName, environ: Mapping[str, str]) -> str:
    later = [PROVIDERS[other].key_name for other in _BY_KEY[_BY_KEY.index(name) + 1 :]]
    passed = [key_name for key_name in later if environ.get(key_name, "").strip()]
    before = f", which is looked at before {' and '.join(passed)}" if passed else ""
    return f"A key for {name} is in {PROVIDERS[name].key_name}{before}."


async def is_listening(server: LocalServer) -> bool:
    """Whether the port is open: a server that is busy with an answer is still there."""
    parts = urlsplit(server.base_url)
    try:
        async with asyncio.timeout(_PROBE_SECONDS):
            _, writer = await asyncio.open_connection(parts.hostname, parts.port)
    except (TimeoutError, OSError):
        return False
    writer.close()
    return True


async def _named(
    settings: Settings, name: ProviderName, environ: Mapping[str, str], client: httpx.AsyncClient, why: str
) -> Choice:
    provider = build_provider(settings.model_copy(update={"provider": name}), environ, client)
    model = settings.model or provider.default_model
    if not model and settings.base_url:
        key = environ.get(settings.api_key_env or PROVIDERS[name].key_name, "").strip()
        model = await _first_model(client, settings.base_url, _ASK_SECONDS, key)
    return Choice(provider, model, why)


async def _local(
    settings: Settings, environ: Mapping[str, str], client: httpx.AsyncClient, servers: Sequence[LocalServer]
) -> Choice:
    models = await asyncio.gather(*(_first_model(client, server.base_url, _PROBE_SECONDS) for server in servers))
    for server, model in zip(servers, models, strict=True):
        if model:
            # A local server gets no key: it did not ask for one.
            found = settings.model_copy(update={"provider": "openai-chat", "base_url": server.base_url})
            why = f"No key is in the environment, and {server.name} answers at {server.base_url}."
            provider = build_provider(found, {}, client)
            return Choice(provider, settings.model or await _first_to_chat(provider, model), why, local=server)
    offline = build_provider(settings.model_copy(update={"provider": "offline"}), environ, client)
    names = ", ".join(PROVIDERS[name].key_name for name in _BY_KEY)
    looked = f"none of {', '.join(server.name for server in servers)}" if servers else "no local server"
    why = f"No language model: none of {names} is set, and {looked} answers on this machine."
    return Choice(offline, offline.default_model, why, is_nobody=True)


async def _first_to_chat(provider: Provider, first: str) -> str:
    """Some servers tell elsewhere than in the plain list which of their models only make vectors."""
    try:
        async with asyncio.timeout(_ASK_SECONDS):
            models = await provider.list_models()
    except (TimeoutError, ProviderError):
        return first
    return models[0].id if models else first


async def _first_model(client: httpx.AsyncClient, base_url: str, seconds: float, key: str = "") -> str:
    """The first chat model a server lists; empty when it does not answer in time, or not like such a server."""
    # Only an adapter that is about to use httpx imports it; see table.py.
    import httpx

    from caddie.providers.http import join

    try:
        async with asyncio.timeout(seconds):
            headers = {"authorization": f"Bearer {key}"} if key else {}
            response = await client.get(join(base_url, prefix="/v1", path="/models"), headers=headers)
            listed = response.json() if response.is_success else None
    except (TimeoutError, httpx.HTTPError, ValueError):
        return ""
    entries = listed.get("data") if isinstance(listed, dict) else None
    ids = [entry["id"] for entry in entries or () if isinstance(entry, dict) and isinstance(entry.get("id"), str)]
    return next((name for name in ids if not any(word in name.lower() for word in _NOT_FOR_CHAT)), "")


def _speaks_anthropic(base_url: str) -> bool:
    parts = urlsplit(base_url)
    return "anthropic" in f"{parts.hostname or ''}{parts.path}".lower()
