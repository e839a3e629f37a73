from __future__ import annotations

import asyncio
import contextlib
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest
from provider_kit import KEY, Server, anthropic, collect, listening, openai_chat

from caddie.errors import (
    ContextOverflow,
    ProviderAuth,
    ProviderBusy,
    ProviderError,
    ProviderRejected,
    ProviderUnreachable,
    StreamTruncated,
    ThinkingRejected,
)

ANTHROPIC_ERROR = {"type": "error", "error": {"type": "rate_limit_error", "message": "slow"}, "request_id": "req_1"}


async def fault(response: httpx.Response, *, make=openai_chat, **options: object) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        await collect(make(Server(response).client, **options))
    return caught.value


def said(message: str, **fields: object) -> dict[str, object]:
    return {"error": {"message": message, **fields}}


@pytest.mark.parametrize(
    ("status", "body", "headers", "error"),
    [
        (401, said("Incorrect API key provided"), {}, ProviderAuth),
        (403, said("no permission"), {}, ProviderAuth),
        (400, said("API key not valid", status="INVALID_ARGUMENT"), {}, ProviderAuth),
        (400, said("bad", details=[{"reason": "API_KEY_INVALID"}]), {}, ProviderAuth),
        (400, said("bad schema"), {}, ProviderRejected),
        (402, said("pay", type="billing_error"), {}, ProviderRejected),
        (404, said("no such model"), {}, ProviderRejected),
        (422, {"detail": [{"msg": "field required"}]}, {}, ProviderRejected),
        (302, {}, {"location": "http://elsewhere"}, ProviderRejected),
        (408, {}, {}, ProviderBusy),
        (409, {}, {}, ProviderBusy),
        (429, ANTHROPIC_ERROR, {}, ProviderBusy),
        (500, said("oops"), {}, ProviderBusy),
        (502, {}, {}, ProviderBusy),
        (503, {}, {}, ProviderBusy),
        (504, {}, {}, ProviderBusy),
        (529, said("Overloaded"), {}, ProviderBusy),
        (501, {}, {}, ProviderRejected),
        (429, said("quota", code="insufficient_quota"), {}, ProviderRejected),
        (429, said("limit", details={"error_code": "enforced_spend_limit_reached"}), {}, ProviderRejected),
        (429, [said("quota", details=[{"violations": [{"quotaId": "GenerateRequestsPerDay"}]}])], {}, ProviderRejected),
        (429, said("x"), {"x-should-retry": "false"}, ProviderRejected),
        (400, said("x"), {"x-should-retry": "true"}, ProviderBusy),
        (400, said("x", code="context_length_exceeded"), {}, ContextOverflow),
        (400, said("prompt is too long: 233153 tokens > 200000 maximum"), {}, ContextOverflow),
        (400, said("input length and `max_tokens` exceed context limit: 1 + 2 > 3"), {}, ContextOverflow),
        (400, said("This model's maximum context length is 8192 tokens"), {}, ContextOverflow),
        (400, said("The input token count (9) exceeds the maximum number of tokens allowed (8)."), {}, ContextOverflow),
        (400, said("This model's maximum prompt length is 131072"), {}, ContextOverflow),
        (400, said("the request exceeds the available context size"), {}, ContextOverflow),
        (400, said("x", type="exceed_context_size_error", n_ctx=4096), {}, ContextOverflow),
        (400, {"error": "Trying to keep the first 5 tokens, greater than the context length"}, {}, ContextOverflow),
        (400, said("input length 9 exceeds 8"), {}, ContextOverflow),
        (413, {}, {}, ContextOverflow),
        (429, said("maximum context length per minute"), {}, ProviderBusy),
    ],
)
async def test_statuses_and_bodies_become_our_errors(
    status: int, body: object, headers: dict[str, str], error: type[ProviderError]
) -> None:
    raised = await fault(httpx.Response(status, json=body, headers=headers))
    assert type(raised) is error
    assert raised.status == status
    assert raised.retryable is (error is ProviderBusy)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b'{"error": {"message": "from error.message"}, "message": "not me"}', "from error.message"),
        (b'{"error": "from error"}', "from error"),
        (b'{"message": "from message"}', "from message"),
        (b'{"detail": "from detail"}', "from detail"),
        (b'{"detail": [{"msg": "from a list"}]}', "from a list"),
        (b'[{"error": {"message": "inside a list"}}]', "inside a list"),
        (b"plain words", "plain words"),
        (b'"a json string"', "a json string"),
        (b"<!DOCTYPE html><html><head><title>502 Bad</title></head><body><script>x</script></body></html>", "502 Bad"),
        (b"", "no reason given"),
        (b"\xff\xfe not utf-8", "not utf-8"),
        (b"null", "null"),
        (b"[" * 100_000, "["),
    ],
)
async def test_error_bodies_of_any_shape_give_a_sentence(content: bytes, text: str) -> None:
    raised = await fault(httpx.Response(400, content=content))
    assert text in raised.message
    assert "<" not in raised.message
    assert len(raised.message) < 900


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({"retry-after-ms": "1500", "retry-after": "9"}, {}, 1.5),
        ({"retry-after": "9"}, {}, 9),
        ({"retry-after": "0.25"}, {}, 0.25),
        ({"retry-after": format_datetime(datetime.now(UTC) - timedelta(hours=1), usegmt=True)}, {}, 0),
        ({"retry-after": "soon"}, {}, None),
        ({"retry-after": "nan"}, {}, None),
        ({"retry-after": f"Mon, 01 Jan {'9' * 20} 00:00:00 GMT"}, {}, None),
        ({"retry-after": f"Mon, 01 Jan 2026 00:00:00 +{'9' * 20}"}, {}, None),
        ({"retry-after": "-3"}, {}, None),
        ({}, said("x", details=[{"@type": "RetryInfo", "retryDelay": "34s"}]), 34),
        ({}, {}, None),
    ],
)
async def test_the_time_to_wait_is_read(headers: dict[str, str], body: object, seconds: float | None) -> None:
    raised = await fault(httpx.Response(429, json=body, headers=headers))
    assert raised.retry_after == seconds


