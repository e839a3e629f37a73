"""What users of such systems ran into, sections A and U: the index, its words, its order, and what it must not do."""

from __future__ import annotations

import asyncio
import logging
import random
import socket
from pathlib import Path
from typing import Any

import pytest

from caddie.layers import Layer
from caddie.search.tool_search import answer
from caddie.tools.servers import ServerStatus
from caddie.tools.tool import Tool
from engine_kit import BOUND, Desk, desk, mcp_tool


def found(one: Desk, query: str, limit: int | None = None) -> list[str]:
    return [hit.tool.name for hit in one.engine.searcher.find(query, limit=limit).hits]


def labels(one: Desk, query: str, limit: int | None = None) -> list[str]:
    return [hit.tool.label for hit in one.engine.searcher.find(query, limit=limit).hits]


def many(server: str, count: int, what: str = "Handles") -> tuple[Tool, ...]:
    return tuple(mcp_tool(server, f"do_thing{n}", f"{what} thing{n}") for n in range(count))


async def warmed(one: Desk) -> None:
    async with asyncio.timeout(BOUND):
        await one.engine.index.warm()
        await one.engine.searcher.settled()


GRAPH = ["search_graph", "trace_path", "get_code_snippet", "query_graph", "search_code", "index_repository"]


async def test_a02_every_name_of_a_long_list_comes_before_the_limit_cut(workspace: Path) -> None:
    named = tuple(mcp_tool("codebase-memory", name, "About the graph of the code") for name in GRAPH)
    others = tuple(
        mcp_tool("other", f"search_code_graph_{n}", "search graph path code repository index query") for n in range(54)
    )
    async with desk(workspace, tools={"codebase-memory": named, "other": others}) as one:
        await warmed(one)
        query = " ".join([*GRAPH, "codebase-memory"])
        cut = one.engine.searcher.find(query, limit=5)
        whole = found(one, query, 6)
    assert {hit.tool.original_name for hit in cut.hits} == set(GRAPH)
    assert all(f"## mcp__codebase-memory__{name}\n" in answer(cut) for name in GRAPH)
    assert {name.rpartition("__")[2] for name in whole} == set(GRAPH)


WORLD = {
    "portfolio": "Показать инвестиционный портфель",
    "cron": "创建定时任务",
    "grep": "ファイルの内容を検索します",
    "schedule": "새 일정을 만들기",
    "coffee": "Trouver un cafe pres d'ici",
    "parcel": "查询快递",
    "create_event": "Put something into the calendar",
    "move": "Move things",
    "queries": "Saved queries",
}


@pytest.mark.parametrize(
    ("query", "label"),
    [
        ("покажи мой портфель", "portfolio"),
        ("创建 定时任务", "cron"),
        ("ファイルを検索", "grep"),
        ("일정 만들기", "schedule"),
        ("café", "coffee"),
        ("查", "parcel"),
        ("create event", "create_event"),
        ("createEvent", "create_event"),
        ("moving", "move"),
        ("query", "queries"),
    ],
)
async def test_a04_u05_words_of_every_script_and_form_find_their_tool(workspace: Path, query: str, label: str) -> None:
    tools = tuple(mcp_tool("world", name, text) for name, text in WORLD.items())
    async with desk(workspace, tools={"world": tools, "big": many("big", 60)}) as one:
        cold = one.engine.searcher.find(query)
        await warmed(one)
        warm = one.engine.searcher.find(query)
    assert cold.hits[0].tool.label == warm.hits[0].tool.label == label
    assert not warm.nothing_fits


async def test_a05_a_search_within_a_server_depends_on_the_question_and_reaches_all_its_tools(workspace: Path) -> None:
    async with desk(workspace, tools={"big": many("big", 203), "other": many("other", 20)}) as one:
        await warmed(one)
        firsts = [labels(one, f"+big thing{n}")[0] for n in (0, 100, 202)]
        reached = [found(one, f"do_thing{n}", 2) for n in range(203)]
    assert firsts == ["do_thing0", "do_thing100", "do_thing202"]
    assert all(f"mcp__big__do_thing{n}" in names for n, names in enumerate(reached))


