"""Permissions given in prompts: what one covers, and what has changed since it was given.

A grant is bound to who publishes the tool (the server's name and how it is started) and to the tool's definition.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from caddie.tools.tool import ToolSpec

GrantScope = Literal["session", "always"]
_KEPT_CHARS = 8_000
_SHOWN_LINES = 60


@dataclass(frozen=True, slots=True)
class Grant:
    """`pattern` is the one command or address allowed, for Bash and WebFetch. `members` are the tools, with the hashes
    of their definitions, of a grant for a whole server: those it had then. `definition` is what was allowed, as text.
    """

    id: str
    tool: str
    server: str
    scope: GrantScope
    definition_hash: str
    pattern: str | None
    granted: str
    description: str = ""
    identity: str = ""
    definition: str = ""
    members: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_for_server(self) -> bool:
        return bool(self.members)


def grant_of(spec: ToolSpec, params: Mapping[str, Any], scope: GrantScope, *, grant_id: str, granted: str) -> Grant:
    definition = definition_text(spec)
    return Grant(
        id=grant_id,
        tool=spec.name,
        server=spec.server,
        scope=scope,
        definition_hash=spec.definition_hash,
        pattern=grant_pattern(spec, params),
        granted=granted,
        description=spec.description[:_KEPT_CHARS],
        identity=spec.identity,
        definition=definition if len(definition) <= _KEPT_CHARS else "",
    )


def server_grant(spec: ToolSpec, siblings: Sequence[ToolSpec], *, grant_id: str, granted: str) -> Grant:
    """For all tools that the server has now; those that come later are asked about."""
    members = {one.name: one.definition_hash for one in siblings if one.identity == spec.identity}
    return Grant(
        id=grant_id,
        tool=f"mcp__{spec.server}__*",
        server=spec.server,
        scope="session",
        definition_hash="",
        pattern=None,
        granted=granted,
        identity=spec.identity,
        members=members,
    )


def grant_pattern(spec: ToolSpec, params: Mapping[str, Any]) -> str | None:
    """What a grant is limited to. One yes to a command is not a yes to all commands."""
    if spec.server:
        return None
    if spec.name == "Bash":
        return str(params.get("command", ""))
    return str(params.get("url", "")) if spec.name == "WebFetch" else None


def covers(grant: Grant, spec: ToolSpec, params: Mapping[str, Any]) -> bool:
    """Whether it was given for this tool and these arguments, whatever has changed since."""
    if grant.server != spec.server:
        return False
    if grant.is_for_server:
        return spec.name in grant.members
    return grant.tool == spec.name and (grant.pattern is None or grant.pattern == grant_pattern(spec, params))


def holds(grant: Grant, spec: ToolSpec) -> bool:
    """Whether the tool is still what the permission was given for."""
    given = grant.members.get(spec.name) if grant.is_for_server else grant.definition_hash
    return given == spec.definition_hash and grant.identity == spec.identity


def what_changed(grant: Grant, spec: ToolSpec) -> str:
    """The difference, for the person: in words where it is one sentence, else as lines with + and -."""
    if grant.identity != spec.identity and grant.definition_hash == spec.definition_hash:
        return f"The server {spec.server} is not started as it was when you allowed this; its tools say the same."
    if not grant.definition:
        if grant.is_for_server or grant.description == spec.description:
            return "Its definition is not the one you allowed."
        return f"Its description was: {grant.description[:500]!r}; it is now: {spec.description[:500]!r}."
    before, now = grant.definition.splitlines(), definition_text(spec).splitlines()
    lines = [line for line in difflib.unified_diff(before, now, n=1, lineterm="") if line[:3] not in ("---", "+++")]
    if len(lines) > _SHOWN_LINES:
        lines = [*lines[:_SHOWN_LINES], f"… {len(lines) - _SHOWN_LINES} more lines"]
    return "\n".join(["Its definition:", *lines])


def definition_text(spec: ToolSpec) -> str:
    """In lines, and the same whatever the order of keys."""
    schema = json.dumps(spec.input_schema, indent=1, sort_keys=True, ensure_ascii=False)
    return f"{spec.description}\n{schema}"
