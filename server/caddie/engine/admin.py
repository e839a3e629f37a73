"""What the person does with tools: list them, set their states, and store a setting where it belongs."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from caddie.chat.session import SettingsChanged
from caddie.engine.explain import Explainer, Explanation
from caddie.engine.listed import Listed, listed
from caddie.errors import InvalidInput, ToolNotFound
from caddie.storage.settings_files import FileScope, put
from caddie.tools import reasons
from caddie.tools.core_tools import BRIDGE
from caddie.tools.exact import resolve
from caddie.tools.patterns import is_glob, matches
from caddie.tools.states import NEXT_STATE, Wanted, changed_lists
from caddie.tools.tool import State, ToolSpec

if TYPE_CHECKING:
    from caddie.engine.engine import Engine

WriteScope = Literal["user", "workspace", "session"]
Changes = Sequence[tuple[str, Wanted]]
_STATES: tuple[State, ...] = ("disabled", "deferred", "enabled")
_MAX_NAMED = 3


class ToolAdmin:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._explainer = Explainer(engine)
        self._writing = asyncio.Lock()  # one write of this process after the other; the file's lock is for the others

    @property
    def is_writing(self) -> bool:
        """Several keys are stored one after the other; in between they may contradict each other."""
        return self._writing.locked()

    def listing(self, session_id: str = "") -> tuple[Listed, ...]:
        self._engine.in_step()
        states = self._engine.tools.states(session_id)
        return tuple(listed(spec, states[spec.name]) for spec in self._engine.catalogue.specs)

    def explain(self, name: str, session_id: str = "") -> Explanation:
        self._engine.in_step()
        return self._explainer.explain(name, session_id)

    async def set_state(
        self, changes: Iterable[tuple[str, Wanted]], scope: WriteScope, session_id: str = ""
    ) -> tuple[tuple[Listed, ...], tuple[str, ...]]:
        """The tools whose state changed, and warnings. Raises: InvalidInput."""
        wanted = [(self._full_name(pattern.strip()), state) for pattern, state in changes]
        if not all(pattern for pattern, _ in wanted):
            raise InvalidInput("expected the name of a tool or a glob, got an empty text.")
        async with self._writing:
            before = {item.spec.name: item.decision for item in self.listing(session_id)}
            await self._store_states(wanted, scope, session_id)
            await self._engine.apply_settings()
            after = self.listing(session_id)
        changed = tuple(item for item in after if before.get(item.spec.name) != item.decision)
        warnings = [text for pattern, state in wanted for text in self._warnings(pattern, state, after)]
        return changed, tuple(dict.fromkeys(warnings))

    async def cycle_state(
        self, name: str, scope: WriteScope, session_id: str = ""
    ) -> tuple[tuple[Listed, ...], tuple[str, ...]]:
        """Raises: ToolNotFound, InvalidInput."""
        self._engine.in_step()
        found = resolve(name, self._engine.catalogue.specs)
        if len(found) != 1:
            raise self._not_found(name, found)
        if found[0].name in BRIDGE:
            raise InvalidInput(f"{name} is there while any tool is deferred; it has no state of its own.")
        state = self._engine.tools.states(session_id)[found[0].name].state
        return await self.set_state([(found[0].name, NEXT_STATE[state])], scope, session_id)

    async def write_setting(self, key: str, value: Any, scope: FileScope) -> str:
        """Where it was stored, for the person. Raises: InvalidInput."""
        async with self._writing:
            if await self._write_to_editor(scope, {key: value}):
                place = f"the editor's {scope} settings"
            else:
                place = await self._engine.configuration.update_file(scope, lambda tree: put(tree, key, value))
            await self._engine.apply_settings()
        return place

    # Storing.

    async def _store_states(self, changes: Changes, scope: WriteScope, session_id: str) -> None:
        configuration = self._engine.configuration
        if scope == "session":
            if not session_id:
                raise InvalidInput("scope session needs a sessionId.")
            await self._store_in_session(session_id, changes)
            return
        editors = configuration.editor_tree(scope)
        before, after = _lists_of(editors), self._lists(editors, changes)
        differing = {f"tools.{name}": after[name] or None for name in _STATES if before[name] != after[name]}
        if differing and await self._write_to_editor(scope, differing):
            return
        await configuration.update_file(scope, lambda tree: _put_lists(tree, self._lists(tree, changes)))

    async def _store_in_session(self, session_id: str, changes: Changes) -> None:
        """Raises: SessionNotFound."""
        session = await self._engine.sessions.get(session_id)
        tree: dict[str, Any] = copy.deepcopy(session.settings)
        _put_lists(tree, self._lists(tree, changes))
        record = SettingsChanged(tree)
        session.apply(record)
        self._engine.sessions.recorder(session_id)(record)
        self._engine.configuration.set_session(session_id, tree)

    async def _write_to_editor(self, scope: FileScope, values: Mapping[str, Any]) -> bool:
        """False when this door keeps no settings, or did not store the first."""
        for number, (key, value) in enumerate(values.items()):
            if not await self._engine.door.write_setting(key, value, scope):
                if number:
                    raise InvalidInput(f"The editor stored a part of the change only; {key} is as it was.")
                return False
            self._engine.configuration.put_in_editor(scope, key, value)
        return True

    def _lists(self, tree: Mapping[str, Any], changes: Changes) -> dict[State, list[str]]:
        specs = self._engine.catalogue.specs
        lists = _lists_of(tree)
        for pattern, state in changes:
            lists = changed_lists({"tools": lists}, pattern, state, specs)
        return lists

    def _full_name(self, pattern: str) -> str:
        """A bare name may be another server's tomorrow, so the one it means today is stored."""
        found = () if is_glob(pattern) else resolve(pattern, self._engine.catalogue.specs)
        return found[0].name if len(found) == 1 else pattern

    # What the person should know.

    def _warnings(self, pattern: str, state: Wanted, after: Sequence[Listed]) -> Iterable[str]:
        hit = [item for item in after if matches(pattern, item.spec)]
        if pattern != "*" and not hit:
            yield f"{pattern!r} matches no tool that is known now; it is kept for when one comes."
        if state == "default":
            return
        if any(item.spec.name in BRIDGE for item in hit):
            yield "ToolSearch and ExecuteTool stay while any tool is deferred."
        other = [item for item in hit if item.spec.name not in BRIDGE and item.decision.state != state]
        for item in other[:_MAX_NAMED]:
            yield f"{item.spec.label} stays {item.decision.state}: decided by {item.decision.source.words}."
        if len(other) > _MAX_NAMED:
            yield f"{len(other) - _MAX_NAMED} more tools keep their state for such reasons."

    def _not_found(self, name: str, found: Sequence[ToolSpec]) -> ToolNotFound:
        if found:
            return ToolNotFound(reasons.ambiguous(name, found), name=name, suggestions=[spec.name for spec in found])
        near = reasons.nearest_names(self._engine.catalogue.specs, name)
        return ToolNotFound(reasons.unknown(name, near), name=name, suggestions=near)


def _lists_of(tree: Mapping[str, Any]) -> dict[State, list[str]]:
    return changed_lists(tree, "", "default")


def _put_lists(tree: dict[str, Any], lists: Mapping[State, list[str]]) -> None:
    for name in _STATES:
        put(tree, f"tools.{name}", lists[name] or None)
