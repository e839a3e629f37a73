"""What comes next in a turn: one call, or the last word? The whole decision, from the messages alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from caddie.chat.messages import ModelRequest, ToolDefinition
from caddie.providers.planning import wording
from caddie.providers.planning.about_tools import about, asks_about_tools, overview, subject_of, wants_state
from caddie.providers.planning.arguments import core_arguments, held_todos
from caddie.providers.planning.beyond import Beyond, beyond, reaches
from caddie.providers.planning.choose import Fit, rank
from caddie.providers.planning.commands import asks_for_todos, bare_command
from caddie.providers.planning.conversation import Exchange, Turn, read_turn
from caddie.providers.planning.core import CoreCall
from caddie.providers.planning.found import FoundTool, from_definition, parse_search_answer
from caddie.providers.planning.intent import core_call
from caddie.providers.planning.listing import place_of
from caddie.providers.planning.named import named_tool
from caddie.providers.planning.orders import is_only_spoken_of
from caddie.providers.planning.phrases import fact_in
from caddie.providers.planning.plain import plain as without_courtesy
from caddie.providers.planning.slots import fill
from caddie.providers.planning.small_talk import small_talk
from caddie.providers.planning.values import Values, read_values
from caddie.providers.planning.words import query_of

MAX_CALLS = 4
MAX_CHARACTERS = 2_000  # rules read requests, not documents
_BRIDGE = ("ToolSearch", "ExecuteTool")
_FOR_FILES = ("Grep", "Glob", "Read")
_SURE = 1.8  # a tool that is at hand goes before a search only when its name is nearly said

_REFUSED = re.compile(r"\b(?:person|user|you) (?:refused|declined|rejected|said no)\b|用户拒绝", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Call:
    """`before` is shown ahead of the call: the result of an earlier step."""

    id: str
    name: str
    arguments: dict[str, Any]
    before: str = ""


@dataclass(frozen=True, slots=True)
class Say:
    text: str


@dataclass(frozen=True, slots=True)
class _Next:
    """A call without its id yet."""

    name: str
    arguments: dict[str, Any]


def plan(request: ModelRequest) -> Call | Say:
    turn = read_turn(request)
    tools = {tool.name: tool for tool in request.tools}
    before = ""
    if turn.exchanges and not turn.exchanges[-1].is_search:
        before = _report(turn.exchanges[-1], turn)
        if turn.exchanges[-1].answer.is_error or not turn.step:
            return _said(before, turn)
    if len(turn.exchanges) >= MAX_CALLS:
        stopped = wording.say("limit", turn.language, count=MAX_CALLS, rest=wording.code(turn.step))
        return _said(_joined(before, stopped), turn)
    next_step = _decide(turn, tools)
    if isinstance(next_step, _Next) and is_only_spoken_of(_target(next_step), turn.step):
        next_step = wording.say("no order", turn.language, tool=wording.code(_target(next_step)))
    if isinstance(next_step, str):
        return _said(_joined(before, next_step), turn)
    return Call(_fresh_id(turn), next_step.name, next_step.arguments, f"{before}\n\n" if before else "")


def _target(call: _Next) -> str:
    return str(call.arguments.get("tool_name")) if call.name == "ExecuteTool" else call.name


def _decide(turn: Turn, tools: Mapping[str, ToolDefinition]) -> _Next | str:
    values = read_values(without_courtesy(turn.step.strip()[:MAX_CHARACTERS]))
    if turn.exchanges and turn.exchanges[-1].is_search:
        return _after_search(turn, tools, values)
    if len(turn.request) > MAX_CHARACTERS:
        return wording.say("long", turn.language, limit=MAX_CHARACTERS)
    if turn.picked:
        return _from_pick(turn, tools, values)
    if asks_for_todos(values):
        return wording.todos(held_todos([*turn.earlier_uses, *(done.use for done in turn.done)]), turn.language)
    if wants_state(values, {*tools, *turn.deferred}):
        return wording.say("tool state", turn.language)
    if asks_about_tools(values):
        return _tools_asked_for(turn, tools, values)
    if name := named_tool(values, tools.keys() - {*_BRIDGE}, turn.deferred):
        return _by_name(name, turn, tools, values)
    if talk := small_talk(values.text):
        return wording.say(talk, turn.language, examples=wording.say("examples", turn.language))
    core = core_call(values)
    if core and core.tool in tools and not _beyond(values, core):
        return _core(core, tools[core.tool], turn)
    return _from_catalogue(turn, tools, values, core)


def _beyond(values: Values, core: CoreCall | None) -> Beyond | None:
    """A service that the message names, unless its name is only a word to be kept or searched in files."""
    if fact_in(values.text) or (core and (core.tool not in _FOR_FILES or place_of(values) or values.quoted)):
        return None
    return beyond(values)


def _tools_asked_for(turn: Turn, tools: Mapping[str, ToolDefinition], values: Values) -> _Next | str:
    subject = subject_of(values)
    if subject and "ToolSearch" in tools:
        return _Next("ToolSearch", {"query": subject})
    return wording.overview(*overview([name for name in tools if name not in _BRIDGE], turn.deferred), turn.language)


def _from_catalogue(
    turn: Turn, tools: Mapping[str, ToolDefinition], values: Values, core: CoreCall | None
) -> _Next | str:
    row = _beyond(values, core)
    others = [tool for tool in _others(tools, turn) if not row or reaches(tool, row)]
    at_hand = [fit for fit in rank(others, values, turn.workspace) if fit.is_relevant]
    if at_hand and at_hand[0].score >= _SURE and not at_hand[0].filled.missing:
        return _run(at_hand[0].tool.name, at_hand[0].filled.params, tools)
    if "ToolSearch" in tools:
        words = f"{core.tool} {query_of(values)}" if core and not row else query_of(values)
        return _Next("ToolSearch", {"query": words})
    if at_hand:
        return _call_or_ask(at_hand, turn, tools)
    return wording.say("no search", turn.language)


def _after_search(turn: Turn, tools: Mapping[str, ToolDefinition], values: Values) -> _Next | str:
    search = turn.exchanges[-1]
    if search.answer.is_error:
        return _report(search, turn)
    found = parse_search_answer(search.text)
    asked = str((search.use.arguments or {}).get("query", ""))
    if asked.startswith("select:"):
        return _named(found[0], turn, tools, values) if found else _unknown_name(asked, search, turn)
    if asks_about_tools(values):
        spoken_of = about(found, values)
        rows = [(tool.name, tool.description) for tool in spoken_of]
        return wording.tools_found(rows, turn.language) if rows else wording.nothing_fits([], turn.language)
    core = core_call(values)
    row = _beyond(values, core)
    for tool in found:
        if core and core.tool == tool.label and not row:
            return _core(core, ToolDefinition(tool.name, tool.description, tool.schema), turn, tools)
    candidates = [tool for tool in [*found, *_others(tools, turn)] if not row or reaches(tool, row)]
    fits = [fit for fit in rank(candidates, values, turn.workspace) if fit.is_relevant]
    if fits:
        return _call_or_ask(fits, turn, tools)
    hint = wording.way_out(row.hint, values.paths, turn.language) if row else ""
    if command := bare_command(values.text):
        hint = wording.as_command(command, turn.language)
    return wording.nothing_fits([] if row else [tool.name for tool in found[:3]], turn.language, hint)


def _call_or_ask(fits: Sequence[Fit], turn: Turn, tools: Mapping[str, ToolDefinition]) -> _Next | str:
    best = fits[0]
    if best.filled.missing:
        return wording.missing(best.tool.name, best.filled.missing, turn.step, turn.language)
    return _run(best.tool.name, best.filled.params, tools)


def _from_pick(turn: Turn, tools: Mapping[str, ToolDefinition], values: Values) -> _Next | str:
    """The person's pick decides which tool; the words only fill it."""
    first = turn.picked[min(len(turn.done), len(turn.picked) - 1)]
    ready = [tool for tool in turn.picked if not fill(tool, values, turn.workspace).missing]
    return _named(ready[0] if ready and len(turn.steps) == 1 else first, turn, tools, values)


