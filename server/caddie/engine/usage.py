"""What do the tools cost, what does deferring them save, and which states would suit this person better?

All numbers are per request, as the prompt stands now. Tokens are estimates; bytes are what is sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from caddie.chat.deferral import definition, stub
from caddie.chat.messages import Deferral, Message, ToolAnswer, ToolDefinition, ToolUse
from caddie.chat.session import Requested, Session
from caddie.engine.tokens import compact, estimate_tokens, family_of
from caddie.providers import anthropic_body, gemini_body
from caddie.providers.openai_responses_items import function_tool
from caddie.providers.schema import for_openai
from caddie.storage.habits import Habits
from caddie.tools.core_tools import BRIDGE, TOOL_SEARCH
from caddie.tools.states import Decision
from caddie.tools.tool import State, TextContent, ToolSpec

if TYPE_CHECKING:
    from caddie.engine.engine import Engine

MIN_SESSIONS = 5
_OFTEN = 0.6
_MUCH = 400  # tokens of each request that are worth a proposal
_MAX_PROPOSALS = 5

Given = Literal["prefix", "late", "loaded", "name", "loadable", "stub"]
"""How the model has a tool: whole from the beginning, since it was enabled, since a search loaded it; by name, by name
while the provider keeps the definition, or as an entry without parameters."""


@dataclass(frozen=True, slots=True)
class Row:
    """`tokens` of the whole definition, `in_prompt` of what the model is given now, `saved` by giving the name only."""

    spec: ToolSpec
    state: State
    tokens: int
    in_prompt: int
    saved: int
    bytes_sent: int
    calls: int


@dataclass(frozen=True, slots=True)
class Proposal:
    tool: str
    state: State
    reason: str


@dataclass(frozen=True, slots=True)
class Usage:
    family: str
    rows: tuple[Row, ...]
    searches: int
    searching: int
    bridge: int
    proposals: tuple[Proposal, ...]
    requests: tuple[Requested, ...] = ()

    @property
    def saved(self) -> int:
        return sum(row.saved for row in self.rows)

    @property
    def net(self) -> int:
        """What is left of the saving after the searches of this session and the two entry tools."""
        return self.saved - self.searching - self.bridge


def report(engine: Engine, provider: str, habits: Sequence[Habits], session_id: str = "") -> Usage:
    engine.in_step()
    family = family_of(provider)
    session = engine.sessions.find(session_id) if session_id else None
    states = engine.tools.states(session_id)
    given = _given(session, states, engine.deferrals.now(session_id).mode)
    calls = _calls(session)
    rows = tuple(_row(spec, states[spec.name], given, calls, provider) for spec in engine.catalogue.specs)
    searches, searching = _searching(session.messages if session else (), family)
    bridge = sum(row.in_prompt for row in rows if row.spec.name in BRIDGE)
    requests = tuple(session.requests) if session else ()
    return Usage(family, rows, searches, searching, bridge, tuple(_proposals(rows, habits)), requests)


def _given(session: Session | None, states: Mapping[str, Decision], mode: Deferral) -> Mapping[str, Given]:
    """How the model has each tool; a session that has not begun gets what is set now."""
    deferred: Given = {"stub": "stub", "native": "loadable"}.get(mode, "name")  # type: ignore[assignment]
    if session is None or session.prefix is None:
        words: dict[str, Given] = {"enabled": "prefix", "deferred": deferred}
        return {name: words[item.state] for name, item in states.items() if item.state in words}
    given: dict[str, Given] = dict.fromkeys(session.told.deferred, "name")
    given |= dict.fromkeys((tool.name for tool in session.prefix.loadable), "loadable")
    given |= dict.fromkeys((tool.name for tool in session.prefix.tools), "prefix")
    given |= dict.fromkeys(set(session.prefix.deferred) & {tool.name for tool in session.prefix.tools}, "stub")
    answers = [part for message in session.messages for part in message.parts if isinstance(part, ToolAnswer)]
    given |= dict.fromkeys((tool.name for answer in answers for tool in answer.found), "loaded")
    return given | dict.fromkeys(session.told.enabled, "late")


def _row(
    spec: ToolSpec, decision: Decision, given: Mapping[str, Given], calls: Mapping[str, int], provider: str
) -> Row:
    family, how = family_of(provider), given.get(spec.name)
    whole = compact(as_sent(definition(spec), provider))
    entry = compact(as_sent(stub(spec), provider)) if how == "stub" else whole
    tokens = estimate_tokens(whole, family)
    match how:
        case "prefix" | "late" | "loaded":
            in_prompt = tokens
        case "name" | "loadable":
            in_prompt = estimate_tokens(spec.name + "\n", family)
        case "stub":
            in_prompt = estimate_tokens(entry, family)
        case None:
            in_prompt = 0
    saved = max(0, tokens - in_prompt) if decision.state == "deferred" else 0
    stands_in_tools = how in ("prefix", "stub") or (how in ("loadable", "loaded") and provider == "anthropic")
    bytes_sent = len(entry.encode()) + 1 if stands_in_tools else 0  # and a comma
    return Row(spec, decision.state, tokens, in_prompt, saved, bytes_sent, calls.get(spec.name, 0))


def as_sent(tool: ToolDefinition, provider: str) -> Mapping[str, Any]:
    """The definition in the shape of the provider's API."""
    match provider:
        case "anthropic":
            return anthropic_body.entry(tool)[0]
        case "openai" | "xai":
            return function_tool(tool, for_openai(tool.input_schema, compatible=provider != "openai").schema)
        case "gemini":
            [declaration] = gemini_body.declare([tool], gemini_body.Manners()).declarations
            return declaration
        case _:
            schema = for_openai(tool.input_schema, compatible=True).schema
            function = {"name": tool.name, "description": tool.description, "parameters": schema}
            return {"type": "function", "function": function}