async def test_a_date_to_wait_for_becomes_seconds() -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(minutes=2), usegmt=True)
    raised = await fault(httpx.Response(503, headers={"retry-after": date}))
    assert raised.retry_after == pytest.approx(120, abs=5)


async def test_a_refused_key_names_its_variable() -> None:
    raised = await fault(httpx.Response(401, json=said("bad key")), make=anthropic, key_name="MY_KEY")
    assert "MY_KEY" in raised.message


@pytest.mark.parametrize("make", [anthropic, openai_chat])
@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 429, 500])
async def test_a_key_is_in_no_error(make, status: int) -> None:
    body = said(f"Incorrect key {KEY} (sk-proj-abcdef123456****wxyz)", code=KEY)
    raised = await fault(httpx.Response(status, json=body, headers={"request-id": KEY}), make=make)
    assert KEY not in repr(raised) + repr(raised.data) + str(raised)
    assert "wxyz" not in str(raised)


@pytest.mark.parametrize("key", ["sk-with\nbreak", "sk-ключ", "sk with space"])
@pytest.mark.parametrize("make", [anthropic, openai_chat])
async def test_a_key_that_no_header_can_carry_is_refused_unseen(make, key: str) -> None:
    with pytest.raises(ProviderAuth) as caught:
        make(Server(httpx.Response(200)).client, api_key=key, key_name="MY_KEY")
    assert "MY_KEY" in str(caught.value)
    assert key not in str(caught.value)


