"""A tool whose schema no cleaner can use: the request goes out, the tool stays, the person hears of it once."""

from __future__ import annotations

import pytest
from provider_kit import KEY, READ, Server, completed, fixture, request, streamed
from responses_kit import OK
from schema_kit import Spoiled

from caddie.chat.messages import ToolDefinition
from caddie.providers import build_provider
from caddie.settings import Settings

LOST = ToolDefinition("mcp__odd__lost", "Does something.", {"properties": Spoiled(a=1)})
STREAMS = {
    "anthropic": fixture("anthropic_text.sse"),
    "openai-chat": fixture("chat_text.sse"),
    "openai": OK,
    "gemini": fixture("gemini_signed_text.sse"),
}


@pytest.mark.parametrize("kind", STREAMS)
async def test_the_person_hears_once_of_a_tool_whose_schema_was_lost(kind: str) -> None:
    server = Server(lambda: streamed(STREAMS[kind]))
    keys = dict.fromkeys(("OPENAI_API_KEY", "GEMINI_API_KEY", "ANTHROPIC_API_KEY"), KEY)
    provider = build_provider(Settings(provider=kind), keys, server.client)
    asked = request(model=provider.default_model, tools=(READ, LOST))
    assert "mcp__odd__lost" in (await completed(provider, asked)).note
    assert "mcp__odd__lost" not in (await completed(provider, asked)).note
    for body in server.bodies:
        assert "Does something." in str(body["tools"])
        assert "Reads a file." in str(body["tools"])
