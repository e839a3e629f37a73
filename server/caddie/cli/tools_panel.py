"""`caddie tools` at a terminal: the panel, on an engine of its own."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import logging.handlers
import os
import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from caddie.cli.opening import opened
from caddie.engine.door import QuietDoor
from caddie.engine.engine import Engine
from caddie.errors import CaddieError, ServerFailed
from caddie.protocol.tools import State
from caddie.rpc import convert
from caddie.terminal.panel import ToolsPanel
from caddie.terminal.panel_desk import Refused, Scope
from caddie.terminal.panel_rows import View
from caddie.terminal.panel_words import Words, language_of
from caddie.tools.catalogue import Change
from caddie.tools.permissions import read_rules
from caddie.tools.servers import ServerStatus

_LISTS = ("enabled", "deferred", "disabled")
Lists = dict[str, list[str] | None]


async def show_panel(args: argparse.Namespace) -> int:
    door = PanelDoor(trusted=True if args.trust else None)
    words = Words(language_of(os.environ))
    with _logs_held():
        async with opened(args.workspace, trust=args.trust, wait=0, door=door) as engine:
            panel = ToolsPanel(EngineDesk(engine, door.news), words)
            with _left_when_the_window_closes(panel):
                await panel.run_async()
    return 0


class PanelDoor(QuietDoor):
    """Tells the panel that there is something new; nobody is asked anything."""

    def __init__(self, *, trusted: bool | None) -> None:
        super().__init__(workspace_trusted=trusted)
        self.news = asyncio.Event()

    def tools_changed(self, change: Change) -> None:
        self.news.set()

    def server_changed(self, status: ServerStatus) -> None:
        self.news.set()


@dataclass(frozen=True, slots=True)
class _Step:
    """One change of a scope's lists, as undo needs it."""

    scope: Scope
    before: Lists
    after: Lists


class EngineDesk:
    """The panel's `Desk` on an engine in this process."""

    def __init__(self, engine: Engine, news: asyncio.Event) -> None:
        self.news = news
        self._engine = engine
        self._steps: list[_Step] = []

    def view(self) -> View:
        engine = self._engine
        resolved = engine.configuration.resolved()
        return View(
            tools=tuple(convert.tool(item) for item in engine.admin.listing()),
            servers=tuple(convert.server(status) for status in engine.catalogue.servers),
            rules=tuple(convert.rule(rule) for rule in read_rules(resolved)),
            grants=tuple(convert.grant(grant) for grant in engine.grants.held("")),
            notices=tuple(engine.configuration.notices()),
            profile=resolved.settings.tools.profile,
            use=resolved.settings.tools.use,
        )

    def place(self, scope: Scope) -> str:
        places = self._engine.configuration.places
        if scope == "workspace":
            return str(places.workspace_settings.relative_to(places.workspace))
        path, home = places.user_settings, Path.home()
        return f"~/{path.relative_to(home).as_posix()}" if path.is_relative_to(home) else str(path)

    async def set_state(self, tool: str, state: State | Literal["default"], scope: Scope) -> Sequence[str]:
        with self._step(scope):
            return (await self._engine.admin.set_state([(tool, state)], scope))[1]

    async def cycle_state(self, tool: str, scope: Scope) -> Sequence[str]:
        with self._step(scope):
            return (await self._engine.admin.cycle_state(tool, scope))[1]

    async def undo(self) -> Scope | None:
        if not self._steps:
            return None
        step = self._steps[-1]
        with _refusing():
            if self._lists(step.scope) != step.after:
                self._steps.clear()
                raise Refused("The settings were changed elsewhere meanwhile; they stay as they are.")
            for name in _LISTS:
                if step.before[name] != step.after[name]:
                    await self._engine.admin.write_setting(f"tools.{name}", step.before[name], step.scope)
        self._steps.pop()
        return step.scope

    async def use_tools(self, on: bool, scope: Scope) -> None:
        with _refusing():
            await self._engine.admin.write_setting("tools.use", on, scope)

    def explain(self, name: str) -> Sequence[str]:
        return self._engine.admin.explain(name).sentences

    async def restart(self, server: str) -> None:
        with _refusing():
            await self._engine.mcp.restart(server)

    def log(self, server: str) -> str:
        try:
            return self._engine.mcp.log(server)
        except ServerFailed:  # it has just gone
            return ""

    async def revoke(self, grant: str) -> None:
        with _refusing():
            self._engine.grants.revoke(grant)

    @contextlib.contextmanager
    def _step(self, scope: Scope) -> Iterator[None]:
        """Remember what a change did to the scope's lists."""
        before = self._lists(scope)
        with _refusing():
            try:
                yield
            finally:
                after = self._lists(scope)
                if after != before:
                    self._steps.append(_Step(scope, before, after))

    def _lists(self, scope: Scope) -> Lists:
        tools = self._engine.configuration.scope_tree(scope).get("tools")
        tree = tools if isinstance(tools, dict) else {}
        return {name: list(value) if isinstance(value := tree.get(name), list) else None for name in _LISTS}


@contextlib.contextmanager
def _refusing() -> Iterator[None]:
    """Our own errors become a sentence in the panel; a mistake of ours stays one."""
    try:
        yield
    except CaddieError as error:
        raise Refused(error.message) from None
    except OSError as error:  # a read-only folder, a full disk
        raise Refused(f"That could not be saved: {error.strerror or error}.") from None


@contextlib.contextmanager
def _left_when_the_window_closes(panel: ToolsPanel) -> Iterator[None]:
    """A closed window ends the servers too."""
    loop = asyncio.get_running_loop()
    number = getattr(signal, "SIGHUP", None)
    try:
        if number is not None:
            loop.add_signal_handler(number, panel.exit)
        yield
    finally:
        if number is not None:
            loop.remove_signal_handler(number)


@contextlib.contextmanager
def _logs_held() -> Iterator[None]:
    """What is logged while the panel is on the screen is said when it is gone."""
    root = logging.getLogger()
    usual = list(root.handlers)
    held = [logging.handlers.MemoryHandler(1_000_000, logging.CRITICAL + 1, target=handler) for handler in usual]
    root.handlers[:] = held
    try:
        yield
    finally:
        root.handlers[:] = usual
        for handler in held:
            handler.close()
