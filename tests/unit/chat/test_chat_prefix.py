"""F10, and more: the prefix never moves. One session with all that may happen to it, over each provider's own bytes."""

from __future__ import annotations

import hashlib
import itertools
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

import fake_responses
from caddie.chat.provider import Provider
from caddie.providers.anthropic import Anthropic
from caddie.providers.gemini import Gemini
from caddie.providers.openai_chat import OpenAIChat
from caddie.providers.openai_responses import OpenAIResponses
from engine_kit import Desk, desk, mcp_tool

ALLOW = {"permissions": {"mode": "auto"}}
SCHEMA = {"type": "object", "properties": {"b": {"type": "string"}, "a b": {"type": "integer"}}, "anyOf": [{}]}
GIT = tuple(mcp_tool("git", name, f"The {name} of a repository", SCHEMA) for name in ("log", "diff", "blame", "show"))
TIME = tuple(mcp_tool("time", name, "Time", SCHEMA) for name in ("now", "convert"))


def anthropic_answer(step: list[Any]) -> bytes:
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 1}}}]
    for index, item in enumerate(step):
        if isinstance(item, str):
            block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": item}
        else:
            block = {"type": "tool_use", "id": item[0], "name": item[1], "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(item[2])}
        events += [{"type": "content_block_start", "index": index, "content_block": block},
                   {"type": "content_block_delta", "index": index, "delta": delta}]  # fmt: skip
    stop = {"stop_reason": "end_turn"}
    events += [{"type": "message_delta", "delta": stop, "usage": {"output_tokens": 1}}, {"type": "message_stop"}]
    return b"".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events)


def chat_answer(step: list[Any]) -> bytes:
    calls = [item for item in step if not isinstance(item, str)]
    delta: dict[str, Any] = {"content": "".join(item for item in step if isinstance(item, str))}
    if calls:
        delta["tool_calls"] = [
            {"index": at, "id": one, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            for at, (one, name, arguments) in enumerate(calls)
        ]
    chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
              {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}]  # fmt: skip
    return b"".join(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks) + b"data: [DONE]\n\n"


def responses_answer(step: list[Any]) -> bytes:
    items = [
        fake_responses.message(item, at)
        if isinstance(item, str)
        else fake_responses.call(item[1], at, json.dumps(item[2]), call_id=item[0])
        for at, item in enumerate(step)
    ]
    return fake_responses.stream(*items)


def searching_answer(step: list[Any]) -> bytes:
    """As a model that has the API's own search: it asks that one, not a function."""
    if any(not isinstance(item, str) and item[1] == "ToolSearch" for item in step):
        [(call_id, _, arguments)] = step
        return fake_responses.stream({**fake_responses.search(arguments["query"]), "call_id": call_id})
    return responses_answer(step)


def gemini_answer(step: list[Any]) -> bytes:
    parts = [
        {"text": item} if isinstance(item, str) else {"functionCall": {"id": item[0], "name": item[1], "args": item[2]}}
        for item in step
    ]
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    return f"data: {json.dumps({'candidates': [candidate]})}\n\n".encode()


class Api:
    """Any API: keeps each body's bytes, answers with the next step of its script in that API's stream."""

    def __init__(self, answer: Callable[[list[Any]], bytes]) -> None:
        self._answer_of = answer
        self.script: list[list[Any]] = []
        self.bodies: list[bytes] = []
        self.client = httpx.AsyncClient(transport=httpx.MockTransport(self._answer))

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.bodies.append(request.content)
        kind = {"content-type": "text/event-stream"}
        return httpx.Response(200, headers=kind, content=self._answer_of(self.script.pop(0)))


def anthropic(client: httpx.AsyncClient, host: str) -> Provider:
    return Anthropic(client, base_url=f"https://{host}", api_key="k", idle_timeout=5.0)


def openai_chat(client: httpx.AsyncClient, host: str) -> Provider:
    return OpenAIChat(client, base_url=f"https://{host}/v1", api_key="k", idle_timeout=5.0, default_model="m")


def openai(client: httpx.AsyncClient, host: str) -> Provider:
    model = "gpt-5.5" if host == "api.openai.com" else "m"
    return OpenAIResponses(client, base_url=f"https://{host}/v1", api_key="k", idle_timeout=5.0, default_model=model)


def gemini(client: httpx.AsyncClient, host: str) -> Provider:
    return Gemini(client, base_url=f"https://{host}", api_key="k", idle_timeout=5.0)


