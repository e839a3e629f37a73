"""An engine for one command: started, its servers waited for, and closed whatever happens."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any

from caddie.cli.logs import write_logs
from caddie.engine.door import Door, QuietDoor
from caddie.engine.engine import Engine
from caddie.errors import CaddieError
from caddie.layers import Layer

UNTOLD_SECONDS = 1.0
"""So long a command waits for MCP servers without a word."""


@contextlib.asynccontextmanager
async def opened(
    workspace: Path,
    *,
    trust: bool,
    wait: float,
    door: Door | None = None,
    session: dict[str, Any] | None = None,
    warm: bool = False,
) -> AsyncIterator[Engine]:
    """`session` is a settings tree that holds for this command only."""
    door = door or QuietDoor(workspace_trusted=True if trust else None)
    layers = [Layer("session", session, "the command line")] if session else []
    engine = Engine(workspace, door, environ=dict(os.environ), editor_layers=layers)
    try:
        await engine.start(warm=warm)
        await _settled(engine, wait)
        yield engine
    finally:
        await engine.close()


async def _settled(engine: Engine, seconds: float) -> None:
    """Wait for the servers; a person at a terminal is told when that takes a while."""
    pending = await engine.mcp.settled(None, min(seconds, UNTOLD_SECONDS))
    if not pending or seconds <= UNTOLD_SECONDS:
        return
    if sys.stderr.isatty():
        say(f"caddie: waiting for {len(pending)} server{'s'[: len(pending) > 1]}: {', '.join(pending)} …")
    await engine.mcp.settled(None, seconds - UNTOLD_SECONDS)


def run(work: Callable[[], Coroutine[Any, Any, int]]) -> int:
    """Run a command's coroutine; SIGTERM ends it as Ctrl-C does, and our own errors become one line."""
    write_logs("ERROR", os.environ)
    try:
        return asyncio.run(_until_signal(work()))
    except CaddieError as error:
        say(f"caddie: {error.message}")
        return 2
    except asyncio.CancelledError:
        return 130


async def _until_signal(work: Coroutine[Any, Any, int]) -> int:
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError):  # Windows has no signal handlers on the loop
            loop.add_signal_handler(number, task.cancel)
    return await task


def say(text: str) -> None:
    """To the person, beside the output; as harmless as the output."""
    sys.stderr.write(printable(text) + "\n")
    sys.stderr.flush()


def put(text: str, *, end: str = "\n") -> None:
    """The output itself. What strangers wrote is shown without its control characters."""
    sys.stdout.write(printable(text) + end)
    sys.stdout.flush()


def printable(text: str) -> str:
    return "".join(character for character in text if character in "\n\t" or character.isprintable())
