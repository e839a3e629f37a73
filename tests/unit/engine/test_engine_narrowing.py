"""A message that is written for certain MCP servers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from caddie.chat.messages import ToolUse
from caddie.errors import InvalidInput
from engine_kit import BOUND, Desk, desk, mcp_tool

TOOLS = {
    "git": (mcp_tool("git", "log", "Shows the commit history"),),
    "hub": (mcp_tool("hub", "commits", "Lists the commit history of a repository"),),
    "mail": (mcp_tool("mail", "send", "Sends a letter to somebody"),),
}
SEARCH = ToolUse("c1", "ToolSearch", {"query": "commit history"})


async def hints(one: Desk) -> set[str]:
    """Those that were shown since the last look."""
    async with asyncio.timeout(BOUND):
        await one.hinted.wait()
    one.hinted.clear()
    return {hint.tool for hint in one.hints[-1]}


def newest(one: Any, number: int = 0) -> str:
    return str(one.provider.requests[number].messages[-1])


async def test_hints_and_searches_of_the_turn_are_of_the_servers_named(workspace: Path) -> None:
    async with desk(workspace, answers=([SEARCH], ["Done."], [SEARCH], ["Done."]), tools=TOOLS) as one:
        session, _ = await one.turn("show the commit history", servers=("hub",))
        assert await hints(one) == {"mcp__hub__commits"}
        assert "mcp__hub__commits" in newest(one, 1)
        assert "mcp__git__log" not in newest(one, 1)
        await one.turn("show the commit history", session)
        assert {"mcp__hub__commits", "mcp__git__log"} <= await hints(one)
        assert "mcp__git__log" in newest(one, 3)


async def test_the_model_is_told_in_the_newest_message_and_the_prefix_stays(workspace: Path) -> None:
    async with desk(workspace, answers=(["One."], ["Two."]), tools=TOOLS) as one:
        session, _ = await one.turn("hello")
        await one.turn("show it", session, servers=("git", "hub"))
        first, second = one.provider.requests
        assert "<servers>" in newest(one, 1)
        assert "use their tools for it: git, hub" in newest(one, 1)
        assert (first.system, first.tools) == (second.system, second.tools)
        assert second.messages[: len(first.messages)] == first.messages


async def test_a_search_that_fits_nothing_there_looks_elsewhere_and_says_so(workspace: Path) -> None:
    async with desk(workspace, answers=([SEARCH], ["Done."]), tools=TOOLS) as one:
        await one.turn("show the commit history", servers=("mail",))
        assert "No tool of mail fits; these are from elsewhere." in newest(one, 1)
        assert "mcp__git__log" in newest(one, 1)


async def test_an_unknown_server_is_an_error_that_names_the_nearest_and_starts_no_turn(workspace: Path) -> None:
    async with desk(workspace, answers=(["Never."],), tools=TOOLS) as one:
        with pytest.raises(InvalidInput, match="No MCP server is named @gti; did you mean @git"):
            await one.turn("show it", servers=("gti",))
        assert one.provider.requests == []


async def test_a_draft_is_narrowed_too(workspace: Path) -> None:
    async with desk(workspace, tools=TOOLS) as one:
        await one.engine.hints.draft("d", "show the commit history", "", ("hub",))
        assert await hints(one) == {"mcp__hub__commits"}
