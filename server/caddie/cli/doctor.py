"""`caddie doctor`: what is set, what is reachable, what is wrong and how to mend it."""

from __future__ import annotations

import argparse
import platform
import shutil
import sys
from collections.abc import AsyncIterator, Iterator

from caddie import __version__
from caddie.cli.opening import opened, put, run
from caddie.engine.engine import Engine
from caddie.errors import CaddieError
from caddie.tools.builtin.ripgrep import find_ripgrep
from caddie.tools.builtin.sandbox import find_sandbox

GOOD, BAD, NOTE = "✓", "✗", "·"


def doctor(args: argparse.Namespace) -> int:
    return run(lambda: _doctor(args))


async def _doctor(args: argparse.Namespace) -> int:
    async with opened(args.workspace, trust=args.trust, wait=args.wait) as engine:
        rows = [
            *_machine(),
            await _sandbox(engine),
            *_settings(engine),
            *[row async for row in _provider(engine)],
            *_servers(engine),
        ]
    for mark, text in rows:
        put(f"{mark} {text}")
    return 1 if any(mark == BAD for mark, _ in rows) else 0


def _machine() -> Iterator[tuple[str, str]]:
    yield GOOD, f"Caddie {__version__} on Python {platform.python_version()}, {platform.system()}"
    yield (GOOD, "bash found") if shutil.which("bash") else (BAD, "bash was not found: the tool Bash runs with sh")
    try:
        yield GOOD, f"ripgrep found: {find_ripgrep()}"
    except CaddieError as error:
        yield BAD, error.message
    if sys.platform == "win32":
        yield NOTE, "Windows is not tested yet"


async def _sandbox(engine: Engine) -> tuple[str, str]:
    sandbox = await find_sandbox()
    if sandbox.why_not and engine.configuration.settings.sandbox.mode == "always":
        return BAD, f"sandbox.mode is always, and {sandbox.why_not}: Bash runs no command"
    if sandbox.why_not:
        return NOTE, f"no sandbox for commands: {sandbox.why_not} (see the setting sandbox.mode)"
    return GOOD, f"sandbox for commands: {sandbox.program} (used in permission mode auto; see sandbox.mode)"


def _settings(engine: Engine) -> Iterator[tuple[str, str]]:
    places = engine.configuration.places
    for path in (places.user_settings, places.workspace_settings):
        yield NOTE, f"settings file {path}{'' if path.exists() else ' (not there; defaults hold)'}"
    for finding in engine.check.findings():
        yield NOTE if finding.severity == "notice" else BAD, f"settings: {finding.words}"
    if engine.configuration.wants_trust and not engine.configuration.is_trusted:
        yield NOTE, engine.configuration.trust_question() + " Pass --trust, or answer in the editor."
    for text in engine.configuration.workspace_servers.problems:
        yield BAD, text


async def _provider(engine: Engine) -> AsyncIterator[tuple[str, str]]:
    settings = engine.configuration.settings
    for name in engine.models.keys:
        yield GOOD, f"{name} is set"
    try:
        choice = await engine.models.choose(settings)
    except CaddieError as error:
        yield BAD, error.message
        return
    yield GOOD, f"provider {choice.provider.name}, model {choice.model}. {choice.why}"


def _servers(engine: Engine) -> Iterator[tuple[str, str]]:
    for status in engine.catalogue.servers:
        if status.state == "ready":
            yield GOOD, f"MCP server {status.name}: ready, {status.tools} tools ({status.origin})"
        else:
            yield BAD, f"MCP server {status.name}: {status.state}: {status.reason} ({status.origin})"
    if not engine.catalogue.servers:
        yield NOTE, "no MCP servers: add some to mcp.servers, .mcp.json or .vscode/mcp.json"
