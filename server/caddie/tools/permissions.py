"""May this tool run with these arguments? deny > ask > allow > what the tool itself says.

What a stranger's tool says of itself never allows it: `readOnlyHint` of an MCP server counts for plan mode and for
running side by side, not here. Only built-in reads and session tools run unasked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from caddie.layers import Resolved
from caddie.settings import Permissions
from caddie.tools.grants import Grant, covers, holds
from caddie.tools.patterns import matches
from caddie.tools.places import Surroundings, must_ask
from caddie.tools.subjects import Subject, subject_of
from caddie.tools.tool import Tool

RuleKind = Literal["deny", "ask", "allow"]
_RULE = re.compile(r"([^()]+)(?:\((.*)\))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Rule:
    """`Tool`, `Tool(pattern)`, `mcp__server__*`: who it is about, and a glob over what it would do."""

    kind: RuleKind
    tool: str
    pattern: str | None
    scope: str
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """`by` says whose word it was, for `ask` in a sentence for the prompt. `is_firm`: no permission given in a prompt
    changes it. `needs_person`: where nobody can be asked, it does not run. `stale` is an earlier grant whose tool has
    changed since."""

    kind: RuleKind
    by: str
    is_firm: bool = False
    needs_person: bool = False
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
    match = _RULE.fullmatch(text.strip())
    if match is None:
        return None
    pattern = None if match[2] is None else match[2].strip()
    return Rule(kind, match[1].strip(), None if pattern in ("*", ":*") else pattern, scope, text)


def decide(
    tool: Tool,
    params: Mapping[str, Any],
    *,
    rules: Iterable[Rule],
    grants: Iterable[Grant],
    permissions: Permissions,
    around: Surroundings,
) -> Verdict:
    about = [rule for rule in rules if matches(rule.tool, tool.spec, widening=rule.kind == "allow")]
    subject = subject_of(tool.spec, params, around)
    if firm := _stopping(about, subject) or _always_asking(tool, params, around):
        return firm
    if allowing := _allowing(about, subject):
        return Verdict("allow", f"the {allowing.scope} rule allow {allowing.text!r}")
    held = [grant for grant in grants if covers(grant, tool.spec, params)]
    if any(holds(grant, tool.spec) for grant in held):
        return Verdict("allow", "your earlier permission")
    if held:
        return Verdict("ask", "It changed since you allowed it.", stale=held[-1])
    return _own_word(tool, permissions)


def _stopping(about: Iterable[Rule], subject: Subject) -> Verdict | None:
    """Deny and ask rules. One that cannot be checked, since the call is only known when it runs, asks."""
    stopping = sorted((rule for rule in about if rule.kind != "allow"), key=lambda rule: rule.kind != "deny")
    for rule in stopping:
        if rule.pattern is None or subject.is_hit(rule.pattern):
            by = f"the {rule.scope} rule deny {rule.text!r}"
            ask = f"The {rule.scope} rule ask {rule.text!r} wants you to see it."
            return Verdict("deny", by) if rule.kind == "deny" else Verdict("ask", ask, is_firm=True)
    for rule in stopping:
        if rule.pattern is not None and (why := subject.may_be_hit(rule.pattern)):
            said = f"Whether the {rule.scope} rule {rule.kind} {rule.text!r} is about it cannot be told: {why}."
            return _to_be_seen(said)
    return None


def _always_asking(tool: Tool, params: Mapping[str, Any], around: Surroundings) -> Verdict | None:
    if tool.spec.needs_interaction:
        return _to_be_seen("It says of itself that you must see each call.")
    why = must_ask(tool, params, around)
    return _to_be_seen(why) if why else None


def _to_be_seen(why: str) -> Verdict:
    return Verdict("ask", why, is_firm=True, needs_person=True)


def _allowing(about: Iterable[Rule], subject: Subject) -> Rule | None:
    allowing = [rule for rule in about if rule.kind == "allow"]
    if bare := next((rule for rule in allowing if rule.pattern is None), None):
        return bare
    found = subject.vouched([rule.pattern for rule in allowing if rule.pattern is not None])
    return next((rule for rule in allowing if rule.pattern == found), None) if found is not None else None


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
