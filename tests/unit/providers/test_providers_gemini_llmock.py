"""Through a real HTTP server of independent make, which breaks off, damages and refuses on demand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from gemini_kit import MODEL, check_gemini, gemini
from provider_kit import HELLO, collect, completed, request

from caddie.chat.messages import Message, ToolAnswer
from caddie.errors import ContextOverflow, ProviderBusy, ProviderError, StreamTruncated
from caddie.providers.gemini import Gemini
from caddie.tools.tool import TextContent
from engine_kit import over_http

ASKED = request(model=MODEL)


@pytest.fixture
async def client():
    async with httpx.AsyncClient(trust_env=False) as client:
        yield client


@pytest.fixture
def provider(client: httpx.AsyncClient, llmock: Any) -> Gemini:
    return gemini(client, base_url=llmock.base_url("gemini"))


async def test_a_plain_answer_and_a_tool_loop_pass(provider: Gemini, llmock: Any) -> None:
    llmock.call_tool("Read", {"path": "a.py"}).reply("All done.")
    first = await completed(provider, ASKED)
    [call] = first.message.tool_uses
    assert (call.name, call.arguments, first.stop_reason) == ("Read", {"path": "a.py"}, "tool_use")
    result = Message("user", (ToolAnswer(call.id, "Read", (TextContent("x = 1"),)),))
    second = await completed(provider, request(HELLO, first.message, result, model=MODEL))
    assert (second.message.text, second.stop_reason) == ("All done.", "end_turn")
    for record in llmock.requests:
        check_gemini(record.body)
    llmock.assert_resilient()


async def test_a_rate_limit_carries_its_wait(provider: Gemini, llmock: Any) -> None:
    llmock.rate_limit(retry_after=3.0)
    with pytest.raises(ProviderBusy) as caught:
        await collect(provider, ASKED)
    assert (caught.value.status, caught.value.retry_after) == (429, 3.0)


async def test_an_outage_may_be_tried_again(provider: Gemini, llmock: Any) -> None:
    llmock.outage(status=503)
    with pytest.raises(ProviderBusy):
        await collect(provider, ASKED)


async def test_a_context_overflow_is_recognised(provider: Gemini, llmock: Any) -> None:
    llmock.context_overflow()
    with pytest.raises(ContextOverflow):
        await collect(provider, ASKED)


@pytest.mark.parametrize("break_it", ["truncate", "disconnect", "corrupt"])
async def test_a_broken_stream_is_never_trusted(provider: Gemini, llmock: Any, break_it: str) -> None:
    llmock.reply("a b c d e f g h i j k l m n o p")
    getattr(llmock, break_it)(after_chunks=3)
    with pytest.raises(StreamTruncated):
        await collect(provider, ASKED)


async def test_a_stalled_stream_ends_with_the_idle_timeout(client: httpx.AsyncClient, llmock: Any) -> None:
    llmock.reply("a b c d e f g h").stall(after_chunks=2, seconds=3)
    with pytest.raises(ProviderError, match=r"silent for 0\.3 seconds"):
        await collect(gemini(client, base_url=llmock.base_url("gemini"), idle_timeout=0.3), ASKED)


async def test_its_models_are_listed(provider: Gemini) -> None:
    listed = await provider.list_models()
    assert all(model.id.startswith("gemini-") and model.context for model in listed)


async def test_a_turn_outlives_faults_and_leaves_a_clean_verdict(tmp_path: Path, llmock: Any) -> None:
    workspace = tmp_path / "w"
    workspace.mkdir()
    (workspace / "a.py").write_text("x = 1\n")
    llmock.rate_limit(retry_after=0.05).call_tool("Read", {"path": "a.py"})
    llmock.fail(503).truncate(after_chunks=1).disconnect(after_chunks=2).reply("a b c d e f g h").reply("It sets x.")
    async with over_http(workspace, "gemini", llmock.base_url("gemini"), published={}, apiKeyEnv="") as engine:
        _, _, outcome = await engine.turns.run(None, "read a.py", lambda *_: None)
    assert outcome.text == "It sets x."
    bodies = [record.body for record in llmock.requests]
    assert len(bodies) >= 5
    for body in bodies:
        check_gemini(body)
    assert "x = 1" in str(bodies[-1]["contents"][-1])
    llmock.assert_resilient()
