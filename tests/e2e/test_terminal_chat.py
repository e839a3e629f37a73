"""The conversation in the terminal: the real program in a real pty, against a scripted server and the real one."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from terminal_screen import Screen

SCRIPTED = Path(__file__).parents[1] / "fixtures" / "scripted_server.py"
RUN = """
import asyncio, os, sys
from pathlib import Path
from caddie.terminal import conversation, screen
from caddie.terminal.chat import chat
conversation._LEAVE_WINDOW = 60.0
screen._PAUSE = float(os.environ.get("PAUSE", screen._PAUSE))
sys.exit(asyncio.run(chat(Path(sys.argv[1]), sys.argv[2:])))
"""
CHOICES = [
    {"id": "once", "label": "Allow once", "kind": "allowOnce"},
    {"id": "session", "label": "Allow for this session", "kind": "allowSession"},
    {"id": "always", "label": "Always allow", "kind": "allowAlways"},
    {"id": "reject", "label": "Reject", "kind": "reject"},
]
HINTS = [
    {
        "tool": "mcp__acme__create_credit_note",
        "label": "create_credit_note",
        "description": "Create a credit note for a paid invoice",
        "score": 0.83,
        "server": "acme",
        "state": "deferred",
    },
    {
        "tool": "mcp__acme__export_ledger",
        "label": "export_ledger",
        "description": "Export ledger entries",
        "score": 0.41,
        "server": "acme",
        "state": "deferred",
    },
]


def text(words: str) -> dict[str, Any]:
    return {"event": {"kind": "text", "text": words}}


def call(label: str, status: str, **more: Any) -> dict[str, Any]:
    event = {"callId": label, "tool": f"mcp__acme__{label}", "label": label, "server": "acme", "params": {}}
    return {"event": {"kind": "toolCall", **event, "status": status, **more}}


def ask(**more: Any) -> dict[str, Any]:
    request = {
        "tool": "mcp__acme__send_reminder",
        "label": "send_reminder",
        "server": "acme",
        "reason": "It may change things.",
    }
    return {**request, "params": {"invoice": "INV-1042"}, "choices": CHOICES, **more}


class Chat:
    """A conversation with a scripted server."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.workspace = place / "late invoices"
        self.log = place / "log.jsonl"
        self.workspace.mkdir()
        self.screen: Screen

    def argv(self, script: dict[str, Any]) -> list[str]:
        (self.place / "script.json").write_text(json.dumps(script))
        server = [sys.executable, str(SCRIPTED), str(self.place / "script.json"), str(self.log)]
        return [sys.executable, "-c", RUN, str(self.workspace), *server]

    def env(self) -> dict[str, str]:
        return {"HOME": str(self.place), "XDG_STATE_HOME": str(self.place / "state")}

    def gate(self, name: str) -> str:
        return str(self.place / name)

    def open_gate(self, name: str) -> None:
        (self.place / name).touch()

    def received(self, method: str) -> list[dict[str, Any]]:
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        messages = [json.loads(line) for line in lines]
        return [message["params"] for message in messages if message.get("method") == method]

    def answers(self) -> list[dict[str, Any]]:
        messages = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [message["result"] for message in messages if "result" in message]

    def say(self, words: str) -> None:
        self.screen.send(words)
        self.screen.wait_for(words)
        self.screen.send("enter")


Start = Callable[..., Chat]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    chats: list[Chat] = []

    def begin(
        *turns: list[dict[str, Any]],
        size: tuple[int, int] = (100, 30),
        env: dict[str, str] | None = None,
        **script: Any,
    ) -> Chat:
        chat = Chat(tmp_path)
        chats.append(chat)
        argv = chat.argv({"turns": [json.loads(json.dumps(turn)) for turn in turns], **script})
        chat.screen = Screen.spawn(argv, {**chat.env(), **(env or {})}, size)
        chat.screen.wait_for("›")
        return chat

    yield begin
    for chat in chats:
        chat.screen.close()


