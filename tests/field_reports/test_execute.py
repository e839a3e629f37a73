"""What users of such systems ran into, section C: executing."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from caddie.providers.scripted import Wait, use
from caddie.tools.tool import ToolResult, error_result
from engine_kit import BOUND, desk, mcp_tool

CREATE = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "state": {"type": "string", "enum": ["open", "closed"]},
        "owner": {
            "type": "object",
            "properties": {"id": {"type": "integer"}},
            "required": ["id"],
        },
        "labels": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["title"],
    "additionalProperties": False,
}
ACME = mcp_tool("acme", "create", "Create an issue", CREATE)
LIST = mcp_tool(
    "acme",
    "list",
    "List issues",
    {
        "type": "object",
        "properties": {
            "limit": {"type": "integer"},
            "all": {"type": "boolean"},
            "ids": {"type": "array", "items": {"type": "integer"}},
            "opt": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        },
    },
)
ALLOW = {"permissions": {"allow": ["mcp__acme__*"]}}


async def test_c01_a_deferred_tool_called_directly_runs_when_its_arguments_are_valid(workspace: Path) -> None:
    script = ([use("mcp__acme__create", title="Broken build")], ["Done."])
    async with desk(workspace, answers=script, settings=ALLOW, tools={"acme": (ACME,)}) as one:
        _, text = await one.turn("file it")
    assert text == "Done."
    assert "mcp__acme__create" not in {tool.name for tool in one.provider.requests[0].tools}
    assert one.calls[-1].status == "done"
    assert "Broken build" in one.calls[-1].result


async def test_c01_with_wrong_arguments_the_error_carries_the_schema_and_the_next_call_succeeds(
    workspace: Path,
) -> None:
    script = ([use("mcp__acme__create", name="x")], [use("mcp__acme__create", title="x")], ["Done."])
    async with desk(workspace, answers=script, settings=ALLOW, tools={"acme": (ACME,)}) as one:
        await one.turn("file it")
    answer = one.provider.requests[1].messages[-1].parts[0]
    assert answer.is_error
    assert '"required": ["title"]' in answer.content[0].text
    assert [call.status for call in one.calls if call.status in ("done", "failed")] == ["failed", "done"]


async def test_c02_strings_that_plainly_mean_another_type_are_converted_and_noted(workspace: Path) -> None:
    given = {"limit": "10", "all": "true", "ids": "[1,2]", "opt": "null"}
    async with desk(workspace, settings=ALLOW, tools={"acme": (LIST,)}) as one:
        result = await one.bridge("mcp__acme__list", given)
    assert not result.is_error
    assert "{'limit': 10, 'all': True, 'ids': [1, 2], 'opt': None}" in result.text
    assert result.text.count("was read as") == 4


async def test_c02_params_sent_as_one_json_string_are_read(workspace: Path) -> None:
    async with desk(workspace, settings=ALLOW, tools={"acme": (LIST,)}) as one:
        result = await one.bridge("mcp__acme__list", '{"limit": 3}')
    assert "{'limit': 3}" in result.text


@pytest.mark.parametrize(("field", "value"), [("limit", "010"), ("limit", "1e3"), ("all", "yes"), ("limit", "1.5")])
async def test_c02_ambiguous_strings_are_refused_with_the_path(workspace: Path, field: str, value: str) -> None:
    async with desk(workspace, settings=ALLOW, tools={"acme": (LIST,)}) as one:
        result = await one.bridge("mcp__acme__list", {field: value})
    assert result.is_error
    assert f"$.{field}: expected" in result.text
    assert value in result.text


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"title": "x", "owner": {}}, "$.owner: the required property 'id' is missing"),
        ({"title": "x", "state": "ajar"}, '$.state: expected one of ["open", "closed"]; got "ajar"'),
        ({"title": "x", "labels": ["a", 7]}, "$.labels[1]: expected string; got the integer 7"),
        ({"title": "x", "stat": "open"}, "$.stat: unknown; did you mean 'state'?"),
    ],
)
async def test_c04_a_validation_error_names_path_expected_and_got(
    workspace: Path, params: dict[str, Any], said: str
) -> None:
    async with desk(workspace, settings=ALLOW, tools={"acme": (ACME,)}) as one:
        result = await one.bridge("mcp__acme__create", params)
    assert result.is_error
    assert said in result.text


async def test_c04_the_same_failure_again_gets_a_stronger_hint(workspace: Path) -> None:
    async with desk(workspace, settings=ALLOW, tools={"acme": (ACME,)}) as one:
        first = await one.bridge("mcp__acme__create", {"state": "ajar"})
        second = await one.bridge("mcp__acme__create", {"state": "ajar"})
    assert "Do not repeat it" not in first.text
    assert second.text.startswith("This is the same call as before")


async def test_c04_a_call_repeated_without_end_is_told_to_stop_and_grows_no_longer(workspace: Path) -> None:
    async with desk(workspace, settings=ALLOW, tools={"acme": (ACME,)}) as one:
        told = [(await one.bridge("mcp__acme__create", {"state": "ajar"})).text for _ in range(7)]
        other = await one.bridge("mcp__acme__create", {"state": "open", "title": 1})
    assert "(2 times now)" in told[1]
    assert told[6].startswith("This very call has failed 7 times")
    assert len(told[6]) < 300
    assert "This" not in other.text.split("\n")[0], "another call starts anew"


async def test_c20_an_error_is_flagged_for_the_model_and_the_panel_whatever_its_cause(workspace: Path) -> None:
    async def fail(arguments: dict[str, Any], context: object) -> ToolResult:
        return error_result("the disk is full")

    failing, off = mcp_tool("acme", "save", run=fail), mcp_tool("acme", "drop")
    settings = {
        "permissions": {"allow": ["mcp__acme__save"], "deny": ["mcp__acme__list"]},
        "tools": {"disabled": ["mcp__acme__drop"]},
    }
    names = ["mcp__acme__save", "mcp__acme__nope", "mcp__acme__drop", "mcp__acme__list"]
    uses = [use("ExecuteTool", f"call-{name}", tool_name=name, params={}) for name in names]
    async with desk(workspace, answers=(uses, ["."]), settings=settings, tools={"acme": (failing, off, LIST)}) as one:
        await one.turn("go")
    answers = one.provider.requests[1].messages[-1].parts
    assert [part.is_error for part in answers] == [True] * 4
    ended = [call for call in one.calls if call.status in ("failed", "refused")]
    assert [(call.tool, call.status, call.is_error) for call in ended] == [
        ("mcp__acme__save", "failed", True),
        ("mcp__acme__nope", "failed", True),
        ("mcp__acme__drop", "failed", True),
        ("mcp__acme__list", "refused", True),
    ]
    reasons = [part.content[0].text for part in answers]
    assert "the disk is full" in reasons[0]
    assert "There is no tool named 'mcp__acme__nope'" in reasons[1]
    assert "is disabled by the editor's user setting tools.disabled" in reasons[2]
    assert "was refused by the editorUser rule deny" in reasons[3]


@pytest.mark.parametrize("phase", ["streaming", "permission", "tool", "search"])
async def test_c19_a_cancelled_turn_ends_at_once_and_the_next_one_works(workspace: Path, phase: str) -> None:
    reached, never = asyncio.Event(), asyncio.Event()

    async def hang(arguments: dict[str, Any], context: object) -> ToolResult:
        reached.set()
        await never.wait()
        raise AssertionError

    slow = mcp_tool("acme", "slow", "Slow", run=hang)
    first: list[Any] = {
        "streaming": ["Let me", Wait(reached, never)],
        "permission": [use("mcp__acme__create", title="x")],
        "tool": [use("mcp__acme__slow")],
        "search": [use("ToolSearch", query="slow"), use("mcp__acme__slow")],
    }[phase]
    settings = {"permissions": {"allow": ["mcp__acme__slow"]}}
    script = (first, ["Here again."])
    async with desk(workspace, answers=script, settings=settings, tools={"acme": (ACME, slow)}) as one:
        one.person.thinking = never
        session = one.engine.sessions.create()
        turn = asyncio.create_task(one.turn("go", session.id))
        async with asyncio.timeout(BOUND):
            await (one.person.is_asked if phase == "permission" else reached).wait()
            turn.cancel()
            await asyncio.wait({turn}, timeout=10)
        assert turn.cancelled(), "it waits neither for the model, the person nor the tool, which would take for ever"
        _, text = await one.turn("still there?", session.id)
        messages = one.provider.requests[-1].messages
    assert text == "Here again."
    assert_history_is_valid(messages)


def assert_history_is_valid(messages: tuple[Any, ...]) -> None:
    assert [message.role for message in messages] == ["user", "assistant"] * (len(messages) // 2) + ["user"]
    for said, next_one in zip(messages[1::2], messages[2::2], strict=True):
        answered = [part.tool_use_id for part in next_one.parts if hasattr(part, "tool_use_id")]
        assert answered == [call.id for call in said.tool_uses]
