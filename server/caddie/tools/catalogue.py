"""Every tool known now, from every source, under one unique wire name each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from caddie.tools.servers import ServerStatus
from caddie.tools.tool import Tool, ToolSpec


@dataclass(frozen=True, slots=True)
class Change:
    """What one update did: wire names. `changed` tools have a new definition under an old name."""

    revision: int
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]


class Catalogue:
    """Tools by wire name and servers by name. `revision` grows with each change of tools; listeners hear of each."""

    def __init__(self) -> None:
        self.revision = 0
        self._tools: dict[str, Tool] = {}
        self._servers: dict[str, ServerStatus] = {}
        self._listeners: list[Callable[[Change], None]] = []

    def listen(self, listener: Callable[[Change], None]) -> None:
        self._listeners.append(listener)

    def replace_source(self, server: str, tools: Iterable[Tool]) -> Change:
        """All tools of one source at once (`""` is the built-ins); equal definitions are no change.

        A name that another source holds already stays with that source.
        """
        old = {name: tool for name, tool in self._tools.items() if tool.spec.server == server}
        new = {tool.name: tool for tool in tools if tool.name in old or tool.name not in self._tools}
        added = tuple(sorted(new.keys() - old.keys()))
        removed = tuple(sorted(old.keys() - new.keys()))
        changed = tuple(sorted(name for name in new.keys() & old.keys() if new[name].spec != old[name].spec))
        kept = {name: tool for name, tool in self._tools.items() if name not in removed}
        self._tools = {**kept, **new}
        change = Change(self.revision + bool(added or removed or changed), added, removed, changed)
        if change.revision != self.revision:
            self.revision = change.revision
            for listener in self._listeners:
                listener(change)
        return change

    def find(self, name: str) -> Tool | None:
        return self._tools.get(name)

    @property
    def tools(self) -> Sequence[Tool]:
        """Built-ins first in their own order, then MCP tools by name: an order that arrival does not change."""
        builtin = [tool for tool in self._tools.values() if not tool.spec.server]
        served = sorted((tool for tool in self._tools.values() if tool.spec.server), key=lambda tool: tool.name)
        return (*builtin, *served)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for tool in self.tools)

    def set_server(self, status: ServerStatus) -> None:
        self._servers[status.name] = status

    def forget_server(self, name: str) -> None:
        self._servers.pop(name, None)

    @property
    def servers(self) -> tuple[ServerStatus, ...]:
        return tuple(self._servers[name] for name in sorted(self._servers))

    def find_server(self, name: str) -> ServerStatus | None:
        return self._servers.get(name)