def test_a_finished_block_is_printed_while_the_next_still_streams(start: Start, tmp_path: Path) -> None:
    gate = str(tmp_path / "more")
    chat = start(
        [text("The **first** block.\n\nThe second "), {"gate": gate}, text("block ends.")],
        usage={"inputTokens": 1000, "cachedTokens": 820, "outputTokens": 200},
    )
    chat.say("hello")
    screen = chat.screen.wait_for("The first block.", "The second")
    assert "block ends" not in screen
    assert chat.screen.style_of("first").bold
    chat.open_gate("more")
    screen = chat.screen.wait_for("The second block ends.", "1.2k tokens · 82 % cached")
    assert screen.count("The first block.") == 1
    assert screen.count("› hello") == 1


def test_a_message_sent_early_waits_for_the_server_and_is_seen_to(start: Start, tmp_path: Path) -> None:
    chat = start([text("Here I am.")], startGate=str(tmp_path / "go"))
    chat.screen.wait_for("starting the server")
    chat.say("hello")
    chat.screen.wait_for("waits for the server: hello")
    chat.open_gate("go")
    screen = chat.screen.wait_for("Here I am.")
    assert "waits for the server" not in screen


def test_the_first_start_says_what_one_can_do_and_later_ones_do_not(start: Start) -> None:
    chat = start()
    chat.screen.wait_for("/help", "Ctrl-C stops a turn", "Ctrl-D leaves")
    chat.screen.send("ctrl-d")
    assert chat.screen.wait_for_exit() == 0
    again = Screen.spawn(chat.argv({}), chat.env())
    again.wait_for("agent")
    assert "/help" not in again.text()
    again.send("ctrl-d")
    assert again.wait_for_exit() == 0


def test_hints_are_cycled_with_tab_and_a_picked_tool_goes_with_the_message(start: Start) -> None:
    chat = start([text("Done.")], hints={"paid": HINTS})
    chat.screen.send("it was paid twice")
    chat.screen.wait_for("⌁ create_credit_note", "0.83 acme", "export_ledger")
    chat.screen.send("tab")
    chat.screen.wait_for("▸ create_credit_note")
    chat.screen.send("tab")
    chat.screen.wait_for("▸ export_ledger", "⌁ create_credit_note")
    chat.screen.send("enter")
    chat.screen.wait_for("with: export_ledger", "› it was paid twice")
    chat.screen.send("enter")
    chat.screen.wait_for("Done.")
    (turn,) = chat.received("caddie/chat/turn")
    assert turn["pickedTools"] == ["mcp__acme__export_ledger"]
    assert turn["message"] == "it was paid twice"
    assert "with:" not in chat.screen.text()


def test_what_was_typed_before_the_server_was_there_gets_its_hints(start: Start, tmp_path: Path) -> None:
    chat = start(hints={"paid": HINTS}, startGate=str(tmp_path / "go"))
    chat.screen.send("it was paid twice")
    chat.screen.wait_for("it was paid twice", "starting the server")
    chat.open_gate("go")
    chat.screen.wait_for("⌁ create_credit_note")


def test_hints_go_with_the_words_they_belong_to(start: Start) -> None:
    chat = start(hints={"paid": HINTS})
    chat.screen.send("paid")
    chat.screen.wait_for("create_credit_note")
    chat.screen.send("\x7f")
    chat.screen.wait_until_gone("create_credit_note")


def test_escape_hides_hints_and_keeps_the_draft(start: Start) -> None:
    chat = start([text("Done.")], hints={"paid": HINTS})
    chat.screen.send("paid")
    chat.screen.wait_for("create_credit_note")
    chat.screen.send("esc")
    chat.screen.wait_until_gone("create_credit_note")
    chat.screen.send(" twice")
    chat.screen.wait_for("› paid twice")
    chat.screen.send("enter")
    chat.screen.wait_for("Done.")
    assert chat.received("caddie/chat/turn")[0]["pickedTools"] == []


