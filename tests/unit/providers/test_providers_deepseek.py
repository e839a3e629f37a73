"""Whole turns with a server that enforces DeepSeek's rule: reasoning goes back with every message that calls tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from provider_kit import call_delta, chunk, sse, streamed

from caddie.chat.messages import Message, Text, ToolAnswer, ToolUse
from caddie.chat.session import Said
from caddie.providers import build_provider
from caddie.settings import Settings
from caddie.tools.tool import TextContent
from engine_kit import desk, mcp_tool

RULE = "The reasoning_content in the thinking mode must be passed back to the API."


class DeepSeek:
    """Thinks and calls the tool once, then answers. Keeps what it refused."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.refused = 0
        self.client = httpx.AsyncClient(transport=httpx.MockTransport(self._answer))

    def _answer(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        calls = [message for message in body["messages"] if message.get("tool_calls")]
        if any("reasoning_content" not in message for message in calls):
            self.refused += 1
            return httpx.Response(400, json={"error": {"message": RULE, "type": "invalid_request_error"}})
        self.bodies.append(body)
        if body["messages"][-1]["role"] == "tool":
            return streamed(b": keep-alive\n\n" + sse(chunk(content="Sunny."), chunk("stop"), _used(), done=True))
        call = call_delta("mcp__sky__weather", '{"city": "Oslo"}', index=0, id="call_1")
        return streamed(
            sse(chunk(reasoning_content="Which tool?"), chunk(tool_calls=[call]), chunk("tool_calls"), done=True)
        )


def _used() -> dict[str, Any]:
    return {"choices": [], "usage": {"prompt_tokens": 90, "prompt_cache_hit_tokens": 64, "completion_tokens": 3}}


@pytest.mark.parametrize("has_foreign_calls", [False, True])
async def test_a_turn_with_tools_is_taken_also_after_another_providers_calls(
    workspace: Path, has_foreign_calls: bool
) -> None:
    server = DeepSeek()
    provider = build_provider(Settings(provider="deepseek"), {"DEEPSEEK_API_KEY": "k"}, server.client)
    settings = {"permissions": {"allow": ["mcp__sky"]}, "tools": {"enabled": ["mcp__sky__weather"]}}
    tools = {"sky": (mcp_tool("sky", "weather", "The weather."),)}
    async with desk(workspace, provider=provider, settings=settings, tools=tools) as one:
        session = one.engine.sessions.create() if has_foreign_calls else None
        if session is not None:
            for message in _of_another_provider():
                session.apply(Said("t0", message))
        session_id, text = await one.turn("weather in Oslo?", session.id if session else None)
        _, again = await one.turn("and now?", session_id)
    assert (text, again) == ("Sunny.", "Sunny.")
    assert server.refused == (1 if has_foreign_calls else 0), "learned once, and for good"
    sent = [message for message in server.bodies[-1]["messages"] if message.get("tool_calls")]
    assert [message["reasoning_content"] for message in sent][-2:] == ["Which tool?", "Which tool?"]
    assert one.engine.models.chosen is not None
    assert one.engine.models.chosen.model == "deepseek-v4-pro"


def _of_another_provider() -> tuple[Message, ...]:
    return (
        Message("user", (Text("before"),)),
        Message("assistant", (ToolUse("call_0", "mcp__sky__weather", {"city": "Rome"}),)),
        Message("user", (ToolAnswer("call_0", "mcp__sky__weather", (TextContent("Rain."),)),)),
        Message("assistant", (Text("Rain in Rome."),)),
    )
