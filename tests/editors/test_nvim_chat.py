"""The chat as a person sees and uses it in a terminal: turns, streaming, stopping, and lines that are not theirs."""

from __future__ import annotations

from collections.abc import Callable

import scripted_wire as wire
from nvim_kit import ESC, GO, SEND, Terminal

Start = Callable[..., Terminal]


def test_an_answer_streams_in_and_the_cost_is_told(terminal: Start) -> None:
    turn = [
        wire.call("c1", "done", result="ok", elapsedMs=400),
        wire.text("Three **invo"),
        wire.text("ices**."),
        wire.done(),
    ]
    screen = terminal({"turns": [turn]})
    screen.type("Which are overdue?" + SEND)
    shown = screen.wait("82 % cached")
    assert "› Which are overdue?" in shown
    assert "✓ git_log  git · 10" in shown
    assert "0.4 s" in shown
    assert "Three invoices." in shown
    assert "caddie · Which are overdue?" in shown


def test_the_request_says_what_the_person_said_and_always_sends_an_object(terminal: Start) -> None:
    screen = terminal({"turns": [[wire.done()]], "answers": {"caddie/session/list": {"sessions": []}}})
    screen.type("one\rtwo" + SEND)
    (params,) = screen.until(lambda: screen.sent("caddie/chat/turn"))
    assert params == {"message": "one\ntwo", "attachments": [], "pickedTools": []}
    screen.type(ESC)
    screen.command("Caddie sessions")
    assert screen.until(lambda: screen.sent("caddie/session/list")) == [{}]


def test_who_types_on_at_once_loses_no_letter(terminal: Start) -> None:
    screen = terminal({"turns": [[wire.text("Yes."), wire.done()], [wire.done()]]}, chat=False)
    screen.type(":Caddie chat\rWhat is it?" + SEND)
    screen.wait("› What is it?")
    screen.wait("cached")
    screen.type(ESC)
    screen.wait_gone("-- INSERT --")
    screen.type("ggiand then?" + SEND)
    screen.wait("› and then?")


def test_the_client_says_what_it_can_do_and_passes_the_settings(terminal: Start) -> None:
    extra = "vim.g.caddie = vim.tbl_extend('force', vim.g.caddie, { settings = { hints = { limit = 2 } } })"
    screen = terminal(extra=extra)
    (params,) = screen.sent("initialize")
    assert params["capabilities"]["experimental"]["caddie"] == {
        "permission": True, "question": True, "settingsWrite": False, "editorQuery": True, "diff": True,
    }  # fmt: skip
    assert params["initializationOptions"] == {"settings": {"hints": {"limit": 2}}}
    assert params["rootUri"].endswith("/shop")


def test_unsaved_text_reaches_the_server(terminal: Start) -> None:
    screen = terminal()
    screen.type(ESC + "\x17h")
    screen.command("call append(1, 'refund = 1')")
    opened = screen.until(lambda: screen.sent("textDocument/didOpen"))
    assert [o["textDocument"]["uri"].rsplit("/", 1)[-1] for o in opened] == ["invoices.py"]
    assert screen.until(lambda: "refund" in str(screen.sent("textDocument/didChange")))


def test_escape_stops_the_turn_and_says_so(terminal: Start) -> None:
    turn = [wire.call("c1", "running"), wire.UNTIL_CANCELLED, wire.GO_ON, wire.done("cancelled"), wire.CANCELLED]
    screen = terminal({"turns": [turn, [wire.text("again"), wire.done()]]})
    screen.type("go" + SEND)
    screen.wait("Esc stops")
    screen.normal_mode()
    screen.type(ESC)
    screen.wait("stopping…")
    screen.type(GO)
    shown = screen.wait("· stopped")
    assert "⊘ git_log  git · 10  stopped" in shown
    screen.type("ionce more" + SEND)
    screen.wait("again")


def test_a_cancelled_turn_without_a_last_event_ends_too(terminal: Start) -> None:
    screen = terminal({"turns": [[wire.call("c1", "running"), wire.UNTIL_CANCELLED, wire.CANCELLED]]})
    screen.type("go" + SEND)
    screen.wait("Esc stops")
    screen.normal_mode()
    screen.type("\x03")
    screen.wait("· stopped")


def test_a_failed_turn_says_the_servers_sentence(terminal: Start) -> None:
    sentence = "The provider refused the key; set ANTHROPIC_API_KEY."
    screen = terminal(
        {"turns": [[{"error": {"code": -32050, "message": sentence, "data": {"kind": "provider_auth"}}}]]}
    )
    screen.type("go" + SEND)
    screen.wait("✗ " + sentence)


def test_a_server_that_goes_away_ends_the_turn_with_a_way_out(terminal: Start) -> None:
    screen = terminal({"turns": [[wire.call("c1", "running"), wire.GO_ON]]})
    screen.type("go" + SEND)
    screen.wait("Esc stops")
    screen.normal_mode()
    screen.command("lua vim.lsp.get_clients({name='caddie'})[1].rpc.terminate()")
    shown = screen.wait("⊘ git_log")
    assert ":Caddie restart" in shown


