"""Through a real HTTP server of independent make, which breaks off, damages and refuses on demand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from provider_kit import HELLO, collect, completed, request
from provider_kit import anthropic as make_anthropic
from provider_kit import openai_chat as make_openai_chat
from responses_kit import responses as make_responses

from caddie.chat.messages import Message, ToolAnswer
from caddie.errors import ContextOverflow, ProviderBusy, ProviderError, StreamTruncated
from caddie.tools.tool import TextContent
from engine_kit import over_http
from provider_bodies import check_anthropic, check_openai_chat
from responses_rules import check_openai_responses

SIDES = {
    "anthropic": (make_anthropic, check_anthropic),
    "openai": (make_openai_chat, check_openai_chat),
    "responses": (make_responses, check_openai_responses),
}
HOUSES = {"responses": "openai"}
Check = Callable[[dict[str, Any]], None]


@pytest.fixture
async def client():
    async with httpx.AsyncClient(trust_env=False) as client:
        yield client


@pytest.fixture(params=sorted(SIDES))
def side(request: pytest.FixtureRequest, client: httpx.AsyncClient, llmock: Any) -> tuple[Any, Check]:
    make, check = SIDES[request.param]
    return make(client, base_url=llmock.base_url(HOUSES.get(request.param, request.param))), check


async def test_a_plain_answer_and_a_tool_loop_pass(side: tuple[Any, Check], llmock: Any) -> None:
    provider, check = side
    llmock.call_tool("Read", {"path": "a.py"}).reply("All done.")
    first = await completed(provider)
    [call] = first.message.tool_uses
    assert (call.name, call.arguments, first.stop_reason) == ("Read", {"path": "a.py"}, "tool_use")
    result = Message("user", (ToolAnswer(call.id, "Read", (TextContent("x = 1"),)),))
    second = await completed(provider, request(HELLO, first.message, result))
    assert (second.message.text, second.stop_reason) == ("All done.", "end_turn")
    for record in llmock.requests:
        check(record.body)
    llmock.assert_resilient()


async def test_a_rate_limit_carries_its_wait(side: tuple[Any, Check], llmock: Any) -> None:
    llmock.rate_limit(retry_after=3.0)
    with pytest.raises(ProviderBusy) as caught:
        await collect(side[0])
    assert (caught.value.status, caught.value.retry_after) == (429, 3.0)


async def test_an_outage_may_be_tried_again(side: tuple[Any, Check], llmock: Any) -> None:
    llmock.outage(status=529)
    with pytest.raises(ProviderBusy):
        await collect(side[0])


async def test_a_context_overflow_is_recognised(side: tuple[Any, Check], llmock: Any) -> None:
    llmock.context_overflow()
    with pytest.raises(ContextOverflow):
        await collect(side[0])


@pytest.mark.parametrize("break_it", ["truncate", "disconnect", "corrupt"])
async def test_a_broken_stream_is_never_trusted(side: tuple[Any, Check], llmock: Any, break_it: str) -> None:
    llmock.reply("a b c d e f g h i j k l m n o p")
    getattr(llmock, break_it)(after_chunks=3)
    with pytest.raises(StreamTruncated):
        await collect(side[0])


async def test_a_broken_tool_call_has_no_arguments(side: tuple[Any, Check], llmock: Any) -> None:
    llmock.call_tool("Read", {"path": "a.py"}).break_tool_call()
    [call] = (await completed(side[0])).message.tool_uses
    assert call.arguments is None
    assert call.raw


async def test_a_connection_is_used_again(side: tuple[Any, Check], llmock: Any, client: httpx.AsyncClient) -> None:
    await collect(side[0])
    await collect(side[0])
    connections = client._transport._pool.connections  # type: ignore[attr-defined]
    assert len(connections) == 1
    assert len(llmock.requests) == 2


async def test_a_stalled_stream_ends_with_the_idle_timeout(client: httpx.AsyncClient, llmock: Any) -> None:
    llmock.stall(after_chunks=2, seconds=3)
    with pytest.raises(ProviderError, match=r"silent for 0\.3 seconds"):
        await collect(make_anthropic(client, base_url=llmock.base_url("anthropic"), idle_timeout=0.3))


@pytest.mark.parametrize(
    ("provider", "house"), [("anthropic", "anthropic"), ("openai", "openai"), ("openai-chat", "openai")]
)
async def test_a_turn_rides_out_every_fault_as_the_independent_judge_wants_it(
    provider: str, house: str, workspace: Path, llmock: Any
) -> None:
    llmock.truncate(after_chunks=2).fail(503).rate_limit(retry_after=0.2)
    async with over_http(workspace, provider, llmock.base_url(house), published={}) as engine:
        _, _, outcome = await engine.turns.run(None, "hi", lambda *_: None)
    assert outcome.stop == "endTurn"
    assert outcome.text
    verdict = llmock.verdict()
    verdict.assert_ok(strict=True)
    assert verdict.faults == 3
