"""ToolSearch: from the model's query to an answer that holds all it needs for the call.

`select:A,B` takes exact names; `discover:task` describes and loads nothing; anything else is words. The answer
says what was not found, what was cut off, and which servers are still connecting or failed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import Field

from caddie.search.index import Hit, SearchIndex
from caddie.settings import Settings
from caddie.tools import reasons
from caddie.tools.catalogue import Catalogue
from caddie.tools.context import ToolContext
from caddie.tools.core_tools import TOOL_SEARCH
from caddie.tools.exact import resolve
from caddie.tools.patterns import first_match
from caddie.tools.servers import ServerStatus
from caddie.tools.states import Decision
from caddie.tools.tool import Tool, ToolArgs, ToolResult, ToolSpec, builtin, text_result

MAX_SCHEMA_CHARS = 8_000
MAX_DESCRIPTION_CHARS = 2_000

Kind = Literal["select", "discover", "words"]


@dataclass(frozen=True, slots=True)
class Unknown:
    """A name of a `select:` that gave no tool, and the sentence that says why."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Found:
    kind: Kind
    query: str
    hits: tuple[Hit, ...]
    total: int
    unknown: tuple[Unknown, ...]
    pending: tuple[ServerStatus, ...]
    failed: tuple[ServerStatus, ...]
    nothing_fits: bool