def test_one_key_allows_and_only_the_keys_shown_count(start: Start) -> None:
    chat = start([{"ask": ask(), "then": {"once": [text("It ran.")], "reject": [text("It did not run.")]}}])
    chat.say("remind them")
    chat.screen.wait_for("send_reminder · acme", "INV-1042", "[a]llow once")
    for key in ("y", "enter", " ", "1", "q", "\x1b[200~a\x1b[201~", "a"):
        chat.screen.send(key)
    chat.screen.wait_for("It ran.")
    assert chat.answers() == [{"choice": "once"}]
    assert "[a]llow once" not in chat.screen.text()


def test_a_refusal_carries_a_word_to_the_model(start: Start) -> None:
    chat = start([{"ask": ask(), "then": {"reject": [text("As you wish.")]}}])
    chat.say("remind them")
    chat.screen.wait_for("[r]eject")
    chat.screen.send("r")
    chat.screen.wait_for("Why not?")
    chat.screen.send("ask Ana first")
    chat.screen.wait_for("› ask Ana first")
    chat.screen.send("enter")
    chat.screen.wait_for("As you wish.")
    assert chat.answers() == [{"choice": "reject", "feedback": "ask Ana first"}]


def test_long_arguments_are_folded_and_v_shows_them_all(start: Start) -> None:
    letter = "\n".join(["Dear customer,", *(f"line {number}" for number in range(1, 7))])
    chat = start(
        [{"ask": ask(params={"invoice": "INV-1042", "message": letter}), "then": {"session": [text("Sent.")]}}]
    )
    chat.say("remind them")
    screen = chat.screen.wait_for("(+6 lines, v shows all)", "[a]llow once")
    assert "line 6" not in screen
    chat.screen.send("v")
    chat.screen.wait_for("line 6")
    chat.screen.send("s")
    chat.screen.wait_for("Sent.")
    assert chat.answers() == [{"choice": "session"}]


def test_a_draft_survives_a_prompt_and_typing_is_never_an_answer(start: Start, tmp_path: Path) -> None:
    chat = start([{"gate": str(tmp_path / "go")}, {"ask": ask(), "then": {"once": [text("It ran.")]}}, text("End.")],
                 env={"PAUSE": "2"})  # fmt: skip
    chat.say("remind them")
    chat.screen.wait_for("working")
    chat.screen.send("as soon as")
    chat.screen.wait_for("› as soon as")
    chat.open_gate("go")
    typed, end = "", time.monotonic() + 60
    while "Run this tool?" not in chat.screen.text():
        chat.screen.send("a")
        typed += "a"
        chat.screen.read()
        assert time.monotonic() < end
    chat.screen.wait_for("[a]llow once", f"› as soon as{typed}"[:60])
    assert chat.answers() == []
    chat.screen.send("a")
    chat.screen.wait_for("It ran.", f"› as soon as{typed}"[:60])


def test_a_change_shows_its_diff_with_signs(start: Start) -> None:
    unified = "--- a/late.py\n+++ b/late.py\n@@ -1 +1,2 @@\n-due = 1\n+due = 2\n--- gone\n"
    preview = {"kind": "diff", "path": "late.py", "before": "", "after": "", "unified": unified}
    chat = start([{"ask": ask(label="Edit", server=None, preview=preview), "then": {}}])
    chat.say("fix it")
    chat.screen.wait_for("Change this file?  Edit", "late.py", "-due = 1", "+due = 2", "--- gone")
    assert chat.screen.style_of("-due = 1").fg == "red"
    assert chat.screen.style_of("+due = 2").fg == "green"


def test_a_withdrawn_prompt_folds(start: Start, tmp_path: Path) -> None:
    chat = start([{"withdraw": ask(), "when": str(tmp_path / "go")}, text("Never mind.")])
    chat.say("remind them")
    chat.screen.wait_for("[a]llow once")
    chat.open_gate("go")
    screen = chat.screen.wait_for("Never mind.")
    assert "Run this tool?" not in screen


