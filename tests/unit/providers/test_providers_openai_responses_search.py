"""Deferred tools by the API's own client tool search: on the wire, then in whole turns with an API that enforces it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from provider_kit import HELLO, READ, Pieces, Server, collect, streamed
from responses_kit import LOG, OK, SEARCH, answered, asked, responses, sent, xai

from caddie.chat.messages import Message, Text, ToolAnswer, ToolDefinition, ToolsAdded, ToolUse
from caddie.chat.session import Said
from caddie.storage.records import from_line, to_line
from caddie.tools.tool import TextContent
from engine_kit import desk, mcp_tool
from fake_responses import FakeResponses, Item, call, message, reasoning, search

TOOLS = (READ, SEARCH)
ALLOW = {"permissions": {"mode": "auto"}}
GIT = mcp_tool("git", "git_log", "Show the commits of a repository")
TIME = mcp_tool("time", "convert_time", "Convert a time between zones")
LOADED = {
    "type": "function", "name": "mcp__git__log", "description": "Shows commits.",
    "parameters": LOG.input_schema, "strict": False, "defer_loading": True,
}  # fmt: skip


def found(use: ToolUse, *tools: ToolDefinition, note: str = "", text: str = "Found 1 tool.") -> ToolAnswer:
    return ToolAnswer(use.id, use.name, (TextContent(text),), found=tools, note=note)


async def searched() -> tuple[Message, ToolUse]:
    said = (await answered(reasoning(), search("git log"))).message
    return said, said.tool_uses[0]


async def native(*messages: Message, **fields: Any) -> list[Item]:
    body = await sent(*messages, **{"tools": TOOLS, "deferral": "native", "deferred": (LOG,), **fields})
    return list(body["input"])


async def test_the_search_stands_in_the_tools_as_the_apis_own_and_deferred_tools_do_not() -> None:
    body = await sent(tools=TOOLS, deferral="native", deferred=(LOG,))
    read, tool_search = body["tools"]
    assert read["name"] == "Read"
    assert tool_search == {
        "type": "tool_search", "execution": "client", "description": "Finds tools.", "parameters": SEARCH.input_schema,
    }  # fmt: skip
    assert "mcp__git__log" not in json.dumps(body)


async def test_over_the_bridge_the_search_is_a_function_like_any_other() -> None:
    body = await sent(tools=TOOLS, deferral="bridge")
    assert [tool["name"] for tool in body["tools"]] == ["Read", "ToolSearch"]


async def test_what_was_found_goes_back_as_tools_and_the_call_as_it_came() -> None:
    said, use = await searched()
    assert (use.name, use.arguments) == ("ToolSearch", {"query": "git log"})
    items = await native(HELLO, said, Message("user", (found(use, LOG),)))
    assert items[1:3] == [reasoning(), search("git log")]
    assert items[3] == {
        "type": "tool_search_output", "call_id": "call_1", "execution": "client", "status": "completed",
        "tools": [LOADED],
    }  # fmt: skip
    assert len(items) == 4


async def test_what_the_search_said_comes_after_all_outputs_and_not_from_the_developer() -> None:
    said = (await answered(search("git"), call("Read", 2, path="a"))).message
    one, two = said.tool_uses
    read = ToolAnswer(two.id, "Read", (TextContent("r"),))
    results = Message("user", (found(one, LOG, note="1 more matches."), read, Text("and then?")))
    outputs, after = (await native(HELLO, said, results))[3:5], (await native(HELLO, said, results))[5:]
    assert [item["type"] for item in outputs] == ["tool_search_output", "function_call_output"]
    [told] = after
    assert told["role"] == "user"
    assert "1 more matches." in told["content"][0]["text"]
    assert told["content"][1]["text"] == "and then?"


@pytest.mark.parametrize("is_error", [True, False])
async def test_a_search_that_found_nothing_says_so_beside_an_empty_output(*, is_error: bool) -> None:
    said, use = await searched()
    answer = ToolAnswer(use.id, "ToolSearch", (TextContent("No tool fits 'x'."),), is_error)
    output, note = (await native(HELLO, said, Message("user", (answer,))))[3:]
    assert output["tools"] == []
    assert "No tool fits 'x'." in note["content"][0]["text"]


async def test_a_tool_that_the_request_holds_already_is_not_loaded_again() -> None:
    said, use = await searched()
    output = (await native(HELLO, said, Message("user", (found(use, READ, LOG),))))[3]
    assert [tool["name"] for tool in output["tools"]] == ["mcp__git__log"]


async def test_found_tools_are_cleaned_as_those_of_the_request_are() -> None:
    odd = ToolDefinition("mcp__x__odd", "Odd.", {"anyOf": [{"required": ["a"]}, {"required": ["b"]}],
                                                 "properties": {"a": {"type": "array"}, "b": {}}})  # fmt: skip
    said, use = await searched()
    [tool] = (await native(HELLO, said, Message("user", (found(use, odd),))))[3]["tools"]
    assert tool["parameters"]["properties"]["a"]["items"] == {}
    assert "At least one of" in tool["description"]


async def test_another_providers_search_that_loaded_tools_becomes_a_pair_of_this_api() -> None:
    use = ToolUse("toolu_1", "ToolSearch", {"query": "git"})
    items = await native(HELLO, Message("assistant", (use,)), Message("user", (found(use, LOG),)))
    assert items[1] == {
        "type": "tool_search_call", "call_id": "toolu_1", "execution": "client", "status": "completed",
        "arguments": {"query": "git"},
    }  # fmt: skip
    assert items[2]["tools"] == [LOADED]


async def test_a_search_of_the_bridge_stays_what_it_was() -> None:
    use = ToolUse("toolu_1", "ToolSearch", {"query": "git"})
    items = await native(HELLO, Message("assistant", (use,)), Message("user", (found(use, text="## log"),)))
    assert [item["type"] for item in items[1:]] == ["function_call", "function_call_output"]
    assert items[2]["output"] == "## log"


async def test_where_nothing_is_native_old_searches_are_told_in_words() -> None:
    said, use = await searched()
    talk = (HELLO, said, Message("user", (found(use, LOG, text="## mcp__git__log …"),)))
    items = (await sent(*talk, tools=TOOLS, deferral="bridge"))["input"]
    assert (items[2]["type"], items[2]["name"]) == ("function_call", "ToolSearch")
    assert items[3]["output"] == "## mcp__git__log …"
    foreign = (Message("assistant", (ToolUse(use.id, use.name, use.arguments),)), talk[2])
    assert (await sent(HELLO, *foreign, make=xai, model="grok-4.5"))["input"][1]["type"] == "function_call"


async def test_late_tools_join_as_the_api_wants_them_where_the_model_takes_them() -> None:
    late = Message("user", (Text("news"), ToolsAdded((LOG,), "In words: log"), Text("go on")))
    items = (await sent(HELLO, Message("assistant", (Text("hi"),)), late))["input"][2:]
    assert [item.get("type", item.get("role")) for item in items] == ["user", "additional_tools", "user"]
    assert items[1]["role"] == "developer"
    assert items[1]["tools"] == [{key: value for key, value in LOADED.items() if key != "defer_loading"}]
    assert "In words" not in json.dumps(items)
    for make, model in ((responses, "gpt-4.1"), (xai, "grok-4.5")):
        [told] = (await sent(HELLO, Message("assistant", (Text("hi"),)), late, make=make, model=model))["input"][2:]
        assert [block["text"] for block in told["content"]] == ["news", "In words: log", "go on"]


async def test_a_conversation_read_from_disk_is_sent_with_the_same_bytes() -> None:
    said, use = await searched()
    talk = (HELLO, said, Message("user", (found(use, LOG, note="n"), ToolsAdded((READ,), "w"))))
    stored = tuple(from_line(to_line(Said("t", one))) for one in talk)
    reread = tuple(record.message for record in stored if isinstance(record, Said))
    bytes_of = []
    for messages in (talk, reread):
        server = Server(streamed(OK))
        await collect(responses(server.client), asked(*messages, tools=TOOLS, deferral="native"))
        bytes_of.append(server.requests[0].content)
    assert bytes_of[0] == bytes_of[1]


def test_the_table_knows_which_models_search_and_says_why_others_do_not() -> None:
    provider = responses(Server(streamed(OK)).client)
    for model in ("gpt-5.4", "gpt-5.4-mini", "gpt-5.5", "gpt-5.6-sol", "gpt-6-astra", "gpt-6.1-sol"):
        assert provider.capabilities(model).deferral == "tool_search"
        assert provider.capabilities(model).late_tools == "additional_tools"
    for model in ("gpt-5.4-nano", "gpt-5.3", "gpt-4.1", "o3"):
        assert provider.capabilities(model).deferral == ""
        assert provider.capabilities(model).api == "tool_search"
    elsewhere = responses(Server(streamed(OK)).client, base_url="http://gw.test/v1").capabilities("gpt-5.5")
    assert (elsewhere.deferral, elsewhere.api) == ("", "tool_search")
    grok = xai(Server(streamed(OK)).client).capabilities("grok-4.5")
    assert (grok.deferral, grok.api, grok.late_tools) == ("", "", "")
    assert "no deferred tools" in grok.why


async def test_closing_the_iterator_closes_the_connection() -> None:
    pieces = Pieces([OK[:2000], OK[2000:]])
    response = streamed(b"")
    response.stream = pieces
    events = responses(Server(response).client).stream(asked())
    await anext(events)
    await events.aclose()  # type: ignore[attr-defined]
    assert pieces.closed


# Whole turns, with an API that enforces the rules and keeps what it said.


def loaded(body: dict[str, Any]) -> list[str]:
    return [tool["name"] for item in body["input"] for tool in item.get("tools", ())]


async def test_a_tool_found_in_one_turn_is_called_by_its_name_in_this_and_the_next(workspace: Path) -> None:
    api = FakeResponses(
        [reasoning(), search("show the git log of commits")],
        [reasoning(), call("mcp__git__git_log")],
        [reasoning(1, "Fine."), message("Done.")],
        [message("Again."), call("mcp__git__git_log"), call("Glob", pattern="*.nothing")],
        [message("Done again.")],
    )
    async with desk(workspace, provider=responses(api.client), settings=ALLOW, tools={"git": (GIT,)}) as one:
        session, said = await one.turn("show me the log")
        _, again = await one.turn("again", session)
    assert (said, again) == ("Done.", "Done again.")
    assert not api.refused
    assert loaded(api.bodies[0]) == []
    assert "mcp__git__git_log" not in [tool.get("name") for tool in api.bodies[0]["tools"]]
    assert "mcp__git__git_log" in loaded(api.bodies[-1])
    outputs = [item["output"] for item in api.bodies[-1]["input"] if item.get("type") == "function_call_output"]
    assert sum("git_log ran" in output for output in outputs) == 2


async def test_searches_beside_other_calls_keep_the_order_of_outputs(workspace: Path) -> None:
    api = FakeResponses(
        [reasoning(), search("select:git_log,no_such_tool"), call("Glob", pattern="*.nothing"), search("xyzzy plugh")],
        [message("ok")],
    )
    async with desk(workspace, provider=responses(api.client), settings=ALLOW, tools={"git": (GIT,)}) as one:
        await one.turn("find both")
    assert not api.refused
    kinds = [item.get("type", item.get("role")) for item in api.bodies[1]["input"][-4:]]
    assert kinds == ["tool_search_output", "function_call_output", "tool_search_output", "user"]
    assert "no_such_tool" in json.dumps(api.bodies[1]["input"][-1])


async def test_a_server_that_comes_late_is_found_and_loaded_like_the_others(workspace: Path) -> None:
    api = FakeResponses(
        [message("hi")], [search("convert a time between zones")], [call("mcp__time__convert_time")], [message("Done.")]
    )
    async with desk(workspace, provider=responses(api.client), settings=ALLOW, tools={"git": (GIT,)}) as one:
        session, _ = await one.turn("hello")
        one.engine.catalogue.replace_source("time", (TIME,))
        _, said = await one.turn("what time is it in Tokyo", session)
    assert said == "Done."
    assert not api.refused
    assert "mcp__time__convert_time" in loaded(api.bodies[-1])


async def test_a_server_that_goes_leaves_the_prefix_and_the_history_as_they_were(workspace: Path) -> None:
    api = FakeResponses([search("git log commits")], [call("mcp__git__git_log")], [message("Done.")], [message("ok")])
    async with desk(workspace, provider=responses(api.client), settings=ALLOW, tools={"git": (GIT,)}) as one:
        session, _ = await one.turn("show the log")
        one.engine.catalogue.replace_source("git", ())
        await one.turn("and now?", session)
    assert not api.refused
    assert "mcp__git__git_log" in loaded(api.bodies[-1])


async def test_a_tool_enabled_later_joins_as_an_additional_tool(workspace: Path) -> None:
    api = FakeResponses([message("hi")], [call("mcp__git__git_log")], [message("Done.")])
    async with desk(workspace, provider=responses(api.client), settings=ALLOW, tools={"git": (GIT,)}) as one:
        session, _ = await one.turn("hello")
        await one.engine.admin.set_state([("mcp__git__git_log", "enabled")], "session", session)
        _, said = await one.turn("go", session)
    assert said == "Done."
    assert not api.refused
    assert [item["tools"][0]["name"] for item in api.bodies[-1]["input"] if item.get("type") == "additional_tools"]


async def test_a_server_that_refuses_tool_search_is_asked_once_more_over_the_bridge(workspace: Path) -> None:
    api = FakeResponses([message("one")], [message("two")], searches="another model")
    async with desk(workspace, provider=responses(api.client), settings=ALLOW, tools={"git": (GIT,)}) as one:
        _, said = await one.turn("hello")
        await one.turn("in another conversation")
        explained = one.engine.admin.explain("git_log")
    assert said == "one"
    assert len(api.refused) == 1, "refused once, then remembered"
    assert "ToolSearch" in [tool["name"] for tool in api.bodies[0]["tools"]]
    assert explained.deferral == "bridge"


async def test_switching_to_a_model_without_tool_search_keeps_what_was_found(workspace: Path) -> None:
    api = FakeResponses(
        [reasoning(), search("git log commits")],
        [reasoning(), call("mcp__git__git_log")],
        [message("Done.")],
        [call("ExecuteTool", tool_name="mcp__git__git_log", params={})],
        [message("Done too.")],
    )
    async with desk(workspace, provider=responses(api.client), settings=ALLOW, tools={"git": (GIT,)}) as one:
        session, _ = await one.turn("show the log")
        one.engine.configuration.set_session(session, {"model": "gpt-4.1"})
        _, said = await one.turn("again", session)
    assert said == "Done too."
    assert not api.refused
    assert {body["model"] for body in api.bodies[3:]} == {"gpt-4.1"}
    assert not [item for item in api.bodies[-1]["input"] if item.get("type") in ("reasoning", "tool_search_call")]
    assert "mcp__git__git_log" in json.dumps(api.bodies[3]["input"])


async def test_reasoning_of_every_step_goes_back_before_its_call(workspace: Path) -> None:
    steps = [[reasoning(1, f"Step {n}."), call("Glob", pattern=f"*.{n}")] for n in range(4)]
    api = FakeResponses(*steps, [reasoning(), message("Done.")], [message("ok")])
    async with desk(workspace, provider=responses(api.client), settings=ALLOW) as one:
        session, _ = await one.turn("look")
        await one.turn("again", session)
    assert not api.refused
    kinds = [item.get("type", item.get("role")) for item in api.bodies[-1]["input"]]
    assert kinds == [
        "user",
        *(["reasoning", "function_call", "function_call_output"] * 4),
        "reasoning",
        "message",
        "user",
    ]


async def test_reasoning_that_is_not_taken_back_is_dropped_once_and_the_conversation_goes_on(workspace: Path) -> None:
    api = FakeResponses(
        [reasoning(), call("Glob", pattern="*.nothing")],
        [reasoning(), message("Done.")],
        [reasoning(), message("Still here.")],
        [message("And on.")],
    )
    async with desk(workspace, provider=responses(api.client), settings=ALLOW) as one:
        session, _ = await one.turn("look")
        api.forget()
        _, said = await one.turn("again", session)
        await one.turn("and on", session)
    assert said == "Still here."
    assert len(api.refused) == 1
    kinds = [item.get("type", item.get("role")) for item in api.bodies[-1]["input"]]
    assert kinds == [
        "user", "function_call", "function_call_output", "assistant", "user", "reasoning", "message", "user",
    ]  # fmt: skip


async def test_a_call_cut_by_the_token_limit_is_answered_and_not_run(workspace: Path) -> None:
    cut = {**call("Write", file_path=str(workspace / "half.txt"), content="half"), "status": "incomplete"}
    api = FakeResponses([reasoning(), cut], [message("Too long.")])
    async with desk(workspace, provider=responses(api.client), settings=ALLOW) as one:
        _, said = await one.turn("write it")
    assert said == "Too long."
    assert not api.refused
    assert not (workspace / "half.txt").exists()
    assert api.bodies[1]["input"][-1]["output"].startswith("Error: ")
