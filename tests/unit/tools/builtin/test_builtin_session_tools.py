from __future__ import annotations

import asyncio

import pytest
from pydantic import ValidationError

from caddie.settings import McpServer, Settings
from caddie.tools.builtin import BUILTIN
from caddie.tools.builtin.ask_user_question import TOOL as ASK
from caddie.tools.builtin.config import TOOL as CONFIG
from caddie.tools.builtin.ctx_inspect import TOOL as CTX_INSPECT
from caddie.tools.builtin.enter_plan_mode import TOOL as ENTER
from caddie.tools.builtin.exit_plan_mode import TOOL as EXIT
from caddie.tools.builtin.list_mcp_resources import TOOL as LIST_RESOURCES
from caddie.tools.builtin.read_mcp_resource import TOOL as READ_RESOURCE
from caddie.tools.builtin.sleep import TOOL as SLEEP
from caddie.tools.builtin.todo_write import TOOL as TODO
from caddie.tools.context import McpResource, Option, PermissionAnswer, TodoItem
from caddie.tools.tool import TextPreview


def test_every_tool_tells_a_model_and_a_search_what_it_is():
    assert " ".join(tool.name for tool in BUILTIN) == (
        "Bash Read Edit Write NotebookEdit Glob Grep Agent AskUserQuestion TodoWrite WebFetch Sleep EnterPlanMode "
        "ExitPlanMode Config ListMcpResources ReadMcpResource CtxInspect"
    )
    for tool in BUILTIN:
        assert tool.spec.description
        assert tool.spec.search_hint
        for name, schema in tool.spec.input_schema.get("properties", {}).items():
            assert schema.get("description"), f"{tool.name}.{name}"


def test_only_tools_that_change_nothing_outside_call_themselves_harmless():
    asking = {tool.name for tool in BUILTIN if not (tool.spec.read_only or tool.session_only)}
    assert asking == {"Bash", "Edit", "Write", "NotebookEdit", "WebFetch"}
    assert {tool.name for tool in BUILTIN if tool.edits_files} == {"Edit", "Write", "NotebookEdit"}
    assert {tool.name for tool in BUILTIN if tool.preview} == asking


async def test_questions_reach_the_person_and_answers_the_model(world):
    world.person.answers = {"q1": "Red", "q2": ""}
    options = [{"label": "Red", "description": "like a rose"}, {"label": "Blue"}]
    text = await world.text(
        ASK, questions=[{"question": "Which colour?", "header": "Colour", "options": options}, {"question": "Why?"}]
    )
    assert text == "Which colour?\n→ Red\n\nWhy?\n→ (no answer)"
    asked = world.person.asked[0].questions
    assert asked[0].options == (Option("Red", "like a rose"), Option("Blue"))
    assert asked[1].options == ()


async def test_declining_is_an_answer_and_a_door_without_prompts_an_error(world):
    assert "declined" in await world.text(ASK, questions=[{"question": "Why?"}])
    world.person.can_ask = False
    assert "cannot ask" in await world.failure(ASK, questions=[{"question": "Why?"}])


async def test_the_number_of_questions_is_bounded(world):
    for count in (0, 5):
        with pytest.raises(ValidationError):
            await world.run(ASK, questions=[{"question": "Why?"}] * count)


async def test_the_todo_list_is_replaced_as_a_whole(world):
    first = {"content": "Look", "status": "completed"}
    second = {"content": "Build", "status": "in_progress", "active_form": "Building"}
    assert await world.text(TODO, todos=[first, second]) == "1 of 2 steps are completed. Now: Build."
    assert world.context.session.todo == (TodoItem("Look", "completed"), TodoItem("Build", "in_progress", "Building"))
    assert await world.text(TODO, todos=[]) == "The list is empty."


async def test_two_steps_at_once_are_refused_and_change_nothing(world):
    todos = [{"content": name, "status": "in_progress"} for name in ("A", "B")]
    assert "got 2: A; B" in await world.failure(TODO, todos=todos)
    assert world.context.session.todo == ()