def test_a_question_is_answered_by_number_by_words_or_not_at_all(start: Start) -> None:
    def question(*options: str) -> dict[str, Any]:
        asked = {"id": "q", "question": "Which one?", "options": [{"label": label} for label in options]}
        return {"question": {"title": "A question", "questions": [asked]}, "then": {}}

    chat = start(
        [question("Friendly", "Firm"), text("one\n\n"), question(), text("two\n\n"), question("A"), text("three")]
    )
    chat.say("ask me")
    chat.screen.wait_for("[2] Firm", "a number answers")
    chat.screen.send("2")
    chat.screen.wait_for("one", "Enter answers")
    chat.screen.send("my own words")
    chat.screen.wait_for("› my own words")
    chat.screen.send("enter")
    chat.screen.wait_for("two", "a number answers")
    chat.screen.send("esc")
    chat.screen.wait_for("three")
    assert chat.answers() == [{"answers": {"q": "Firm"}}, {"answers": {"q": "my own words"}}, {"declined": True}]


def test_ctrl_c_stops_the_turn_and_the_next_one_works(start: Start) -> None:
    chat = start([call("find_invoices", "running"), {"until": "cancel"}], [text("Still here.")])
    chat.say("look")
    chat.screen.wait_for("find_invoices", "(Ctrl-C stops)")
    chat.screen.send("ctrl-c")
    chat.screen.wait_for_match("find_invoices.*cancelled")
    chat.say("and now?")
    chat.screen.wait_for("Still here.")
    first, second = chat.received("caddie/chat/turn")
    assert "sessionId" not in first
    assert second["sessionId"] == "session-1"


def test_a_message_sent_during_a_turn_waits_for_it(start: Start, tmp_path: Path) -> None:
    chat = start([text("First."), {"gate": str(tmp_path / "go")}], [text("Second.")])
    chat.say("one")
    chat.screen.wait_for("First.")
    chat.say("two")
    chat.screen.wait_for("next: two")
    chat.open_gate("go")
    chat.screen.wait_for("› two", "Second.")
    assert "next: two" not in chat.screen.text()


@pytest.mark.parametrize(("command", "field", "wanted"), [("/plan", "mode", "plan"), ("/new", "sessionId", None)])
def test_what_is_chosen_during_a_turn_holds_for_the_next_message(
    start: Start, tmp_path: Path, command: str, field: str, wanted: str | None
) -> None:
    chat = start([text("First."), {"gate": str(tmp_path / "go")}, text(" Its end.")], [text("Second.")])
    chat.say("one")
    chat.screen.wait_for("First.")
    chat.say(command)
    chat.screen.wait_for("Plan mode:" if command == "/plan" else "A new conversation.")
    chat.open_gate("go")
    chat.say("two")
    chat.screen.wait_for("Second.")
    assert chat.received("caddie/chat/turn")[1].get(field) == wanted


def test_stopping_a_turn_gives_waiting_messages_back(start: Start) -> None:
    chat = start([text("First."), {"until": "cancel"}])
    chat.say("one")
    chat.screen.wait_for("First.")
    chat.say("two")
    chat.screen.wait_for("next: two")
    chat.screen.send("ctrl-c")
    chat.screen.wait_for("› two")
    chat.screen.wait_until_gone("next: two")
    assert len(chat.received("caddie/chat/turn")) == 1


def test_an_error_is_said_once(start: Start) -> None:
    words = "The key was refused; check ANTHROPIC_API_KEY."
    told = {"event": {"kind": "notice", "level": "error", "message": words}}
    chat = start([told, {"error": {"code": -32050, "message": words}}], [text("Better.")])
    chat.say("one")
    chat.screen.wait_for(words)
    chat.say("two")
    screen = chat.screen.wait_for("Better.")
    assert screen.count(words) == 1


