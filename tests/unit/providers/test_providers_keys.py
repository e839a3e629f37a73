"""A key is named by its variable and never shown: not in errors, notices or stored sessions, nor in any log."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from llmock.pytest_plugin import LLMock
from provider_kit import KEY, collect, listening, openai_chat, request, sse, streamed

from caddie.cli.logs import Discreet
from caddie.errors import ProviderAuth, ProviderError
from caddie.providers import build_provider
from caddie.settings import Settings
from editor_client import editor
from engine_kit import desk

PROVIDERS = ["anthropic", "openai", "openai-chat", "gemini", "xai"]
ODD_KEYS = ["plainword123", "a/b+c/d+e==", "0123456789abcdef" * 4, KEY, "AIzaSyA-odd_key.with.dots"]


def refusals(key: str) -> Iterator[httpx.Response]:
    """Servers that repeat the key wherever they can."""
    echo = {"error": {"type": "authentication_error", "code": key, "message": f"Bad key '{key}': {key}.", "param": key}}
    for status in (400, 401, 403, 404, 429, 500):
        yield httpx.Response(status, json=echo, headers={"request-id": key, "x-request-id": key, "retry-after": key})
    yield httpx.Response(401, text=f"<html><title>no {key}</title><body>{key}</body></html>")
    yield httpx.Response(422, json={"detail": [{"loc": ["header", key], "msg": f"bad {key}"}]})
    yield httpx.Response(403, json=[{"error": key}])
    yield httpx.Response(500, text=f"Traceback: Authorization: Bearer {key}")
    yield httpx.Response(302, headers={"location": f"https://x.example/?key={key}"})
    yield httpx.Response(200, text="x", headers={"content-type": f"text/html; key={key}"})
    yield streamed(sse({"error": {"message": f"bad {key}", "code": key, "type": key}}))


@pytest.mark.parametrize("key", ODD_KEYS)
@pytest.mark.parametrize("provider", PROVIDERS)
async def test_whatever_a_server_repeats_no_error_holds_the_key(provider: str, key: str) -> None:
    for response in refusals(key):
        client = httpx.AsyncClient(transport=httpx.MockTransport(lambda _, answer=response: answer))
        settings = Settings(provider=provider, apiKeyEnv="MY_VARIABLE", model="m")
        built = build_provider(settings, {"MY_VARIABLE": key}, client)
        with pytest.raises(ProviderError) as told:
            await collect(built, request(model="m"))
        shown = f"{told.value!r} {told.value} {told.value.data} {told.value.message}"
        assert key not in shown, response
        assert response.status_code != 401 or "MY_VARIABLE" in told.value.message


@pytest.mark.parametrize("word", ["x", "none", "ollama"])
async def test_a_word_that_stands_for_a_key_does_not_garble_the_message(word: str) -> None:
    told = "none of the x models of ollama fits"
    client = httpx.AsyncClient(
        transport=httpx.MockTransport(lambda _: httpx.Response(400, json={"error": {"message": told}}))
    )
    with pytest.raises(ProviderError, match=told):
        await collect(openai_chat(client, api_key=word))


@pytest.mark.parametrize("pasted", ["sk-ant-api03-abcdefgh", "AIzaSyAbcdefghijklmnop", "my key", "a-b", "x=y"])
def test_a_key_pasted_where_its_variable_belongs_is_not_repeated(pasted: str) -> None:
    with pytest.raises(ProviderAuth) as told:
        build_provider(Settings(provider="anthropic", apiKeyEnv=pasted), {}, httpx.AsyncClient())
    assert pasted not in told.value.message
    assert "ANTHROPIC_API_KEY" in told.value.message


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Everything that anybody logs, as the commands write it."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(
        Discreet("%(levelname)s %(name)s: %(message)s", {"MY_VARIABLE_KEY": "plainword123", "CI_KEY": "1"})
    )
    root, before = logging.getLogger(), logging.getLogger().level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield written
    root.removeHandler(handler)
    root.setLevel(before)


async def test_logs_of_the_http_library_hold_no_key_even_when_all_is_logged(log: io.StringIO) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = json.dumps({"error": {"message": f"bad key {KEY}"}}).encode()
        head = f"HTTP/1.1 401 Unauthorized\r\nx-your-key: {KEY}\r\ncontent-length: {len(body)}\r\n"
        writer.write(f"{head}connection: close\r\n\r\n".encode() + body)

    async with listening(refuse) as address, httpx.AsyncClient(trust_env=False) as client:
        secret = address.replace("http://", "http://ada:hunter2word@")
        with pytest.raises(ProviderAuth):
            await collect(openai_chat(client, base_url=f"{secret}/v1?token=sesame123"))
    written = log.getvalue()
    assert "HTTP Request: POST" in written
    assert "x-your-key" in written
    for secret in (KEY, "hunter2word", "sesame123"):
        assert secret not in written


def test_a_line_loses_every_secret_and_keeps_the_rest(log: io.StringIO) -> None:
    logger = logging.getLogger("somebody")
    try:
        raise ValueError("refused plainword123")
    except ValueError:
        logger.exception("header %s and Bearer abcdefgh.ijkl at https://x.example/v1?api_key=open123&a=1", KEY)
    written = log.getvalue()
    for secret in (KEY, "plainword123", "abcdefgh.ijkl", "open123"):
        assert secret not in written
    assert "ERROR somebody: header [key] and Bearer [key] at https://x.example/v1?[key]&a=1" in written
    assert "ValueError: refused [key]" in written


async def test_a_refused_key_is_in_no_notice_and_in_no_stored_session(
    workspace: Path, home: Path, llmock: LLMock
) -> None:
    key = "wireword-987654321"
    llmock.fail(status=401, message=f"Incorrect key {key}", times=9)
    settings = {
        "provider": "openai-chat", "baseUrl": llmock.base_url("openai"), "model": "gpt-4o", "apiKeyEnv": "ODD_ONE",
    }  # fmt: skip
    async with editor(workspace, home, settings=settings, env={"ODD_ONE": key}) as one:
        with pytest.raises(Exception, match="ODD_ONE") as told:
            await one.turn("hello")
        assert key not in f"{told.value} {getattr(told.value, 'data', '')}"
        assert key not in json.dumps(one.said, default=str)
        stored = await one.request("caddie/session/list", {})
        opened = await one.request("caddie/session/open", {"sessionId": stored["sessions"][0]["sessionId"]})
        assert key not in json.dumps(opened)
    kept = [path.read_bytes() for path in home.rglob("*") if path.is_file()]
    assert kept
    assert all(key.encode() not in content for content in kept)


async def test_the_model_cannot_read_a_key_that_was_pasted_into_the_settings(workspace: Path) -> None:
    async with desk(workspace, settings={"apiKeyEnv": "sk-ant-api03-abcdefgh"}) as one:
        listed = await one.execute("Config", {"action": "list"})
        got = await one.execute("Config", {"action": "get", "key": "apiKeyEnv"})
    assert "abcdefgh" not in listed.text + got.text
    assert "apiKeyEnv" in got.text
