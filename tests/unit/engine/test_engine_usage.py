"""What tools cost and save: rows that add up to the totals, and to what is really sent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from llmock.pytest_plugin import LLMock

from caddie.engine.tokens import estimate_tokens
from caddie.providers.scripted import use
from caddie.rpc.convert_usage import usage
from engine_kit import desk, mcp_tool, over_http

SCHEMA = {
    "type": "object",
    "properties": {f"field_{n}": {"type": "string", "description": "x" * 80} for n in range(20)},
}
BIG = mcp_tool("git", "git_log", "Shows the commit logs", SCHEMA)
TOOLS = {"git": (BIG, mcp_tool("git", "git_add"))}
LOG = "mcp__git__git_log"


BASES = {"openai-chat": "openai", "openai": "openai", "xai": "openai", "gemini": "gemini", "anthropic": "anthropic"}


@pytest.mark.parametrize("provider", BASES)
async def test_the_report_agrees_with_the_bytes_that_were_sent(llmock: LLMock, workspace: Path, provider: str) -> None:
    llmock.reply("Hello.")
    async with over_http(
        workspace, provider, llmock.base_url(BASES[provider]), published=TOOLS, tools={"enabled": [LOG]}
    ) as engine:
        session, _, _ = await engine.turns.run(None, "hi", lambda *_: None)
        report = usage(await engine.usage(session.id))
    tools = llmock.requests[-1].body["tools"]
    if provider == "gemini":
        [tools] = [one["functionDeclarations"] for one in tools]
    sent = json.dumps(tools, ensure_ascii=False, separators=(",", ":")).encode()
    assert abs(report.total.bytes_sent - len(sent)) < 0.05 * len(sent)
    in_tools = sum(row.in_prompt for row in report.rows if row.bytes_sent)
    assert abs(in_tools - estimate_tokens(sent.decode(), report.family)) < 0.05 * in_tools


async def test_totals_are_the_sums_of_groups_and_of_rows(workspace: Path) -> None:
    script = ([use("ToolSearch", "c1", query="select:git_log")], [use(LOG, "c2")], ["Done."])
    settings = {"permissions": {"allow": ["mcp__*"]}, "tools": {"disabled": ["git_add"]}}
    async with desk(workspace, answers=script, tools=TOOLS, settings=settings) as one:
        session, _ = await one.turn("log")
        report = usage(await one.engine.usage(session))
    for field in ("tokens", "in_prompt", "saved", "bytes_sent"):
        total = getattr(report.total, field)
        assert total == sum(getattr(row, field) for row in report.rows), field
        assert total == sum(getattr(group, field) for group in report.groups), field
    rows = {row.tool: row for row in report.rows}
    assert rows[LOG].saved == rows[LOG].tokens - rows[LOG].in_prompt > 400
    assert (rows["mcp__git__git_add"].in_prompt, rows["mcp__git__git_add"].saved) == (0, 0), "it is disabled"
    assert (report.searches, rows[LOG].calls) == (1, 1)
    assert report.searching > rows[LOG].tokens / 2, "the answer of the search carried its schema"
    assert report.net == report.total.saved - report.searching - report.bridge
    assert [group.server for group in report.groups] == [None, "git"]


async def test_what_was_searched_for_often_and_what_is_never_used_is_proposed(workspace: Path) -> None:
    unused = mcp_tool("db", "dump", "x" * 3000)
    tools: dict[str, Any] = {**TOOLS, "db": (unused,)}
    settings = {"permissions": {"allow": ["mcp__*"]}, "tools": {"enabled": ["mcp__db__dump"], "deferred": ["Bash"]}}
    turn = ([use("ToolSearch", "c1", query="commits")], [use(LOG, "c2")], ["Done."])
    async with desk(workspace, answers=turn * 5, tools=tools, settings=settings) as one:
        for number in range(5):
            before = usage(await one.engine.usage())
            assert before.proposals == [], f"{number} sessions are too few to judge by"
            await one.turn("log")
        report = usage(await one.engine.usage())
        proposals = {item.tool: item for item in report.proposals}
        assert proposals[LOG].reason == "searched for in 5 of 5 sessions"
        assert "unused in the last 5 sessions" in proposals["mcp__db__dump"].reason
        for item in report.proposals:
            await one.engine.admin.set_state([(item.change.tool, item.change.state)], "user")
        again = usage(await one.engine.usage())
    assert {row.tool: row.state for row in again.rows}[LOG] == "enabled"


def test_chinese_costs_more_than_its_characters_suggest() -> None:
    assert estimate_tokens("延迟加载的工具" * 10, "anthropic") > estimate_tokens("deferred" * 10, "anthropic")
    assert estimate_tokens("") == 0