def _by_name(name: str, turn: Turn, tools: Mapping[str, ToolDefinition], values: Values) -> _Next | str:
    if name not in tools:
        return (
            _Next("ToolSearch", {"query": f"select:{name}"})
            if "ToolSearch" in tools
            else wording.say("no search", turn.language)
        )
    core = core_call(read_values(_without_name(values.text, name)))
    if core and core.tool == name:
        return _core(core, tools[name], turn)
    return _named(from_definition(tools[name]), turn, tools, values)


def _named(tool: FoundTool, turn: Turn, tools: Mapping[str, ToolDefinition], values: Values) -> _Next | str:
    text = _without_name(_without_name(values.text, tool.name), tool.label)
    filled = fill(tool, read_values(text), turn.workspace)
    if filled.missing:
        return wording.missing(tool.name, filled.missing, turn.step, turn.language)
    return _run(tool.name, filled.params, tools)


def _without_name(text: str, name: str) -> str:
    """The message without the tool's name and the words that call it, which are no arguments."""
    called = (
        r"(?:\b(?:please |can you )?(?:use|call|invoke|execute|run|using|with|via)(?: the)?(?: tool)?\s+|使用|调用)?"
    )
    after = r"(?:\s+tool\b|\s*工具)?(?:\s+(?:to|for|on)\b(?=\s))?"
    return re.sub(
        rf"{called}[`\"']?(?<![\w-]){re.escape(name)}(?![\w-])[`\"']?{after}", " ", text, flags=re.IGNORECASE
    ).strip()


