"""What does the tools panel need of whoever opens it? One port; the panel itself knows the wire's values only."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Literal, Protocol

from caddie.protocol.tools import State
from caddie.terminal.panel_rows import View

Scope = Literal["user", "workspace"]


class Refused(Exception):
    """What was asked for cannot be done; the text is for the person."""


class Desk(Protocol):
    """What the panel shows and changes. Whatever is awaited may raise Refused. `news` is set when anything changed."""

    news: asyncio.Event

    def view(self) -> View: ...

    def place(self, scope: Scope) -> str:
        """The file that holds this scope."""
        ...

    async def set_state(self, tool: str, state: State | Literal["default"], scope: Scope) -> Sequence[str]:
        """`*` is everything. Warnings for the person."""
        ...

    async def cycle_state(self, tool: str, scope: Scope) -> Sequence[str]: ...

    async def undo(self) -> Scope | None:
        """Take back the last change made here; None when there is none."""
        ...

    async def use_tools(self, on: bool, scope: Scope) -> None: ...

    def explain(self, name: str) -> Sequence[str]: ...

    async def restart(self, server: str) -> None: ...

    def log(self, server: str) -> str:
        """What the server last wrote to its stderr; empty when that is not known."""
        ...

    async def revoke(self, grant: str) -> None: ...
