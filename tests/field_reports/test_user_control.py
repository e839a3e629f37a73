"""The plan of the person's control over deferred tools, point by point; and what each change does to the requests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from llmock.pytest_plugin import LLMock

from caddie.providers.scripted import use
from engine_kit import desk, mcp_tool, over_http

SCHEMA = {"type": "object", "properties": {"max_count": {"type": "integer"}}, "required": ["max_count"]}
LOG = mcp_tool("git", "git_log", "Shows the commit logs", SCHEMA, read_only=True)
TOOLS = {"git": (LOG,), "a": (mcp_tool("a", "x"), mcp_tool("a", "y"))}
NAME = LOG.name


def states(one: Any, session: str = "") -> dict[str, str]:
    return {item.spec.name: item.decision.state for item in one.engine.admin.listing(session)}


async def test_1_states_are_there_again_after_a_restart(workspace: Path) -> None:
    async with desk(workspace, tools=TOOLS) as one:
        changes = [("Bash", "deferred"), ("mcp__a__x", "enabled"), ("mcp__a__y", "disabled")]
        await one.engine.admin.set_state(changes, "user")  # type: ignore[arg-type]
        before = states(one)
    async with desk(workspace, tools=TOOLS) as two:
        assert states(two) == before
        assert [before[name] for name, _ in changes] == [state for _, state in changes]


@pytest.mark.parametrize("scope", ["user", "workspace", "session"])
async def test_2_cycling_goes_from_enabled_to_disabled_to_deferred_and_back(workspace: Path, scope: Any) -> None:
    async with desk(workspace, tools=TOOLS) as one:
        session = one.engine.sessions.create().id
        seen = [states(one, session)["Read"]]
        for _ in range(3):
            await one.engine.admin.cycle_state("read", scope, session)
            seen.append(states(one, session)["Read"])
    assert seen == ["enabled", "disabled", "deferred", "enabled"]


async def test_3_a_search_for_a_deferred_tool_gives_the_model_its_schema(workspace: Path) -> None:
    script = ([use("ToolSearch", "c1", query="select:GIT_LOG")], ["Found."])
    async with desk(workspace, answers=script, tools=TOOLS) as one:
        await one.turn("the log?")
    answer = one.provider.requests[1].messages[-1].parts[0]
    assert NAME in answer.content[0].text
    assert '"max_count"' in answer.content[0].text


async def test_4_core_tools_are_sent_whole_and_deferred_ones_by_name_only(workspace: Path) -> None:
    async with desk(workspace, answers=(["Hi."],), tools=TOOLS, settings={"tools": {"deferred": ["WebFetch"]}}) as one:
        await one.turn("hi")
    [request] = one.provider.requests
    sent = {tool.name: tool for tool in request.tools}
    assert sent["Read"].input_schema["properties"]
    assert {"WebFetch", NAME}.isdisjoint(sent)
    first = str(request.messages[0])
    assert "WebFetch" in first
    assert NAME in first
    assert "max_count" not in first
    assert "max_count" not in request.system


async def test_5_every_session_inherits_the_states_and_a_session_of_its_own_cannot_widen_them(workspace: Path) -> None:
    async with desk(workspace, tools=TOOLS, settings={"permissions": {"allow": ["mcp__*"]}}) as one:
        await one.engine.admin.set_state([("mcp__a__x", "disabled")], "user")
        child = one.engine.sessions.create().id
        assert states(one, child) == states(one)
        assert (await one.bridge("mcp__a__x", {}, child)).is_error
        await one.engine.admin.set_state([("mcp__a__y", "disabled")], "session", child)
        assert (await one.bridge("mcp__a__y", {}, child)).is_error
        assert not (await one.bridge("mcp__a__y", {})).is_error, "other sessions keep theirs"


async def test_6_searching_works_in_plan_mode_and_so_does_a_deferred_read(workspace: Path) -> None:
    script = ([use("ToolSearch", "c1", query="select:git_log")], [use(NAME, "c2", max_count=1)], ["Read."])
    settings = {"permissions": {"allow": ["mcp__*"]}}
    async with desk(workspace, answers=script, tools=TOOLS, settings=settings) as one:
        await one.turn("look", mode="plan")
        assert [call.status for call in one.calls if call.status in ("done", "failed")] == ["done", "done"]


@pytest.mark.parametrize(
    ("text", "notice"),
    [
        ("", ""),
        ("{}", ""),
        ('{"tools": {"disabled": ["Bash"]}}', ""),
        ('{"version": 1, "tools": {"disabled": ["Bash"]}}', ""),
        ('{"version": 9, "tools": {"disabled": ["Bash"], "retired": []}}', "a newer Caddie wrote this file (version 9"),
        ('{"version": "x", "tools": {"disabled": ["Bash"]}}', "expected 1, or nothing"),
    ],
)
async def test_7_old_files_load_and_newer_ones_load_with_a_notice(workspace: Path, text: str, notice: str) -> None:
    (workspace / ".caddie").mkdir()
    (workspace / ".caddie" / "settings.json").write_text(text)
    async with desk(workspace, tools=TOOLS) as one:
        assert states(one)["Bash"] == ("disabled" if "Bash" in text else "enabled")
        about_version = [finding.message for finding in one.engine.check.findings() if finding.key == "version"]
    assert [message[: len(notice)] for message in about_version] == ([notice] if notice else [])


@pytest.mark.parametrize("provider", ["openai-chat", "anthropic"])
async def test_no_change_of_a_state_moves_a_byte_of_what_was_sent_before(
    llmock: LLMock, workspace: Path, provider: str
) -> None:
    kind = "openai" if provider == "openai-chat" else provider
    steps: list[tuple[str, Any, str]] = [
        ("mcp__a__x", "enabled", "<enabled-tools>"),
        ("mcp__a__x", "disabled", "<disabled-tools>"),
        ("Bash", "deferred", "added: Bash"),
        ("mcp__git__*", "disabled", "removed: mcp__git__git_log"),
        ("*", "default", "added: mcp__a__x"),
    ]
    async with over_http(workspace, provider, llmock.base_url(kind), published=TOOLS) as engine:
        llmock.reply("Hello.")
        session, _, _ = await engine.turns.run(None, "hi", lambda *_: None)
        for tool, state, said in steps:
            await engine.admin.set_state([(tool, state)], "workspace")
            llmock.reply("Yes.")
            await engine.turns.run(session.id, "and now?", lambda *_: None)
            before, after = (parts(record.body) for record in llmock.requests[-2:])
            assert after[0] == before[0], f"{tool} {state}: tools and system prompt"
            assert after[1][: len(before[1])] == before[1], f"{tool} {state}: what was said"
            assert said in after[1][-1]


def parts(body: dict[str, Any]) -> tuple[str, list[str]]:
    """The beginning of a request, and its messages, as the bytes they are; cache marks are not said to the model."""
    messages = [json.dumps(_unmarked(message), ensure_ascii=False) for message in body["messages"]]
    return json.dumps([body.get("system"), body["tools"]], ensure_ascii=False), messages


def _unmarked(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _unmarked(value) for key, value in node.items() if key != "cache_control"}
    return [_unmarked(item) for item in node] if isinstance(node, list) else node