def test_an_earlier_conversation_is_shown_and_gone_on_with(start: Start) -> None:
    info = {"sessionId": "session-9", "title": "late invoices", "turns": 1, "mode": "plan"}
    session = {**info, "created": "2026-11-30T10:00:00+00:00", "updated": "2026-11-30T10:00:00+00:00"}
    transcript = [
        {"turnId": "t", "kind": "user", "text": "Which are late?"},
        {"turnId": "t", "kind": "assistant", "text": "**Three** of them."},
    ]
    opened = {"session": session, "transcript": transcript, "todo": [], "notices": []}
    answers = {"caddie/session/list": {"sessions": [session]}, "caddie/session/open": opened}
    chat = start([text("Going on.")], answers=answers)
    chat.say("/sessions")
    chat.screen.wait_for("1  2026-", "late invoices", "1 turn")
    chat.say("/resume 1")
    chat.screen.wait_for("› Which are late?", "Three of them.", "plan (nothing is changed)")
    chat.say("and now?")
    chat.screen.wait_for("Going on.")
    (turn,) = chat.received("caddie/chat/turn")
    assert (turn["sessionId"], turn["mode"]) == ("session-9", "plan")


def test_undo_shows_what_became_of_each_file_and_redo_takes_it_back(start: Start) -> None:
    files = [
        {"path": "a.py", "outcome": "merged"},
        {"path": "b.py", "outcome": "conflict", "detail": "was changed since in the same place (line 3)"},
    ]
    answers = {"caddie/session/undo": {"turnId": "t", "undoId": "u-7", "files": files, "message": "."}}
    chat = start([text("Done.")], answers=answers)
    chat.say("/undo")
    chat.screen.wait_for("There is nothing to undo yet.")
    chat.say("change them")
    chat.screen.wait_for("Done.")
    chat.say("/undo")
    screen = chat.screen.wait_for("✓ a.py   taken back; other edits in it stay", "/redo takes this back")
    assert "✗ b.py   left as it is: was changed since in the same place (line 3)" in screen
    chat.say("/redo")
    chat.say("/redo")
    chat.screen.wait_for("There is no /undo to take back.")
    first, second = chat.received("caddie/session/undo")
    assert "turnId" not in first
    assert second["turnId"] == "u-7"


def test_a_command_that_takes_long_says_so_and_ctrl_c_stops_it(start: Start) -> None:
    chat = start([text("Done.")], [text("Here.")], unanswered=["caddie/session/compact"])
    chat.say("begin")
    chat.screen.wait_for("Done.")
    chat.say("/compact")
    chat.screen.wait_for("(Ctrl-C stops)")
    chat.screen.send("ctrl-c")
    screen = chat.screen.wait_for("/compact was stopped.")
    assert "(Ctrl-C stops)" not in screen
    chat.say("still there?")
    chat.screen.wait_for("Here.")
    assert chat.received("$/cancelRequest")


def test_ctrl_c_at_a_prompt_refuses_and_stops_the_turn(start: Start) -> None:
    chat = start([{"ask": ask(), "then": {"reject": [{"until": "cancel"}]}}], [text("Still here.")])
    chat.say("remind them")
    chat.screen.wait_for("[a]llow once")
    chat.screen.send("ctrl-c")
    chat.screen.wait_until_gone("Run this tool?")
    chat.say("and now?")
    chat.screen.wait_for("Still here.")
    assert chat.answers() == [{"choice": "reject"}]


def test_ctrl_d_leaves_no_process_behind_and_the_terminal_as_it_was(start: Start) -> None:
    chat = start([call("find_invoices", "running"), {"until": "cancel"}])
    chat.say("look")
    chat.screen.wait_for("find_invoices")
    children = psutil.Process(chat.screen.child.pid).children(recursive=True)
    chat.screen.send("ctrl-d")
    code = _exit_code_keeping_the_pty(chat.screen)
    assert code == 0
    assert children
    _, alive = psutil.wait_procs(children, timeout=60)
    assert not alive
    assert "\x1b[?2004l" in chat.screen.raw
    assert chat.received("shutdown") == [{}]
    assert "caddie chat --resume session-1" in chat.screen.text()


