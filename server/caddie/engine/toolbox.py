"""The tools as one session sees them: states in force, the fixed prefix, and what the model is to be told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import date
from pathlib import Path

from caddie.chat.deferral import definition, stub
from caddie.chat.messages import ToolDefinition
from caddie.chat.prompt import system_prompt
from caddie.chat.provider import Chosen
from caddie.chat.refusals import Refusals
from caddie.chat.session import Prefix, Session, Told
from caddie.engine.configuration import Configuration
from caddie.tools.call import Call
from caddie.tools.catalogue import Catalogue
from caddie.tools.core_tools import AGENT, BRIDGE, EXECUTE_TOOL
from caddie.tools.exact import resolve
from caddie.tools.states import Decision, decide_states
from caddie.tools.tool import State, ToolSpec


class SessionTools:
    """Implements the turn's `Toolbox`. States are computed once per revision of catalogue and settings."""

    def __init__(
        self,
        catalogue: Catalogue,
        configuration: Configuration,
        refusals: Refusals,
        *,
        in_step: Callable[[], None] = lambda: None,
        further: Callable[[], tuple[Path, ...]] = tuple,
    ) -> None:
        """`in_step` is called before each model request: settings files may have changed meanwhile. `further` gives
        the workspace's folders beside the first."""
        self._catalogue = catalogue
        self._configuration = configuration
        self._refusals = refusals
        self._in_step = in_step
        self._further = further
        self._cache: dict[str, tuple[tuple[int, int], Mapping[str, Decision]]] = {}

    def states(self, session_id: str = "") -> Mapping[str, Decision]:
        key = session_id if session_id in self._configuration.sessions_with_settings else ""
        revision = (self._catalogue.revision, self._configuration.revision)
        if key not in self._cache or self._cache[key][0] != revision:
            decisions = decide_states(self._catalogue.specs, self._configuration.resolved(session_id))
            self._cache[key] = (revision, decisions)
        return self._cache[key][1]

    def named(self, state: State, session_id: str) -> tuple[str, ...]:
        return tuple(name for name, decision in self.states(session_id).items() if decision.state == state)

    def prefix(self, session: Session, chosen: Chosen) -> Prefix:
        self._in_step()
        states = self.states(session.scope)
        enabled = [spec for spec in self._catalogue.specs if states[spec.name].state == "enabled"]
        if session.parent:
            enabled = [spec for spec in enabled if spec.name != AGENT]
        # Servers list their tools in any order; the same tools give the same bytes, so one session warms the next.
        whole = map(definition, sorted(enabled, key=lambda spec: (spec.server != "", spec.server and spec.name)))
        deferred = sorted(self._deferred(session.scope), key=lambda spec: spec.name)
        stubs = map(stub, deferred) if chosen.deferral == "stub" else ()
        loadable = map(definition, deferred) if chosen.deferral == "native" else ()
        tools, refused = self._split([*whole, *stubs], chosen.speaker)
        loads, refused_too = self._split(loadable, chosen.speaker)
        workspace, further = self._configuration.places.workspace, self._further()
        return Prefix(
            system_prompt(workspace, date=date.today().isoformat(), further=further),
            tools,
            tuple(sorted({spec.name for spec in deferred} | set(refused))),
            deferral=chosen.deferral,
            loadable=loads,
            left_out=(*refused, *refused_too),
            folders=tuple(map(str, further)),
        )

    def _deferred(self, session_id: str) -> list[ToolSpec]:
        states = self.states(session_id)
        return [spec for spec in self._catalogue.specs if states[spec.name].state == "deferred"]

    def _split(
        self, definitions: Iterable[ToolDefinition], speaker: str
    ) -> tuple[tuple[ToolDefinition, ...], tuple[str, ...]]:
        """Those that the provider takes, and the names of those it refused before."""
        kept: list[ToolDefinition] = []
        refused: list[str] = []
        for tool in definitions:
            if self._refusals.takes(speaker, tool):
                kept.append(tool)
            else:
                refused.append(tool.name)
        return tuple(kept), tuple(refused)

    def told(self, session: Session) -> Told:
        """Only what differs from the prefix counts as enabled or disabled late. A tool that the provider refused goes
        as a deferred one: by name, over the bridge."""
        self._in_step()
        prefix = session.prefix
        sent = {tool.name for tool in prefix.tools} - set(prefix.deferred) if prefix else set()
        left_out = set(prefix.left_out) if prefix else set()
        known = sent | set(session.told.deferred) | set(session.told.enabled)
        may_be_called = self.named("enabled", session.scope)
        enabled = tuple(name for name in may_be_called if name not in sent | left_out and name not in BRIDGE)
        disabled = tuple(
            name for name in self.named("disabled", session.scope)
            if name not in BRIDGE and (name in known or name in session.told.disabled)
        )  # fmt: skip
        deferred = {*self.named("deferred", session.scope), *(name for name in may_be_called if name in left_out)}
        folders = tuple(map(str, self._further()))
        return Told(tuple(sorted(deferred)), enabled, disabled, session.state.mode, folders)

    def spec(self, name: str, session_id: str) -> ToolSpec | None:
        tool = self._catalogue.find(name)
        decision = self.states(session_id).get(name)
        return tool.spec if tool and decision and decision.state != "disabled" else None

    def can_run_side_by_side(self, call: Call) -> bool:
        """Reads do not disturb each other; whatever asks a question or changes something waits its turn."""
        name = call.name
        if name == EXECUTE_TOOL and isinstance(call.params, dict):
            name = str(call.params.get("tool_name", ""))
        found = resolve(name, self._catalogue.specs)
        return len(found) == 1 and found[0].read_only