class ToolSearcher:
    """Searches the index as one session sees it: never a disabled tool, never one that cannot be executed."""

    def __init__(
        self,
        catalogue: Catalogue,
        index: SearchIndex,
        *,
        states: Callable[[str], Mapping[str, Decision]],
        settings: Callable[[], Settings],
        sessions_with_states: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        self._catalogue = catalogue
        self._index = index
        self._states = states
        self._settings = settings
        self._sessions_with_states = sessions_with_states
        self._indexed: dict[str, ToolSpec] = {}

    def refresh(self) -> None:
        """Bring the index in step with catalogue, states and search scope, by difference."""
        sessions = ("", *self._sessions_with_states())
        specs = self._catalogue.specs
        wanted = {spec.name: spec for spec in specs if any(self.is_indexed(spec, session) for session in sessions)}
        removed = [name for name in self._indexed if name not in wanted]
        added = [spec for name, spec in wanted.items() if self._indexed.get(name) != spec]
        if added or removed:
            self._index.update(added=added, removed=removed)
        self._indexed = wanted

    def is_indexed(self, spec: ToolSpec, session_id: str) -> bool:
        search = self._settings().search
        decision = self._states(session_id).get(spec.name)
        if decision is None or decision.state == "disabled" or first_match(search.exclude, spec):
            return False
        return decision.state == "deferred" or first_match(search.include_force, spec) is not None

    def find(self, query: str, *, limit: int | None = None, session_id: str = "") -> Found:
        kind, text = parse_query(query)
        limit = limit or self._settings().search.limit
        if kind == "select":
            found = self._select(text, session_id)
        else:
            found = self._words(kind, text, limit, session_id)
        servers = self._catalogue.servers
        return replace(
            found,
            pending=tuple(server for server in servers if server.state == "connecting"),
            failed=tuple(server for server in servers if server.state in ("failed", "needsAuth")),
        )

    def _words(self, kind: Kind, text: str, limit: int, session_id: str) -> Found:
        hidden = sum(not self.is_indexed(spec, session_id) for spec in self._indexed.values()) if session_id else 0
        ranking = self._index.search(text, limit + hidden)
        hits = tuple(hit for hit in ranking.hits if self.is_indexed(hit.tool, session_id))[:limit]
        total = max(ranking.total - hidden, len(hits)) if hidden else ranking.total
        return Found(kind, text, hits, total, (), (), (), ranking.nothing_fits or not hits)

    def _select(self, text: str, session_id: str) -> Found:
        hits: dict[str, Hit] = {}
        unknown: list[Unknown] = []
        for name in _names(text):
            specs = resolve(name, self._catalogue.specs)
            if len(specs) == 1 and (why := self._why_hidden(specs[0], session_id)) is None:
                hits[specs[0].name] = Hit(specs[0], 1.0, 1.0, 1.0, ("exact name",), exact=True)
            elif len(specs) == 1:
                unknown.append(Unknown(name, why or ""))
            else:
                unknown.append(Unknown(name, self._why_unknown(name, specs)))
        return Found("select", text, tuple(hits.values()), len(hits), tuple(unknown), (), (), not hits)

    def _why_hidden(self, spec: ToolSpec, session_id: str) -> str | None:
        decision = self._states(session_id).get(spec.name)
        return reasons.disabled(spec, decision.source) if decision and decision.state == "disabled" else None

    def _why_unknown(self, name: str, specs: Sequence[ToolSpec]) -> str:
        if specs:
            return reasons.ambiguous(name, specs)
        status = reasons.server_of(name, self._catalogue)
        if status and status.state != "ready":
            return reasons.server_not_ready(status)
        return reasons.unknown(name, reasons.nearest_names(self._catalogue.specs, name))


def parse_query(query: str) -> tuple[Kind, str]:
    trimmed = query.strip()
    head, colon, rest = trimmed.partition(":")
    kind = head.strip().casefold()
    if colon and kind in ("select", "discover"):
        return ("select" if kind == "select" else "discover"), rest.strip()
    return "words", trimmed


def _names(text: str) -> list[str]:
    return list(dict.fromkeys(name.strip() for name in text.replace("\n", ",").split(",") if name.strip()))


def answer(found: Found) -> str:
    """The text the model gets. Descriptions and schemas are the servers' own words."""
    lines = [_headline(found)]
    for hit in found.hits:
        lines += ["", describe(hit.tool)]
    if found.hits and found.kind != "discover":
        lines += ["", f'Call one with ExecuteTool: {{"tool_name": "{found.hits[0].tool.name}", "params": {{…}}}}']
    lines += [item.why for item in found.unknown]
    lines += [f"{reasons.server_not_ready(server)} Search again later." for server in found.pending]
    lines += [reasons.server_not_ready(server) for server in found.failed]
    return "\n".join(lines)


def _headline(found: Found) -> str:
    if not found.hits:
        return "None of these names was found." if found.kind == "select" else f"No tool fits {found.query[:200]!r}."
    count = f"Found {len(found.hits)} tool{'s' if len(found.hits) > 1 else ''}"
    if found.total > len(found.hits):
        return f"{count}; {found.total - len(found.hits)} more match less well (search with other words to see them)."
    return f"{count}."


def describe(spec: ToolSpec) -> str:
    """Name, description and schema of one tool, in the form that search answers and picks share."""
    schema = json.dumps(spec.input_schema, ensure_ascii=False)
    if len(schema) > MAX_SCHEMA_CHARS:
        schema = schema[:MAX_SCHEMA_CHARS] + " …"
    description = "\n".join(_plain(line) for line in spec.description[:MAX_DESCRIPTION_CHARS].strip().splitlines())
    return f"## {spec.name}\n{description}\n```json\n{schema}\n```"


def _plain(line: str) -> str:
    """A description cannot begin a heading or a fence of its own and so pose as another tool."""
    return "    " + line if line.lstrip().startswith(("#", "```", "<")) else line


class ToolSearchArgs(ToolArgs):
    query: str = Field(
        description=(
            "What you need, in plain words of any language. `+word` makes a word required. "
            "`select:name1,name2` takes exact tool names. `discover:task` only describes fitting tools."
        )
    )
    limit: int | None = Field(None, ge=1, le=50, description="How many tools at most; the default is 5.")


def make_tool_search(searcher: ToolSearcher) -> Tool:
    async def run(args: ToolSearchArgs, context: ToolContext) -> ToolResult:
        found = searcher.find(args.query, limit=args.limit, session_id=context.session.session_id)
        return text_result(answer(found))

    return builtin(
        TOOL_SEARCH,
        "Find tools that are not in your tool list. Deferred tools are known to you by name only: search for what "
        "you need, read the schema in the answer, then call the tool with ExecuteTool. Search before you say that "
        "something cannot be done.",
        ToolSearchArgs,
        run,
        read_only=True,
        session_only=True,
    )
