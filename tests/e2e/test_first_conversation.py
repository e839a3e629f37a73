"""The whole road once: hint, ToolSearch, ExecuteTool, permission, a real MCP server, the final word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from llmock.pytest_plugin import LLMock

from editor_client import Editor, editor
from provider_bodies import check_anthropic, check_openai_chat

GIT_LOG = "mcp__git__git_log"


def play_the_story(llmock: LLMock, repository: Path) -> None:
    llmock.call_tool("ToolSearch", {"query": "commit history"})
    llmock.call_tool("ExecuteTool", {"tool_name": GIT_LOG, "params": {"repo_path": str(repository), "max_count": 3}})
    llmock.reply("The last commit fixes the rounding of totals.")


def provider_of(name: str, llmock: LLMock) -> tuple[dict[str, Any], dict[str, str]]:
    """Settings and environment that point at the double."""
    if name == "anthropic":
        settings = {"provider": "anthropic", "baseUrl": llmock.base_url("anthropic"), "model": "claude-sonnet-5"}
        return settings, {"ANTHROPIC_API_KEY": "test-key"}
    settings = {"provider": "openai-chat", "baseUrl": llmock.base_url("openai"), "model": "gpt-4o"}
    return settings, {"OPENAI_API_KEY": "test-key"}


@pytest.mark.parametrize("provider", ["anthropic", "openai-chat"])
async def test_a_deferred_tool_is_hinted_found_permitted_run_and_answered(
    provider: str, llmock: LLMock, repository: Path, home: Path, git_server: dict[str, object]
) -> None:
    play_the_story(llmock, repository)
    settings, env = provider_of(provider, llmock)
    settings["mcp"] = {"servers": {"git": git_server}}

    async with editor(repository, home, settings=settings, env=env) as one:
        one.on_permission = lambda params: {"choice": "once"}
        await one.server_is("git", "ready")
        result = await one.turn("Show me the commit logs of this repository")
        await one.until(lambda: one.hints("turn"))

    assert result["text"] == "The last commit fixes the rounding of totals."
    assert result["stopReason"] == "endTurn"
    assert GIT_LOG in one.hints("turn")
    assert_only_the_real_tool_was_asked_for(one, repository)
    assert ("ToolSearch", "done") in one.calls()
    assert one.calls(GIT_LOG) == [(GIT_LOG, "awaitingPermission"), (GIT_LOG, "running"), (GIT_LOG, "done")]
    assert "Fix the rounding of totals" in one.events("toolCall")[-1]["result"]
    assert_the_requests_are_what_the_vendors_take(provider, llmock)


def assert_only_the_real_tool_was_asked_for(one: Editor, repository: Path) -> None:
    assert [params["tool"] for _, params in one.asked] == [GIT_LOG]
    asked = one.asked[0][1]
    assert (asked["label"], asked["server"]) == ("git_log", "git")
    assert asked["params"] == {"repo_path": str(repository), "max_count": 3}
    assert [choice["kind"] for choice in asked["choices"]] == [
        "allowOnce",
        "allowSession",
        "allowAlways",
        "allowServerSession",
        "reject",
    ]
    assert "ExecuteTool" not in {event["tool"] for event in one.events("toolCall")}
    assert "ExecuteTool" not in str(one.asked)


def assert_the_requests_are_what_the_vendors_take(provider: str, llmock: LLMock) -> None:
    bodies = [record.body for record in llmock.requests if record.body]
    assert len(bodies) == 3
    for body in bodies:
        (check_anthropic if provider == "anthropic" else check_openai_chat)(body)
    assert len({str(body["tools"]) for body in bodies}) == 1, "the tools array moved"
    sent = {tool.get("name") or tool["function"]["name"] for tool in bodies[0]["tools"]}
    assert {"Bash", "Read", "ToolSearch", "ExecuteTool"} <= sent
    assert not any(name.startswith("mcp__") for name in sent)
    assert "<available-deferred-tools>" in str(bodies[0]["messages"])
    assert GIT_LOG in str(bodies[0]["messages"])
    assert f"## {GIT_LOG}" in str(bodies[1]["messages"]), "the search answer carries the definition"
    assert "Fix the rounding of totals" in str(bodies[2]["messages"])