async def test_a06_fifty_searches_over_shuffled_lists_and_a_restart_give_one_answer(workspace: Path) -> None:
    tools = [mcp_tool("acme", f"list_{n}", "List the same things as the others") for n in range(30)]
    answers = set()
    for seed in range(2):
        async with desk(workspace, tools={"acme": tuple(tools[:3])}) as one:
            await warmed(one)
            for turn in range(25):
                random.Random(seed * 25 + turn).shuffle(tools)
                one.engine.catalogue.replace_source("acme", tools)
                answers.add(answer(one.engine.searcher.find("list things")))
    assert len(answers) == 1
    assert "mcp__acme__list_0\n" in answers.pop()


async def test_a09_words_of_the_users_own_rank_first_and_never_reach_the_model(workspace: Path) -> None:
    tools = {
        "exa": (mcp_tool("exa", "web_search_advanced", "Query the web"),),
        "other": (mcp_tool("other", "deep_copy", "Search deep structures"), *many("other", 30)),
    }
    settings = {"tools": {"aliases": {"exa/web_search_advanced": ["deep search", "spelunk"]}}}
    async with desk(workspace, settings=settings, tools=tools) as one:
        before = found(one, "deep search")
        text = answer(one.engine.searcher.find("spelunk"))
        await one.engine.set_editor_layers([Layer("editorUser", {})])
        after = found(one, "deep search")
    assert before[0] == "mcp__exa__web_search_advanced"
    assert "mcp__exa__web_search_advanced" in text
    assert "deep search" not in text
    assert after[0] == "mcp__other__deep_copy"


async def test_a10_the_tools_of_a_named_server_lead_and_disabled_ones_stay_out(workspace: Path) -> None:
    def tracker(server: str, count: int) -> tuple[Tool, ...]:
        verbs = ("close", "open", "list", "comment")
        return tuple(mcp_tool(server, f"{verbs[n % 4]}_issue_{n}", f"{verbs[n % 4]} an issue") for n in range(count))

    settings = {"tools": {"disabled": ["mcp__linear__close_issue_0"]}}
    tools = {"linear": tracker("linear", 20), "jira": tracker("jira", 20), "github": tracker("github", 40)}
    async with desk(workspace, settings=settings, tools=tools) as one:
        await warmed(one)
        hits = one.engine.searcher.find("use linear to close ABC-1").hits
        hints = await one.engine.hints.of("use linear to close ABC-1")
    assert {hit.tool.server for hit in hits} == {hint.server for hint in hints} == {"linear"}
    assert "mcp__linear__close_issue_0" not in [hit.tool.name for hit in hits]


async def test_a15_what_a_search_returns_can_be_executed(workspace: Path) -> None:
    tools = {"acme": (mcp_tool("acme", "查询"), mcp_tool("acme", "a.b/c d"), *many("acme", 90))}
    async with desk(workspace, settings={"permissions": {"mode": "auto"}}, tools=tools) as one:
        await warmed(one)
        names = {name for query in ("thing", "查询", "a.b/c d", "tool", "+acme") for name in found(one, query, 50)}
        for name in names:
            if name.startswith("mcp__"):
                assert not (await one.bridge(name, {})).is_error, name
        assert len(names) > 50


TURNS = [
    ("remind me every morning", ("mcp__cron__schedule_job", "Run something at a time, every day or every morning")),
    ("what is the weather in Oslo", ("mcp__sky__forecast", "Weather of a city for the coming days")),
    ("refund the last payment of this customer", ("mcp__pay__refund", "Refund a payment to a customer")),
]


@pytest.mark.parametrize(("text", "tool"), TURNS)
async def test_a16_the_hint_of_a_turn_holds_the_fitting_tool(workspace: Path, text: str, tool: tuple[str, str]) -> None:
    _, server, name = tool[0].split("__")
    tools = {server: (mcp_tool(server, name, tool[1]),), "other": many("other", 60)}
    async with desk(workspace, tools=tools) as one:
        await warmed(one)
        assert tool[0] in [hint.tool for hint in await one.engine.hints.of(text)]


@pytest.mark.parametrize(
    "text",
    [
        *("thanks!", "ok go on", "yes, do that please", "谢谢", "perfect, looks good to me"),
        *("what does this regular expression mean?", "why is a list comprehension faster than a loop?"),
        *("explain what a monad is", "is it better to use composition here?"),
    ],
)
async def test_messages_that_need_no_tool_get_no_hint(workspace: Path, text: str) -> None:
    world = tuple(mcp_tool("world", name, words) for name, words in WORLD.items())
    tools = {"pay": (mcp_tool("pay", "refund", TURNS[2][1][1]),), "big": many("big", 60), "world": world}
    async with desk(workspace, tools=tools) as one:
        await warmed(one)
        assert await one.engine.hints.of(text) == ()


