"""Which rows does the tools panel have? From the catalogue to groups and lines: a pure function of what is known."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from caddie.protocol.mcp import ServerInfo
from caddie.protocol.permissions import GrantInfo, RuleInfo
from caddie.protocol.tools import State, ToolInfo

NEXT: dict[State, State] = {"enabled": "disabled", "disabled": "deferred", "deferred": "enabled"}


@dataclass(frozen=True, slots=True)
class View:
    """All that is known at one moment. `use` is the master switch."""

    tools: tuple[ToolInfo, ...] = ()
    servers: tuple[ServerInfo, ...] = ()
    rules: tuple[RuleInfo, ...] = ()
    grants: tuple[GrantInfo, ...] = ()
    notices: tuple[str, ...] = ()
    profile: str = "standard"
    use: bool = True

    def find_tool(self, name: str) -> ToolInfo | None:
        return next((tool for tool in self.tools if tool.name == name), None)


@dataclass(frozen=True, slots=True)
class Totals:
    enabled: int
    deferred: int
    disabled: int
    tokens_now: int
    tokens_all: int


@dataclass(frozen=True, slots=True)
class Header:
    """A server, or the built-in tools (`server` is empty). `tools` are all it has, shown or not."""

    server: str
    status: ServerInfo | None
    tools: tuple[ToolInfo, ...]
    is_open: bool

    @property
    def key(self) -> str:
        return f"server {self.server}"


@dataclass(frozen=True, slots=True)
class ToolLine:
    tool: ToolInfo

    @property
    def key(self) -> str:
        return f"tool {self.tool.name}"


@dataclass(frozen=True, slots=True)
class ServerLine:
    status: ServerInfo

    @property
    def key(self) -> str:
        return f"server {self.status.name}"


@dataclass(frozen=True, slots=True)
class RuleLine:
    rule: RuleInfo

    @property
    def key(self) -> str:
        return f"rule {self.rule.kind} {self.rule.rule} {self.rule.scope}"


@dataclass(frozen=True, slots=True)
class GrantLine:
    grant: GrantInfo

    @property
    def key(self) -> str:
        return f"grant {self.grant.id}"


@dataclass(frozen=True, slots=True)
class Title:
    """`word` is a key of the panel's table of words."""

    word: str

    @property
    def key(self) -> str:
        return f"title {self.word}"


@dataclass(frozen=True, slots=True)
class Note:
    """`word` is a key of the table of words, about `text`; without it `text` is somebody else's sentence."""

    word: str = ""
    text: str = ""

    @property
    def key(self) -> str:
        return f"note {self.word}{self.text}"


Row = Header | ToolLine | ServerLine | RuleLine | GrantLine | Title | Note


def tool_rows(view: View, query: str = "", folded: Iterable[str] = ()) -> tuple[Row, ...]:
    """Built-in tools first, then the servers by name. A filter shows what matches, folded or not."""
    wanted = _terms(query)
    closed = set(folded)
    rows: list[Row] = []
    for server, status in _sources(view):
        tools = tuple(tool for tool in view.tools if (tool.server or "") == server)
        shown = [tool for tool in tools if not wanted or _matches(wanted, tool)]
        if wanted and not shown and not (server and _has_all(wanted, server)):
            continue
        is_open = bool(wanted) or server not in closed
        rows.append(Header(server, status, tools, is_open))
        rows += [ToolLine(tool) for tool in shown if is_open]
    return tuple(rows) if rows or not wanted else (Note("nothing", query),)


def server_rows(view: View) -> tuple[Row, ...]:
    servers: list[Row] = [ServerLine(status) for status in view.servers]
    return (*(servers or [Note("no_servers")]), *(Note(text=text) for text in view.notices))


def permission_rows(view: View) -> tuple[Row, ...]:
    rules: Sequence[Row] = [RuleLine(rule) for rule in view.rules] or [Note("no_rules")]
    grants: Sequence[Row] = [GrantLine(grant) for grant in view.grants] or [Note("no_grants")]
    return (Title("rules"), *rules, Title("grants"), *grants)


def totals(tools: Iterable[ToolInfo]) -> Totals:
    listed = tuple(tools)
    counts = {state: sum(tool.state == state for tool in listed) for state in NEXT}
    return Totals(
        counts["enabled"],
        counts["deferred"],
        counts["disabled"],
        sum(tokens_now(tool) for tool in listed),
        sum(tool.tokens for tool in listed),
    )


def tokens_now(tool: ToolInfo) -> int:
    return tool.tokens if tool.state == "enabled" else 0


def _sources(view: View) -> list[tuple[str, ServerInfo | None]]:
    known: dict[str, ServerInfo | None] = {tool.server or "": None for tool in view.tools}
    known |= {status.name: status for status in view.servers}
    return sorted(known.items())


def _matches(wanted: Sequence[str], tool: ToolInfo) -> bool:
    return _has_all(wanted, f"{tool.name}\n{tool.label}\n{tool.description}\n{tool.server or 'built-in'}")


def _has_all(wanted: Sequence[str], text: str) -> bool:
    folded = _fold(text)
    return all(word in folded for word in wanted)


def _terms(query: str) -> list[str]:
    return _fold(query).split()


def _fold(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
