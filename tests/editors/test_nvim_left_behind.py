"""Neovim when the person has gone on meanwhile: to another conversation, another place, another tab page."""

from __future__ import annotations

from collections.abc import Callable

import scripted_wire as wire
from nvim_kit import GO, SEND, Terminal

Start = Callable[..., Terminal]

HUNK = {"newStart": 1, "newLines": 1, "oldLines": 1, "lines": ["-def old():", "+def overdue(invoices):"]}
FILE = {"path": "invoices.py", "status": "changed", "added": 1, "removed": 1}
CHANGED = {"files": [{**FILE, "hunks": [{"id": "h1", **HUNK}]}]}
NOTHING = {"files": []}


def after_a_turn(terminal: Start, changes: object = CHANGED, **answers: object) -> Terminal:
    script = {
        "turns": [[wire.text("Changed."), wire.done()], [wire.GO_ON]],
        "answers": {"caddie/session/changes": changes, **{f"caddie/session/{k}": v for k, v in answers.items()}},
    }
    screen = terminal(script)
    screen.type("go" + SEND)
    screen.wait("cached")
    screen.normal_mode()
    return screen


def test_the_end_of_an_earlier_conversations_turn_is_not_shown_in_the_new_one(terminal: Start) -> None:
    old = [wire.call("c1", "running"), wire.GO_ON, wire.text("Old words."), wire.done("cancelled"), wire.CANCELLED]
    screen = terminal({"turns": [old, [wire.GO_ON, wire.text("New words."), wire.done()]]})
    screen.type("go" + SEND)
    screen.wait("Esc stops")
    screen.normal_mode()
    screen.command("Caddie new")
    screen.type("fresh" + SEND)
    screen.until(lambda: len(screen.sent("caddie/chat/turn")) == 2)
    screen.type(GO)
    screen.type(GO)
    assert "Old words." not in screen.wait("New words.")


def test_a_turn_that_was_sent_before_the_server_ran_stays_out_of_the_new_conversation(terminal: Start) -> None:
    screen = terminal({"turns": [[wire.UNTIL_CANCELLED, wire.CANCELLED], [wire.text("New words."), wire.done()]]},
                      chat=False)  # fmt: skip
    screen.command("lua c = require('caddie.chat') c.open() c.view():set_prompt({ 'old' }) c.send() c.new()")
    screen.until(lambda: screen.sent("$/cancelRequest"))
    screen.type("fresh" + SEND)
    sent = screen.until(lambda: len(screen.sent("caddie/chat/turn")) == 2 and screen.sent("caddie/chat/turn"))
    assert "sessionId" not in sent[1]
    screen.wait("New words.")
