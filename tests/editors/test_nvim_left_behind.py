"""Neovim when the person has gone on meanwhile: to another conversation, another place, another tab page."""

from __future__ import annotations

from collections.abc import Callable

import scripted_wire as wire
from nvim_kit import GO, SEND, Terminal
from test_nvim_tools import ANSWERS

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


def test_a_review_never_starts_a_server_that_went_away(terminal: Start) -> None:
    screen = after_a_turn(terminal)
    screen.command("Caddie changes")
    screen.wait("invoices.py|1| +1")
    screen.command("lua vim.lsp.get_clients({name='caddie'})[1].rpc.terminate()")
    screen.wait(":Caddie restart")
    screen.type("\r")
    screen.command("wincmd k | edit! invoices.py | write")
    running = "#vim.lsp.get_clients({ name = 'caddie' }) > 0"
    screen.command(f"lua print('started: ' .. tostring(vim.wait(1500, function() return {running} end)))")
    screen.wait("started: false", 20)


def test_keeping_twice_is_no_error(terminal: Start) -> None:
    screen = after_a_turn(terminal, keep=NOTHING)
    screen.command("lua for _ = 1, 3 do vim.cmd('Caddie keep all') end")
    screen.until(lambda: len(screen.sent("caddie/session/keep")) == 3)
    screen.command("echo 'after' .. 'wards'")
    assert "E5108" not in screen.wait("afterwards")
    screen.command("messages")
    assert "attempt to index" not in screen.text()


def test_nothing_to_review_leaves_the_persons_own_list_alone(terminal: Start) -> None:
    screen = after_a_turn(terminal, NOTHING)
    screen.command("call setqflist([{'filename': 'invoices.py', 'lnum': 1, 'text': 'my own match'}]) | copen")
    screen.wait("my own match")
    screen.command("Caddie changes")
    assert "my own match" in screen.wait("There is nothing to review.")


def test_what_is_taken_back_is_what_was_under_the_cursor(terminal: Start) -> None:
    screen = after_a_turn(terminal, undo={"files": [], "message": "Taken back."})
    screen.command("Caddie changes")
    screen.wait("invoices.py|1| +1")
    screen.command("lua vim.cmd('Caddie takeback') vim.cmd('wincmd p')")
    (params,) = screen.until(lambda: screen.sent("caddie/session/undo"))
    assert params["files"] == [{"path": "invoices.py", "hunks": ["h1"]}]


def test_a_list_of_an_earlier_conversation_takes_nothing_of_the_next_one_back(terminal: Start) -> None:
    opened = {
        "session": {"sessionId": "s2", "title": "Other", "mode": "agent", "turns": 1, "updated": "2026-01-01T00:00"},
        "transcript": [],
    }
    info = {**opened["session"], "created": "2026-01-01T00:00"}
    screen = after_a_turn(terminal, list={"sessions": [info]}, open=opened)
    screen.command("Caddie changes")
    screen.wait("invoices.py|1| +1")
    screen.command("lua require('caddie.chat').resume(vim.json.decode('{\"session\":{\"sessionId\":\"s2\"},"
                   "\"transcript\":[]}'))")  # fmt: skip
    screen.wait_gone("Changed.")
    screen.normal_mode()
    screen.command("copen")
    screen.command("Caddie takeback file")
    screen.wait("No change to review is under the cursor")
    assert not screen.sent("caddie/session/undo")


def test_tab_leaves_the_scope_of_a_session_that_is_no_more(terminal: Start) -> None:
    screen = terminal({"turns": [[wire.done()]], "answers": ANSWERS}, size=(100, 50))
    screen.type("go" + SEND)
    screen.wait("cached")
    screen.normal_mode()
    screen.command("Caddie tools")
    screen.wait("find_invoices")
    screen.type("\t\t")
    screen.wait("scope: session")
    screen.command("lua require('caddie.chat').new()")
    screen.normal_mode()
    screen.command("Caddie tools")
    screen.type("\t")
    screen.wait("scope: workspace")


def test_the_panel_of_another_tab_page_shows_what_its_keys_do(terminal: Start) -> None:
    screen = terminal({"answers": ANSWERS}, chat=False, size=(100, 34))
    screen.command("Caddie tools")
    screen.wait("find_invoices")
    screen.command("tabnew")
    screen.wait_gone("find_invoices")
    screen.command("Caddie tools")
    screen.wait("find_invoices")
    screen.command("tabfirst | 1")
    screen.type("\t")
    screen.wait("scope: user")