def _exit_code_keeping_the_pty(screen: Screen) -> int:
    end = time.monotonic() + 60
    while screen.child.isalive() and time.monotonic() < end:
        screen.read()
    settings = termios.tcgetattr(screen.child.child_fd)
    assert settings[3] & termios.ICANON
    assert settings[3] & termios.ISIG
    return screen.wait_for_exit()


def test_a_closed_window_ends_the_server_too(start: Start) -> None:
    chat = start([call("find_invoices", "running"), {"until": "cancel"}])
    chat.say("look")
    chat.screen.wait_for("find_invoices")
    children = psutil.Process(chat.screen.child.pid).children(recursive=True)
    chat.screen.child.kill(signal.SIGHUP)
    chat.screen.wait_for_exit()
    assert children
    assert not psutil.wait_procs(children, timeout=60)[1]


def test_ctrl_c_twice_in_an_empty_line_leaves(start: Start) -> None:
    chat = start()
    chat.screen.send("half a thought")
    chat.screen.wait_for("half a thought")
    chat.screen.send("ctrl-c")
    chat.screen.wait_until_gone("half a thought")
    chat.screen.send("ctrl-c")
    chat.screen.wait_for("Ctrl-C again")
    chat.screen.send("ctrl-c")
    assert chat.screen.wait_for_exit() == 0


def test_a_crashed_server_says_why_and_is_started_again_with_the_same_session(start: Start) -> None:
    chat = start([text("First.")], [text("Second "), {"crash": "ValueError: the disk is full\n"}])
    chat.say("one")
    chat.screen.wait_for("First.")
    chat.say("two")
    chat.screen.wait_for("The server stopped (exit code 3).", "ValueError: the disk is full")
    chat.say("three")
    chat.screen.wait_for_match("three\n\nFirst.")
    assert [turn.get("sessionId") for turn in chat.received("caddie/chat/turn")] == [None, "session-1", "session-1"]
    assert len(chat.received("initialize")) == 2


def test_a_message_may_have_several_lines_and_comes_back_with_the_up_key(start: Start) -> None:
    chat = start([text("Read.")], [text("Read again.")])
    chat.screen.send("line one")
    chat.screen.send("alt-enter")
    chat.screen.send("line two")
    chat.screen.wait_for("line two")
    chat.screen.send("enter")
    chat.screen.wait_for("Read.")
    chat.screen.send("up")
    chat.screen.wait_for_match("(?s)Read.*line one\n  line two")
    chat.screen.send("!")
    chat.screen.wait_for("line two!")
    chat.screen.send("enter")
    chat.screen.wait_for("Read again.")
    messages = [turn["message"] for turn in chat.received("caddie/chat/turn")]
    assert messages == ["line one\nline two", "line one\nline two!"]


def test_nothing_a_stranger_writes_acts_on_the_terminal(start: Start) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J[bold red]x[/]\u202e"
    shown = ask(label=evil + "tool", params={"a": evil + "value"}, reason=evil + "reason")
    steps = [
        text(evil + "answer\n\n"),
        call("safe", "done", result=evil, params={"q": evil}),
        {"ask": shown, "then": {}},
    ]
    chat = start(steps)
    chat.say("hello")
    chat.screen.wait_for(
        "› hello",
        "[bold red]x[/]answer",
        "[bold red]x[/]tool",
        "[bold red]x[/]⟨U+202E⟩value",
        "␛]0;owned␇",
        "[a]llow once",
    )
    assert "\x1b]0;owned" not in chat.screen.raw
    assert "\u202e" not in chat.screen.raw