def _core(
    call: CoreCall, tool: ToolDefinition, turn: Turn, tools: Mapping[str, ToolDefinition] | None = None
) -> _Next | str:
    done = [exchange.use for exchange in turn.done if not exchange.answer.is_error]
    filled = core_arguments(call, tool.input_schema, [*turn.earlier_uses, *done], turn.step)
    if filled.missing and "done" in call.values:
        return wording.say("no todo", turn.language, said=wording.code(str(call.values["done"])))
    if filled.missing:
        return wording.missing(tool.name, filled.missing, turn.step, turn.language)
    return _run(tool.name, filled.params, tools) if tools is not None else _Next(tool.name, filled.params)


def _run(name: str, params: dict[str, Any], tools: Mapping[str, ToolDefinition]) -> _Next:
    if name in tools or "ExecuteTool" not in tools:
        return _Next(name, params)
    return _Next("ExecuteTool", {"tool_name": name, "params": params})


def _others(tools: Mapping[str, ToolDefinition], turn: Turn) -> list[FoundTool]:
    """Tools at hand that no rule of their own speaks for."""
    late = [tool for tool in turn.enabled if tool.name not in tools]
    return late + [from_definition(tool) for name, tool in tools.items() if "__" in name]


def _report(exchange: Exchange, turn: Turn) -> str:
    language, text = turn.language, exchange.text
    if not exchange.answer.is_error:
        return wording.result(exchange.tool, text, language)
    if _REFUSED.search(text):
        return wording.say("refused", language)
    tool = wording.code(exchange.tool)
    plain, schema, _ = text.partition("```")
    if schema and '"properties"' in text:
        lead = wording.say("invalid", language, tool=tool)
        return f"{lead}\n{wording.shown(plain.strip(), language)}\n{wording.say('mend', language)}"
    lead = wording.say("error", language, tool=tool)
    return f"{lead}\n{wording.shown(text, language)}\n{wording.say('mend', language)}"


def _unknown_name(asked: str, search: Exchange, turn: Turn) -> str:
    return f"{wording.nothing_fits([], turn.language)}\n{wording.shown(search.text or asked, turn.language)}"


def _said(text: str, turn: Turn) -> Say:
    return Say(wording.labelled(text, turn.language, turn.earlier_text))


def _joined(before: str, text: str) -> str:
    return f"{before}\n\n{text}" if before else text


def _fresh_id(turn: Turn) -> str:
    taken = {use.id for use in turn.earlier_uses} | {exchange.use.id for exchange in turn.exchanges}
    number = len(turn.exchanges) + 1
    while f"offline-{turn.number}-{number}" in taken:
        number += 1
    return f"offline-{turn.number}-{number}"