@pytest.mark.parametrize(
    "base_url",
    [
        "localhost:11434/v1",
        "ftp://host/v1",
        "not an address",
        "http://",
        "http://[::1",
        "http://127.0.0.1:99999",
        "http://xn--/",
    ],
)
async def test_an_address_that_is_none_is_named(base_url: str) -> None:
    with pytest.raises(ProviderRejected, match=r"caddie\.baseUrl"):
        openai_chat(Server(httpx.Response(200)).client, base_url=base_url)


async def test_secrets_inside_an_address_are_not_shown() -> None:
    raised = await fault(httpx.Response(404), base_url="http://user:hunter2@127.0.0.1:9/v1?token=abc")
    assert "hunter2" not in raised.message
    assert "abc" not in raised.message


async def silent(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    await reader.read()  # Until the visitor gives up.


async def half_an_answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    body = b'data: {"choices": [{"delta": {"content": "par"}}]}\n\n'
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9999\r\n\r\n"
    writer.write(head + body)
    await writer.drain()


async def asked_at(address: str, **options: object) -> ProviderError:
    async with asyncio.timeout(60), httpx.AsyncClient(trust_env=False) as client:
        with pytest.raises(ProviderError) as caught:
            await collect(openai_chat(client, base_url=address, **options))
    return caught.value


async def test_silence_is_unreachable_and_names_the_setting() -> None:
    async with listening(silent) as address:
        raised = await asked_at(address, idle_timeout=0.1)
    assert type(raised) is ProviderUnreachable
    assert "caddie.requestTimeout" in raised.message


async def test_nobody_there_is_unreachable_and_says_what_to_check() -> None:
    async with listening(silent) as address:
        pass
    raised = await asked_at(address)
    assert type(raised) is ProviderUnreachable
    assert f"Nothing answers at {address}: check that the server runs" in raised.message


async def test_a_connection_that_breaks_inside_the_answer_is_a_truncated_stream() -> None:
    async with listening(half_an_answer) as address:
        assert type(await asked_at(address)) is StreamTruncated


async def test_a_kept_connection_that_the_server_closed_is_no_error() -> None:
    """It answers the first request of a connection and closes at the second, as llama.cpp does now and then."""
    seen: list[int] = []

    async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        body = b'{"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}]}'
        head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode()
        await _whole_request(reader)
        seen.append(1)
        writer.write(head + body)
        with contextlib.suppress(asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            seen.append(2)

    async with listening(once) as address, httpx.AsyncClient(trust_env=False) as client, asyncio.timeout(60):
        provider = openai_chat(client, base_url=address)
        for _ in range(3):
            assert await collect(provider)
        await client.aclose()
    assert seen.count(1) == 3
    assert 2 in seen


async def test_a_server_that_always_hangs_up_is_tried_once_more_and_no_further() -> None:
    visits: list[int] = []

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        visits.append(1)
        await _whole_request(reader)

    async with listening(hang_up) as address:
        assert type(await asked_at(address)) is ProviderUnreachable
    assert len(visits) == 2


async def _whole_request(reader: asyncio.StreamReader) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    await reader.readexactly(int(head.partition(b"content-length:")[2].split(b"\r\n")[0]))


async def test_a_model_without_tools_is_said_with_a_way_out() -> None:
    told = said("registry.ollama.ai/library/gemma:2b does not support tools")
    raised = await fault(httpx.Response(400, json=told))
    assert "caddie.tools.use" in raised.message


@pytest.mark.parametrize("text", ["input length ", "input token count ", "thinking block "])
async def test_an_error_of_any_length_is_understood_at_once(text: str) -> None:
    started = time.process_time()
    error = await fault(httpx.Response(400, json=said(text * (90_000 // len(text)))))
    assert isinstance(error, ProviderRejected)
    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    "said_of_it", ["Invalid `signature` in `thinking` block", "Invalid signature in thinking block."]
)
async def test_a_refused_signature_is_about_thinking(said_of_it: str) -> None:
    error = await fault(httpx.Response(400, json=said(f"messages.1.content.0: {said_of_it}")), make=anthropic)
    assert isinstance(error, ThinkingRejected)
