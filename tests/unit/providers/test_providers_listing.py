from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import httpx
import pytest
from provider_kit import HELLO, KEY, READ, anthropic, openai_chat, request
from pydantic import TypeAdapter

from caddie.chat.messages import Message, Text, Thinking
from caddie.chat.provider import ModelInfo
from caddie.errors import ProviderAuth, ProviderError, ProviderRejected, ProviderUnreachable

Answers = Mapping[str, object]


class Site:
    """Answers by path; a path that it does not know is a 404."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self.requests: list[httpx.Request] = []
        self.client = httpx.AsyncClient(transport=httpx.MockTransport(self._answer))

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self._answers.get(request.url.path)
        if callable(answer):
            answer = answer(request)
        if isinstance(answer, httpx.Response):
            return answer
        return httpx.Response(404, text="no such page") if answer is None else httpx.Response(200, json=answer)


def listed(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"object": "list", "data": list(entries)}


async def local_models(answers: Answers) -> dict[str, int | None]:
    async with asyncio.timeout(60):
        found = await openai_chat(Site(answers).client, default_model="").list_models()
    return {model.id: model.context for model in found}


async def test_anthropic_lists_its_models_with_their_limits_page_by_page() -> None:
    entry = {"type": "model", "display_name": "Claude", "max_input_tokens": 200_000, "max_tokens": 64_000}
    pages = {
        None: {"data": [{**entry, "id": "claude-b"}], "has_more": True, "last_id": "claude-b"},
        "claude-b": {
            "data": [{**entry, "id": "claude-a"}, {**entry, "id": "claude-old", "lifecycle": "retired"}],
            "has_more": False,
            "last_id": "claude-old",
        },
    }
    site = Site({"/v1/models": lambda made: pages[made.url.params.get("after_id")]})
    found = await anthropic(site.client).list_models()
    assert found == (
        ModelInfo("claude-b", "Claude", 200_000, 64_000),
        ModelInfo("claude-a", "Claude", 200_000, 64_000),
    )
    assert {made.headers["x-api-key"] for made in site.requests} == {KEY}
    assert {made.headers["anthropic-version"] for made in site.requests} != {""}


async def test_anthropic_counts_a_request_with_its_tools_and_nothing_else() -> None:
    from anthropic.types.message_count_tokens_params import MessageCountTokensParams

    site = Site({"/v1/messages/count_tokens": {"input_tokens": 1234}})
    thought = Thinking("hm", {"type": "thinking", "thinking": "hm", "signature": "s"})
    asked = request(HELLO, Message("assistant", (thought, Text("ho"))), HELLO)
    assert await anthropic(site.client).count_tokens(asked) == 1234
    body = json.loads(site.requests[0].content)
    assert body["tools"][0]["name"] == READ.name
    assert set(body) == {"model", "system", "tools", "messages"}
    TypeAdapter(MessageCountTokensParams).validate_python(body)


async def test_an_address_that_does_not_count_is_no_error() -> None:
    assert await anthropic(Site({}).client, base_url="http://127.0.0.1:9").count_tokens(request()) is None
    assert await openai_chat(Site({}).client).count_tokens(request()) is None


async def test_a_refused_key_is_said_and_not_taken_for_an_empty_list() -> None:
    refused = httpx.Response(401, json={"error": {"type": "authentication_error", "message": f"bad key {KEY}"}})
    for make in (anthropic, openai_chat):
        with pytest.raises(ProviderAuth) as told:
            await make(Site({"/v1/models": refused}).client).list_models()
        assert KEY not in str(told.value)
    with pytest.raises(ProviderAuth):
        await anthropic(Site({"/v1/messages/count_tokens": refused}).client).count_tokens(request())


async def test_models_that_cannot_chat_are_left_out() -> None:
    site = Site({"/v1/models": listed({"id": "gpt-5.5"}, {"id": "text-embedding-3-large"}, {"id": "whisper-1"})})
    assert [model.id for model in await openai_chat(site.client).list_models()] == ["gpt-5.5"]
    assert len(site.requests) == 1  # a vendor is not asked for what other servers have


@pytest.mark.parametrize("field", ["max_model_len", "context_length", "context_window"])
async def test_a_list_that_tells_sizes_is_believed(field: str) -> None:
    assert await local_models({"/v1/models": listed({"id": "qwen", field: 32_768})}) == {"qwen": 32_768}


async def test_ollama_tells_what_it_will_read() -> None:
    shown = {
        "own:8b": {"parameters": "stop x\nnum_ctx     8192", "model_info": {"qwen3.context_length": 40_960}},
        "plain:8b": {"parameters": "", "model_info": {"llama.context_length": 131_072}, "capabilities": ["completion"]},
        "running:8b": {"model_info": {"llama.context_length": 131_072}},
        "vectors:1b": {"model_info": {"bert.context_length": 512}, "capabilities": ["embedding"]},
        "odd:1b": ["nonsense"],
    }
    found = await local_models(
        {
            "/v1/models": listed(*({"id": name, "owned_by": "library"} for name in shown)),
            "/api/tags": {"models": [{"name": name} for name in shown]},
            "/api/ps": {"models": [{"name": "running:8b", "context_length": 4096}]},
            "/api/show": lambda made: httpx.Response(200, json=shown[json.loads(made.content)["model"]]),
        }
    )
    assert found == {"own:8b": 8192, "plain:8b": 131_072, "running:8b": 4096, "odd:1b": None}


async def test_lm_studio_tells_what_it_will_read() -> None:
    entries = [
        {"id": "a", "type": "llm", "state": "loaded", "max_context_length": 131_072, "loaded_context_length": 4096},
        {"id": "b", "type": "vlm", "state": "not-loaded", "max_context_length": 32_768},
        {"id": "c", "type": "embeddings", "max_context_length": 2048},
    ]
    answers = {"/v1/models": listed(*({"id": name} for name in "abc")), "/api/v0/models": listed(*entries)}
    assert await local_models(answers) == {"a": 4096, "b": 32_768}


async def test_llama_cpp_tells_what_it_will_read() -> None:
    entry = {"id": "smol.gguf", "owned_by": "llamacpp", "meta": {"n_ctx_train": 8192}}
    props = {"default_generation_settings": {"n_ctx": 2048}}
    assert await local_models({"/v1/models": listed(entry), "/props": props}) == {"smol.gguf": 2048}


@pytest.mark.parametrize("odd", [[], "text", {"models": "x"}, {"data": [3, {"id": 4}, {}]}, httpx.Response(500)])
async def test_whatever_the_richer_addresses_answer_the_list_stays(odd: object) -> None:
    paths = ("/api/tags", "/api/ps", "/api/show", "/api/v0/models", "/props")
    assert await local_models({"/v1/models": listed({"id": "m"}), **dict.fromkeys(paths, odd)}) == {"m": None}


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (httpx.Response(200, text="<html>"), ProviderRejected),
        (httpx.Response(200, json=["m"]), ProviderRejected),
        (httpx.Response(503), ProviderError),
        (None, ProviderRejected),
    ],
)
async def test_a_list_that_cannot_be_read_is_an_error_in_words(answer: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        await local_models({"/v1/models": answer})


async def test_a_server_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    async def silence(made: httpx.Request) -> httpx.Response:
        await asyncio.Event().wait()
        raise AssertionError

    client = httpx.AsyncClient(transport=httpx.MockTransport(silence))
    provider = openai_chat(client)
    async with asyncio.timeout(60):
        with pytest.raises(ProviderUnreachable, match=r"0\.05 seconds"):
            await provider._endpoint.ask(provider._endpoint.url, seconds=0.05)