def test_a_server_that_is_not_installed_is_told_with_a_way_out(terminal: Start) -> None:
    screen = terminal(extra="vim.g.caddie = { cmd = { 'no-such-caddie', 'serve' } }", chat=False)
    screen.command("Caddie chat")
    assert "pipx install" in screen.wait("no-such-caddie")


def test_who_reads_above_keeps_the_place_while_text_streams_in(terminal: Start) -> None:
    lines = "\n\n".join(f"line {i}" for i in range(40))
    turn = [
        wire.text(lines),
        wire.GO_ON,
        wire.text("\n\nnewest words"),
        wire.call("c9", "running"),
        wire.GO_ON,
        wire.done(),
    ]
    screen = terminal({"turns": [turn]})
    screen.type("go" + SEND)
    screen.wait("line 39")
    screen.normal_mode()
    screen.type("gg4j")
    screen.wait(lambda text: "line 1\n" in text + "\n" and "line 39" not in text)
    where = "line('.') .. ' of ' .. line('w0') .. ', news ' .. (search('newest words', 'nw') > 0)"
    screen.command(f"echo 'first ' .. {where}")
    before = screen.wait("first 5 of 1, news 0")
    screen.type(GO)
    screen.command(f"while !search('newest words', 'nw') | sleep 10m | endwhile | echo 'then ' .. {where}")
    assert screen.wait("then 5 of 1, news 1").splitlines()[1:8] == before.splitlines()[1:8]
    screen.type("i")
    screen.wait("newest words")


def test_who_writes_sees_the_end_and_keeps_the_words_being_typed(terminal: Start) -> None:
    lines = "\n\n".join(f"line {i}" for i in range(40))
    screen = terminal({"turns": [[wire.GO_ON, wire.text(lines), wire.done()]]})
    screen.type("go" + SEND)
    screen.wait("working")
    screen.type("half a thou")
    screen.wait("half a thou")
    screen.type(GO)
    screen.wait("line 39")
    screen.type("ght")
    shown = screen.wait("half a thought")
    assert shown.index("line 39") < shown.index("half a thought")


def test_the_transcript_cannot_be_damaged(terminal: Start) -> None:
    screen = terminal({"turns": [[wire.text("Precious words."), wire.done()]]})
    screen.type("go" + SEND)
    screen.wait("Precious")
    screen.wait("cached")
    screen.type("draft" + ESC)
    screen.wait_gone("INSERT")
    for harm in (":%d\r", "ggdG", ":1,2d\r", ":%s/Precious/Lost/e\r", "Gdk", "u", "u"):
        screen.type(harm)
        screen.command(f"echo 'tried {len(harm)}'")
        screen.wait(f"tried {len(harm)}")
    screen.type("Gimore")
    shown = screen.wait("more")
    assert "Precious words." in shown
    assert "› go" in shown


def test_backspace_at_the_prompts_start_joins_nothing(terminal: Start) -> None:
    screen = terminal({"turns": [[wire.text("Words."), wire.done()], [wire.done()]]})
    screen.type("go" + SEND)
    screen.wait("cached")
    screen.type("x" + "\x7f" * 4 + "\x17\x15" + "next" + SEND)
    sent = screen.until(lambda: len(screen.sent("caddie/chat/turn")) == 2 and screen.sent("caddie/chat/turn"))
    assert sent[1]["message"] == "next"
    assert sent[1]["sessionId"] == "s1"


def test_undo_takes_back_typed_words_only(terminal: Start) -> None:
    turn = [wire.text("First."), wire.GO_ON, wire.text("\n\nSecond."), wire.done()]
    screen = terminal({"turns": [turn]})
    screen.type("go" + SEND)
    screen.wait("First.")
    screen.type("alpha")
    screen.type(GO)
    screen.wait("Second.")
    screen.wait("cached")
    screen.type(" beta" + ESC)
    screen.wait("alpha beta")
    screen.type("uuuuuuuu")
    screen.command("echo 'undone'")
    shown = screen.wait("undone")
    assert "First.\n" in "\n".join(line.split("│")[-1].strip() for line in shown.splitlines())
    assert "Second." in shown
    assert "› go" in shown
    assert "beta" not in shown


def test_long_results_unfold_in_place_and_open_whole(terminal: Start) -> None:
    result = "\n".join(f"commit {i}" for i in range(40))
    screen = terminal({"turns": [[wire.call("c1", "done", result=result), wire.done()]]})
    screen.type("go" + SEND)
    screen.wait("cached")
    screen.normal_mode()
    screen.type("gg/git_log\r\r")
    assert "commit 12" not in screen.wait("28 more lines")
    screen.type("/more lines\r\r")
    screen.wait(lambda text: text.count("commit 11") == 2)
    screen.type("q")
    screen.type("gg/git_log\r\r")
    screen.wait_gone("commit 1")