async def test_u06_a_single_tool_and_words_that_all_tools_share_are_found(workspace: Path) -> None:
    settings = {"search": {"exclude": ["*"], "include_force": []}}
    async with desk(workspace, tools={"acme": (mcp_tool("acme", "alpha"), mcp_tool("acme", "beta"))}) as one:
        assert [n for n in found(one, "acme") if "acme" in n] == ["mcp__acme__alpha", "mcp__acme__beta"]
    async with desk(workspace, settings=settings, tools={"acme": (mcp_tool("acme", "alpha"),)}) as one:
        assert one.engine.searcher.find("alpha").nothing_fits


async def test_u07_a_changed_description_or_schema_is_found_and_the_old_one_is_not(workspace: Path) -> None:
    schema = {"type": "object", "properties": {"neck": {"type": "string", "description": "of the giraffe"}}}
    async with desk(workspace, tools={"acme": (mcp_tool("acme", "thing", "An aardvark"), *many("acme", 9))}) as one:
        assert found(one, "aardvark") == ["mcp__acme__thing"]
        one.engine.catalogue.replace_source("acme", (mcp_tool("acme", "thing", "A zebra", schema), *many("acme", 9)))
        assert found(one, "zebra") == found(one, "giraffe") == ["mcp__acme__thing"]
        assert found(one, "aardvark") == []


async def test_u11_unknown_parts_and_pending_servers_are_named_although_something_matched(workspace: Path) -> None:
    async with desk(workspace, tools={"acme": (mcp_tool("acme", "send_parcel", "Send a parcel"),)}) as one:
        one.engine.catalogue.set_server(ServerStatus("jira", "connecting"))
        one.engine.catalogue.set_server(ServerStatus("github", "failed", "its token is not set"))
        selected = answer(one.engine.searcher.find("select:send_parcel,nope"))
        searched = answer(one.engine.searcher.find("send a parcel"))
    assert "## mcp__acme__send_parcel" in selected
    assert "There is no tool named 'nope'" in selected
    for text in (selected, searched):
        assert "jira is still connecting" in text
        assert "github failed: its token is not set" in text


async def test_u12_a_search_opens_no_connection_and_its_words_reach_no_log(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("a search opened a connection")

    caplog.set_level(logging.INFO)
    async with desk(workspace, tools={"acme": many("acme", 30)}) as one:
        await warmed(one)
        monkeypatch.setattr(socket.socket, "connect", refuse)
        monkeypatch.setattr(socket, "getaddrinfo", refuse)
        for query in ("xylophone thing3", "select:xylophone", "discover:xylophone", "+xylophone", "查询xylophone"):
            answer(one.engine.searcher.find(query))
        await one.engine.hints.of("xylophone thing3")
        await one.execute("ToolSearch", {"query": "xylophone thing3"})
    assert "xylophone" not in caplog.text


# --- large differences ---


async def test_a_server_with_thousands_of_tools_leaves_the_loop_free_and_its_names_known(workspace: Path) -> None:
    async with desk(workspace, tools={"acme": many("acme", 5)}) as one:
        await warmed(one)
        one.engine.catalogue.replace_source("big", many("big", 3_000, "Handles, with many other words about it,"))
        meanwhile = one.engine.searcher.find("please call do_thing2999 for me")
        beats = 0
        async with asyncio.timeout(BOUND):
            while one.engine.searcher.find("nothing").indexing:
                await asyncio.sleep(0)
                beats += 1
        after = one.engine.searcher.find("do_thing2999")
        one.engine.catalogue.replace_source("big", ())
        gone = one.engine.searcher.find("thing2999 do_thing2999")
    assert meanwhile.hits[0].tool.name == after.hits[0].tool.name == "mcp__big__do_thing2999"
    assert "still being read" in answer(meanwhile)
    assert beats > 20
    assert "mcp__big__do_thing2999" not in [hit.tool.name for hit in gone.hits]


async def test_a_search_waits_for_a_large_difference_that_is_being_read(workspace: Path) -> None:
    async with desk(workspace) as one:
        one.engine.catalogue.replace_source("big", many("big", 500))
        async with asyncio.timeout(BOUND):
            result = await one.engine.searcher.search("handles thing499")
    assert result.hits[0].tool.name == "mcp__big__do_thing499"
    assert result.indexing == 0