def _calls(session: Session | None) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for use in _uses(session.messages if session else ()):
        name = str((use.arguments or {}).get("tool_name", "")) if use.name in BRIDGE - {TOOL_SEARCH} else use.name
        found[name] = found.get(name, 0) + 1
    return found


def _searching(messages: Iterable[Message], family: str) -> tuple[int, int]:
    """How often was searched, and the tokens of questions and answers that every request now carries."""
    kept = list(messages)
    asked = [use for use in _uses(kept) if use.name == TOOL_SEARCH]
    answers = [
        part for message in kept for part in message.parts if isinstance(part, ToolAnswer) and part.name == TOOL_SEARCH
    ]
    texts = [compact(use.arguments) for use in asked]
    texts += [item.text for answer in answers for item in answer.content if isinstance(item, TextContent)]
    return len(asked), sum(estimate_tokens(text, family) for text in texts)


def _uses(messages: Iterable[Message]) -> list[ToolUse]:
    return [use for message in messages for use in message.tool_uses]


def _proposals(rows: Sequence[Row], habits: Sequence[Habits]) -> Iterable[Proposal]:
    """From local counts only: what was stored of this folder's last conversations."""
    if len(habits) < MIN_SESSIONS:
        return
    yield from _worth_enabling(rows, habits)
    unused = [
        row
        for row in rows
        if row.state == "enabled"
        and row.tokens >= _MUCH
        and row.spec.name not in BRIDGE
        and not any(row.spec.name in one.called for one in habits)
    ]
    for row in sorted(unused, key=lambda row: (-row.tokens, row.spec.name))[:_MAX_PROPOSALS]:
        reason = f"unused in the last {len(habits)} sessions, {row.tokens:,} tokens each request"
        yield Proposal(row.spec.name, "deferred", reason)


def _worth_enabling(rows: Sequence[Row], habits: Sequence[Habits]) -> Iterable[Proposal]:
    counted = [
        (sum(row.spec.name in one.found or row.spec.name in one.selected for one in habits), row)
        for row in rows
        if row.state == "deferred"
    ]
    often = [(times, row) for times, row in counted if times >= _OFTEN * len(habits)]
    for times, row in sorted(often, key=lambda item: (-item[0], item[1].spec.name))[:_MAX_PROPOSALS]:
        yield Proposal(row.spec.name, "enabled", f"searched for in {times} of {len(habits)} sessions")
