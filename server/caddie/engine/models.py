"""Which provider and model a turn speaks to; chosen at the first turn and again when the settings change."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from caddie.providers import LOCAL_SERVERS, Choice, LocalServer, choose_provider
from caddie.settings import Settings

if TYPE_CHECKING:
    import httpx


class Models:
    def __init__(self, environ: Mapping[str, str], local_servers: tuple[LocalServer, ...] = LOCAL_SERVERS) -> None:
        self._environ = environ
        self._local_servers = local_servers
        self._client: httpx.AsyncClient | None = None
        self._choice: Choice | None = None
        self._chosen_for: object = None

    async def choose(self, settings: Settings) -> Choice:
        """Raises: ProviderAuth, ProviderRejected when the settings name a provider that cannot be used."""
        key = (settings.provider, settings.model, settings.base_url, settings.api_key_env, settings.request_timeout)
        if self._choice is None or self._chosen_for != key:
            client = await self._http()
            self._choice = await choose_provider(settings, self._environ, client, local_servers=self._local_servers)
            self._chosen_for = key
        return self._choice

    @property
    def chosen(self) -> Choice | None:
        """What the last turn spoke to."""
        return self._choice

    def forget(self) -> None:
        """Look again at the next turn: a local server may have come or gone."""
        self._choice = None

    async def close(self) -> None:
        if self._client is not None:
            await self._client.aclose()

    async def _http(self) -> httpx.AsyncClient:
        if self._client is None:
            self._client = await asyncio.to_thread(_make_client)
        return self._client


def _make_client() -> httpx.AsyncClient:
    import httpx  # 30 ms of imports and the certificate store, off the loop

    direct = httpx.AsyncHTTPTransport()  # a proxy has no business with servers on this machine
    return httpx.AsyncClient(mounts={f"all://{host}": direct for host in ("127.0.0.1", "localhost", "[::1]")})