APIS = {
    "responses, native": (searching_answer, openai, "api.openai.com", "auto"),
    "responses, bridge": (responses_answer, openai, "gateway.example", "auto"),
    "gemini, bridge": (gemini_answer, gemini, "generativelanguage.googleapis.com", "auto"),
    "anthropic, native": (anthropic_answer, anthropic, "api.anthropic.com", "auto"),
    "anthropic, bridge": (anthropic_answer, anthropic, "gateway.example", "auto"),
    "chat, bridge": (chat_answer, openai_chat, "local.example", "auto"),
    "chat, stub": (chat_answer, openai_chat, "local.example", "stub"),
}


SAID = ("messages", "input", "contents")


def prefix_hash(body: bytes) -> str:
    """Of tools and system prompt, byte for byte as they went out."""
    said_at = min(at for key in SAID if (at := body.find(f'"{key}":['.encode())) >= 0)
    rest = body[body.index(b"]", said_at) :]
    assert b'"tools"' not in rest or b'"tools"' in body[:said_at], "the tools stand before what is said"
    return hashlib.sha256(body[:said_at]).hexdigest()


def said(body: bytes) -> list[Any]:
    """What the request says after its prefix, without the marks for the cache, which move."""
    messages = next(value for key, value in json.loads(body).items() if key in SAID)
    return [json.loads(json.dumps(one).replace(', "cache_control": {"type": "ephemeral"}', "")) for one in messages]


async def live(one: Desk, api: Api, session: str = "") -> str:
    """One stretch of a session: connects, disconnects, shuffled lists, searches, edits, hints, modes, folders."""
    numbers = itertools.count()

    def call(name: str, **arguments: Any) -> tuple[str, str, Any]:
        return (f"call_{session[:4]}{next(numbers)}", name, arguments)

    async def turn(words: str, *steps: list[Any], **options: Any) -> str:
        api.script += steps
        return (await one.turn(words, session or None, **options))[0]

    publish = one.engine.catalogue.replace_source
    session = await turn("show the git log", [call("ToolSearch", query="git log")], ["found"])
    publish("time", TIME)
    await turn("what time is it", [call("ToolSearch", query="time now")], [call("mcp__time__now")], ["noon"])
    one.engine.set_folders([one.engine.workspace.parent / "api"])
    publish("git", tuple(random.Random(7).sample(GIT, len(GIT))))
    await turn("blame", [call("ExecuteTool", tool_name="mcp__git__blame", params={})], ["them"])
    publish("git", (mcp_tool("git", "log", "Changed", {"type": "object", "properties": {"new": {}}}), *GIT[1:]))
    await one.engine.admin.set_state([("mcp__git__diff", "enabled")], "session", session)
    await turn("diff", [call("mcp__git__diff")], ["same"], picked=("mcp__git__show",))
    await one.engine.admin.set_state([("WebFetch", "disabled"), ("mcp__git__diff", "default")], "session", session)
    await turn("plan it", [call("ToolSearch", query="blame")], ["planned"], mode="plan")
    publish("time", ())
    one.engine.set_folders([one.engine.workspace])
    await turn("do it", [call("TodoWrite", todos=[])], ["done"], mode="agent")
    return session


@pytest.mark.parametrize("name", APIS)
async def test_f10_the_prefix_stays_the_same_bytes_whatever_happens_and_after_a_resume(
    name: str, workspace: Path
) -> None:
    answer, make, host, deferral = APIS[name]
    api = Api(answer)
    settings = {**ALLOW, "tools": {"deferral": deferral}}
    async with desk(workspace, provider=make(api.client, host), settings=settings, tools={"git": GIT}) as one:
        session = await live(one, api)
        assert any(hints for hints in one.hints), "hints were found meanwhile"
    async with desk(workspace, provider=make(api.client, host), settings=settings, tools={"time": TIME}) as one:
        api.script += [["resumed"]]
        await one.turn("go on", session)
        await live(one, api, session)
    assert len(api.bodies) > 20
    assert len({prefix_hash(body) for body in api.bodies}) == 1
    for earlier, later in itertools.pairwise(api.bodies):
        assert said(later)[: len(said(earlier))] == said(earlier), "what was said is only added to"


async def test_two_sessions_with_the_same_tools_begin_with_the_same_bytes(workspace: Path) -> None:
    """A cache that one conversation warmed serves the next, also when the servers list their tools in another order."""
    api = Api(anthropic_answer)
    settings = {"tools": {"enabled": ["mcp__git__b*", "mcp__git__s*"]}}
    for order in (GIT, GIT[::-1]):
        provider = anthropic(api.client, "api.anthropic.com")
        async with desk(workspace, provider=provider, settings=settings, tools={"git": order}) as one:
            api.script += [["hi"]]
            await one.turn("hello")
    assert len({prefix_hash(body) for body in api.bodies}) == 1