def test_without_colour_nothing_is_lost(start: Start) -> None:
    chat = start(
        [call("git_log", "done", elapsedMs=400), text("# Title\n\ntext")], hints={"paid": HINTS}, env={"NO_COLOR": "1"}
    )
    chat.say("look")
    chat.screen.wait_for("✓ git_log", "Title", "text")
    chat.screen.send("paid")
    chat.screen.wait_for("create_credit_note")
    chat.screen.send("tab")
    chat.screen.wait_for("▸ create_credit_note")
    colours = {char.fg for line in chat.screen.terminal.buffer.values() for char in line.values()}
    assert colours == {"default"}


@pytest.mark.parametrize("width", [80, 44])
def test_it_fits_narrow_terminals(start: Start, width: int) -> None:
    steps = [
        call("find_invoices_of_every_customer", "failed", params={"status": "overdue " * 20}, result="no " * 80),
        text("word " * 60 + "\n\n"),
        {"ask": ask(params={"message": "long " * 90}), "then": {}},
    ]
    chat = start(steps, size=(width, 24), hints={"paid": HINTS})
    chat.say("look")
    screen = chat.screen.wait_for("[a]llow once", ", v", "[r]eject")
    assert screen.count("╭") == screen.count("╰") == 1


def test_commands_ask_the_server_and_a_mistyped_one_names_the_nearest(start: Start) -> None:
    info = {"description": "Find invoices", "readOnly": True, "destructive": False, "tokens": 64}
    listed = {
        "revision": 1,
        "profile": "standard",
        "servers": [],
        "tools": [
            {"name": "Bash", "label": "Bash", "state": "enabled", "stateSource": {"kind": "profile"}, **info},
            {
                "name": "mcp__acme__find_invoices",
                "label": "find_invoices",
                "server": "acme",
                "state": "deferred",
                "stateSource": {"kind": "profile"},
                **info,
            },
        ],
        "totals": {"enabled": 1, "deferred": 1, "disabled": 0, "tokensInPrompt": 64, "tokensTotal": 128},
    }
    chat = start(answers={"caddie/tools/list": listed})
    chat.say("/tools")
    chat.screen.wait_for("Built-in", "✓ Bash", "acme", "◐ find_invoices", "1 ✓  1 ◐  0 ✗")
    chat.say("/serch x")
    chat.screen.wait_for("did you mean /search?")
    chat.screen.send("/pl")
    chat.screen.send("tab")
    chat.screen.wait_for("› /plan")
    chat.screen.send("enter")
    chat.screen.wait_for("Plan mode", "nothing is changed")


def test_the_prompts_of_servers_are_commands_and_become_the_next_message(start: Start) -> None:
    prompts = [
        {
            "name": "git:commit",
            "server": "git",
            "description": "Writes a \x1b[31mmessage",
            "arguments": [{"name": "style", "required": True}],
        }
    ]
    answers = {
        "caddie/prompts/list": {"prompts": prompts},
        "caddie/prompts/get": {
            "message": "Write a short message.",
            "attachments": [{"name": "/git:commit", "text": "the diff"}],
        },
        "caddie/mcp/authorize": {"url": "https://auth.example/in", "opened": False},
    }
    chat = start([text("Fixed.")], answers=answers)
    chat.say("/prompts")
    chat.screen.wait_for("/git:commit style=…", "Writes a")
    chat.say("/git:commit style=short")
    chat.screen.wait_for("Write a short message.", "Fixed.")
    assert chat.received("caddie/prompts/get") == [{"name": "git:commit", "arguments": {"style": "short"}}]
    (turn,) = chat.received("caddie/chat/turn")
    assert turn["message"] == "Write a short message."
    assert turn["attachments"] == [{"name": "/git:commit", "text": "the diff"}]
    chat.say("/git:commit short")
    chat.screen.wait_for("Expected name=value, got 'short'")
    chat.say("/authorize git")
    chat.screen.wait_for("https://auth.example/in")


