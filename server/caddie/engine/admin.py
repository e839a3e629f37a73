"""What the person does with tools: list them, set their states, and ask why one is as it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from caddie.engine.tokens import tokens_of
from caddie.errors import InvalidInput, ToolNotFound
from caddie.tools import reasons
from caddie.tools.core_tools import BRIDGE
from caddie.tools.exact import resolve
from caddie.tools.patterns import first_match, matches
from caddie.tools.servers import ServerStatus
from caddie.tools.states import NEXT_STATE, Decision, changed_lists
from caddie.tools.tool import State, ToolSpec

if TYPE_CHECKING:
    from caddie.engine.engine import Engine

WriteScope = Literal["user", "workspace", "session"]
_STATES: tuple[State, ...] = ("disabled", "deferred", "enabled")


@dataclass(frozen=True, slots=True)
class Listed:
    spec: ToolSpec
    decision: Decision
    tokens: int


@dataclass(frozen=True, slots=True)
class Explanation:
    name: str
    listed: Listed | None
    server: ServerStatus | None
    is_indexed: bool
    deferral: str
    sentences: tuple[str, ...]
    suggestions: tuple[str, ...]


class ToolAdmin:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def listing(self, session_id: str = "") -> tuple[Listed, ...]:
        states = self._engine.tools.states(session_id)
        return tuple(_listed(spec, states[spec.name]) for spec in self._engine.catalogue.specs)

    async def set_state(
        self, changes: Iterable[tuple[str, State | Literal["default"]]], scope: WriteScope, session_id: str = ""
    ) -> tuple[tuple[Listed, ...], tuple[str, ...]]:
        """The tools whose state changed, and warnings. Raises: InvalidInput."""
        before = {item.spec.name: item.decision for item in self.listing(session_id)}
        warnings: list[str] = []
        for pattern, state in changes:
            warnings += self._warnings(pattern, state)
            await self._write_lists(pattern, state, scope, session_id)
        await self._engine.apply_settings()
        after = self.listing(session_id)
        changed = tuple(item for item in after if before.get(item.spec.name) != item.decision)
        return changed, tuple(dict.fromkeys(warnings))

    async def cycle_state(
        self, name: str, scope: WriteScope, session_id: str = ""
    ) -> tuple[tuple[Listed, ...], tuple[str, ...]]:
        """Raises: ToolNotFound, InvalidInput."""
        found = resolve(name, self._engine.catalogue.specs)
        if len(found) != 1:
            raise self._not_found(name, found)
        if found[0].name in BRIDGE:
            raise InvalidInput(f"{name} is there while any tool is deferred; it has no state of its own.")
        state = self._engine.tools.states(session_id)[found[0].name].state
        return await self.set_state([(found[0].name, NEXT_STATE[state])], scope, session_id)

    async def write_setting(self, key: str, value: Any, scope: Literal["user", "workspace"]) -> str:
        """Where it was stored, for the person."""
        if await self._engine.door.write_setting(f"{key}", value, scope):
            return f"the editor's {scope} settings"
        path = self._engine.configuration.write_file(scope, key, value)
        await self._engine.apply_settings()
        return path

    async def _write_lists(
        self, pattern: str, state: State | Literal["default"], scope: WriteScope, session_id: str
    ) -> None:
        configuration = self._engine.configuration
        if scope == "session":
            if not session_id:
                raise InvalidInput("scope session needs a sessionId.")
            tree = configuration.session_tree(session_id)
            lists = changed_lists(tree, pattern, state)
            configuration.set_session(session_id, {**tree, "tools": {**tree.get("tools", {}), **lists}})
            return
        lists = changed_lists(configuration.scope_tree(scope), pattern, state)
        before = changed_lists(configuration.scope_tree(scope), "", "default")
        for name in _STATES:
            if lists[name] != before[name]:
                await self.write_setting(f"tools.{name}", lists[name] or None, scope)

    def _warnings(self, pattern: str, state: State | Literal["default"]) -> Iterable[str]:
        hit = [spec for spec in self._engine.catalogue.specs if matches(pattern, spec)]
        if pattern != "*" and not hit:
            yield f"{pattern!r} matches no tool that is known now; it is kept for when one comes."
        if state != "default" and any(spec.name in BRIDGE for spec in hit):
            yield "ToolSearch and ExecuteTool stay while any tool is deferred."

    # Explaining.

    def explain(self, name: str, session_id: str = "") -> Explanation:
        specs = self._engine.catalogue.specs
        found = resolve(name, specs)
        server = self._server(name, found)
        if len(found) != 1:
            return self._explain_missing(name, found, server)
        spec = found[0]
        decision = self._engine.tools.states(session_id)[spec.name]
        indexed = self._engine.searcher.is_indexed(spec, session_id)
        sentences = (
            _state_sentence(spec, decision),
            *self._server_sentence(server),
            *self._index_sentence(spec, decision, indexed),
            _change_sentence(spec, decision),
        )
        listed = _listed(spec, decision)
        return Explanation(spec.name, listed, server, indexed, self.deferral(), tuple(filter(None, sentences)), ())

    def deferral(self) -> str:
        mode = self._engine.configuration.settings.tools.deferral
        return "bridge" if mode in ("auto", "native", "stub", "bridge") else mode

    def _explain_missing(self, name: str, found: Sequence[ToolSpec], server: ServerStatus | None) -> Explanation:
        if found:
            suggestions = tuple(spec.name for spec in found)
            return Explanation(name, None, None, False, self.deferral(), (reasons.ambiguous(name, found),), suggestions)
        if server and server.state != "ready":
            return Explanation(name, None, server, False, self.deferral(), (reasons.server_not_ready(server),), ())
        near = tuple(reasons.nearest_names(self._engine.catalogue.specs, name))
        return Explanation(name, None, server, False, self.deferral(), (reasons.unknown(name, near),), near)

    def _server(self, name: str, found: Sequence[ToolSpec]) -> ServerStatus | None:
        if len(found) == 1:
            return self._engine.catalogue.find_server(found[0].server)
        return reasons.server_of(name, self._engine.catalogue)

    def _server_sentence(self, server: ServerStatus | None) -> Iterable[str]:
        if server and server.state == "ready":
            yield f"Its MCP server {server.name} is ready with {server.tools} tools (configured in {server.origin})."
        elif server:
            yield reasons.server_not_ready(server)

    def _index_sentence(self, spec: ToolSpec, decision: Decision, indexed: bool) -> Iterable[str]:
        if indexed:
            yield "ToolSearch can find it."
        elif pattern := first_match(self._engine.configuration.settings.search.exclude, spec):
            yield f'ToolSearch does not find it: search.exclude has "{pattern}".'
        elif decision.state == "enabled" and spec.name not in BRIDGE:
            yield "ToolSearch does not list it, because the model has its full schema already."

    def _not_found(self, name: str, found: Sequence[ToolSpec]) -> ToolNotFound:
        if found:
            return ToolNotFound(reasons.ambiguous(name, found), name=name, suggestions=[spec.name for spec in found])
        near = reasons.nearest_names(self._engine.catalogue.specs, name)
        return ToolNotFound(reasons.unknown(name, near), name=name, suggestions=near)


def _listed(spec: ToolSpec, decision: Decision) -> Listed:
    return Listed(spec, decision, tokens_of(spec.name, spec.description, spec.input_schema))


_MEANING = {
    "enabled": "its full schema is in the prompt",
    "deferred": "the model knows its name and finds the rest with ToolSearch",
    "disabled": "the model does not know it, and calls are refused",
}


def _state_sentence(spec: ToolSpec, decision: Decision) -> str:
    return f"{spec.label} is {decision.state}: {_MEANING[decision.state]}. Decided by {decision.source.words}."


def _change_sentence(spec: ToolSpec, decision: Decision) -> str:
    if spec.name in BRIDGE:
        return ""
    if decision.source.kind == "setting":
        return f'To change it, remove "{decision.source.pattern}" from {decision.source.setting}, or set another state.'
    if decision.source.kind == "masterSwitch":
        return "To change it, set tools.use to true."
    return (
        f"To change it, put {spec.name} into tools.enabled, tools.deferred or tools.disabled, or use the tools panel."
    )