def test_model_words_are_never_commands_for_the_statusline(terminal: Start) -> None:
    screen = terminal({"turns": [[wire.done()]]})
    screen.type("%{execute('let g:pwned=1')} 100%" + SEND)
    shown = screen.wait("caddie · %{execute")
    assert "100%" in shown
    screen.normal_mode()
    screen.command("echo 'pwned is ' .. exists('g:pwned')")
    screen.wait("pwned is 0")


def test_arrow_up_brings_the_last_message_back(terminal: Start) -> None:
    screen = terminal({"turns": [[wire.done()]]})
    screen.type("a first try" + SEND)
    screen.wait("cached")
    screen.type("\x1b[A")
    screen.wait(lambda text: text.count("a first try") == 3)


def test_a_new_chat_begins_empty_and_without_the_session(terminal: Start) -> None:
    screen = terminal({"turns": [[wire.text("Old words."), wire.done()], [wire.done()]]})
    screen.type("go" + SEND)
    screen.wait("cached")
    screen.normal_mode()
    screen.command("Caddie new")
    screen.wait_gone("Old words.")
    screen.type("fresh" + SEND)
    sent = screen.until(lambda: len(screen.sent("caddie/chat/turn")) == 2 and screen.sent("caddie/chat/turn"))
    assert "sessionId" not in sent[1]


def test_a_selection_goes_along_as_an_attachment(terminal: Start) -> None:
    screen = terminal({"turns": [[wire.done()]]}, chat=False)
    screen.command("2Caddie chat")
    screen.wait("with: invoices.py:2-2")
    screen.type("why?" + SEND)
    (params,) = screen.until(lambda: screen.sent("caddie/chat/turn"))
    assert params["attachments"] == [{"name": "invoices.py:2-2", "text": "    return []"}]


def test_a_stored_conversation_is_chosen_and_gone_on_with(terminal: Start) -> None:
    session = {
        "sessionId": "s7",
        "title": "late invoices",
        "created": "",
        "updated": "2026-11-12T10:00:00Z",
        "turns": 1,
        "mode": "agent",
    }
    transcript = [
        {"turnId": "t1", "kind": "user", "text": "Which?"},
        {"turnId": "t1", "kind": "assistant", "text": "None at all."},
    ]
    opened = {"session": session, "transcript": transcript, "todo": [], "notices": []}
    answers = {"caddie/session/list": {"sessions": [session]}, "caddie/session/open": opened}
    screen = terminal({"answers": answers, "turns": [[wire.done()]]}, chat=False)
    screen.command("Caddie sessions")
    screen.wait("late invoices  (1 turn, 2026-11-12 10:00)")
    screen.type("1\r")
    screen.wait("None at all.")
    screen.type("more" + SEND)
    assert screen.until(lambda: screen.sent("caddie/chat/turn"))[0]["sessionId"] == "s7"


def test_a_model_is_chosen_from_those_that_the_provider_has(terminal: Start) -> None:
    models = [{"id": "small", "label": "", "context": 8192}, {"id": "large", "label": ""}]
    listed = {"provider": "openai-chat", "model": "large", "why": "Ollama answers here.", "models": models}
    screen = terminal({"answers": {"caddie/models/list": listed}}, chat=False)
    screen.command("Caddie model")
    screen.wait("Ollama answers here.")
    screen.wait("1: small · reads 8.2k tokens")
    screen.wait("2: large · in use")
    screen.type("2\r")
    screen.wait("From the next message on: openai-chat, large.")
    assert screen.sent("workspace/didChangeConfiguration")[-1]["settings"]["caddie"]["model"] == "large"
    screen.command("Caddie model small")
    screen.wait("It stays large: a nearer setting says so")


def test_a_chat_whose_buffer_was_deleted_or_reloaded_is_there_again(terminal: Start) -> None:
    screen = terminal({"turns": [[wire.text("Lasting words."), wire.done()]]})
    screen.type("go" + SEND)
    screen.wait("cached")
    screen.normal_mode()
    screen.command("edit!")
    screen.command("echo 'reloaded'")
    screen.wait(lambda text: "reloaded" in text and "Lasting words." in text)
    for command in ("bdelete!", "bwipeout!"):
        screen.command(command)
        screen.wait_gone("Lasting words.")
        screen.command("Caddie")
        screen.wait("Lasting words.")
        screen.normal_mode()


def test_a_server_that_lsp_enable_started_is_the_one_used(terminal: Start) -> None:
    screen = terminal({"turns": [[wire.text("Hello."), wire.done()]]}, extra="vim.lsp.enable('caddie')", chat=False)
    screen.until(lambda: screen.sent("textDocument/didOpen"))
    screen.command("Caddie chat")
    screen.wait("Ask, or say")
    screen.type("go" + SEND)
    screen.wait("Hello.")
    assert len(screen.sent("initialize")) == 1
