"""Hints, permissions and questions as a person meets them in Neovim's chat."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import scripted_wire as wire
from nvim_kit import ESC, GO, SEND, Terminal

Start = Callable[..., Terminal]
TWO_HINTS = [wire.hint("create_credit_note"), wire.hint("export_ledger", 0.41)]


def asked(terminal: Start, *requests: dict[str, Any], after: tuple[dict[str, Any], ...] = ()) -> Terminal:
    """A chat in normal mode, with a turn running that asks."""
    screen = terminal({"turns": [[wire.call("c1", "awaitingPermission"), *requests, *after, wire.done()]]})
    screen.type("go" + SEND)
    screen.wait("waiting for you")
    screen.normal_mode()
    screen.wait(lambda text: "▌" in text and "▌ Esc, then" not in text)  # it is drawn anew for the mode
    return screen


def test_a_hint_is_one_quiet_line_and_a_pick_goes_into_the_turn(terminal: Start) -> None:
    screen = terminal({"hints": TWO_HINTS, "turns": [[wire.done()]]})
    screen.type("give the money back")
    shown = screen.wait("⌁ create_credit_note")
    assert "0.83 acme" in shown
    assert "1/2" in shown
    screen.type("\t\t")
    screen.wait("⌁ export_ledger")
    screen.type("\t\r")
    screen.wait("with: create_credit_note")
    screen.type(SEND)
    (params,) = screen.until(lambda: screen.sent("caddie/chat/turn"))
    assert params["pickedTools"] == ["mcp__acme__create_credit_note"]
    assert params["message"] == "give the money back"
    screen.wait("  with create_credit_note")
    screen.wait_gone("with: create_credit_note")


def test_drafts_are_sent_after_a_pause_and_no_hints_clear_the_line(terminal: Start) -> None:
    screen = terminal({"hints": []})
    screen.type("abc")
    screen.until(lambda: [d["text"] for d in screen.sent("caddie/chat/draft")][-1:] == ["abc"])
    screen.type("\tdef")
    screen.until(lambda: screen.sent("caddie/chat/draft")[-1]["text"] == "abc\tdef")
    assert "⌁" not in screen.text()


def test_escape_dismisses_a_selected_hint_and_goes_on_writing(terminal: Start) -> None:
    screen = terminal({"hints": TWO_HINTS})
    screen.type("money")
    screen.wait("⌁")
    screen.type("\t")
    screen.wait("takes it")
    screen.type(ESC)
    assert "INSERT" in screen.wait_gone("⌁")


def test_a_pick_is_taken_back_with_backspace_and_hints_can_be_off(terminal: Start) -> None:
    screen = terminal({"hints": TWO_HINTS})
    screen.type("m")
    screen.wait("⌁")
    screen.type("\t\r")
    screen.wait("with: create_credit_note")
    screen.type("\x7f\x7f")
    screen.wait_gone("with: ")
    screen.normal_mode()
    screen.command("Caddie hints off")
    screen.type(GO)
    screen.until(lambda: screen.sent("test/go"))  # whatever was sent before has come
    before = len(screen.sent("caddie/chat/draft"))
    screen.type("amoney")
    screen.wait("money")
    screen.normal_mode()
    screen.command("Caddie hints on")
    screen.type("a!")
    screen.until(lambda: "money!" in str(screen.sent("caddie/chat/draft")[-1]))
    assert len(screen.sent("caddie/chat/draft")) == before + 1, "nothing was sent while they were off"


@pytest.mark.parametrize(("key", "choice"), [("a", "once"), ("s", "session"), ("w", "always")])
def test_a_permission_is_one_key(terminal: Start, key: str, choice: str) -> None:
    screen = asked(terminal, wire.permission("r1"))
    shown = screen.text()
    assert "▌ git_log · git  asks to run  mcp__git__git_log" in shown
    assert "▌ max_count  10" in shown
    assert "▌ a allow once   s this session   w always   r reject…" in shown
    screen.type(key)
    assert screen.answer_to("r1") == {"choice": choice}
    screen.wait_gone("asks to run")


def test_a_permission_takes_no_focus_and_typed_words_answer_nothing(terminal: Start) -> None:
    screen = terminal({"turns": [[wire.GO_ON, wire.permission("r1"), wire.done()]]})
    screen.type("go" + SEND)
    screen.wait("working")
    screen.type("a was")
    screen.type(GO)
    screen.wait("asks to run")
    screen.wait("▌ Esc, then  a allow once")
    screen.type(" awsr")
    shown = screen.wait("a was awsr")
    assert "INSERT" in shown
    assert "asks to run" in shown
    assert screen.answers() == {}


def test_a_key_typed_before_the_block_was_seen_answers_nothing(terminal: Start) -> None:
    script = {"turns": [[wire.permission("r1"), wire.done()]]}
    screen = terminal(script, extra="vim.g.caddie = vim.tbl_extend('force', vim.g.caddie, { guard = 60000 })")
    screen.type("go" + SEND)
    screen.wait("asks to run")
    screen.normal_mode()
    screen.type("a")
    screen.command("echo 'still here'")
    assert "asks to run" in screen.wait("still here")
    assert screen.answers() == {}


def test_a_rejection_can_carry_words_for_the_model(terminal: Start) -> None:
    screen = asked(terminal, wire.permission("r1"))
    screen.type("r")
    screen.wait("Why not?")
    screen.type("use the staging repo\r")
    assert screen.answer_to("r1") == {"choice": "reject", "feedback": "use the staging repo"}


def test_escape_at_the_feedback_goes_back_to_the_question(terminal: Start) -> None:
    screen = asked(terminal, wire.permission("r1"))
    screen.type("r")
    screen.wait("Why not?")
    screen.type(ESC)
    screen.wait_gone("Why not?")
    screen.type("r")
    screen.wait("Why not?")
    screen.type("\r")
    assert screen.answer_to("r1") == {"choice": "reject"}


def test_requests_queue_and_are_answered_one_by_one(terminal: Start) -> None:
    screen = asked(terminal, wire.permission("r1", wait=False), wire.permission("r2", "git_push"))
    assert "1 more after this: git_push · git" in screen.wait("2 waiting")
    screen.type("a")
    screen.wait("▌ git_push · git")
    screen.type("s")
    assert screen.answer_to("r1") == {"choice": "once"}
    assert screen.answer_to("r2") == {"choice": "session"}


def test_all_of_a_long_argument_is_one_key_away(terminal: Start) -> None:
    message = "Dear customer,\n" + "\n".join(f"paragraph {i}" for i in range(6))
    screen = asked(terminal, wire.permission("r1", params={"message": message, "nested": {"b": [1, "**x**"]}}))
    shown = screen.text()
    assert "(+6 lines, v shows all)" in shown
    assert '{"b":[1,"**x**"]}' in shown
    screen.type("v")
    screen.wait("paragraph 5")


def test_an_edit_shows_its_diff_in_colour(terminal: Start) -> None:
    unified = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n def overdue():\n-    return []\n+    return late\n"
    diff = {"kind": "diff", "path": "src/overdue.py", "before": "", "after": "", "unified": unified}
    screen = asked(terminal, wire.permission("r1", "Edit", preview=diff, params={"path": "src/overdue.py"}))
    shown = screen.text()
    assert "▌ +    return late" in shown
    assert "+++" not in shown
    assert screen.colour("+    return late") != screen.colour("-    return []")


def test_a_command_is_shown_whole_and_as_it_is(terminal: Start) -> None:
    command = {"kind": "command", "command": "rm -rf build && echo **done** %{x}", "cwd": "/srv/shop"}
    params = {"command": command["command"], "timeout": 5}
    screen = asked(terminal, wire.permission("r1", "Bash", preview=command, params=params))
    assert "▌ $ rm -rf build && echo **done** %{x}" in screen.text()
    assert screen.text().count("rm -rf") == 1
    assert "▌ in /srv/shop" in screen.text()


def test_a_changed_definition_is_told(terminal: Start) -> None:
    screen = asked(terminal, wire.permission("r1", definitionChanged="it now also takes bcc"))
    assert "changed since you allowed it: it now also takes bcc" in screen.text()


def test_a_prompt_that_the_server_withdraws_goes_away(terminal: Start) -> None:
    withdraw = {"notify": "$/cancelRequest", "params": {"id": "r1"}}
    screen = asked(terminal, wire.permission("r1", wait=False), wire.permission("r2", "git_push", wait=False),
                   after=(wire.GO_ON, withdraw, wire.GO_ON))  # fmt: skip
    screen.type(GO)
    screen.wait("▌ git_push · git")
    assert "1 waiting" in screen.wait_gone("▌ git_log · git")
    screen.type("a")
    assert screen.answer_to("r2") == {"choice": "once"}
    assert screen.answer_to("r1")["choice"] not in {"once", "session", "always"}


def test_stopping_the_turn_takes_its_prompts_away(terminal: Start) -> None:
    screen = terminal(
        {"turns": [[wire.permission("r1", wait=False), wire.UNTIL_CANCELLED, wire.done("cancelled"), wire.CANCELLED]]}
    )
    screen.type("go" + SEND)
    screen.wait("asks to run")
    screen.normal_mode()
    screen.type(ESC)
    screen.wait("· stopped")
    screen.wait_gone("asks to run")
    assert screen.answer_to("r1")["choice"] not in {"once", "session", "always"}


def test_a_prompt_nobody_sees_is_told_once_and_waits_in_the_chat(terminal: Start) -> None:
    extra = "vim.o.statusline = '%{v:lua.require(\"caddie\").status()}'"
    screen = terminal({"turns": [[wire.GO_ON, wire.permission("r1"), wire.done()]]}, extra=extra)
    screen.type("go" + SEND)
    screen.wait("working")
    screen.normal_mode()
    screen.command("close")
    screen.wait_gone("working")
    screen.type(GO)
    screen.wait("Caddie waits for you: git_log · git")
    screen.wait("caddie: 1 waiting")
    screen.command("Caddie chat")
    screen.wait("asks to run")


def test_a_question_is_answered_by_number(terminal: Start) -> None:
    options = [{"label": "INV-1042", "description": "8,400 EUR"}, {"label": "INV-1043"}]
    screen = asked(
        terminal,
        wire.question("q1", [{"id": "which", "question": "Which invoice?", "options": options, "multiple": False}]),
    )
    assert "▌ 1 INV-1042  8,400 EUR" in screen.text()
    screen.type("2")
    assert screen.answer_to("q1") == {"answers": {"which": "INV-1043"}}


def test_questions_follow_one_another_with_several_options_and_own_words(terminal: Start) -> None:
    several = {
        "id": "a",
        "question": "Which?",
        "options": [{"label": "x"}, {"label": "y"}, {"label": "z"}],
        "multiple": True,
    }
    free = {"id": "b", "question": "Why?", "options": [], "multiple": False}
    screen = asked(terminal, wire.question("q1", [several, free]))
    screen.type("13")
    screen.wait("3 ☑ z")
    screen.type("d")
    screen.wait("2 of 2")
    screen.type("o")
    screen.wait(lambda text: "\nWhy?" in text)
    screen.type("because\r")
    assert screen.answer_to("q1") == {"answers": {"a": "x, z", "b": "because"}}


def test_a_question_can_be_declined(terminal: Start) -> None:
    screen = asked(terminal, wire.question("q1", [{"id": "b", "question": "Why?", "options": [], "multiple": False}]))
    screen.type("x")
    assert screen.answer_to("q1") == {"declined": True}


def test_a_question_before_any_chat_is_a_plain_choice(terminal: Start) -> None:
    options = [{"label": "Trust this folder"}, {"label": "Not now"}]
    trust = wire.question(
        "q1", [{"id": "trust", "question": "Start its servers?", "options": options, "multiple": False}]
    )
    screen = terminal({"started": [trust]}, chat=False)
    screen.command("lua require('caddie.client').ensure(function() end)")
    screen.wait("Start its servers?")
    screen.type("1\r")
    assert screen.answer_to("q1") == {"answers": {"trust": "Trust this folder"}}


def test_a_request_that_the_client_does_not_know_is_refused(terminal: Start) -> None:
    write = {"request": "caddie/settings/write", "id": "w1", "params": {"key": "a", "value": 1, "scope": "user"}}
    screen = terminal({"started": [write]})
    assert screen.answer_to("w1")["code"] == -32601
