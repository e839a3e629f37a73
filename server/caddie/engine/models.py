"""Which provider and model does a turn speak to? Chosen once, and again when the settings or the machine change."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from caddie.chat.provider import ModelInfo
from caddie.errors import ProviderError
from caddie.providers import LOCAL_SERVERS, PROVIDERS, Choice, LocalServer, choose_provider, is_listening
from caddie.settings import Settings

if TYPE_CHECKING:
    import httpx


@dataclass(frozen=True, slots=True)
class ModelList:
    """The models of the chosen provider, the chosen one among them. `problem` says why there are no others."""

    choice: Choice
    models: tuple[ModelInfo, ...]
    problem: str = ""


class Models:
    def __init__(self, environ: Mapping[str, str], local_servers: tuple[LocalServer, ...] = LOCAL_SERVERS) -> None:
        self._environ = environ
        self._local_servers = local_servers
        self._client: httpx.AsyncClient | None = None
        self._making = asyncio.Lock()
        self._choice: Choice | None = None
        self._chosen_for: object = None

    async def choose(self, settings: Settings) -> Choice:
        """Raises: ProviderAuth, ProviderRejected when the settings name a provider that cannot be used."""
        key = (settings.provider, settings.model, settings.base_url, settings.api_key_env, settings.request_timeout)
        known = self._choice if self._chosen_for == key else None
        if known is None or await self._is_stale(known):
            client = await self._http()
            made = await choose_provider(settings, self._environ, client, local_servers=self._local_servers)
            self._choice = known if known and made.is_nobody and known.is_nobody else made
            self._chosen_for = key
        assert self._choice is not None
        return self._choice

    async def _is_stale(self, choice: Choice) -> bool:
        """What was found on this machine may be gone, and what was not there may have come."""
        return choice.is_nobody or (choice.local is not None and not await is_listening(choice.local))

    async def listing(self, settings: Settings) -> ModelList:
        """Bounded in time. Raises: as `choose`."""
        choice = await self.choose(settings)
        problem, models = "", tuple[ModelInfo, ...]()
        try:
            models = await choice.provider.list_models()
        except ProviderError as error:
            problem = error.message
        if choice.model not in [model.id for model in models]:
            models = (ModelInfo(choice.model), *models)
        return ModelList(choice, models, problem)

    @property
    def keys(self) -> tuple[str, ...]:
        """The variables of this environment that hold a key of a known provider."""
        return tuple(
            row.key_name for row in PROVIDERS.values() if row.auto and self._environ.get(row.key_name, "").strip()
        )

    @property
    def chosen(self) -> Choice | None:
        """What the last turn spoke to."""
        return self._choice

    def news(self, before: Choice | None) -> str:
        """What to tell the person when this machine, not a setting, decided that somebody else answers now."""
        now = self._choice
        if now is None or now.local == (before.local if before else None):
            return ""
        return now.why if now.local or now.is_nobody else ""

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()

    async def _http(self) -> httpx.AsyncClient:
        async with self._making:
            if self._client is None:
                self._client = await asyncio.to_thread(_make_client)
        return self._client


def _make_client() -> httpx.AsyncClient:
    import httpx  # 30 ms of imports and the certificate store, off the loop

    direct = httpx.AsyncHTTPTransport()  # a proxy has no business with servers on this machine
    return httpx.AsyncClient(mounts={f"all://{host}": direct for host in ("127.0.0.1", "localhost", "[::1]")})
