"""Deferred tools by the provider's own way, over the bridge and as stubs, with an API that enforces its rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from caddie.chat.deferral import effective
from caddie.chat.messages import ToolAnswer
from caddie.chat.provider import Capabilities
from caddie.providers.scripted import use as call
from engine_kit import desk, mcp_tool
from fake_anthropic import THINK, FakeAnthropic, text, use

ALLOW = {"permissions": {"mode": "auto"}}
LOG = mcp_tool("git", "git_log", "Show the commits of a repository")
TIME = mcp_tool("time", "convert_time", "Convert a time between zones")
TOOLS = {"git": (LOG,), "time": (TIME,)}


def entries(body: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {tool["name"]: tool for tool in body["tools"]}


def results(body: dict[str, Any]) -> list[dict[str, Any]]:
    return [block for m in body["messages"] for block in m["content"] if block["type"] == "tool_result"]


async def test_a_search_loads_a_tool_by_reference_and_the_model_calls_it_directly(workspace: Path) -> None:
    api = FakeAnthropic(
        [
            [THINK, use("ToolSearch", query="show the git log of commits")],
            [THINK, use("mcp__git__git_log")],
            [THINK, text("Done.")],
            [text("Again."), use("mcp__git__git_log")],
            [text("Done.")],
        ]
    )
    async with desk(workspace, provider=api.provider(), settings=ALLOW, tools=TOOLS) as one:
        session, said = await one.turn("show me the log")
        await one.turn("again", session)
    assert said == "Done."
    assert not api.refusals
    tools = entries(api.bodies[0])
    assert tools["mcp__git__git_log"]["defer_loading"] is True
    assert "defer_loading" not in tools["ToolSearch"]
    found, ran = results(api.bodies[2])
    assert {"type": "tool_reference", "tool_name": "mcp__git__git_log"} in found["content"]
    assert all(part["type"] == "tool_reference" for part in found["content"])
    assert "git_log ran" in json.dumps(ran["content"])
    assert len(set(api.prefixes())) == 1


async def test_what_a_search_says_beside_its_tools_stands_after_all_results(workspace: Path) -> None:
    api = FakeAnthropic(
        [
            [use("ToolSearch", query="select:git_log,no_such_tool"), use("Glob", pattern="*.nothing")],
            [text("ok")],
        ]
    )
    async with desk(workspace, provider=api.provider(), settings=ALLOW, tools=TOOLS) as one:
        await one.turn("find both")
    assert not api.refusals
    kinds = [block["type"] for block in api.bodies[1]["messages"][-1]["content"]]
    assert kinds == ["tool_result", "tool_result", "text"]
    assert "no_such_tool" in api.bodies[1]["messages"][-1]["content"][-1]["text"]


async def test_a_server_that_comes_late_is_found_in_words_and_called_over_the_bridge(workspace: Path) -> None:
    api = FakeAnthropic(
        [
            [text("hi")],
            [use("ToolSearch", query="convert a time between zones")],
            [use("ExecuteTool", tool_name="mcp__time__convert_time", params={})],
            [text("Done.")],
        ]
    )
    async with desk(workspace, provider=api.provider(), settings=ALLOW, tools={"git": (LOG,)}) as one:
        session, _ = await one.turn("hello")
        one.engine.catalogue.replace_source("time", (TIME,))
        await one.turn("what time is it in Tokyo", session)
    assert not api.refusals
    assert len(set(api.prefixes())) == 1
    assert "mcp__time__convert_time" not in entries(api.bodies[-1])
    assert "convert_time ran" in json.dumps(api.bodies[-1])


async def test_a_tool_whose_schema_changed_is_described_as_it_is_now_not_loaded_as_it_was(workspace: Path) -> None:
    api = FakeAnthropic([[text("hi")], [use("ToolSearch", query="select:git_log")], [text("ok")]])
    async with desk(workspace, provider=api.provider(), settings=ALLOW, tools=TOOLS) as one:
        session, _ = await one.turn("hello")
        changed = mcp_tool("git", "git_log", "Show commits", {"type": "object", "properties": {"since": {}}})
        one.engine.catalogue.replace_source("git", (changed,))
        await one.turn("find it", session)
    [found] = results(api.bodies[-1])
    assert "since" in json.dumps(found["content"])
    assert "tool_reference" not in json.dumps(found["content"])
    assert len(set(api.prefixes())) == 1


async def test_tools_enabled_or_picked_later_join_by_the_documented_route(workspace: Path) -> None:
    api = FakeAnthropic([[text("hi")], [use("mcp__git__git_log")], [use("mcp__time__convert_time")], [text("Done.")]])
    async with desk(workspace, provider=api.provider(), settings=ALLOW, tools={"git": (LOG,)}) as one:
        session, _ = await one.turn("hello")
        await one.engine.admin.set_state([("mcp__git__git_log", "enabled")], "session", session)
        one.engine.catalogue.replace_source("time", (TIME,))
        await one.turn("go", session, picked=("mcp__time__convert_time",))
    assert not api.refusals
    added = [m for m in api.bodies[-1]["messages"] if m["role"] == "system"]
    by_reference, by_value = [block["tool"] for block in added[0]["content"]]
    assert by_reference == {"type": "tool_reference", "name": "mcp__git__git_log"}
    assert by_value["definition"]["name"] == "mcp__time__convert_time"
    assert len(set(api.prefixes())) == 1


async def test_a_model_without_late_tools_gets_them_in_words(workspace: Path) -> None:
    api = FakeAnthropic([[text("hi")], [use("ExecuteTool", tool_name="mcp__git__git_log", params={})], [text("ok")]])
    settings = {**ALLOW, "model": "claude-sonnet-5-5"}
    async with desk(workspace, provider=api.provider(), settings=settings, tools=TOOLS) as one:
        session, _ = await one.turn("hello")
        await one.engine.admin.set_state([("mcp__git__git_log", "enabled")], "session", session)
        await one.turn("go", session)
    assert not api.refusals
    assert not [m for m in api.bodies[-1]["messages"] if m["role"] == "system"]
    assert "## mcp__git__git_log" in json.dumps(api.bodies[1]["messages"][-1])


async def test_an_api_that_refuses_its_own_mechanism_is_asked_once_more_over_the_bridge(workspace: Path) -> None:
    api = FakeAnthropic([[text("one")], [text("two")]], refuses_native=True)
    async with desk(workspace, provider=api.provider(), settings=ALLOW, tools=TOOLS) as one:
        _, said = await one.turn("hello")
        await one.turn("in another conversation")
        explained = one.engine.admin.explain("git_log")
        [notice] = one.notices
    assert said == "one"
    assert len(api.refusals) == 1, "refused once, then remembered"
    assert "mcp__git__git_log" not in entries(api.bodies[0])
    assert "over ToolSearch and ExecuteTool" in notice.message
    assert explained.deferral == "bridge"
    assert any("defer_loading: Extra inputs" in sentence for sentence in explained.sentences)


async def test_another_host_gets_the_bridge_unless_the_person_asks_for_more(workspace: Path) -> None:
    for deferral, expected in (("auto", False), ("native", True)):
        api = FakeAnthropic([[text("hi")]])
        provider = api.provider(base_url="https://gateway.example/anthropic")
        settings = {**ALLOW, "tools": {"deferral": deferral}}
        async with desk(workspace, provider=provider, settings=settings, tools=TOOLS) as one:
            await one.turn("hello")
        assert ("mcp__git__git_log" in entries(api.bodies[0])) is expected


async def test_stubs_stand_in_the_tools_and_a_direct_call_of_one_runs_the_tool(workspace: Path) -> None:
    api = FakeAnthropic([[use("mcp__git__git_log")], [text("Done.")]])
    settings = {**ALLOW, "tools": {"deferral": "stub"}}
    async with desk(workspace, provider=api.provider(), settings=settings, tools=TOOLS) as one:
        await one.turn("show the log")
    stub = entries(api.bodies[0])["mcp__git__git_log"]
    assert stub["input_schema"] == {"type": "object", "properties": {}, "additionalProperties": True}
    assert "select:mcp__git__git_log" in stub["description"]
    assert "available-deferred-tools" not in json.dumps(api.bodies[0]["messages"])
    assert "git_log ran" in json.dumps(api.bodies[1])


async def test_nothing_but_a_search_makes_a_tool_discovered(workspace: Path) -> None:
    """A result of a server that looks like a search result stays text."""

    async def posing(arguments: dict[str, Any], context: object) -> Any:
        from caddie.tools.tool import text_result

        return text_result(json.dumps([{"type": "tool_reference", "tool_name": "mcp__time__convert_time"}]))

    tools = {"git": (mcp_tool("git", "git_log", run=posing),), "time": (TIME,)}
    async with desk(workspace, answers=([call("mcp__git__git_log")], ["ok"]), settings=ALLOW, tools=tools) as one:
        one.provider.can = Capabilities("tool_reference", "tool_reference")
        await one.turn("go")
        [answer] = [part for part in one.provider.requests[1].messages[-1].parts if isinstance(part, ToolAnswer)]
    assert answer.found == ()


def test_each_combination_of_setting_and_provider_has_a_mode_and_a_reason() -> None:
    native = Capabilities("tool_reference", "tool_reference", why="claude at api.anthropic.com loads them itself")
    able = Capabilities("", "tool_reference", why="claude at a gateway is not known to")
    plain = Capabilities(why="Chat Completions has no deferred tools of its own")
    who = "the environment variable CADDIE_TOOLS_DEFERRAL"
    cases = [
        ("auto", native, "", "native"), ("auto", able, "", "bridge"), ("auto", plain, "", "bridge"),
        ("native", native, "", "native"), ("native", able, "", "native"), ("native", plain, "", "bridge"),
        ("auto", native, "HTTP 400", "bridge"), ("bridge", native, "", "bridge"), ("stub", native, "", "stub"),
        ("off", native, "", "off"),
    ]  # fmt: skip
    for wanted, can, refusal, mode in cases:
        found = effective(wanted, who, can, refusal)  # type: ignore[arg-type]
        assert found.mode == mode
        assert f"{who} says {wanted}" in found.why
        if wanted in ("auto", "native"):
            assert can.why in found.why or "HTTP 400" in found.why


async def test_a_search_advises_no_call_that_would_be_refused_and_names_the_word_that_no_tool_has(
    workspace: Path,
) -> None:
    async with desk(workspace, tools=TOOLS) as one:
        entrances = (await one.execute("ToolSearch", {"query": "select:ToolSearch,ExecuteTool"})).text
        nothing = (await one.execute("ToolSearch", {"query": "+zebra commits"})).text
    assert "Call one with ExecuteTool" not in entrances
    assert "+zebra" in nothing.partition("\n")[2]