async def test_sleep_shows_what_is_left_and_can_be_cancelled(world):
    assert await world.text(SLEEP, seconds=0.01) == "Waited 0.01 seconds."
    task = asyncio.create_task(world.run(SLEEP, seconds=3600))
    await world.until(lambda: "3600 s remaining" in world.progress)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_only_the_persons_yes_ends_plan_mode(world):
    assert "refused" in await world.text(ENTER)
    assert world.context.session.mode == "plan"
    for answers, said in [
        (None, ""),
        ({}, ""),
        ({"decision": "Keep planning"}, ""),
        ({"decision": "smaller"}, "smaller"),
    ]:
        world.person.answers = answers
        text = await world.text(EXIT, plan="1. Do it")
        assert "did not agree" in text
        assert said in text
        assert world.context.session.mode == "plan"
    world.person.answers = {"decision": "Start work"}
    assert "agreed" in await world.text(EXIT, plan="1. Do it")
    assert world.context.session.mode == "agent"
    assert world.person.asked[0].questions[0].question == "1. Do it"


async def test_plan_mode_stays_where_nobody_can_be_asked(world):
    await world.text(ENTER)
    world.person.can_ask = False
    assert "the person must switch the mode" in await world.failure(EXIT, plan="1. Do it")
    assert world.context.session.mode == "plan"


async def test_there_is_no_plan_mode_to_leave(world):
    assert "not on" in await world.failure(EXIT, plan="1. Do it")


async def test_settings_are_read_by_dotted_key_or_group(world):
    assert await world.text(CONFIG, action="get", key="search.limit") == "search.limit = 5"
    assert "search.weights.keyword = 0.4" in await world.text(CONFIG, action="get", key="search.weights")
    assert "permissions.whenClientCannotAsk" in await world.text(CONFIG, action="list")
    assert "Nearest keys: search.limit" in await world.failure(CONFIG, action="get", key="serch.limit")


async def test_what_may_be_secret_about_a_server_is_never_shown(world):
    server = McpServer(
        command="run",
        args=("--api-key", "sk-1", "--token=sk-2", "--port", "80"),
        env={"TOKEN": "sk-3"},
        url="https://me:sk-4@example.org/mcp?key=sk-5",
        headers={"Authorization": "sk-6"},
    )
    world = world.with_settings(Settings.model_validate({"mcp": {"servers": {"s": server}}}))
    text = await world.text(CONFIG, action="list")
    assert "sk-" not in text
    assert "https://example.org/mcp" in text
    assert '"--port", "80"' in text
    assert "mcp.servers.s.env.TOKEN" in text


async def test_a_setting_changes_only_after_the_person_agreed(world):
    change = {"action": "set", "key": "search.limit", "value": 7, "scope": "workspace"}
    assert "declined" in await world.failure(CONFIG, **change)
    assert world.inspector.written == []
    world.person.permission = PermissionAnswer("allow")
    assert await world.text(CONFIG, **change) == "search.limit is set."
    assert world.inspector.written == [("search.limit", 7, "workspace")]
    request = world.person.permissions_asked[0]
    assert request.preview == TextPreview("search.limit = 7\nscope: workspace\nnow: 5")
    assert request.params == change


async def test_no_setting_changes_in_plan_mode_or_without_a_person_or_by_an_unknown_key(world):
    world.person.permission = PermissionAnswer("allow")
    assert "no setting 'search.limt'" in await world.failure(CONFIG, action="set", key="search.limt", value=1)
    world.person.can_ask = False
    assert "Only the person" in await world.failure(CONFIG, action="set", key="search.limit", value=1)
    await world.text(ENTER)
    assert "Plan mode" in await world.failure(CONFIG, action="set", key="search.limit", value=1)
    assert world.inspector.written == []


async def test_resources_are_listed_on_one_line_each_and_read(world):
    world.resources.resources = [
        McpResource("b", "x://2", "Two"),
        McpResource("a", "x://1", "One", "a\nb", "text/plain"),
    ]
    world.resources.texts = {"x://1": "content"}
    assert await world.text(LIST_RESOURCES) == "a: x://1 (text/plain) — One — a b\nb: x://2 — Two"
    assert await world.text(LIST_RESOURCES, server="b") == "b: x://2 — Two"
    assert "offers no resources" in await world.text(LIST_RESOURCES, server="c")
    assert await world.text(READ_RESOURCE, server="a", uri="x://1") == "x://1\ncontent"
    assert "no resource" in await world.failure(READ_RESOURCE, server="a", uri="x://9")


async def test_an_enormous_resource_is_bounded_and_saved(world):
    world.resources.texts = {"x://1": "x" * 8_000_000}
    text = await world.text(READ_RESOURCE, server="a", uri="x://1")
    assert len(text) < 31_000
    assert "of 8,000,000 bytes" in text


async def test_the_context_is_described(world):
    assert await world.text(CTX_INSPECT) == "context of s1"
