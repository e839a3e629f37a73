from __future__ import annotations

import io

import pytest
from rich.console import Console

from caddie.protocol.chat import FileUndone, UndoResult
from caddie.terminal.commands import complete, parse, undone, unknown
from caddie.terminal.server_errands import read_call
from caddie.terminal.view import Pen


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("/search late invoices", ("search", "late invoices")),
        (" /Help ", ("help", "")),
        ("/etc/hosts is broken", None),
        ("/2 is half", None),
        ("/git:commit style=short", ("prompt", "git:commit style=short")),
        ("/a: no prompt", None),
        ("/usr/lib:x", None),
        ("a /help", None),
        ("/fix this\nand that", None),
        ("hello", None),
    ],
)
def test_a_command_is_told_from_a_message(text: str, parsed: tuple[str, str] | None) -> None:
    assert parse(text) == parsed


def test_a_prompt_is_called_with_names_and_values() -> None:
    assert read_call("git:commit style=short 'tone=very kind' url=a=b") == (
        "git:commit",
        {"style": "short", "tone": "very kind", "url": "a=b"},
    )
    with pytest.raises(ValueError, match="Expected name=value, got 'short'"):
        read_call("git:commit short")
    with pytest.raises(ValueError, match="quote is not closed"):
        read_call("git:commit style='short")


def test_completion_goes_as_far_as_it_is_certain() -> None:
    assert complete("/too")[0] == "/tools"
    assert complete("/ex")[0] == "/explain "
    assert complete("/se")[0] == "/se"
    assert {command.name for command in complete("/se")[1]} == {"search", "servers", "sessions"}
    assert complete("/nothing") == ("/nothing", [])
    assert complete("text") == ("text", [])


def test_an_unknown_command_names_the_nearest() -> None:
    assert "did you mean /sessions?" in unknown("sesions").plain
    assert "/help lists them" in unknown("xyzzy").plain


def test_an_undo_shows_each_file_with_what_became_of_it() -> None:
    files = [
        FileUndone(path="a.py", outcome="merged"),
        FileUndone(path="b.py", outcome="conflict", detail="was changed since in the same place (line 3)"),
    ]
    result = UndoResult(turn_id="t", undo_id="u", files=files, message="", not_covered="Undo does not cover x.")
    pen = Pen(Console(file=io.StringIO(), no_color=True), lambda: 80)
    shown = pen.draw(undone(result, 80))
    assert "✓ a.py   taken back; other edits in it stay" in shown
    assert "✗ b.py   left as it is: was changed since in the same place (line 3)" in shown
    assert "Undo does not cover x." in shown
    assert "/redo takes this back" in shown
