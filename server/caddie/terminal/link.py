"""The server as a conversation sees it: starting while the person types, started anew after a crash."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from caddie import __version__
from caddie.terminal.client import Client, Params, ServerGone


class Link:
    """`client()` starts the server when there is none; a start that fails is tried again at the next call."""

    def __init__(
        self,
        command: Sequence[str],
        workspace: Path,
        *,
        can_ask: bool,
        settings: Mapping[str, Any],
        on_event: Callable[[str, Params], None],
        on_request: Callable[[str, Params], Awaitable[Any]],
        on_gone: Callable[[ServerGone], None],
    ) -> None:
        self._command, self._workspace = tuple(command), workspace
        self._settings = dict(settings)
        self._hello = initialize_params(workspace, can_ask=can_ask, settings=self._settings)
        self._on_event, self._on_request, self._on_gone = on_event, on_request, on_gone
        self._client: Client | None = None
        self._starting: asyncio.Task[Client] | None = None
        self._watching: asyncio.Task[None] | None = None
        self.about: dict[str, Any] = {}

    @property
    def is_ready(self) -> bool:
        return self._client is not None and not self._client.is_gone

    @property
    def now(self) -> Client | None:
        """The client, if one is ready."""
        return self._client if self.is_ready else None

    async def client(self) -> Client:
        """Raises: ServerGone, RpcError, OSError."""
        if self._client is not None and self.is_ready:
            return self._client
        if self._starting is None:
            self._starting = asyncio.create_task(self._start())
        starting = self._starting
        try:
            return await asyncio.shield(starting)
        finally:
            if starting.done() and self._starting is starting:
                self._starting = None

    async def set(self, key: str, value: object) -> Client:
        """Change a setting of this conversation, for a server that is started anew too.

        Raises: ServerGone, RpcError, OSError.
        """
        self._settings[key] = value
        self._hello["initializationOptions"]["settings"] = dict(self._settings)
        client = await self.client()
        client.notify("workspace/didChangeConfiguration", {"settings": {"caddie": dict(self._settings)}})
        return client

    async def close(self) -> None:
        """The server is gone when this returns."""
        if self._watching is not None:
            self._watching.cancel()
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.gather(self._starting, return_exceptions=True)
        if self._client is not None:
            await self._client.close()

    async def _start(self) -> Client:
        if self._client is not None:
            await self._client.close()
        client = await Client.start(self._command, self._workspace, self._on_event, self._on_request)
        self._client = None
        try:
            answer = await client.request("initialize", self._hello)
        except BaseException:
            await client.close()
            raise
        self.about = answer.get("capabilities", {}).get("experimental", {}).get("caddie", {})
        client.notify("initialized", {})
        self._client = client
        self._watching = asyncio.create_task(self._watch(client))
        return client

    async def _watch(self, client: Client) -> None:
        self._on_gone(await client.ended())


def initialize_params(workspace: Path, *, can_ask: bool, settings: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "processId": os.getpid(),
        "clientInfo": {"name": "caddie-terminal", "version": __version__},
        "rootUri": workspace.as_uri(),
        "workspaceFolders": [{"uri": workspace.as_uri(), "name": workspace.name}],
        "capabilities": {
            "experimental": {
                "caddie": {
                    "permission": can_ask,
                    "question": can_ask,
                    "settingsWrite": False,
                    "editorQuery": False,
                    "diff": False,
                }
            }
        },
        "initializationOptions": {"settings": dict(settings)},
    }
