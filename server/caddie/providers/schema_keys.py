"""Which names does an API see for properties whose own names it refuses, and what are they when a call comes back?"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from caddie.providers.schema_node import Schema

_LENGTH = 64
_DIGITS = 8
_MEMBERS = ("items", "additionalProperties")
_COMPOSED = ("anyOf", "oneOf", "allOf")


@dataclass(frozen=True, slots=True)
class KeyRule:
    """`deep`: the API looks at the keys of inner objects too."""

    fits: re.Pattern[str]
    unsafe: re.Pattern[str]
    deep: bool


ANTHROPIC_KEYS = KeyRule(re.compile(r"[a-zA-Z0-9_.-]{1,64}"), re.compile(r"[^a-zA-Z0-9_.-]"), deep=False)
GEMINI_KEYS = KeyRule(re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}"), re.compile(r"[^A-Za-z0-9_]"), deep=True)


@dataclass(frozen=True, slots=True)
class Keys:
    """`own` leads from a key on the wire to the tool's own. `inner`, by key on the wire, and `each`, for the members of
    arrays and the other keys, say the same of what stands below."""

    own: Mapping[str, str] = field(default_factory=dict)
    inner: Mapping[str, Keys] = field(default_factory=dict)
    each: Keys | None = None

    def __bool__(self) -> bool:
        return bool(self.own or self.inner or self.each)

    def to_own(self, value: Any) -> Any:
        if not self:
            return value
        if isinstance(value, list):
            return [self.each.to_own(item) for item in value] if self.each else value
        if not isinstance(value, dict):
            return value
        return {self.own.get(key, key): self._below(key).to_own(inner) for key, inner in value.items()}

    def to_wire(self, value: Any) -> Any:
        if not self:
            return value
        if isinstance(value, list):
            return [self.each.to_wire(item) for item in value] if self.each else value
        if not isinstance(value, dict):
            return value
        wires = {own: wire for wire, own in self.own.items()}
        named = [(wires.get(str(key), str(key)), inner) for key, inner in value.items()]
        return {wire: self._below(wire).to_wire(inner) for wire, inner in named}

    def _below(self, wire: str) -> Keys:
        return self.inner.get(wire) or self.each or NO_KEYS


NO_KEYS = Keys()


def rename_keys(schema: Schema, rule: KeyRule) -> tuple[Schema, Keys]:
    """A copy of `schema` in which every key fits; `schema` itself where all do."""
    copy: Schema = json.loads(json.dumps(schema))
    keys = _rename([copy], rule)
    return (copy, keys) if keys else (schema, NO_KEYS)


def _rename(nodes: list[Schema], rule: KeyRule) -> Keys:
    """Renames in place. `nodes` describe the same value, so a key has the same name in all of them."""
    group = list(_with_branches(nodes)) if rule.deep else nodes
    owns = list(dict.fromkeys(key for node in group for key in node.get("properties", ())))
    wires = _wires(owns, rule)
    inner: dict[str, Keys] = {}
    if rule.deep:
        for own in owns:
            values = [node["properties"][own] for node in group if own in node.get("properties", ())]
            inner[wires[own]] = _rename(values, rule)
    for node in group:
        _apply(node, wires)
    members = [
        node[key] for node in group for key in ("items", "additionalProperties") if isinstance(node.get(key), dict)
    ]
    each = _rename(members, rule) if rule.deep and members else None
    changed = {wire: own for own, wire in wires.items() if wire != own}
    return Keys(changed, {wire: keys for wire, keys in inner.items() if keys}, each or None)


def _with_branches(nodes: Iterable[Schema]) -> Iterator[Schema]:
    for node in nodes:
        yield node
        for keyword in _COMPOSED:
            yield from _with_branches(node.get(keyword, ()))


def _apply(node: Schema, wires: Mapping[str, str]) -> None:
    if "properties" in node:
        node["properties"] = {wires[key]: inner for key, inner in node["properties"].items()}
    if "required" in node:
        node["required"] = [wires.get(key, key) for key in node["required"]]


def _wires(owns: list[str], rule: KeyRule) -> dict[str, str]:
    taken = {own for own in owns if rule.fits.fullmatch(own)}
    wires: dict[str, str] = {}
    for own in owns:
        wires[own] = own if rule.fits.fullmatch(own) else _fitting(own, taken, rule)
        taken.add(wires[own])
    return wires


def _fitting(own: str, taken: set[str], rule: KeyRule) -> str:
    plain = rule.unsafe.sub("_", own)
    if rule.deep and plain[:1].isdigit():
        plain = f"_{plain}"
    if rule.fits.fullmatch(plain) and plain not in taken and plain.strip("_"):
        return plain
    digest = hashlib.sha256(own.encode("utf-8", "replace")).hexdigest()[:_DIGITS]
    return f"{plain[: _LENGTH - _DIGITS - 1]}_{digest}"
