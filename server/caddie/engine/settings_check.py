"""What is wrong with the settings: what does not fit the tree, and what fits it but has no effect."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
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

_DELAY_SECONDS = 0.2  # servers come in bursts
_NAMES = (
    *(("tools", name) for name in LISTS), ("search", "exclude"), ("search", "includeForce"),
    ("permissions", "allow"), ("permissions", "ask"), ("permissions", "deny"),
)  # fmt: skip


class SettingsCheck:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._waiting: asyncio.Task[None] | None = None
        self._shown: tuple[Finding, ...] = ()

    def soon(self) -> None:
        """Check again shortly, and tell the door what has changed."""
        if self._waiting is None or self._waiting.done():
            self._waiting = self._engine.in_background(self._check())

    async def _check(self) -> None:
        await asyncio.sleep(_DELAY_SECONDS)
        self._waiting = None  # what changes from here on is looked at anew
        findings = self.findings()
        if findings != self._shown:
            self._shown = findings
            self._engine.door.settings_checked(findings)

    def findings(self) -> tuple[Finding, ...]:
        configuration = self._engine.configuration
        problems = list(configuration.problems)
        for layer in configuration.resolved().layers:
            problems += contradictions(layer, self._engine.catalogue.specs)
            if self._is_settled():
                problems += idle_names(layer, self._engine.catalogue.specs, self._may_come)
        return tuple(dict.fromkeys(map(self._finding, problems)))

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
        return Finding(problem.scope, problem.path, problem.message, problem.severity, file.path, place)


def idle_names(layer: Layer, specs: Sequence[ToolSpec], may_come: Any) -> Iterator[Problem]:
    """Names and globs that mean no tool."""
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
            near = reasons.nearest_names(specs, name, 1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            message = f"{name!r} matches no tool that is known now{hint}"
            yield Problem(layer.scope, _dotted(location), message, location, "warning")


def contradictions(layer: Layer, specs: Sequence[ToolSpec]) -> Iterator[Problem]:
    """Entries of one scope that have no effect because a list that goes first decides for all their tools."""
    tools = layer.tree.get("tools")
    lists: Mapping[str, Any] = tools if isinstance(tools, Mapping) else {}
    for position, name in enumerate(LISTS):
        for index, entry in enumerate(_texts(lists.get(name))):
            meant = [spec for spec in specs if matches(entry, spec, widening=name == "enabled")]
            for earlier in LISTS[:position]:
                others = _texts(lists.get(earlier))
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
            for index, text in enumerate(_texts(branch.get(key))):
                yield (group, key, index), text
    tools = tree.get("tools")
    aliases = tools.get("aliases") if isinstance(tools, Mapping) else None
    for name in aliases if isinstance(aliases, Mapping) else ():
        yield ("tools", "aliases", name), str(name)


def _texts(items: Any) -> tuple[str, ...]:
    return tuple(map(str, items)) if isinstance(items, list | tuple) else ()


def _dotted(location: Iterable[str | int]) -> str:
    return ".".join(map(str, location))
