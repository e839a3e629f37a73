"""What did a server offer when it last ran? So that the tools of one that rests are known without starting it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Protocol

from pydantic import TypeAdapter, ValidationError

from caddie.mcp.remote import RemoteTool, identity_of
from caddie.settings import McpServer

logger = logging.getLogger(__name__)

_TOOLS = TypeAdapter(tuple[RemoteTool, ...])


class ManifestStore(Protocol):
    """Keeps one object per server identity. Blocking: called in threads."""

    def read(self, key: str) -> Mapping[str, Any]: ...

    def write(self, key: str, entry: Mapping[str, Any]) -> None: ...


class Manifests:
    """Without a store, what was seen in this process."""

    def __init__(self, store: ManifestStore | None) -> None:
        self._store = store
        self._seen: dict[str, tuple[RemoteTool, ...]] = {}

    async def load(self, server: McpServer) -> tuple[RemoteTool, ...] | None:
        """None when it never ran, or what was kept cannot be read."""
        key = identity_of(server)
        if key not in self._seen and self._store is not None:
            kept = await asyncio.to_thread(_read, self._store, key)
            if kept is not None:
                self._seen.setdefault(key, kept)
        return self._seen.get(key)

    async def save(self, server: McpServer, tools: Sequence[RemoteTool]) -> None:
        key, now = identity_of(server), tuple(tools)
        if self._seen.get(key) != now:
            self._seen[key] = now
            if self._store is not None:
                await asyncio.to_thread(_write, self._store, key, now)


def _read(store: ManifestStore, key: str) -> tuple[RemoteTool, ...] | None:
    try:
        return _TOOLS.validate_python(store.read(key)["tools"])
    except (KeyError, ValidationError):
        return None


def _write(store: ManifestStore, key: str, tools: tuple[RemoteTool, ...]) -> None:
    try:
        store.write(key, {"tools": [asdict(tool) for tool in tools]})
    except OSError as error:  # it is learned again then
        logger.warning("cannot keep what an MCP server offers: %s", error.strerror)
