"""Field reports C10 to C13 and F02 at the rim: what really leaves for each provider, and what one call says of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import jsonschema_rs
import pytest
from lsprotocol import types

from caddie.chat.messages import Message, ModelRequest, Text, ToolDefinition
from caddie.errors import ProviderError
from caddie.providers import build_provider
from caddie.settings import Settings
from caddie.tools.names import assign_names
from editor_client import editor

PROVIDERS = ["anthropic", "openai", "openai-chat", "gemini", "xai", "deepseek"]
CONDITION = {
    "$defs": {
        "OrderCond": {
            "type": "object",
            "properties": {"field": {"type": "string"}, "op": {"enum": ["<", ">"]}},
            "required": ["field"],
        }
    },
    "type": "object",
    "properties": {
        "where": {"$ref": "#/$defs/OrderCond"},
        "more": {"type": "array", "items": {"$ref": "#/$defs/OrderCond"}},
    },
    "required": ["where"],
}  # fmt: skip
LONG = "t" * 59
NAMES = {
    "calendar": ("calendar.create", "admin/tools", "my tool", "查询", "a-b.c", "a-b c"),
    "s" * 40: (f"{LONG}a", f"{LONG}b"),
    "github": ("create_issue",),
    "linear": ("create_issue",),
}


def tools(reverse: bool = False) -> tuple[ToolDefinition, ...]:
    """As two runs of Caddie would meet them, the second in another order."""
    found = {
        wire: ToolDefinition(wire, f"{name} of {server}", CONDITION)
        for server, names in NAMES.items()
        for name, wire in assign_names(server, reversed(names) if reverse else names).items()
    }
    return tuple(found[name] for name in sorted(found))


async def sent(provider: str, given: tuple[ToolDefinition, ...]) -> list[dict[str, Any]]:
    """The definitions as they leave, each with its name and its schema under `schema`."""
    bodies: list[dict[str, Any]] = []

    def refuse(request: httpx.Request) -> httpx.Response:
        bodies.append(json.loads(request.content))
        return httpx.Response(400, json={"error": {"message": "enough"}})

    client = httpx.AsyncClient(transport=httpx.MockTransport(refuse))
    built = build_provider(Settings(provider=provider, apiKeyEnv="K"), {"K": "k"}, client)
    request = ModelRequest(built.default_model, "", given, (Message("user", (Text("hi"),)),), "s1")
    with pytest.raises(ProviderError):
        [event async for event in built.stream(request)]
    return [dict(entry) for entry in _entries(bodies[0]["tools"])]


def _entries(listed: list[dict[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for entry in listed:
        for tool in entry.get("functionDeclarations", [entry.get("function", entry)]):
            schema = next(tool[key] for key in ("input_schema", "parameters", "parametersJsonSchema") if key in tool)
            yield {"name": tool["name"], "schema": schema}


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_c10_no_reference_dangles_in_what_leaves(provider: str) -> None:
    for tool in await sent(provider, tools()):
        validator = jsonschema_rs.Draft202012Validator(tool["schema"])  # raises on a reference that leads nowhere
        assert validator.is_valid({"where": {"field": "total", "op": "<"}, "more": [{"field": "x"}]})
        assert not validator.is_valid({"where": {"op": "<"}})
        assert not validator.is_valid({"where": {"field": "total"}, "more": [{}]})


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_c11_c12_c13_every_name_that_leaves_is_one_that_the_provider_takes_and_the_same_after_a_restart(
    provider: str,
) -> None:
    names = [tool["name"] for tool in await sent(provider, tools())]
    assert len(set(names)) == len(names) == sum(map(len, NAMES.values()))
    assert all(re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}", name) for name in names)
    assert names == [tool["name"] for tool in await sent(provider, tools(reverse=True))]
    assert {"mcp__github__create_issue", "mcp__linear__create_issue"} <= set(names)


# Provider settings, and what `tools/explain` answers: the mode in effect, and words of the reason.
F02 = [
    ({"provider": "anthropic"}, "native", "claude-opus-5-5 at api.anthropic.com loads deferred tools itself"),
    ({"provider": "openai"}, "native", "gpt-5.5 at api.openai.com loads deferred tools itself"),
    ({"provider": "openai", "model": "gpt-5.4-nano"}, "bridge", "gpt-5.4-nano at api.openai.com is not known"),
    ({"provider": "gemini"}, "bridge", "generateContent has no deferred tools of its own"),
    ({"provider": "xai"}, "bridge", "xAI has no deferred tools of its own"),
    ({"provider": "openai-chat"}, "bridge", "Chat Completions has no deferred tools of its own"),
    ({"provider": "anthropic", "baseUrl": "http://127.0.0.1:9"}, "bridge", "at 127.0.0.1 is not known"),
    ({"provider": "anthropic", "baseUrl": "http://127.0.0.1:9", "tools": {"deferral": "native"}}, "native", "asked"),
    ({"provider": "gemini", "tools": {"deferral": "native"}}, "bridge", "generateContent has no deferred tools"),
    ({"provider": "anthropic", "tools": {"deferral": "bridge"}}, "bridge", "tools.deferral says bridge"),
    ({"provider": "anthropic", "tools": {"deferral": "off"}}, "off", "tools.deferral says off"),
    ({"provider": "auto"}, "native", "claude-opus-5-5 at api.anthropic.com loads deferred tools itself"),
]  # fmt: skip
KEYS = dict.fromkeys(("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "XAI_API_KEY"), "k")


async def test_f02_one_call_says_the_effective_mode_and_why_for_every_provider_and_address(
    workspace: Path, home: Path
) -> None:
    async with editor(workspace, home, env=KEYS) as one:
        for settings, mode, why in F02:
            one.client.workspace_did_change_configuration(types.DidChangeConfigurationParams({"caddie": settings}))
            told = await one.request("caddie/tools/explain", {"tool": "ToolSearch"})
            assert told["deferral"] == mode, settings
            assert why in " ".join(told["sentences"]), settings


async def test_f02_an_environment_that_says_otherwise_is_named(workspace: Path, home: Path) -> None:
    environment = {**KEYS, "CADDIE_TOOLS_DEFERRAL": "bridge"}
    settings = {"provider": "anthropic", "tools": {"deferral": "native"}}
    async with editor(workspace, home, env=environment, settings=settings) as one:
        told = await one.request("caddie/tools/explain", {"tool": "ToolSearch"})
    assert told["deferral"] == "bridge"
    assert "CADDIE_TOOLS_DEFERRAL says bridge" in " ".join(told["sentences"])
