"""May this tool run with these arguments? deny > ask > allow > what the tool itself says.

Pure. What a stranger's tool says of itself never allows it: `readOnlyHint` of an MCP server counts for plan mode
and for running side by side, not here. Only built-in reads and session tools run unasked.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from caddie.layers import Resolved
from caddie.settings import Permissions
from caddie.tools.commands import read_command_line
from caddie.tools.patterns import matches
from caddie.tools.tool import Tool, ToolSpec

RuleKind = Literal["deny", "ask", "allow"]
GrantScope = Literal["session", "always"]
_RULE = re.compile(r"\s*([^()\s][^()]*?)\s*(?:\((.*)\))?\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Rule:
    """`Tool`, `Tool(pattern)`, `mcp__server__*`: who it is about, and a glob over what it would do."""

    kind: RuleKind
    tool: str
    pattern: str | None
    scope: str
    text: str


@dataclass(frozen=True, slots=True)
class Grant:
    """A permission given in a prompt, bound to the tool's identity. `pattern` is the one command allowed, for Bash."""

    id: str
    tool: str
    server: str
    scope: GrantScope
    definition_hash: str
    pattern: str | None
    granted: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """`by` says whose word it was, for `ask` in a sentence for the prompt. `stale` is an earlier grant whose tool
    has changed since."""

    kind: RuleKind
    by: str
    stale: Grant | None = None


def read_rules(resolved: Resolved) -> tuple[Rule, ...]:
    """The rules of all scopes together: a farther scope's deny is not undone by a nearer one's allow."""
    found: list[Rule] = []
    for layer in resolved.layers:
        permissions = layer.tree.get("permissions")
        for kind in ("deny", "ask", "allow"):
            texts = permissions.get(kind) if isinstance(permissions, Mapping) else None
            found += [rule for text in texts or () if (rule := parse_rule(str(text), kind, layer.scope))]
    return tuple(found)


def parse_rule(text: str, kind: RuleKind, scope: str) -> Rule | None:
    """None when the text is no rule (nothing before the parenthesis, or an unbalanced one)."""
    match = _RULE.fullmatch(text)
    return Rule(kind, match[1], match[2], scope, text) if match else None


def decide(
    tool: Tool,
    params: Mapping[str, Any],
    *,
    rules: Iterable[Rule],
    grants: Iterable[Grant],
    permissions: Permissions,
    workspace: Path,
) -> Verdict:
    about = [rule for rule in rules if matches(rule.tool, tool.spec, widening=rule.kind == "allow")]
    parts = subjects(tool.spec, params, workspace)
    for rule in about:
        if rule.kind == "deny" and _touches(rule, parts):
            return Verdict("deny", f"the {rule.scope} rule deny {rule.text!r}")
    for rule in about:
        if rule.kind == "ask" and _touches(rule, parts):
            return Verdict("ask", f"The {rule.scope} rule ask {rule.text!r} wants you to see it.")
    if allowing := _allowing(about, tool.spec, params, parts):
        return Verdict("allow", f"the {allowing.scope} rule allow {allowing.text!r}")
    held = [grant for grant in grants if _covers(grant, tool.spec, params)]
    if any(grant.definition_hash == tool.spec.definition_hash for grant in held):
        return Verdict("allow", "your earlier permission")
    if held:
        return Verdict("ask", "Its definition changed since you allowed it.", stale=held[-1])
    return _own_word(tool, permissions)


def _own_word(tool: Tool, permissions: Permissions) -> Verdict:
    if permissions.mode == "auto":
        return Verdict("allow", "permissions.mode auto")
    if not tool.spec.server and (tool.spec.read_only or tool.session_only):
        return Verdict("allow", "the tool only reads")
    if permissions.mode == "acceptEdits" and tool.edits_files:
        return Verdict("allow", "permissions.mode acceptEdits")
    return Verdict("ask", _what_it_does(tool))


def _what_it_does(tool: Tool) -> str:
    if tool.spec.name == "Bash":
        return "It runs a command."
    if tool.edits_files:
        return "It changes a file."
    if tool.spec.server:
        claim = "says that it only reads" if tool.spec.read_only else "may change things"
        return f"A tool of the MCP server {tool.spec.server}, which {claim}."
    return "It reaches outside this session."


def subjects(spec: ToolSpec, params: Mapping[str, Any], workspace: Path) -> tuple[str, ...]:
    """What a rule's pattern is compared with: each simple command, the path, the URL, else the arguments as JSON."""
    if spec.name == "Bash":
        line = str(params.get("command", ""))
        return (line, *read_command_line(line).simple)
    if not spec.server and isinstance(path := params.get("path"), str):
        return _spellings_of_path(path, workspace)
    if not spec.server and isinstance(url := params.get("url"), str):
        return (url,)
    return (json.dumps(params, sort_keys=True, ensure_ascii=False),)


def _spellings_of_path(path: str, workspace: Path) -> tuple[str, ...]:
    """Absolute, and relative to the workspace when it is inside; `..` is resolved, so that it cannot climb out."""
    absolute = os.path.normpath(workspace / path)
    relative = os.path.relpath(absolute, workspace)
    return (absolute,) if relative.startswith("..") else (absolute, relative)


def _touches(rule: Rule, parts: tuple[str, ...]) -> bool:
    """For deny and ask: any part of the call that matches is enough."""
    return rule.pattern is None or any(_fits(rule.pattern, part) for part in parts)


def _allowing(rules: Iterable[Rule], spec: ToolSpec, params: Mapping[str, Any], parts: tuple[str, ...]) -> Rule | None:
    """For allow: every simple command must be allowed by some rule, and the line must hold nothing else."""
    allowing = [rule for rule in rules if rule.kind == "allow"]
    if bare := next((rule for rule in allowing if rule.pattern is None), None):
        return bare
    if spec.name != "Bash":
        return next((rule for rule in allowing if _touches(rule, parts)), None)
    line = read_command_line(str(params.get("command", "")))
    if not line.is_plain:
        return None
    by_command = [next((rule for rule in allowing if _fits(rule.pattern or "", one)), None) for one in line.simple]
    return by_command[0] if all(by_command) else None


def _fits(pattern: str, subject: str) -> bool:
    """A glob; `git log:*` means `git log` alone or with arguments."""
    if pattern.endswith(":*"):
        head = pattern[:-2]
        return subject == head or subject.startswith(head + " ")
    return fnmatchcase(subject, pattern)


def grant_pattern(spec: ToolSpec, params: Mapping[str, Any]) -> str | None:
    """What a grant is limited to. One yes to a command is not a yes to all commands."""
    if spec.name == "Bash":
        return str(params.get("command", ""))
    return str(params.get("url", "")) if spec.name == "WebFetch" else None


def _covers(grant: Grant, spec: ToolSpec, params: Mapping[str, Any]) -> bool:
    same = grant.tool == spec.name and grant.server == spec.server
    return same and (grant.pattern is None or grant.pattern == grant_pattern(spec, params))
