"""Agents: conversations of their own under the states, rules, mode and grants of their parent."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from caddie.errors import ProviderAuth
from caddie.providers.scripted import Wait, use
from engine_kit import BOUND, desk, mcp_tool

LOG, ADD = mcp_tool("git", "git_log", "Show the commits"), mcp_tool("git", "git_add")
TOOLS = {"git": (LOG, ADD)}
ALLOW = {"permissions": {"mode": "auto"}}
TASK = use("Agent", "a1", description="look around", prompt="Count the commits.")


async def test_an_agent_works_apart_and_its_report_is_the_result(workspace: Path) -> None:
    answers = ([TASK], [use("mcp__git__git_log", "c1")], ["There are three."], ["Three commits."])
    async with desk(workspace, answers=answers, settings=ALLOW, tools=TOOLS) as one:
        _, said = await one.turn("how many commits")
        parent, child = one.provider.requests[0], one.provider.requests[1]
        final = one.provider.requests[3]
    assert said == "Three commits."
    assert "Count the commits." in str(child.messages)
    assert "how many commits" not in str(child.messages)
    assert child.session_id != parent.session_id
    assert "There are three." in str(final.messages[-1])
    assert "git_log ran" not in str(final.messages), "what it read stays out of the conversation"
    shown = "".join(call.progress for call in one.calls if call.tool == "Agent")
    assert "git_log" in shown
    assert "tokens read" in shown


async def test_e01_an_agent_inherits_the_states_of_its_session(workspace: Path) -> None:
    """What is deferred, enabled or disabled for the conversation is so for its agents."""
    answers = (["hi"], [TASK], ["done"], ["done"])
    settings = {**ALLOW, "tools": {"deferred": ["Grep"], "disabled": ["WebFetch"]}}
    async with desk(workspace, answers=answers, settings=settings, tools=TOOLS) as one:
        session, _ = await one.turn("hello")
        changes = [("mcp__git__git_log", "enabled"), ("mcp__git__git_add", "disabled")]
        await one.engine.admin.set_state(changes, "session", session)
        await one.turn("go", session)
        child = one.provider.requests[2]
    names = {tool.name for tool in child.tools}
    assert "mcp__git__git_log" in names
    assert not {"Grep", "WebFetch", "mcp__git__git_add", "Agent"} & names
    said = str(child.messages[0])
    assert "Grep" in said, "deferred: known by name"
    assert "WebFetch" not in said
    assert "git_add" not in said


async def test_d01_a_disabled_tool_is_refused_to_an_agent_directly_and_over_the_bridge(workspace: Path) -> None:
    calls = [use("mcp__git__git_add", "c1"), use("ExecuteTool", "c2", tool_name="mcp__git__git_add", params={})]
    answers = (["hi"], [TASK], calls, ["refused"], ["done"])
    async with desk(workspace, answers=answers, settings=ALLOW, tools=TOOLS) as one:
        session, _ = await one.turn("hello")
        await one.engine.admin.set_state([("mcp__git__git_add", "disabled")], "session", session)
        await one.turn("go", session)
        results = one.provider.requests[3].messages[-1].parts
    assert all(part.is_error and "disabled" in str(part.content) for part in results)
    assert "git_add ran" not in str(results)


async def test_an_agents_calls_ask_the_person_and_session_grants_hold_for_both(workspace: Path) -> None:
    call = use("mcp__git__git_add", "c1")
    answers = ([call], ["ok"], [TASK], [call], ["reported"], ["done"])
    async with desk(workspace, answers=answers, tools=TOOLS) as one:
        one.person.choice = lambda request: next(c.id for c in request.choices if c.kind == "allowSession")
        session, _ = await one.turn("add it")
        await one.turn("let an agent do it", session)
        assert [request.tool for request in one.person.asked] == ["mcp__git__git_add"], "asked once, for both"


async def test_plan_mode_holds_for_agents(workspace: Path) -> None:
    answers = ([TASK], [use("mcp__git__git_add", "c1")], ["could not"], ["done"])
    async with desk(workspace, answers=answers, settings=ALLOW, tools=TOOLS) as one:
        await one.turn("plan it", mode="plan")
        [refused] = one.provider.requests[2].messages[-1].parts
    assert refused.is_error
    assert "plan mode" in str(refused.content).lower()


async def test_an_agent_starts_no_agents(workspace: Path) -> None:
    answers = ([TASK], [use("Agent", "c1", description="more", prompt="more")], ["alone"], ["done"])
    async with desk(workspace, answers=answers, settings=ALLOW) as one:
        await one.turn("go")
        [refused] = one.provider.requests[2].messages[-1].parts
    assert refused.is_error
    assert "do the task yourself" in str(refused.content)


async def test_stopping_the_turn_stops_its_agents(workspace: Path) -> None:
    wait = Wait(asyncio.Event(), asyncio.Event())
    async with desk(workspace, answers=([TASK], [wait], ["again"]), settings=ALLOW) as one:
        turn = asyncio.create_task(one.turn("go"))
        async with asyncio.timeout(BOUND):
            await wait.reached.wait()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn


async def test_an_agent_that_cannot_reach_its_model_says_so_and_the_turn_lives(workspace: Path) -> None:
    answers = ([TASK], [ProviderAuth("No key.")], ["I could not delegate."])
    async with desk(workspace, answers=answers, settings=ALLOW) as one:
        _, said = await one.turn("go")
    assert said == "I could not delegate."


async def test_e01_c10_an_agent_gets_definitions_whole_and_finds_and_calls_what_is_deferred(workspace: Path) -> None:
    condition = {"$defs": {"OrderCond": {"enum": ["new", "paid"]}}, "type": "object",
                 "properties": {"cond": {"$ref": "#/$defs/OrderCond"}}}  # fmt: skip
    orders = mcp_tool("shop", "find_orders", "Find orders by condition", condition)
    answers = ([TASK], [use("ToolSearch", "c1", query="find orders")],
               [use("ExecuteTool", "c2", tool_name="mcp__shop__find_orders", params={"cond": "paid"})],
               ["found"], ["done"])  # fmt: skip
    settings = {**ALLOW, "tools": {"enabled": ["mcp__git__git_log"]}}
    async with desk(workspace, answers=answers, settings=settings, tools={**TOOLS, "shop": (orders,)}) as one:
        await one.turn("go")
        await one.engine.admin.set_state([("mcp__shop__find_orders", "enabled")], "user")
        one.provider._answers += [(TASK,), ("seen",), ("done",)]
        await one.turn("go on")
        first, found, second = (one.provider.requests[number] for number in (1, 2, 6))
        called = one.provider.requests[3]
    assert "mcp__shop__find_orders" not in {tool.name for tool in first.tools}
    assert '"OrderCond"' in str(found.messages[-1])
    assert "find_orders ran with {'cond': 'paid'}" in str(called.messages[-1])
    assert {tool.name: tool.input_schema for tool in second.tools}["mcp__shop__find_orders"] == condition


async def test_e02_an_agents_request_is_as_small_as_its_parents_with_300_deferred_tools(workspace: Path) -> None:
    schema = {"type": "object", "properties": {f"p{n}": {"type": "string", "description": "x" * 80} for n in range(9)}}
    many = {"big": tuple(mcp_tool("big", f"tool_{n}", "Does something", schema) for n in range(300))}
    async with desk(workspace, answers=([TASK], ["report"], ["done"]), settings=ALLOW, tools=many) as one:
        await one.turn("go")
        parent, child = one.provider.requests[0], one.provider.requests[1]
    assert {tool.name for tool in parent.tools} - {tool.name for tool in child.tools} == {"Agent"}
    assert {"ToolSearch", "ExecuteTool", "Read"} <= {tool.name for tool in child.tools}
    assert not any(tool.name.startswith("mcp__") for tool in child.tools)
    assert len(str(child.tools)) < len(str(parent.tools))
    assert "mcp__big__tool_299" in str(child.messages[0]), "known by name"
