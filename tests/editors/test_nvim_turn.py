"""What the Neovim client makes of the events of a turn, without a buffer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import scripted_wire as wire

Lua = Callable[..., Any]

PLAY = """
local turn, rows = require('caddie.turn'), require('caddie.rows')
local events, width = ...
local c = turn.new()
turn.start(c, 'Which invoices are overdue?')
for _, params in ipairs(events) do
  turn.apply(c, params, 0)
end
local lines = {}
for _, item in ipairs(c.items) do
  for _, row in ipairs(rows.of(item, 0, width)) do
    table.insert(lines, row[1])
  end
end
return { lines = lines, state = c.state, items = #c.items }
"""


def numbered(*actions: dict[str, Any], turn: str = "t1") -> list[dict[str, Any]]:
    return [
        {"sessionId": "s1", "turnId": turn, "seq": seq, "event": action["event"]}
        for seq, action in enumerate(actions, 1)
    ]


def play(lua: Lua, events: list[dict[str, Any]], width: int = 72) -> list[str]:
    return list(lua(PLAY, events, width)["lines"])[1:]


def test_streamed_text_is_one_paragraph(lua: Lua) -> None:
    assert play(lua, numbered(wire.text("Three in"), wire.text("voices.\n\nOne"), wire.text(" is old."))) == [
        "", "Three invoices.", "", "One is old.",
    ]  # fmt: skip


def test_a_call_keeps_its_one_line_through_all_its_states(lua: Lua) -> None:
    states = [wire.call("c1", "pending"), wire.call("c2", "pending", "git_show"), wire.call("c1", "running")]
    lines = play(lua, numbered(*states, wire.call("c1", "done", result="ok", elapsedMs=400)))
    assert lines == ["", "✓ git_log  git · 10", "· git_show  git · 10"]


def test_a_running_call_shows_its_newest_progress(lua: Lua) -> None:
    lines = play(lua, numbered(wire.call("c1", "running", progress="1 of 9\n5 of 9")))
    assert lines == ["", "⠹ git_log  git · 5 of 9"]


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("awaitingPermission", "◔ git_log  git  waits for you"),
        ("refused", "⊘ git_log  git · 10  refused"),
        ("cancelled", "⊘ git_log  git · 10  stopped"),
        ("failed", "✗ git_log  git · 10  failed: no such revision"),
    ],
)
def test_each_state_is_said_in_words(lua: Lua, status: str, words: str) -> None:
    assert play(lua, numbered(wire.call("c1", status, result="no such revision\nat all"))) == ["", words]


def test_a_call_line_fits_a_narrow_window(lua: Lua) -> None:
    params = {"pattern": "x" * 200, "path": "y" * 200}
    lines = play(lua, numbered(wire.call("c1", "failed", params=params, result="z" * 200, elapsedMs=900)), width=40)
    assert len(lines) == 2
    assert len(lines[1]) <= 40


def test_a_retry_takes_back_the_text_since_the_last_call(lua: Lua) -> None:
    events = [wire.text("Before."), wire.call("c1", "done"), wire.text("Broken ans"), wire.text("w")]
    lines = play(lua, numbered(*events, wire.notice("The answer broke off; asking again.", discardText=True)))
    assert lines == ["", "Before.", "", "✓ git_log  git · 10", "· The answer broke off; asking again."]


def test_what_was_seen_and_what_belongs_elsewhere_is_not_shown(lua: Lua) -> None:
    ours = numbered(wire.text("ours"))
    foreign = [{**ours[0], "turnId": "t2"}, {**ours[0], "sessionId": "s2", "seq": 2}]
    assert play(lua, [*ours, *ours, *foreign]) == ["", "ours"]


def test_the_end_of_a_turn_ends_its_calls(lua: Lua) -> None:
    result = lua(PLAY, numbered(wire.call("c1", "running"), wire.done("cancelled")), 72)
    assert result["state"] == "idle"
    assert result["lines"][2:] == ["⊘ git_log  git · 10  stopped", "· stopped"]


@pytest.mark.parametrize("reason", ["error", "maxTokens", "refusal", "emptyAnswer", "turnLimit"])
def test_an_unusual_end_says_what_to_do(lua: Lua, reason: str) -> None:
    (line,) = play(lua, numbered(wire.done(reason)))[1:]
    assert line[0] in "!✗"
    assert any(way_out in line for way_out in ("Send", "Say it differently"))


def test_an_error_that_was_explained_is_not_explained_again(lua: Lua) -> None:
    lines = play(lua, numbered(wire.notice("The key was refused.", "error"), wire.done("error")))
    assert lines == ["", "✗ The key was refused."]


def test_the_final_words_are_shown_once_streamed_or_not(lua: Lua) -> None:
    whole = wire.done(words="Three invoices.")
    assert play(lua, numbered(whole)) == ["", "Three invoices."]
    assert play(lua, numbered(wire.text("Three invoices."), wire.notice("n"), whole))[1] == "Three invoices."
    assert play(lua, numbered(wire.text("Three invoices."), wire.notice("n"), whole))[-1] == "· n"


def test_strangers_words_carry_no_control_characters(lua: Lua) -> None:
    evil = "a\x1b[31mred\x07\u202egnp.exe\u2066\x9b"
    lines = play(lua, numbered(wire.text(evil), wire.call("c1", "failed", evil, result=evil, params={evil: evil})))
    assert not any(sign in "".join(lines) for sign in "\x1b\x07\u202e\u2066\x9b")
    assert "a[31mredgnp.exe" in lines[1]


def test_a_todo_list_is_updated_where_it_stands(lua: Lua) -> None:
    def todo(status: str) -> dict[str, Any]:
        return {"event": {"kind": "todo", "items": [{"content": "Find", "status": status, "activeForm": "Finding"}]}}

    assert play(lua, numbered(todo("pending"), wire.text("ok"), todo("in_progress"))) == ["", "◉ Finding", "", "ok"]


def test_a_stored_conversation_reads_like_a_live_one(lua: Lua) -> None:
    opened = {
        "session": {"sessionId": "s1", "title": "late invoices", "mode": "plan"},
        "transcript": [
            {"turnId": "t1", "kind": "user", "text": "Which?"},
            {"turnId": "t1", "kind": "toolCall", "call": wire.call("c1", "done")["event"]},
            {"turnId": "t1", "kind": "assistant", "text": "None."},
        ],
        "todo": [],
        "notices": ["One line was damaged and left out."],
    }
    lines = lua(
        """local c, out = require('caddie.turn').from_transcript(...), {}
        for _, item in ipairs(c.items) do
          for _, row in ipairs(require('caddie.rows').of(item)) do table.insert(out, row[1]) end
        end
        return out""",
        opened,
    )
    assert lines == ["! One line was damaged and left out.", "", "› Which?", "", "✓ git_log  git · 10", "", "None."]
