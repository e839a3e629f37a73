"""One conversation over every provider in turn, each of which refuses what its own API refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
from gemini_kit import Remembering, gemini, stop
from gemini_kit import call as gemini_call
from provider_kit import Server, call_delta, chunk, openai_chat, sse, streamed

import fake_responses
from caddie.chat.provider import Provider
from caddie.providers.openai_responses import OpenAIResponses
from engine_kit import Desk, desk, mcp_tool
from fake_anthropic import THINK, FakeAnthropic, text, use
from provider_bodies import check_openai_chat

ALLOW = {"permissions": {"mode": "auto"}}
LOG = mcp_tool("git", "git_log", "Show the commits of a repository")


def speak_with(one: Desk, provider: Provider) -> None:
    one.engine.models.provider = provider  # type: ignore[attr-defined]


def responses(api: fake_responses.FakeResponses) -> OpenAIResponses:
    base = "https://api.openai.com/v1"
    return OpenAIResponses(api.client, base_url=base, api_key="k", idle_timeout=5.0, default_model="gpt-5.5")


async def test_a_conversation_goes_from_provider_to_provider_and_nothing_is_lost(workspace: Path) -> None:
    claude = FakeAnthropic(
        [
            [THINK, use("ToolSearch", query="select:git_log")],
            [THINK, use("mcp__git__git_log")],
            [THINK, text("Claude has seen the log.")],
            [text("Back with Claude."), use("mcp__git__git_log")],
            [text("Still here.")],
        ]
    )
    gpt = fake_responses.FakeResponses(
        [fake_responses.reasoning(1), fake_responses.call("mcp__git__git_log", 2)],
        [fake_responses.message("GPT has too.")],
    )
    google = Remembering(
        [stop(gemini_call("Glob", {"pattern": "*"}, signature="c2ln"))], [stop({"text": "Gemini listed."})]
    )
    local = Server(
        streamed(
            sse(chunk("tool_calls", tool_calls=[call_delta("mcp__git__git_log", "{}", index=0, id="c")]), done=True)
        ),
        streamed(sse(chunk("stop", content="A local one as well."), done=True)),
    )
    async with desk(workspace, provider=claude.provider(), settings=ALLOW, tools={"git": (LOG,)}) as one:
        session, _ = await one.turn("show me the log")
        speak_with(one, responses(gpt))
        _, said_gpt = await one.turn("and you?", session)
        speak_with(one, gemini(httpx.AsyncClient(transport=httpx.MockTransport(google.answer))))
        _, said_gemini = await one.turn("list the files", session)
        speak_with(one, openai_chat(local.client))
        _, said_local = await one.turn("and you?", session)
        speak_with(one, claude.provider())
        _, said_claude = await one.turn("back", session)
        stops = [notice.message for notice in one.notices]
    assert [said_gpt, said_gemini, said_local, said_claude] == [
        "GPT has too.", "Gemini listed.", "A local one as well.", "Still here.",
    ]  # fmt: skip
    assert not claude.refusals
    assert not gpt.refused
    assert not stops
    check_openai_chat(local.bodies[-1])
    for body in (gpt.bodies[-1], google.bodies[-1], local.bodies[-1], claude.bodies[-1]):
        assert "Claude has seen the log." in _words(body)
        assert "git_log ran" in _words(body)
    assert "signature" not in _words(gpt.bodies[0]).lower()
    last = _words(claude.bodies[-1])
    assert "GPT has too." in last
    assert "encrypted_content" not in last
    assert "c2ln" not in last


def _words(body: dict[str, Any]) -> str:
    return json.dumps(body, ensure_ascii=False)


async def test_a_tool_found_with_one_provider_is_known_to_the_next(workspace: Path) -> None:
    claude = FakeAnthropic([[use("ToolSearch", query="select:git_log")], [text("Found.")]])
    gpt = fake_responses.FakeResponses([fake_responses.call("mcp__git__git_log")], [fake_responses.message("Called.")])
    local = Server(streamed(sse(chunk("stop", content="Known."), done=True)))
    async with desk(workspace, provider=claude.provider(), settings=ALLOW, tools={"git": (LOG,)}) as one:
        session, _ = await one.turn("find it")
        speak_with(one, responses(gpt))
        _, said = await one.turn("call it", session)
        speak_with(one, openai_chat(local.client))
        await one.turn("and you?", session)
    assert said == "Called.", "the search went over as one of the API's own, with the definition"
    assert not gpt.refused
    assert "## mcp__git__git_log" in _words(local.bodies[0]), "here it is described in words"
