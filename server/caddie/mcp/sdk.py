"""When is the MCP SDK imported? Once, in a thread: it takes half a second, which the event loop does not have."""

from __future__ import annotations

import asyncio
import importlib
import threading

_lock = threading.Lock()


async def load_sdk() -> None:
    """After this, `from mcp import …` inside a function costs nothing."""
    await asyncio.to_thread(_import_once)


def _import_once() -> None:
    with _lock:
        for module in ("mcp", "mcp_types", "mcp.client.streamable_http"):
            importlib.import_module(module)
