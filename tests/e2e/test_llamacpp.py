"""A real llama.cpp server with real weights: its Chat Completions, Responses and Anthropic Messages, and our adapters.

The model is tiny, so nothing here looks at what it says: only at the shape of the protocol.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from caddie.chat.messages import Completed, Message, ModelRequest, Text, ToolAnswer, ToolDefinition, ToolUseStarted
from caddie.chat.provider import Provider
from caddie.engine.models import Models
from caddie.errors import ContextOverflow
from caddie.providers import LocalServer, build_provider
from caddie.settings import Settings
from caddie.tools.builtin import BUILTIN
from caddie.tools.tool import TextContent
from editor_client import clean_environment
from engine_kit import desk, mcp_tool
from fixtures.llamacpp_server import CONTEXT, weights

pytestmark = pytest.mark.skipif(weights() is None, reason="the real llama.cpp is not installed: run `make llamacpp`")

SERVER = Path(__file__).parents[1] / "fixtures" / "llamacpp_server.py"
APIS = ["anthropic", "openai-chat", "openai"]
# The enum lets the grammar end the arguments, whatever the model would have written.
READ = ToolDefinition(
    "Read",
    "Reads a file.",
    {"type": "object", "properties": {"path": {"type": "string", "enum": ["a.py"]}}, "required": ["path"]},
)
CITY = {"type": "object", "properties": {"city": {"type": "string", "enum": ["Oslo"]}}, "required": ["city"]}
ASKED = Message("user", (Text("Read the file a.py"),))
BOUND = 100.0  # one thread, on a machine that may do other things
_RESULT = re.compile(rb'"(?:tool_result|function_call_output)"|"role":\s*"tool"')


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with subprocess.Popen(
        [sys.executable, str(SERVER)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ) as server:  # fmt: skip
        assert server.stdout is not None
        line = server.stdout.readline().strip()
        assert line.startswith("http://"), "the server did not start"
        yield line
        server.stdin.close()  # type: ignore[union-attr]
        server.wait(30)


class Steered(httpx.AsyncHTTPTransport):
    """Makes sure that a tiny model calls its tool and is brief; all else goes as the adapter wrote it.

    A free answer beside tools would be cut inside llama.cpp's own JSON for it, which it then cannot read.
    """

    def __init__(self, api: str) -> None:
        super().__init__()
        self._is_anthropic = api == "anthropic"
        self.calls_again = True
        self.bodies: list[dict[str, Any]] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content) if request.content else None
        if body and "stream" in body:
            self.bodies.append(json.loads(request.content))
            if not self.calls_again and _RESULT.search(request.content):
                del body["tools"]
            if body.get("tools"):
                body["tool_choice"] = {"type": "any"} if self._is_anthropic else "required"
            limit = next(key for key in body if re.fullmatch(r"max_(?:\w+_)?tokens", key))
            body[limit] = 60 if body.get("tools") else 24
            headers = {key: value for key, value in request.headers.items() if key != "content-length"}
            content = json.dumps(body).encode()
            request = httpx.Request(
                request.method, request.url, headers=headers, content=content, extensions=request.extensions
            )
        return await super().handle_async_request(request)


@pytest.fixture(params=APIS)
async def model(request: pytest.FixtureRequest, address: str) -> AsyncIterator[tuple[Provider, Steered]]:
    transport = Steered(request.param)
    async with asyncio.timeout(BOUND), httpx.AsyncClient(transport=transport) as client:
        settings = Settings(provider=request.param, baseUrl=f"{address}/v1", model="smollm2")
        yield build_provider(settings, {}, client), transport


def asking(*messages: Message, tools: tuple[ToolDefinition, ...] = ()) -> ModelRequest:
    return ModelRequest("smollm2", "You are a helper.", tools, messages or (ASKED,), "s1")


async def answered(provider: Provider, request: ModelRequest) -> tuple[list[Any], Completed]:
    events = [event async for event in provider.stream(request)]
    assert isinstance(events[-1], Completed)
    return events[:-1], events[-1]


async def test_a_real_answer_streams_piece_by_piece_and_is_counted(model: tuple[Provider, Steered]) -> None:
    events, last = await answered(model[0], asking())
    assert len(events) > 3
    assert last.message.text == "".join(event.text for event in events)
    assert last.stop_reason in ("end_turn", "max_tokens")
    assert (last.usage.input > 0, 0 < last.usage.output <= 24) == (True, True)


async def test_a_real_tool_call_is_read_and_its_result_taken_back(model: tuple[Provider, Steered]) -> None:
    provider, transport = model
    events, last = await answered(provider, asking(tools=(READ,)))
    [use] = last.message.tool_uses
    assert (use.name, use.arguments, last.stop_reason) == ("Read", {"path": "a.py"}, "tool_use")
    assert ToolUseStarted(use.id, use.name) in events
    result = Message("user", (ToolAnswer(use.id, use.name, (TextContent("print('hello')"),)),))
    _, after = await answered(provider, asking(ASKED, last.message, result, tools=(READ,)))
    assert [call.arguments for call in after.message.tool_uses] == [{"path": "a.py"}]
    assert json.dumps(transport.bodies[1]["tools"]) == json.dumps(transport.bodies[0]["tools"])


async def test_the_models_are_listed_with_what_the_server_will_read(model: tuple[Provider, Steered]) -> None:
    [only] = await model[0].list_models()
    assert "SmolLM2" in only.id
    assert model[0].name != "openai-chat" or only.context == CONTEXT


async def test_tokens_are_counted_where_the_api_counts_them(model: tuple[Provider, Steered]) -> None:
    provider, _ = model
    counted = await provider.count_tokens(asking())
    _, last = await answered(provider, asking())
    assert counted in (None, last.usage.input)
    assert provider.name != "anthropic" or counted is not None


async def test_a_conversation_that_is_too_long_is_recognised(model: tuple[Provider, Steered]) -> None:
    with pytest.raises(ContextOverflow):
        await answered(model[0], asking(Message("user", (Text("word " * (CONTEXT + 100)),))))


async def test_auto_finds_it_without_a_key_and_says_what_it_reads(address: str) -> None:
    models = Models({}, (LocalServer("llama.cpp", f"{address}/v1"),))
    async with asyncio.timeout(BOUND):
        found = await models.listing(Settings())
        await models.close()
    assert "SmolLM2" in found.choice.model
    assert "llama.cpp answers at" in found.choice.why
    assert [(model.id, model.context) for model in found.models] == [(found.choice.model, CONTEXT)]


async def test_a_whole_turn_runs_the_tool_and_ends_with_the_models_word(
    model: tuple[Provider, Steered], workspace: Path
) -> None:
    """With one small tool, so that one thread reads the prompt in a moment."""
    provider, transport = model
    transport.calls_again = False
    weather = mcp_tool("sky", "weather", "The weather in a city.", CITY)
    settings = {
        "model": "smollm2",
        "permissions": {"allow": ["mcp__sky"]},
        "tools": {"disabled": [tool.spec.name for tool in BUILTIN], "enabled": ["mcp__sky__weather"]},
        "hints": {"enabled": False},
    }
    async with desk(workspace, provider=provider, settings=settings, tools={"sky": (weather,)}) as one:
        told = one.events
        _, _, outcome = await one.engine.turns.run(None, "The weather in Oslo?", lambda *said: told.append(said[2]))
    assert [(call.tool, call.status) for call in one.calls if call.status == "done"] == [("mcp__sky__weather", "done")]
    assert outcome.text.strip()
    first, second = transport.bodies
    assert json.dumps(first["tools"]) == json.dumps(second["tools"])
    assert "weather ran with {'city': 'Oslo'}" in json.dumps(second, ensure_ascii=False)


def test_ask_speaks_to_it(address: str, workspace: Path, home: Path) -> None:
    config = home / ".config" / "caddie"
    config.mkdir(parents=True)
    settings = {"provider": "openai-chat", "baseUrl": f"{address}/v1", "model": "smollm2", "tools": {"use": False}}
    (config / "settings.json").write_text(json.dumps(settings))
    done = subprocess.run(
        [sys.executable, "-m", "caddie", "ask", "Say hello."],
        cwd=workspace, env=clean_environment(home), capture_output=True, text=True, timeout=BOUND, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip()
