"""A desk with the fixture server `targets` connected over stdio: one tool for each property a call can have."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

from engine_kit import BOUND, Desk, desk

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SERVER = Path(__file__).parent / "fixtures" / "mcp_servers" / "targets.py"


class Targets:
    """The desk, and what the server heard."""

    def __init__(self, one: Desk, log: Path) -> None:
        self.desk = one
        self._log = log

    @property
    def heard(self) -> list[list[Any]]:
        return [json.loads(line) for line in self._log.read_text().splitlines()] if self._log.exists() else []

    def arguments(self, tool: str) -> list[Any]:
        """What each call of a tool brought to the server."""
        return [entry[2] for entry in self.heard if entry[:2] == ["call", tool]]

    async def until(self, is_so: Callable[[], Any]) -> None:
        """Another process writes the log, so that only looking again tells."""
        async with asyncio.timeout(BOUND):
            while not is_so():  # noqa: ASYNC110
                await asyncio.sleep(0.01)


@contextlib.asynccontextmanager
async def targets(
    workspace: Path, *, settings: Mapping[str, Any] | None = None, timeout: float = 30, **more: Any
) -> AsyncIterator[Targets]:
    log = workspace.parent / "heard.jsonl"
    server = {"command": sys.executable, "args": [str(SERVER), str(log)], "timeout": timeout}
    tree = {**(settings or {}), "mcp": {"servers": {"acme": server}}}
    async with desk(workspace, settings=tree, **more) as one:
        assert await one.engine.mcp.settled(["acme"], BOUND) == ()
        yield Targets(one, log)
