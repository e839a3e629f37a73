"""What users of such systems ran into, section D: permissions."""

from __future__ import annotations

import asyncio
from pathlib import Path

from caddie.providers.scripted import use
from engine_kit import BOUND, desk, mcp_tool

X, Y, BX = mcp_tool("a", "x"), mcp_tool("a", "y"), mcp_tool("b", "x")
TOOLS = {"a": (X, Y), "b": (BX,)}
ALLOW_ALL = {"permissions": {"allow": ["mcp__*"]}}


async def test_d01_a_disabled_tool_is_refused_through_the_bridge_and_directly(workspace: Path) -> None:
    async with desk(workspace, settings=ALLOW_ALL, tools=TOOLS) as one:
        assert not (await one.bridge("mcp__a__x", {})).is_error
        await one.engine.admin.set_state([("mcp__a__x", "disabled")], "workspace")
        results = [await one.bridge("mcp__a__x", {}), await one.execute("mcp__a__x", {}), await one.bridge("a/x", {})]
    for result in results:
        assert result.is_error
        assert "disabled by the workspace setting tools.disabled" in result.text


async def test_d01_a_call_repeated_from_a_resumed_history_is_refused(workspace: Path) -> None:
    script = ([use("mcp__a__x", "c1")], ["ok"])
    async with desk(workspace, answers=script, settings=ALLOW_ALL, tools=TOOLS) as one:
        session_id, _ = await one.turn("run x")
    settings = {**ALLOW_ALL, "tools": {"disabled": ["mcp__a__x"]}}
    again = ([use("mcp__a__x", "c2")], ["no"])
    async with desk(workspace, answers=again, settings=settings, tools=TOOLS) as two:
        await two.turn("again", session_id)
        first = two.provider.requests[0]
    assert two.calls[-1].status == "failed"
    assert "disabled" in two.calls[-1].result
    assert "<disabled-tools>" in str(first.messages[-1]), "the model is told as well"


async def test_d01_a_tool_disabled_between_prompt_and_approval_does_not_run(workspace: Path) -> None:
    async with desk(workspace, tools=TOOLS) as one:
        one.person.thinking = asyncio.Event()
        one.person.choice = "once"
        call = asyncio.create_task(one.bridge("mcp__a__x", {}))
        async with asyncio.timeout(BOUND):
            await one.person.is_asked.wait()
            await one.engine.admin.set_state([("mcp__a__*", "disabled")], "workspace")
            one.person.thinking.set()
            result = await call
    assert result.is_error
    assert "disabled" in result.text


async def test_d02_always_for_one_tool_allows_that_tool_and_no_other(workspace: Path) -> None:
    async with desk(workspace, tools=TOOLS) as one:
        one.person.choice = "always"
        await one.bridge("mcp__a__x", {})
        assert [request.tool for request in one.person.asked] == ["mcp__a__x"]
        one.person.choice = "reject"
        assert not (await one.bridge("mcp__a__x", {})).is_error, "it was allowed for always"
        assert (await one.bridge("mcp__a__y", {})).is_error
        assert (await one.bridge("mcp__b__x", {})).is_error
    assert [request.tool for request in one.person.asked] == ["mcp__a__x", "mcp__a__y", "mcp__b__x"]
    assert all(request.tool != "ExecuteTool" for request in one.person.asked)


async def test_an_always_grant_is_kept_for_the_next_process_and_can_be_revoked(workspace: Path) -> None:
    async with desk(workspace, tools=TOOLS) as one:
        one.person.choice = "always"
        await one.bridge("mcp__a__x", {})
    async with desk(workspace, tools=TOOLS) as two:
        assert not (await two.bridge("mcp__a__x", {})).is_error
        assert two.person.asked == []
        [grant] = two.engine.grants.held("")
        two.engine.grants.revoke(grant.id)
        assert (await two.bridge("mcp__a__x", {})).is_error
        assert len(two.person.asked) == 1


async def test_a_session_grant_ends_with_its_session(workspace: Path) -> None:
    async with desk(workspace, tools=TOOLS) as one:
        first, second = one.engine.sessions.create().id, one.engine.sessions.create().id
        one.person.choice = "session"
        await one.bridge("mcp__a__x", {}, first)
        one.person.choice = "reject"
        assert not (await one.bridge("mcp__a__x", {}, first)).is_error
        assert (await one.bridge("mcp__a__x", {}, second)).is_error


async def test_one_yes_to_a_command_is_not_a_yes_to_all_commands(workspace: Path) -> None:
    async with desk(workspace) as one:
        one.person.choice = "always"
        await one.execute("Bash", {"command": "echo one"})
        one.person.choice = "reject"
        assert not (await one.execute("Bash", {"command": "echo one"})).is_error
        assert (await one.execute("Bash", {"command": "echo two"})).is_error
    assert [request.params["command"] for request in one.person.asked] == ["echo one", "echo two"]


async def test_a_changed_definition_asks_again_and_says_what_changed(workspace: Path) -> None:
    async with desk(workspace, tools={"a": (X,)}) as one:
        one.person.choice = "always"
        await one.bridge("mcp__a__x", {})
        one.engine.catalogue.replace_source("a", (mcp_tool("a", "x", "Deletes everything"),))
        await one.bridge("mcp__a__x", {})
    assert len(one.person.asked) == 2
    assert "Deletes everything" in one.person.asked[1].definition_changed


async def test_d14_without_a_way_to_ask_the_default_applies_and_the_reason_says_so(workspace: Path) -> None:
    async with desk(workspace, tools=TOOLS, can_ask=False) as one:
        result = await one.bridge("mcp__a__x", {})
    assert result.is_error
    assert "this client cannot ask" in result.text
    assert "person refused" not in result.text


async def test_d14_the_default_can_be_to_allow(workspace: Path) -> None:
    settings = {"permissions": {"whenClientCannotAsk": "allow"}}
    async with desk(workspace, settings=settings, tools=TOOLS, can_ask=False) as one:
        assert not (await one.bridge("mcp__a__x", {})).is_error


async def test_a_refusal_carries_the_persons_words_to_the_model(workspace: Path) -> None:
    script = ([use("mcp__a__x", "c1")], ["I see."])
    async with desk(workspace, answers=script, tools=TOOLS) as one:
        one.person.feedback = "use the staging server"
        await one.turn("go")
    answer = one.provider.requests[1].messages[-1].parts[0]
    assert answer.is_error
    assert "use the staging server" in answer.content[0].text
    assert one.calls[-1].status == "refused"


async def test_a_strangers_read_only_claim_is_no_permission(workspace: Path) -> None:
    async with desk(workspace, tools={"a": (mcp_tool("a", "look", read_only=True),)}) as one:
        await one.bridge("mcp__a__look", {})
    assert len(one.person.asked) == 1
