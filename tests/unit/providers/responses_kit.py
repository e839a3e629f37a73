"""Short ways to ask the Responses adapter: at OpenAI's address unless told otherwise."""

from __future__ import annotations

from typing import Any

import httpx
from provider_kit import KEY, Server, completed, request, streamed

from caddie.chat.messages import Completed, Message, ModelRequest, ToolDefinition
from caddie.providers.openai_responses import OpenAIResponses
from fake_responses import message, stream
from responses_rules import check_openai_responses

MODEL = "gpt-5.5"
SEARCH = ToolDefinition(
    "ToolSearch", "Finds tools.", {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
)
LOG = ToolDefinition("mcp__git__log", "Shows commits.", {"type": "object", "properties": {"n": {"type": "integer"}}})
OK = stream(message("Hello."))


def responses(client: httpx.AsyncClient, **options: Any) -> OpenAIResponses:
    given = {"base_url": "https://api.openai.com/v1", "api_key": KEY, "idle_timeout": 5.0, "default_model": MODEL}
    return OpenAIResponses(client, **{**given, **options})


def xai(client: httpx.AsyncClient, **options: Any) -> OpenAIResponses:
    given = {"base_url": "https://api.x.ai/v1", "name": "xai", "key_name": "XAI_API_KEY", "default_model": "grok-4.5"}
    return responses(client, **{**given, **options})


def asked(*messages: Message, **fields: Any) -> ModelRequest:
    return request(*messages, **{"model": MODEL, **fields})


async def sent(*messages: Message, make: Any = responses, **fields: Any) -> dict[str, Any]:
    """The body of a request, judged."""
    server = Server(streamed(OK))
    await completed(make(server.client), asked(*messages, **fields))
    check_openai_responses(server.bodies[0])
    return server.bodies[0]


async def answered(*items: dict[str, Any], incomplete: str = "", listed: bool = True) -> Completed:
    return await completed(responses(Server(streamed(stream(*items, incomplete=incomplete, listed=listed))).client))
