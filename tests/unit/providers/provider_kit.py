"""What the provider tests share: a client whose server is a function, and short ways to ask and collect."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx

from caddie.chat.messages import Completed, Message, ModelRequest, StreamEvent, Text, ToolDefinition
from caddie.chat.provider import Provider
from caddie.providers.anthropic import Anthropic
from caddie.providers.openai_chat import OpenAIChat

STREAMS = Path(__file__).parents[2] / "fixtures" / "streams"
KEY = "sk-test-SECRET-0123456789"
READ = ToolDefinition("Read", "Reads a file.", {"type": "object", "properties": {"path": {"type": "string"}}})
HELLO = Message("user", (Text("hi"),))


def fixture(name: str) -> bytes:
    return (STREAMS / name).read_bytes()


def sse(*chunks: object, done: bool = False) -> bytes:
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return "".join([*lines, "data: [DONE]\n\n"] if done else lines).encode()


def chunk(finish: str | None = None, **delta: object) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def call_delta(name: str | None, arguments: object = None, **fields: object) -> dict[str, Any]:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return {**fields, "type": "function", "function": function}


class Server:
    """Answers every request with the next of its responses (the last one stays) and keeps the requests."""

    def __init__(self, *responses: httpx.Response | Callable[[], httpx.Response]) -> None:
        self._responses = list(responses)
        self.requests: list[httpx.Request] = []
        self.client = httpx.AsyncClient(transport=httpx.MockTransport(self._answer))

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        response = self._responses.pop(0) if len(self._responses) > 1 else self._responses[0]
        return response if isinstance(response, httpx.Response) else response()

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(request.content) for request in self.requests]


class Pieces(httpx.AsyncByteStream):
    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = list(pieces)
        self.closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece

    async def aclose(self) -> None:
        self.closed = True


def streamed(content: bytes, *, splits: Iterable[int] = (), kind: str = "text/event-stream") -> httpx.Response:
    at = [0, *sorted({split % (len(content) + 1) for split in splits}), len(content)]
    pieces = [content[start:end] for start, end in itertools.pairwise(at) if start < end]
    return httpx.Response(200, headers={"content-type": kind}, stream=Pieces(pieces))


def anthropic(client: httpx.AsyncClient, **options: Any) -> Anthropic:
    given = {"base_url": "https://api.anthropic.com", "api_key": KEY, "idle_timeout": 5.0, **options}
    return Anthropic(client, **given)


def openai_chat(client: httpx.AsyncClient, **options: Any) -> OpenAIChat:
    given = {"base_url": "http://127.0.0.1:9/v1", "api_key": KEY, "idle_timeout": 5.0, "default_model": "m", **options}
    return OpenAIChat(client, **given)


def request(*messages: Message, **fields: Any) -> ModelRequest:
    given = {"model": "claude-opus-5-5", "system": "You are Caddie.", "tools": (READ,), "session_id": "s1", **fields}
    return ModelRequest(messages=messages or (HELLO,), **given)


async def collect(provider: Provider, asked: ModelRequest | None = None) -> list[StreamEvent]:
    async with asyncio.timeout(60):
        return [event async for event in provider.stream(asked or request())]


async def completed(provider: Provider, asked: ModelRequest | None = None) -> Completed:
    last = (await collect(provider, asked))[-1]
    assert isinstance(last, Completed)
    return last


@asynccontextmanager
async def listening(
    answer: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]], port: int = 0
) -> AsyncIterator[str]:
    """The address of a loopback server; at the end all its visits are over and closed."""
    visits: list[asyncio.Task[None]] = []

    async def visit(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        visits.append(asyncio.current_task())  # type: ignore[arg-type]
        await answer(reader, writer)
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    server = await asyncio.start_server(visit, "127.0.0.1", port)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    server.close()
    await asyncio.gather(*visits)
