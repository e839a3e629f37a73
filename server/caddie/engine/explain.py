"""Why is a tool as it is? For a person: state, who decided it, server, search, its way to the model, the way out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from caddie.chat.messages import Deferral
from caddie.engine.listed import Listed, listed
from caddie.layers import environment_names
from caddie.tools import reasons
from caddie.tools.core_tools import BRIDGE
from caddie.tools.exact import resolve
from caddie.tools.patterns import first_match, matches
from caddie.tools.permissions import read_rules
from caddie.tools.servers import ServerStatus
from caddie.tools.states import Decision, Source
from caddie.tools.tool import ToolSpec

if TYPE_CHECKING:
    from caddie.engine.engine import Engine


_WAYS: Mapping[Deferral, str] = {
    "bridge": "Deferred tools reach the model by name, over ToolSearch and ExecuteTool (bridge)",
    "native": "Deferred tools reach the model by its provider's own mechanism (native)",
    "stub": "Deferred tools reach the model as entries without parameters (stub)",
    "off": "Nothing is deferred now: deferred tools are sent with their full schema (off)",
}


@dataclass(frozen=True, slots=True)
class Explanation:
    name: str
    listed: Listed | None
    server: ServerStatus | None
    is_indexed: bool
    deferral: str
    sentences: tuple[str, ...]
    suggestions: tuple[str, ...]


class Explainer:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def explain(self, name: str, session_id: str = "") -> Explanation:
        specs = self._engine.catalogue.specs
        found = resolve(name, specs)
        server = self._server(name, found)
        if len(found) != 1:
            return self._missing(name, found, server, session_id)
        spec = found[0]
        decision = self._engine.tools.states(session_id)[spec.name]
        indexed = self._engine.searcher.is_indexed(spec, session_id)
        sentences = (
            _state(spec, decision),
            *self._where(decision.source),
            *self._refusals(spec, session_id),
            *self._about_server(server),
            *self._about_index(spec, decision, indexed),
            *(self.deferral_words(session_id) if self._concerns_deferral(spec, decision) else ()),
            *_way_out(spec, decision),
        )
        return Explanation(spec.name, listed(spec, decision), server, indexed, self.deferral(session_id), sentences, ())

    def deferral(self, session_id: str = "") -> Deferral:
        """The mode in effect."""
        return self._engine.deferrals.now(session_id).mode

    def deferral_words(self, session_id: str = "") -> Iterable[str]:
        """Which way deferred tools reach the model, and why."""
        now = self._engine.deferrals.now(session_id)
        yield f"{_WAYS[now.mode]}: {now.why}."

    def _concerns_deferral(self, spec: ToolSpec, decision: Decision) -> bool:
        is_shown = decision.source.setting == "tools.deferral"  # deferred, if nothing were switched off
        return decision.state == "deferred" or spec.name in BRIDGE or is_shown

    def _missing(
        self, name: str, found: Sequence[ToolSpec], server: ServerStatus | None, session_id: str
    ) -> Explanation:
        near: tuple[str, ...] = ()
        if found:
            near, sentence = tuple(spec.name for spec in found), reasons.ambiguous(name, found)
        elif server and server.state != "ready":
            sentence = reasons.server_not_ready(server)
        else:
            near = tuple(reasons.nearest_names(self._engine.catalogue.specs, name))
            sentence = reasons.unknown(name, near)
        kept = self._kept_state(name)
        mode = self.deferral(session_id)
        return Explanation(name, None, None if found else server, False, mode, (sentence, *kept), near)

    def _kept_state(self, name: str) -> Iterable[str]:
        """A tool that is not there now keeps the state it was given."""
        for layer in reversed(self._engine.configuration.resolved().layers):
            tools = layer.tree.get("tools")
            for state in ("disabled", "deferred", "enabled"):
                entries = tools.get(state, ()) if isinstance(tools, dict) else ()
                if any(str(entry).casefold() == name.strip().casefold() for entry in entries):
                    source = Source("setting", layer.scope, f"tools.{state}", name, layer.origin)
                    yield f"When it comes it will be {state}: {source.words} is kept."
                    return

    def _server(self, name: str, found: Sequence[ToolSpec]) -> ServerStatus | None:
        if len(found) == 1:
            return self._engine.catalogue.find_server(found[0].server)
        return reasons.server_of(name, self._engine.catalogue)

    def _where(self, source: Source) -> Iterable[str]:
        """The line of the file that decided."""
        for file in self._engine.configuration.files.values():
            if source.origin and Path(source.origin) == file.path:
                tree = file.layer.tree
                for part in source.setting.split("."):
                    tree = tree.get(part, {}) if isinstance(tree, dict) else {}
                if isinstance(tree, list) and source.pattern in tree:
                    location = (*source.setting.split("."), tree.index(source.pattern))
                    yield f"It stands in line {file.range_of(location)[0][0] + 1} of {file.path}."

    def _refusals(self, spec: ToolSpec, session_id: str) -> Iterable[str]:
        """What would refuse a call although the tool is there."""
        for rule in read_rules(self._engine.configuration.resolved(session_id)):
            if rule.kind == "deny" and matches(rule.tool, spec):
                by = f"the {rule.scope} rule deny {rule.text!r}"
                if rule.pattern is None:
                    yield reasons.denied(spec, by)
                else:
                    yield f"Calls of {spec.label} that match {rule.pattern!r} are refused by {by}."
        session = self._engine.sessions.find(session_id) if session_id else None
        tool = self._engine.catalogue.find(spec.name)
        if session and session.state.mode == "plan" and tool and not (spec.read_only or tool.session_only):
            yield reasons.plan_mode(spec)

    def _about_server(self, server: ServerStatus | None) -> Iterable[str]:
        if server and server.state == "ready":
            where = f" (configured in {server.origin})" if server.origin else ""
            yield f"Its MCP server {server.name} is ready with {server.tools} tools{where}."
        elif server:
            yield reasons.server_not_ready(server)

    def _about_index(self, spec: ToolSpec, decision: Decision, indexed: bool) -> Iterable[str]:
        search = self._engine.configuration.settings.search
        if indexed and decision.state == "enabled":
            yield "ToolSearch can find it although it is enabled: search.includeForce has it."
        elif indexed:
            yield "ToolSearch can find it."
        elif pattern := first_match(search.exclude, spec):
            yield f'ToolSearch does not find it: search.exclude has "{pattern}".'
        elif decision.state == "enabled" and spec.name not in BRIDGE:
            yield "ToolSearch does not list it, because the model has its full schema already."
        elif decision.state == "disabled" and spec.name not in BRIDGE:
            yield "ToolSearch does not find it, because it is disabled."
        if indexed and (pattern := first_match(self._engine.configuration.settings.hints.exclude, spec)):
            yield f'It is never shown as a hint: hints.exclude has "{pattern}".'


def _state(spec: ToolSpec, decision: Decision) -> str:
    match decision.state:
        case "disabled":
            return reasons.disabled(spec, decision.source)
        case "deferred":
            return reasons.deferred(spec, decision.source)
        case "enabled":
            return f"{spec.label} is enabled by {decision.source.words}: its full schema is in the prompt."


def _way_out(spec: ToolSpec, decision: Decision) -> Iterable[str]:
    source = decision.source
    if spec.name in BRIDGE:
        return
    if source.kind == "setting" and source.scope == "environment":
        names = " or ".join(environment_names(source.setting))
        yield f"To change it, change the environment variable {names} and start again."
    elif source.kind == "setting" and source.setting == "tools.deferral":
        yield "To change it, set tools.deferral to auto."
    elif source.kind == "setting":
        yield (
            f'To change it, remove "{source.pattern}" from {source.setting}, '
            "or set another state in the same or a nearer scope."
        )
    elif source.kind == "masterSwitch":
        yield "To change it, set tools.use to true."
    else:
        lists = "tools.enabled, tools.deferred or tools.disabled"
        yield f"To change it, put {spec.name} into {lists}, or use the tools panel."
