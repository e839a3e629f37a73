"""Field reports of section C that a provider's wire can break, and F10."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from caddie.chat.messages import ToolAnswer
from caddie.providers.schema import WireSchema, for_anthropic, for_gemini, for_gemini_proto, for_openai
from caddie.providers.scripted import use
from caddie.search.execute_tool import TOOL as EXECUTE_TOOL
from caddie.search.tool_search import MAX_SCHEMA_CHARS
from caddie.tools.tool import ToolResult, text_result
from engine_kit import Desk, desk, mcp_tool
from fake_anthropic import FakeAnthropic, text
from fake_anthropic import use as native_use

ALLOW = {"permissions": {"mode": "auto"}}
CLEANERS: Mapping[str, Callable[[object], WireSchema]] = {
    "anthropic": for_anthropic,
    "openai": for_openai,
    "compatible": lambda schema: for_openai(schema, compatible=True),
    "gemini": for_gemini,
    "gemini proto": for_gemini_proto,
}
THREE = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "labels": {"type": "array", "items": {"type": "string"}},
        "at": {"type": "object", "properties": {"line": {"type": "integer"}}, "required": ["line"]},
    },
    "required": ["title", "labels", "at"],
    "additionalProperties": False,
}
GIVEN = {"title": "Broken", "labels": ["bug"], "at": {"line": 7}}
CIRCULAR = {
    "$defs": {"And": {"anyOf": [{"$ref": "#/$defs/And"}, {"type": "string"}]}},
    "type": "object",
    "properties": {"q": {"$ref": "#/$defs/And"}},
}


def recorder(schema: Mapping[str, Any]) -> tuple[Any, list[dict[str, Any]]]:
    received: list[dict[str, Any]] = []

    async def run(arguments: dict[str, Any], context: object) -> ToolResult:
        received.append(arguments)
        return text_result("created")

    return mcp_tool("tracker", "create_issue", "Creates an issue", schema, run), received


def answer_of(one: Desk, request: int) -> str:
    parts = one.provider.requests[request].messages[-1].parts
    return "\n".join(item.text for part in parts if isinstance(part, ToolAnswer) for item in part.content)


# C03: empty properties, and the arguments were stripped.


async def test_the_search_shows_the_servers_own_schema_and_the_server_gets_every_argument(workspace: Path) -> None:
    tool, received = recorder(THREE)
    call = use("ExecuteTool", "c2", tool_name="mcp__tracker__create_issue", params=GIVEN)
    answers = ([use("ToolSearch", "c1", query="create an issue")], [call], ["done"])
    async with desk(workspace, answers=answers, settings=ALLOW, tools={"tracker": (tool,)}) as one:
        await one.turn("file it")
        shown = answer_of(one, 1)
    assert json.dumps(THREE, ensure_ascii=False) in shown
    assert received == [GIVEN]


async def test_a_tool_that_the_provider_loads_keeps_its_parameters(workspace: Path) -> None:
    tool, received = recorder(THREE)
    api = FakeAnthropic(
        [
            [native_use("ToolSearch", query="create an issue")],
            [native_use("mcp__tracker__create_issue", **GIVEN)],
            [text("done")],
        ]
    )
    async with desk(workspace, provider=api.provider(), settings=ALLOW, tools={"tracker": (tool,)}) as one:
        await one.turn("file it")
    [sent] = [tool for tool in api.bodies[0]["tools"] if tool["name"] == "mcp__tracker__create_issue"]
    assert sent["input_schema"] == THREE
    assert received == [GIVEN]


# C06: a closed schema of the bridge eats the arguments within.


@pytest.mark.parametrize("name", CLEANERS)
def test_the_bridges_own_schema_stays_open_for_every_provider(name: str) -> None:
    sent = CLEANERS[name](EXECUTE_TOOL.spec.input_schema).schema
    params = sent["properties"]["params"]
    assert str(params["type"]).lower() in ("object", "string"), "an object, or a string that holds one"
    assert params.get("additionalProperties", True) is True
    assert not params.get("properties"), "no key is declared, so none is left out"
    assert sent.get("additionalProperties", True) is True


@pytest.mark.parametrize("params", [GIVEN, json.dumps(GIVEN), {"params": GIVEN}])
async def test_arguments_within_arrive_as_an_object_or_as_its_text(workspace: Path, params: object) -> None:
    tool, received = recorder(THREE)
    async with desk(workspace, settings=ALLOW, tools={"tracker": (tool,)}) as one:
        result = await one.bridge("mcp__tracker__create_issue", params)
    assert not result.is_error, result.text
    assert received == [GIVEN]


# C08: a circular schema crashes the session.


async def test_a_tool_with_a_circular_schema_is_found_judged_and_run(workspace: Path) -> None:
    tool, received = recorder(CIRCULAR)
    answers = ([use("ToolSearch", "c1", query="discover:create an issue")], ["found"])
    async with desk(workspace, answers=answers, settings=ALLOW, tools={"tracker": (tool,)}) as one:
        await one.turn("find it")
        shown = answer_of(one, 1)
        good = await one.bridge("mcp__tracker__create_issue", {"q": "text"})
        bad = await one.bridge("mcp__tracker__create_issue", {"q": [1]})
    assert "create_issue" in shown
    assert len(shown) < 3 * MAX_SCHEMA_CHARS
    assert not good.is_error
    assert received == [{"q": "text"}]
    assert bad.is_error
    assert "q" in bad.text


@pytest.mark.parametrize("name", CLEANERS)
def test_a_circular_schema_comes_out_finite_and_still_names_its_property(name: str) -> None:
    sent = CLEANERS[name](CIRCULAR).schema
    assert "q" in sent["properties"]
    assert len(json.dumps(sent)) < 10_000
