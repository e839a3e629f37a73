"""The tools as one session sees them: states in force, the fixed prefix, and what the model is to be told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date

from caddie.chat.messages import ToolDefinition
from caddie.chat.prompt import system_prompt
from caddie.chat.session import Prefix, Session, Told
from caddie.engine.configuration import Configuration
from caddie.tools.call import Call
from caddie.tools.catalogue import Catalogue
from caddie.tools.core_tools import BRIDGE, EXECUTE_TOOL
from caddie.tools.exact import resolve
from caddie.tools.states import Decision, decide_states
from caddie.tools.tool import State, ToolSpec


class SessionTools:
    """Implements the turn's `Toolbox`. States are computed once per revision of catalogue and settings."""

    def __init__(
        self, catalogue: Catalogue, configuration: Configuration, *, in_step: Callable[[], None] = lambda: None
    ) -> None:
        """`in_step` is called before each model request: settings files may have changed meanwhile."""
        self._catalogue = catalogue
        self._configuration = configuration
        self._in_step = in_step
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

    def prefix(self, session: Session) -> Prefix:
        self._in_step()
        states = self.states(session.id)
        tools = tuple(
            ToolDefinition(spec.name, spec.description, spec.input_schema)
            for spec in self._catalogue.specs
            if states[spec.name].state == "enabled"
        )
        system = system_prompt(self._configuration.places.workspace, date=date.today().isoformat())
        return Prefix(system, tools, tuple(sorted(self.named("deferred", session.id))))

    def told(self, session: Session) -> Told:
        """Only what differs from the prefix counts as enabled or disabled late."""
        self._in_step()
        sent = {tool.name for tool in session.prefix.tools} if session.prefix else set()
        known = sent | set(session.told.deferred) | set(session.told.enabled)
        enabled = tuple(name for name in self.named("enabled", session.id) if name not in sent and name not in BRIDGE)
        disabled = tuple(
            name for name in self.named("disabled", session.id)
            if name not in BRIDGE and (name in known or name in session.told.disabled)
        )  # fmt: skip
        return Told(tuple(sorted(self.named("deferred", session.id))), enabled, disabled, session.state.mode)

    def spec(self, name: str) -> ToolSpec | None:
        tool = self._catalogue.find(name)
        decision = self.states().get(name)
        return tool.spec if tool and decision and decision.state != "disabled" else None

    def can_run_side_by_side(self, call: Call) -> bool:
        """Reads do not disturb each other; whatever asks a question or changes something waits its turn."""
        name = call.name
        if name == EXECUTE_TOOL and isinstance(call.params, dict):
            name = str(call.params.get("tool_name", ""))
        found = resolve(name, self._catalogue.specs)
        return len(found) == 1 and found[0].read_only
