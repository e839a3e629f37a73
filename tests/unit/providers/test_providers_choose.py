from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import httpx
import pytest
from provider_kit import KEY, Server, collect, fixture, listening, request, streamed

from caddie.engine.models import Models
from caddie.errors import ProviderAuth
from caddie.providers import LocalServer, build_provider, choose_provider
from caddie.settings import Settings
from fake_responses import message, stream


class Machine:
    """Loopback ports, as the probe finds them: each answers a model list, something else, or nothing."""

    def __init__(self) -> None:
        self._stack = AsyncExitStack()
        self.paths: list[bytes] = []

    async def __aenter__(self) -> Machine:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def listen(self, name: str, body: bytes, *, silent: bool = False, port: int = 0) -> LocalServer:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                self.paths.append((await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")[0])
            except asyncio.IncompleteReadError:
                return  # It only looked whether somebody is here.
            if silent:
                await reader.read()  # Until the visitor gives up.
            head = f"HTTP/1.1 200 OK\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
            writer.write(head.encode() + body)

        return LocalServer(name, f"{await self._stack.enter_async_context(listening(answer, port))}/v1")


def models(*names: str) -> bytes:
    return json.dumps({"object": "list", "data": [{"id": name} for name in names]}).encode()


@pytest.fixture
async def client():
    async with asyncio.timeout(60), httpx.AsyncClient(trust_env=False) as client:
        yield client


@pytest.mark.parametrize(
    ("environ", "name"),
    [
        ({"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "b"}, "anthropic"),
        ({"OPENAI_API_KEY": "b", "GEMINI_API_KEY": "c"}, "openai"),
        ({"GEMINI_API_KEY": "c", "XAI_API_KEY": "d"}, "gemini"),
        ({"XAI_API_KEY": "d", "ANTHROPIC_API_KEY": " "}, "xai"),
        ({"DEEPSEEK_API_KEY": "e"}, "deepseek"),
    ],
)
async def test_the_first_key_in_the_environment_decides(
    environ: dict[str, str], name: str, client: httpx.AsyncClient
) -> None:
    choice = await choose_provider(Settings(), environ, client, local_servers=())
    assert choice.provider.name == name
    assert choice.model == choice.provider.default_model != ""
    assert next(key for key in environ if key.lower().startswith(name)) in choice.why


async def test_a_local_server_is_found_by_asking_all_at_once(client: httpx.AsyncClient) -> None:
    async with Machine() as machine:
        servers = [
            await machine.listen("Slow", models("late"), silent=True),
            await machine.listen("Empty", models()),
            await machine.listen("Page", b"<html>"),
            await machine.listen("Good", models("nomic-embed-text", "qwen3:8b")),
        ]
        choice = await choose_provider(Settings(), {}, client, local_servers=servers)
        assert (choice.provider.name, choice.model) == ("openai-chat", "qwen3:8b")
        assert "Good" in choice.why
        assert set(machine.paths[:4]) == {b"GET /v1/models HTTP/1.1"}


async def test_a_local_model_that_only_makes_vectors_is_not_chosen_to_chat(client: httpx.AsyncClient) -> None:
    """Ollama lists it among the others, and its name says nothing."""
    shown = {
        b"/v1/models": {"data": [{"id": "bge-m3:latest"}, {"id": "qwen3:8b"}]},
        b"/api/tags": {"models": [{"name": "bge-m3:latest"}, {"name": "qwen3:8b"}]},
    }
    kinds = {b"bge-m3": {"capabilities": ["embedding"]}, b"qwen3": {"capabilities": ["completion", "tools"]}}

    async def ollama(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]
        asked = await reader.readexactly(int(length)) if length else b""
        answer = shown.get(head.split()[1]) or next((kind for name, kind in kinds.items() if name in asked), {})
        body = json.dumps(answer).encode()
        writer.write(f"HTTP/1.1 200 OK\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n".encode() + body)

    async with listening(ollama) as address:
        servers = (LocalServer("Ollama", f"{address}/v1"),)
        choice = await choose_provider(Settings(), {}, client, local_servers=servers)
    assert choice.model == "qwen3:8b"


async def test_keys_that_are_passed_over_are_named(client: httpx.AsyncClient) -> None:
    environ = {"XAI_API_KEY": "d", "ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": " "}
    choice = await choose_provider(Settings(), environ, client, local_servers=())
    assert choice.why == "A key for anthropic is in ANTHROPIC_API_KEY, which is looked at before XAI_API_KEY."


@asynccontextmanager
async def looking(*servers: LocalServer) -> AsyncIterator[Models]:
    models = Models({}, servers)
    async with asyncio.timeout(60):
        yield models
    await models.close()


async def test_a_local_server_that_comes_later_is_found_at_the_next_turn(unused_tcp_port: int) -> None:
    async with looking(LocalServer("Late", f"http://127.0.0.1:{unused_tcp_port}/v1")) as look:
        before = await look.choose(Settings())
        assert (before.provider.name, await look.choose(Settings()) is before) == ("offline", True)
        async with Machine() as machine:
            await machine.listen("Late", models("qwen3:8b"), port=unused_tcp_port)
            found = await look.choose(Settings())
            assert look.news(before) == found.why
            assert look.news(found) == ""
        assert (found.provider.name, found.model) == ("openai-chat", "qwen3:8b")
        assert "Late answers at" in found.why


async def test_a_local_server_that_went_is_replaced_and_one_that_is_busy_is_kept(unused_tcp_port: int) -> None:
    async with Machine() as other:
        second = await other.listen("Second", models("b"))
        async with looking(LocalServer("First", f"http://127.0.0.1:{unused_tcp_port}/v1"), second) as look:
            async with Machine() as machine:
                await machine.listen("First", models("a"), port=unused_tcp_port)
                first = await look.choose(Settings())
                asked = len(machine.paths)
                assert await look.choose(Settings()) is first
                assert len(machine.paths) == asked, "a server at work is not asked again"
            assert (first.model, (await look.choose(Settings())).model) == ("a", "b")
            assert "Second answers at" in look.news(first)
            await other.__aexit__()
            gone = await look.choose(Settings())
            assert (gone.provider.name, look.news(first)) == ("offline", gone.why)


async def test_a_named_provider_is_not_chosen_again() -> None:
    async with looking() as look:
        settings = Settings(provider="openai-chat", baseUrl="http://127.0.0.1:9", model="m")
        assert await look.choose(settings) is await look.choose(settings)


async def test_the_list_of_models_holds_the_chosen_one_whatever_the_server_says(client: httpx.AsyncClient) -> None:
    async with looking() as look, Machine() as machine:
        server = await machine.listen("Mine", models("a", "b"))
        found = await look.listing(Settings(baseUrl=server.base_url, model="mine"))
        assert [model.id for model in found.models] == ["mine", "a", "b"]
        page = await machine.listen("Page", b"<html>")
        odd = await look.listing(Settings(baseUrl=page.base_url, model="mine"))
        assert [model.id for model in odd.models] == ["mine"]
        assert "not a JSON object" in odd.problem
        nobody = await look.listing(Settings())
        assert ([model.id for model in nobody.models], nobody.problem) == (["no language model"], "")


async def test_with_nobody_there_it_works_offline_and_says_so(client: httpx.AsyncClient) -> None:
    choice = await choose_provider(Settings(), {}, client, local_servers=())
    assert choice.provider.name == "offline"
    assert "ANTHROPIC_API_KEY" in choice.why


async def test_a_chosen_model_wins_over_the_default(client: httpx.AsyncClient) -> None:
    choice = await choose_provider(Settings(model="mine"), {"XAI_API_KEY": "k"}, client)
    assert choice.model == "mine"


async def test_a_key_of_ones_own_naming_is_not_sent_to_a_guessed_provider(client: httpx.AsyncClient) -> None:
    environ = {"MY_KEY": "mine", "XAI_API_KEY": "theirs"}
    choice = await choose_provider(Settings(apiKeyEnv="MY_KEY"), environ, client, local_servers=())
    assert (choice.provider.name, "XAI_API_KEY" in choice.why) == ("xai", True)


@pytest.mark.parametrize(
    ("base_url", "name"),
    [
        ("http://127.0.0.1:9/v1", "openai-chat"),
        ("https://api.deepseek.example/anthropic", "anthropic"),
        ("https://anthropic.gateway.example", "anthropic"),
    ],
)
async def test_an_address_alone_tells_which_api_it_speaks(base_url: str, name: str, client: httpx.AsyncClient) -> None:
    choice = await choose_provider(Settings(baseUrl=base_url, model="m"), {}, client)
    assert choice.provider.name == name


@pytest.mark.parametrize("provider", ["auto", "anthropic", "openai", "openai-chat"])
async def test_a_server_named_by_address_is_asked_for_its_model(provider: str, client: httpx.AsyncClient) -> None:
    async with Machine() as machine:
        server = await machine.listen("Mine", models("llama"))
        choice = await choose_provider(Settings(provider=provider, baseUrl=server.base_url), {}, client)
    assert choice.model == "llama"


WHOLE_ANSWERS = {
    "anthropic": fixture("anthropic_text.sse"),
    "openai": stream(message("Hello.")),
    "xai": stream(message("Hello.")),
}


@pytest.mark.parametrize(
    ("provider", "key_name", "url"),
    [
        ("anthropic", "ANTHROPIC_API_KEY", "https://api.anthropic.com/v1/messages"),
        ("openai", "OPENAI_API_KEY", "https://api.openai.com/v1/responses"),
        ("openai-chat", "OPENAI_API_KEY", "https://api.openai.com/v1/chat/completions"),
        ("deepseek", "DEEPSEEK_API_KEY", "https://api.deepseek.com/v1/chat/completions"),
        ("xai", "XAI_API_KEY", "https://api.x.ai/v1/responses"),
    ],
)
async def test_each_provider_goes_to_its_own_address_with_its_own_key(provider: str, key_name: str, url: str) -> None:
    server = Server(streamed(WHOLE_ANSWERS.get(provider) or fixture("chat_text.sse")))
    built = build_provider(Settings(provider=provider), {key_name: f" {KEY}\n"}, server.client)
    assert built.name == provider
    await collect(built, request(model=built.default_model))
    [made] = server.requests
    assert str(made.url) == url
    assert KEY in (made.headers.get("x-api-key"), made.headers.get("authorization", "").removeprefix("Bearer "))


@pytest.mark.parametrize("provider", ["anthropic", "openai", "openai-chat", "xai", "gemini"])
async def test_a_missing_key_names_its_variable(provider: str, client: httpx.AsyncClient) -> None:
    with pytest.raises(ProviderAuth, match="_API_KEY"):
        build_provider(Settings(provider=provider), {}, client)
    with pytest.raises(ProviderAuth, match="MY_KEY"):
        build_provider(Settings(provider=provider, apiKeyEnv="MY_KEY"), {"OPENAI_API_KEY": "x"}, client)


async def test_an_address_of_ones_own_needs_no_key(client: httpx.AsyncClient) -> None:
    built = build_provider(Settings(provider="openai-chat", baseUrl="http://127.0.0.1:9"), {}, client)
    assert (built.name, built.default_model) == ("openai-chat", "")


async def test_openai_at_another_address_still_speaks_responses() -> None:
    server = Server(streamed(stream(message("Hello."))))
    built = build_provider(Settings(provider="openai", baseUrl="http://127.0.0.1:9/v1"), {}, server.client)
    await collect(built, request(model="m"))
    assert str(server.requests[0].url) == "http://127.0.0.1:9/v1/responses"
    assert "authorization" not in server.requests[0].headers


def test_importing_the_providers_loads_no_http_library() -> None:
    code = "import sys, caddie.providers; print(*sorted({'httpx', 'httpx_sse', 'jsonschema_rs'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=240)
    assert done.stdout.strip() == ""


async def test_two_turns_that_begin_at_once_share_one_client() -> None:
    models = Models({})
    one, other = await asyncio.gather(models._http(), models._http())
    assert one is other
    await models.close()
