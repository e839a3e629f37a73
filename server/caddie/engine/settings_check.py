"""What is wrong with the settings: what does not fit the tree, and what fits it but has no effect."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from caddie.engine.findings import Finding
from caddie.layers import Layer, Problem
from caddie.tools import reasons
from caddie.tools.patterns import matches
from caddie.tools.permissions import parse_rule
from caddie.tools.states import LISTS
from caddie.tools.tool import ToolSpec

if TYPE_CHECKING:
    from caddie.engine.engine import Engine

_QUIET_SECONDS = 0.2  # servers and edits come in bursts
_MAX_FINDINGS = 200
_EVERYWHERE = ("user", "editorUser", "environment")  # may mean servers of other folders
_MAX_SUGGESTIONS = 20  # looking for the nearest name is slow
_NAMES = (
    *(("tools", name) for name in LISTS), ("search", "exclude"), ("search", "includeForce"),
    ("hints", "exclude"),
    ("permissions", "allow"), ("permissions", "ask"), ("permissions", "deny"), ("permissions", "readOnly"),
)  # fmt: skip


class SettingsCheck:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._timer: asyncio.TimerHandle | None = None
        self._shown: tuple[Finding, ...] = ()
        self._is_closed = False

    def soon(self) -> None:
        """Check again once it is quiet, and tell the door what is wrong now."""
        if self._is_closed:  # servers that go away with the engine change the catalogue, too
            return
        self._stop()
        self._timer = asyncio.get_running_loop().call_later(_QUIET_SECONDS, self._check)

    def close(self) -> None:
        self._is_closed = True
        self._stop()

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _check(self) -> None:
        if self._engine.admin.is_writing:
            self.soon()
            return
        findings = self.findings()
        if findings != self._shown:
            self._shown = findings
            self._engine.door.settings_checked(findings)

    def findings(self) -> tuple[Finding, ...]:
        configuration = self._engine.configuration
        problems = list(configuration.problems)
        in_files = {file.layer.scope: file.layer for file in configuration.files.values()}
        for resolved in configuration.resolved().layers:
            layer = in_files.get(resolved.scope, resolved)  # as written, so that places are right
            problems += contradictions(layer, self._engine.catalogue.specs)
            if self._is_settled():
                problems += idle_names(layer, self._engine.catalogue.specs, self._may_come)
        return tuple(dict.fromkeys(map(self._finding, problems[:_MAX_FINDINGS])))

    def _is_settled(self) -> bool:
        return all(status.state != "connecting" for status in self._engine.catalogue.servers)

    def _may_come(self, pattern: str) -> bool:
        """A server that is not up may still bring the tool."""
        status = reasons.server_of(pattern.rstrip("*"), self._engine.catalogue) or reasons.server_of(
            pattern, self._engine.catalogue
        )
        if status is not None:
            return status.state != "ready"
        return any(status.state != "ready" for status in self._engine.catalogue.servers) and "__" not in pattern

    def _finding(self, problem: Problem) -> Finding:
        file = next((file for scope, file in self._engine.configuration.files.items() if scope == problem.scope), None)
        if file is None:
            return Finding(problem.scope, problem.path, problem.message, problem.severity)
        place = file.range_of(problem.location)
        lines = file.text.split("\n")
        line = lines[place[0][0]] if place[0][0] < len(lines) else ""
        return Finding(problem.scope, problem.path, problem.message, problem.severity, file.path, place, line)


def idle_names(layer: Layer, specs: Sequence[ToolSpec], may_come: Callable[[str], bool]) -> Iterator[Problem]:
    """Names and globs that mean no tool."""
    told = 0
    for location, text in _named(layer.tree):
        name = text
        if location[0] == "permissions":
            rule = parse_rule(text, "deny", layer.scope)
            if rule is None:
                message = f"expected a rule such as Tool or Tool(pattern), got {text!r}"
                yield Problem(layer.scope, _dotted(location), message, location, "error")
                continue
            name = rule.tool
        if not any(matches(name, spec) for spec in specs) and not may_come(name):
            near = reasons.nearest_names(specs, name, 1) if told < _MAX_SUGGESTIONS else []
            told += 1
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            message = f"{name!r} matches no tool that is known now{hint}"
            is_elsewhere = layer.scope in _EVERYWHERE and ("__" in name or "/" in name)
            yield Problem(layer.scope, _dotted(location), message, location, "notice" if is_elsewhere else "warning")


def contradictions(layer: Layer, specs: Sequence[ToolSpec]) -> Iterator[Problem]:
    """Entries of one scope that have no effect because a list that goes first decides for all their tools."""
    tools = layer.tree.get("tools")
    lists: Mapping[str, Any] = tools if isinstance(tools, Mapping) else {}
    for position, name in enumerate(LISTS):
        for index, entry in _texts(lists.get(name)):
            meant = [spec for spec in specs if matches(entry, spec, widening=name == "enabled")]
            for earlier in LISTS[:position]:
                others = [text for _, text in _texts(lists.get(earlier))]
                if other := _covering(entry, meant, others):
                    location = ("tools", name, index)
                    message = (
                        f"{entry!r} has no effect here: tools.{earlier} has {other!r} and goes first "
                        "(disabled, then deferred, then enabled)"
                    )
                    yield Problem(layer.scope, _dotted(location), message, location, "warning")
                    break


def _covering(entry: str, meant: Sequence[ToolSpec], others: Sequence[str]) -> str | None:
    same = next((other for other in others if other.casefold() == entry.casefold()), None)
    if same or not meant:
        return same
    is_covered = all(any(matches(other, spec) for other in others) for spec in meant)
    return next((other for other in others if matches(other, meant[0])), None) if is_covered else None


def _named(tree: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    for group, key in _NAMES:
        branch = tree.get(group)
        if isinstance(branch, Mapping):
            for index, text in _texts(branch.get(key)):
                yield (group, key, index), text
    tools = tree.get("tools")
    aliases = tools.get("aliases") if isinstance(tools, Mapping) else None
    for name in aliases if isinstance(aliases, Mapping) else ():
        yield ("tools", "aliases", name), str(name)


def _texts(items: Any) -> list[tuple[int, str]]:
    """What is a text, with its place in the list."""
    found = enumerate(items) if isinstance(items, list | tuple) else ()
    return [(index, item) for index, item in found if isinstance(item, str)]


def _dotted(location: Iterable[str | int]) -> str:
    return ".".join(map(str, location))