def test_without_a_terminal_each_line_is_a_message(tmp_path: Path) -> None:
    chat = Chat(tmp_path)
    script = {
        "turns": [
            [call("git_log", "done"), text("It is **noon**.")],
            [{"ask": ask(), "then": {"reject": [text("No.")]}}],
        ]
    }
    done = subprocess.run(
        chat.argv(script), input="hi\n\nand you?\n", capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout) == (0, "It is **noon**.\nNo.\n")
    assert "[git_log (acme) done]" in done.stderr
    assert "denied: send_reminder" in done.stderr
    (hello,) = chat.received("initialize")
    assert hello["capabilities"]["experimental"]["caddie"]["permission"] is False


def test_without_a_terminal_an_interrupt_ends_it_and_the_server(tmp_path: Path) -> None:
    chat = Chat(tmp_path)
    argv = chat.argv({"turns": [[text("Begun.\n\nMore"), {"until": "cancel"}]]})
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        program.stdin.write("hi\n")
        program.stdin.flush()
        assert program.stdout.readline() == "Begun.\n"
        children = psutil.Process(program.pid).children(recursive=True)
        program.send_signal(signal.SIGINT)
        assert program.wait(60) == 130
        assert program.stderr is not None
        assert "Traceback" not in program.stderr.read()
    assert children
    assert not psutil.wait_procs(children, timeout=60)[1]


def test_without_a_terminal_a_failed_turn_is_told_and_counts(tmp_path: Path) -> None:
    chat = Chat(tmp_path)
    script = {"turns": [[{"error": {"code": -32050, "message": "The key was refused."}}]]}
    done = subprocess.run(chat.argv(script), input="hi\n", capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert "The key was refused." in done.stderr


def test_without_a_terminal_nothing_more_is_asked_when_nobody_reads_the_answers(tmp_path: Path) -> None:
    chat = Chat(tmp_path)
    argv = chat.argv({"turns": [[{"gate": chat.gate("go")}, text("One.\n\nTwo.")]] * 3})
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        assert program.stderr is not None
        program.stdin.write(b"hi\nmore\nand more\n")
        program.stdin.flush()
        program.stdout.close()
        chat.open_gate("go")
        program.wait(60)
        assert program.stderr.read() == b""
    assert len(chat.received("caddie/chat/turn")) == 1


def test_without_a_terminal_a_message_that_is_too_long_is_refused_in_a_sentence(tmp_path: Path) -> None:
    chat = Chat(tmp_path)
    lines = "a" * 1_000_001 + "\nhi\n"
    done = subprocess.run(
        chat.argv({"turns": [[text("Hello.")]]}), input=lines, capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout) == (1, "Hello.\n")
    assert done.stderr == (
        "error: The message has 1,000,001 characters and may have 1,000,000; put the rest in a file and name it.\n"
    )


def test_with_the_real_server_a_tool_is_asked_for_run_and_its_result_shown(tmp_path: Path) -> None:
    config = tmp_path / "config" / "caddie"
    config.mkdir(parents=True)
    server = {"command": sys.executable, "args": ["-m", "mcp_server_time"]}
    (config / "settings.json").write_text(json.dumps({"provider": "offline", "mcp": {"servers": {"time": server}}}))
    (tmp_path / "project").mkdir()
    places = {f"XDG_{name}_HOME": str(tmp_path / name.lower()) for name in ("CONFIG", "DATA", "STATE", "CACHE")}
    screen = Screen.spawn(
        [sys.executable, "-m", "caddie", "chat", "--workspace", str(tmp_path / "project")],
        {"HOME": str(tmp_path), **places},
    )
    try:
        screen.wait_for("caddie · project", "›")
        screen.send("what time is it in Tokyo")
        screen.wait_for("⌁", "get_current_time")
        screen.send("enter")
        screen.wait_for("get_current_time · time", "Asia/Tokyo", "[a]llow once")
        screen.send("a")
        screen.wait_for_match(r"✓ get_current_time +time · timezone=Asia/Tokyo")
        screen.wait_for("+09:00")
        screen.send("ctrl-d")
        assert screen.wait_for_exit() == 0
    finally:
        screen.close()
