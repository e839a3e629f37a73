"""What the peer holds back for a slow client, and what it never does."""

from __future__ import annotations

import json
from typing import Any

from caddie.protocol.chat import ChatEvent, DoneEvent, Event, TextEvent, ThinkingEvent, ToolCallEvent
from caddie.protocol.methods import CHAT_EVENT, TOOLS_CHANGED
from caddie.protocol.tools import ToolsChanged
from caddie.rpc.codec import create_base_server
from caddie.rpc.peer import Peer


class Slow:
    """A writer whose buffer is above the mark while `congested`."""

    def __init__(self) -> None:
        self.congested = False
        self.messages: list[dict[str, Any]] = []

    def write(self, data: bytes) -> None:
        self.messages.append(json.loads(data.partition(b"\r\n\r\n")[2]))

    def close(self) -> None: ...

    def events(self) -> list[tuple[int, str]]:
        events = [message["params"] for message in self.messages if message["method"] == CHAT_EVENT.name]
        return [(event["seq"], event["event"].get("text") or event["event"].get("progress", "")) for event in events]


def _peer() -> tuple[Peer, Slow, Any]:
    server, writer = create_base_server("x", "1"), Slow()
    server.protocol.set_writer(writer)
    return Peer(server.protocol), writer, server.protocol


def _say(peer: Peer, event: Event, turn: str = "t") -> None:
    peer.notify(CHAT_EVENT, ChatEvent(session_id="s", turn_id=turn, seq=0, event=event))


def _progress(call_id: str, text: str) -> ToolCallEvent:
    return ToolCallEvent(call_id=call_id, tool="Bash", label="Bash", status="running", params={}, progress=text)


def test_events_are_numbered_in_each_turn_as_they_leave() -> None:
    peer, writer, _ = _peer()
    for turn in ("a", "b", "a"):
        _say(peer, TextEvent(text=turn), turn)
    assert writer.events() == [(1, "a"), (1, "b"), (2, "a")]


def test_consecutive_events_are_joined_only_while_the_client_is_slow() -> None:
    peer, writer, protocol = _peer()
    _say(peer, TextEvent(text="at once"))
    writer.congested = True
    for event in (
        TextEvent(text="a"), TextEvent(text="b"), ThinkingEvent(text="c"), TextEvent(text="d"),
        _progress("1", "10 %"), _progress("1", "90 %"), _progress("2", "5 %"),
    ):  # fmt: skip
        _say(peer, event)
    assert writer.events() == [(1, "at once")]
    writer.congested = False
    protocol.relieved()
    assert writer.events() == [(1, "at once"), (2, "ab"), (3, "c"), (4, "d"), (5, "90 %"), (6, "5 %")]


def test_texts_of_different_turns_are_never_joined() -> None:
    peer, writer, protocol = _peer()
    writer.congested = True
    for turn in ("a", "b", "a"):
        _say(peer, TextEvent(text=turn), turn)
    writer.congested = False
    protocol.relieved()
    assert writer.events() == [(1, "a"), (1, "b"), (2, "a")]


def test_the_end_of_a_turn_takes_everything_held_with_it() -> None:
    peer, writer, _ = _peer()
    writer.congested = True
    _say(peer, TextEvent(text="a"))
    _say(peer, DoneEvent(stop_reason="endTurn", text="a"))
    assert writer.events() == [(1, "a"), (2, "a")]


def test_other_notifications_do_not_wait() -> None:
    peer, writer, _ = _peer()
    writer.congested = True
    peer.notify(TOOLS_CHANGED, ToolsChanged(revision=1, added=[], removed=[], changed=[]))
    assert [message["method"] for message in writer.messages] == [TOOLS_CHANGED.name]
