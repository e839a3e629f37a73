"""Going back to before a turn: what was said since leaves the conversation, and the prefix stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from caddie.chat.session import TurnStarted
from caddie.engine.compacting import compact
from caddie.errors import InvalidInput
from engine_kit import desk, mcp_tool


def turn_ids(session: object) -> list[str]:
    return [record.turn_id for record in session.records if isinstance(record, TurnStarted)]  # type: ignore[attr-defined]


async def test_a_message_said_again_otherwise_takes_the_place_of_the_first(workspace: Path) -> None:
    tools = {"git": (mcp_tool("git", "git_log"),)}
    async with desk(workspace, answers=(["One."], ["Two."], ["Three."], ["Other."]), tools=tools) as one:
        session, _ = await one.turn("first")
        await one.turn("second", session)
        await one.turn("third", session)
        kept = one.engine.sessions.find(session)
        assert kept is not None
        await one.engine.sessions.rewind(session, turn_ids(kept)[1])
        await one.turn("second, otherwise", session)
        asked = one.provider.requests
    assert [message.text for message in asked[3].messages[1:]] == ["One.", "second, otherwise"]
    assert asked[3].messages[:2] == asked[1].messages[:2]
    assert asked[3].tools is asked[0].tools
    assert len(turn_ids(kept)) == kept.turns == 2


async def test_going_back_to_the_beginning_tells_the_model_of_its_tools_again(workspace: Path) -> None:
    tools = {"git": (mcp_tool("git", "git_log"),)}
    async with desk(workspace, answers=(["One."], ["Other."]), tools=tools) as one:
        session, _ = await one.turn("first")
        kept = one.engine.sessions.find(session)
        assert kept is not None
        await one.engine.sessions.rewind(session, turn_ids(kept)[0])
        await one.turn("otherwise", session)
        [message] = one.provider.requests[1].messages
    assert "mcp__git__git_log" in message.text


async def test_a_rewound_conversation_is_resumed_as_it_was_left(workspace: Path) -> None:
    async with desk(workspace, answers=(["One."], ["Two."])) as one:
        session, _ = await one.turn("first")
        await one.turn("second", session)
        kept = one.engine.sessions.find(session)
        assert kept is not None
        await one.engine.sessions.rewind(session, turn_ids(kept)[1])
    async with desk(workspace, answers=(["Three."],)) as one:
        await one.turn("third", session)
        [request] = one.provider.requests
    assert [message.text for message in request.messages][1:] == ["One.", "third"]


async def test_what_was_summarized_or_never_was_cannot_be_gone_back_to(workspace: Path) -> None:
    async with desk(workspace, answers=(["One."], ["Notes."])) as one:
        session, _ = await one.turn("first")
        kept = one.engine.sessions.find(session)
        assert kept is not None
        [first] = turn_ids(kept)
        with pytest.raises(InvalidInput, match="does not exist"):
            await one.engine.sessions.rewind(session, "no-such-turn")
        await compact(one.engine, session)
        with pytest.raises(InvalidInput, match="summarized since"):
            await one.engine.sessions.rewind(session, first)
