"""ToolSearch: from the model's query to an answer that holds all it needs for the call.

`select:A,B` takes exact names; `discover:task` describes and loads nothing; anything else is words. The answer
says what was not found, what was cut off, and which servers are still connecting or failed.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import Field

from caddie.search.exact_index import ExactIndex, Named, Place
from caddie.search.index import Hit, SearchIndex
from caddie.settings import Search, Settings
from caddie.tools import reasons
from caddie.tools.catalogue import Catalogue
from caddie.tools.context import ToolContext
from caddie.tools.core_tools import BRIDGE, TOOL_SEARCH
from caddie.tools.exact import resolve
from caddie.tools.patterns import first_match
from caddie.tools.servers import ServerStatus
from caddie.tools.states import Decision
from caddie.tools.tool import Tool, ToolArgs, ToolResult, ToolSpec, builtin, text_result

logger = logging.getLogger(__name__)

MAX_AT_ONCE = 64
"""More tools than this are read in a thread, a `CHUNK` at a time: about ten milliseconds each."""

CHUNK = 32
SETTLE_SECONDS = 5.0

MAX_SCHEMA_CHARS = 8_000
MAX_DESCRIPTION_CHARS = 2_000
MAX_DOUBTFUL = 3
MAX_NAMED_SHOWN = 10
"""The limit does not cut tools that the query names; beyond so many they are listed by their names only."""

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
    indexing: int = 0
    """How many tools the index has yet to take in, change or drop; until then only their exact names are found."""
    limit: int | None = None
    """The hits beyond it are there because the query names them."""
    missing: tuple[str, ...] = ()
    """The `+words` that no tool has."""
    missed: tuple[str, ...] = ()
    """The servers that the person named and that have nothing fitting, so that all tools were searched."""
    relisting: Collection[str] = ()
    """The servers that said that their tools changed, and have not told which they have now."""


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
        self._wanted: dict[str, ToolSpec] = {}
        self._due: dict[str, None] = {}
        self._working: asyncio.Task[None] | None = None

    def refresh(self) -> None:
        """Bring the index in step with catalogue, states and search scope, by difference. Large differences are
        worked off in a thread; until that is done, no answer holds anything that is gone."""
        sessions = ("", *self._sessions_with_states())
        self._wanted = self._in_scope(sessions)
        self._due = {
            name: None for name in (self._indexed | self._wanted) if self._indexed.get(name) != self._wanted.get(name)
        }
        if self._working:
            return
        if len(self._due) > MAX_AT_ONCE and (loop := _running_loop()):
            self._working = loop.create_task(self._work_off())
            self._working.add_done_callback(self._worked_off)
        else:
            self._apply(self._due)

    async def settled(self, seconds: float = SETTLE_SECONDS) -> None:
        """Wait until the index has caught up, but not for ever."""
        if self._working:
            await asyncio.wait({self._working}, timeout=seconds)

    async def search(
        self, query: str, *, limit: int | None = None, session_id: str = "", servers: Collection[str] = ()
    ) -> Found:
        """`find`, once the index has caught up, and in a thread."""
        await self.settled()
        return await asyncio.to_thread(self.find, query, limit=limit, session_id=session_id, servers=servers)

    async def _work_off(self) -> None:
        while self._due:
            names = list(self._due)[:CHUNK]
            wanted = {name: spec for name in names if (spec := self._wanted.get(name))}
            removed = [name for name in names if name not in wanted]
            await asyncio.to_thread(self._index.update, added=tuple(wanted.values()), removed=removed)
            self._note(names, wanted)

    def _worked_off(self, task: asyncio.Task[None]) -> None:
        self._working = None
        if not task.cancelled() and (error := task.exception()):
            logger.error("the search index could not follow the catalogue", exc_info=error)

    def _apply(self, names: Iterable[str]) -> None:
        names = tuple(names)
        wanted = {name: spec for name in names if (spec := self._wanted.get(name))}
        if names:
            self._index.update(added=wanted.values(), removed=[name for name in names if name not in wanted])
        self._note(names, wanted)

    def _note(self, names: Iterable[str], applied: Mapping[str, ToolSpec]) -> None:
        """What the index holds now; a tool that changed again meanwhile stays due."""
        names = tuple(names)
        self._indexed = {name: spec for name, spec in self._indexed.items() if name not in names} | dict(applied)
        due = dict(self._due)
        for name in names:
            if self._wanted.get(name) == applied.get(name):
                due.pop(name, None)
        self._due = due

    def _in_scope(self, sessions: Iterable[str]) -> dict[str, ToolSpec]:
        search = self._settings().search
        views = [self._states(session) for session in sessions]
        views = list({id(view): view for view in views}.values())
        return {
            spec.name: spec for spec in self._catalogue.specs if any(_is_indexed(spec, view, search) for view in views)
        }

    def is_indexed(self, spec: ToolSpec, session_id: str) -> bool:
        return _is_indexed(spec, self._states(session_id), self._settings().search)

    def find(
        self, query: str, *, limit: int | None = None, session_id: str = "", servers: Collection[str] = ()
    ) -> Found:
        """With `servers`, words are looked up among their tools only. Safe to call from any thread."""
        kind, text = parse_query(query)
        limit = limit or self._settings().search.limit
        if kind == "select":
            found = self._select(text, session_id)
        else:
            found = self._words(kind, text, limit, session_id, servers)
        statuses = self._catalogue.servers
        return replace(
            found,
            pending=tuple(server for server in statuses if server.state == "connecting"),
            failed=tuple(server for server in statuses if server.state in ("failed", "needsAuth")),
        )

    def _words(self, kind: Kind, text: str, limit: int, session_id: str, servers: Collection[str]) -> Found:
        wanted, due = self._wanted, self._due
        seen = self._in_scope((session_id,)) if any(self._sessions_with_states()) else wanted
        if servers:
            seen = {name: spec for name, spec in seen.items() if spec.server in servers}
        # Nothing that the session may not see, nothing that is gone, nothing in a form it no longer has.
        hidden = {name for name in self._indexed if name in due or name not in seen}
        ranking = self._index.search(text, limit, without=hidden)
        late = _named(text, [spec for name in due if (spec := seen.get(name))])
        first = [hit for hit in late if hit.exact]
        found = (*first, *ranking.hits, *(hit for hit in late if not hit.exact))
        hits = (*found[:limit], *(hit for hit in found[limit:] if hit.named))
        nothing_fits = not hits or (ranking.nothing_fits and not first)
        total = ranking.total + len(late)
        return Found(kind, text, hits, total, (), (), (), nothing_fits, len(due), limit, missing=ranking.missing)

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


def _is_indexed(spec: ToolSpec, states: Mapping[str, Decision], search: Search) -> bool:
    decision = states.get(spec.name)
    if decision is None or decision.state == "disabled" or first_match(search.exclude, spec):
        return False
    return decision.state == "deferred" or first_match(search.include_force, spec) is not None


def _named(text: str, specs: Sequence[ToolSpec]) -> list[Hit]:
    """Tools that the index does not hold yet, by name; a plain word in a sentence puts none of them first."""
    if not specs:
        return []
    names = ExactIndex()
    for spec in specs:
        names.add(spec)
    by_name = {spec.name: spec for spec in specs}
    found = names.find(text, lambda word: math.inf)
    ordered = sorted((what.place, what.rank, name, what) for name, what in found.items())
    return [_late_hit(by_name[name], what) for _, _, name, what in ordered]


def _late_hit(spec: ToolSpec, what: Named) -> Hit:
    exact = what.place == Place.FIRST
    return Hit(spec, float(exact), 0.0, 0.0, (f"{what.by}: {what.what}",), exact=exact, named=not what.by_server)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


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
    for spec in shown(found):
        lines += ["", describe(spec)]
    called = next((hit.tool.name for hit in found.hits if hit.tool.name not in BRIDGE), None)
    if called and found.kind != "discover":
        lines += ["", f'Call one with ExecuteTool: {{"tool_name": "{called}", "params": {{…}}}}']
    return "\n".join([*lines, *_remarks(found)])


def note(found: Found) -> str:
    """The answer without the tools themselves, for providers that load them."""
    return "\n".join([_headline(found), *_remarks(found)])


def shown(found: Found) -> tuple[ToolSpec, ...]:
    """The tools that are described in full."""
    if found.nothing_fits:
        return tuple(hit.tool for hit in found.hits[:MAX_DOUBTFUL])
    limit = len(found.hits) if found.limit is None else found.limit
    besides = (hit for hit in found.hits[limit:MAX_NAMED_SHOWN] if hit.exact)
    return tuple(hit.tool for hit in (*found.hits[:limit], *besides))


def _remarks(found: Found) -> Iterable[str]:
    lines = [item.why for item in found.unknown]
    if found.missing:
        lines.append(f"No tool has the required {', '.join(f'+{word}' for word in found.missing)}.")
    if found.missed:
        lines.append(f"No tool of {', '.join(found.missed)} fits; these are from elsewhere.")
    described = {spec.name for spec in shown(found)}
    if names := [hit.tool.name for hit in found.hits if hit.named and hit.tool.name not in described]:
        lines.append(f"Also named in the query, not described here (select: gives them): {', '.join(names)}")
    if found.indexing:
        lines.append(f"{found.indexing} tools have just changed and are still being read. Search again in a moment.")
    lines += [f"The MCP server {name} is listing its tools anew. Search again in a moment." for name in found.relisting]
    lines += [f"{reasons.server_not_ready(server)} Search again later." for server in found.pending]
    lines += [reasons.server_not_ready(server) for server in found.failed]
    return lines


def _headline(found: Found) -> str:
    if not found.hits:
        return "None of these names was found." if found.kind == "select" else f"No tool fits {found.query[:200]!r}."
    if found.nothing_fits:  # a wrong "nothing" would end the matter, so the nearest are shown all the same
        return f"No tool clearly fits {found.query[:200]!r}. The nearest, which may not be what you need:"
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


def make_tool_search(searcher: ToolSearcher, *, await_lists: Callable[[], Awaitable[Collection[str]]]) -> Tool:
    """`await_lists` waits, bounded, for servers whose tools have just changed, and names those that take longer."""

    async def run(args: ToolSearchArgs, context: ToolContext) -> ToolResult:
        relisting = await await_lists()
        found = await searcher.search(
            args.query, limit=args.limit, session_id=context.session.session_id, servers=context.servers
        )
        if context.servers and found.nothing_fits and found.kind != "select":  # narrowing is no dead end
            everywhere = await searcher.search(args.query, limit=args.limit, session_id=context.session.session_id)
            found = found if everywhere.nothing_fits else replace(everywhere, missed=context.servers)
        found = replace(found, relisting=relisting)
        loaded = () if found.kind == "discover" else shown(found)
        return replace(text_result(answer(found)), found=loaded, note=note(found) if loaded else "")

    return builtin(
        TOOL_SEARCH,
        "Find tools that are not in your tool list. Deferred tools are known to you by name only: search for what "
        "you need, then call the tool that was found: by its own name where it has joined your tools, else with "
        "ExecuteTool and the schema in the answer. Search before you say that something cannot be done.",
        ToolSearchArgs,
        run,
        read_only=True,
        session_only=True,
    )
