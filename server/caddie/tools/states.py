"""Is a tool enabled, deferred or disabled, and who decided it? A pure function of the tool and the settings.

First that applies, looking at nearer scopes before farther ones: `disabled`, `deferred`, `enabled`, then the
tool's own `alwaysLoad`, then the profile. The bridge is enabled while anything is deferred and absent otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, Literal

from caddie.layers import Layer, Resolved
from caddie.tools.core_tools import BRIDGE, is_core
from caddie.tools.patterns import first_match, matches
from caddie.tools.tool import State, ToolSpec

SourceKind = Literal["setting", "bridge", "masterSwitch", "alwaysLoad", "profile"]

LISTS: tuple[State, ...] = ("disabled", "deferred", "enabled")


@dataclass(frozen=True, slots=True)
class Source:
    """Who decided. For `setting`: scope, dotted key, the pattern that matched, and the file that holds it."""

    kind: SourceKind
    scope: str = ""
    setting: str = ""
    pattern: str = ""
    origin: str = ""

    @property
    def words(self) -> str:
        """Who it was, for a person: `the workspace setting tools.disabled ("git_*")`."""
        match self.kind:
            case "setting":
                pattern = f' ("{self.pattern}")' if self.pattern else ""
                return f"{self._setting}{pattern}{self._file}"
            case "bridge":
                return "the rule that ToolSearch and ExecuteTool are there while anything is deferred"
            case "masterSwitch":
                return f"{self._setting}, which is off{self._file}"
            case "alwaysLoad":
                return "the tool itself (alwaysLoad)"
            case "profile":
                return f"the profile {self.pattern}".rstrip()

    @property
    def _setting(self) -> str:
        return f"the {_SCOPE_WORDS.get(self.scope, self.scope)} setting {self.setting}".replace("  ", " ")

    @property
    def _file(self) -> str:
        """Where the scope is a file, that file."""
        return f" in {self.origin}" if self.scope in ("user", "workspace") and self.origin else ""


_SCOPE_WORDS = {
    "user": "user",
    "workspace": "workspace",
    "editorUser": "editor's user",
    "editorWorkspace": "editor's workspace",
    "environment": "environment",
    "session": "session",
}


@dataclass(frozen=True, slots=True)
class Decision:
    state: State
    source: Source


def decide_state(spec: ToolSpec, resolved: Resolved) -> Decision:
    """The state of any tool but the bridge."""
    if not resolved.settings.tools.use:
        return Decision("disabled", who_set(resolved, "use", "masterSwitch"))
    for layer in reversed(resolved.layers):
        if decision := _decided_by(layer, spec):
            return decision
    if spec.always_load:
        return Decision("enabled", Source("alwaysLoad"))
    profile = resolved.settings.tools.profile
    is_enabled = profile == "all" or (not spec.server and is_core(spec.name, profile))
    return Decision(
        "enabled" if is_enabled else "deferred", Source("profile", setting="tools.profile", pattern=profile)
    )


def decide_states(specs: Iterable[ToolSpec], resolved: Resolved) -> dict[str, Decision]:
    """Decisions by wire name, in the order given; the bridge follows from the others."""
    all_specs = tuple(specs)
    decisions = {spec.name: decide_state(spec, resolved) for spec in all_specs if spec.name not in BRIDGE}
    if resolved.settings.tools.deferral == "off":
        shown = Decision("enabled", replace(who_set(resolved, "deferral"), pattern="off"))
        decisions = {name: shown if item.state == "deferred" else item for name, item in decisions.items()}
    is_needed = any(decision.state == "deferred" for decision in decisions.values())
    bridge = Decision("enabled" if is_needed else "disabled", Source("bridge"))
    return {spec.name: decisions.get(spec.name, bridge) for spec in all_specs}


def who_set(resolved: Resolved, key: str, kind: SourceKind = "setting") -> Source:
    """The nearest scope that sets a key of `tools`."""
    for layer in reversed(resolved.layers):
        tools = layer.tree.get("tools")
        if isinstance(tools, Mapping) and key in tools:
            return Source(kind, layer.scope, f"tools.{key}", origin=layer.origin)
    return Source(kind, "default", f"tools.{key}")


def _decided_by(layer: Layer, spec: ToolSpec) -> Decision | None:
    for state in LISTS:
        pattern = first_match(_patterns(layer.tree, state), spec, widening=state == "enabled")
        if pattern is not None:
            return Decision(state, Source("setting", layer.scope, f"tools.{state}", pattern, layer.origin))
    return None


def _patterns(tree: Mapping[str, Any], state: State) -> Iterable[str]:
    tools = tree.get("tools")
    patterns = tools.get(state) if isinstance(tools, Mapping) else None
    return patterns if isinstance(patterns, list | tuple) else ()


Wanted = State | Literal["default"]


def changed_lists(
    tree: Mapping[str, Any], pattern: str, state: Wanted, specs: Iterable[ToolSpec] = ()
) -> dict[State, list[str]]:
    """The three lists of one scope after `pattern` got `state`; `*` replaces everything that was there.

    What would keep the change from taking effect makes way: a glob in a list that goes first is written out as the
    other tools it means among `specs`. Names of tools that are not there now stay.
    """
    known = tuple(specs)
    lists: dict[State, list[str]] = {name: [str(item) for item in _patterns(tree, name)] for name in LISTS}
    if pattern == "*":
        lists = {name: [] for name in LISTS}
    meant = [spec for spec in known if matches(pattern, spec, widening=state == "enabled")]
    for name in LISTS:
        is_in_the_way = state == "default" or LISTS.index(name) < LISTS.index(state)
        lists[name] = list(_making_way(lists[name], name, pattern, meant, known, is_in_the_way))
    if state != "default":
        lists[state].append(pattern)
    return lists


def _making_way(
    items: Iterable[str], state: State, pattern: str, meant: Sequence[ToolSpec], known: Sequence[ToolSpec], splits: bool
) -> Iterator[str]:
    for item in items:
        found = [spec for spec in known if matches(item, spec, widening=state == "enabled")]
        rest = [spec.name for spec in found if spec not in meant]
        if fnmatchcase(item.casefold(), pattern.casefold()) or (found and not rest):
            continue
        if splits and len(rest) < len(found):
            yield from rest
        else:
            yield item


NEXT_STATE: dict[State, State] = {"enabled": "disabled", "disabled": "deferred", "deferred": "enabled"}
