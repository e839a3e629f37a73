from __future__ import annotations

import io
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from caddie.protocol.chat import ToolCallEvent
from caddie.protocol.permissions import Choice, CommandPreview, DiffPreview, PermissionAsk
from caddie.protocol.tools import HintInfo
from caddie.terminal import cards, view
from caddie.terminal.markdown import markdown
from caddie.terminal.prompts import PermissionPrompt

CHOICES = [
    Choice(id="once", label="Allow once", kind="allowOnce"),
    Choice(id="server", label="All of it", kind="allowServerSession"),
    Choice(id="reject", label="Reject", kind="reject"),
]


def pen(width: int) -> view.Pen:
    return view.Pen(Console(file=io.StringIO(), no_color=True), lambda: width)


def drawn(width: int, rows: int = 40, **more: Any) -> str:
    fields: dict[str, Any] = {"params": {}, "reason": "", "choices": CHOICES, "server": "acme", **more}
    ask = PermissionAsk(request_id="1", session_id="s", tool="mcp__acme__pay", label="pay", **fields)
    return pen(width).draw(cards.card(PermissionPrompt(ask), width, rows, armed=True))


def widest(text: str) -> int:
    return max(cell_len(line) for line in text.split("\n"))


@pytest.mark.parametrize("width", [100, 80, 40])
@pytest.mark.parametrize("rows", [30, 8])
def test_a_prompt_fits_its_room_and_always_shows_its_keys(width: int, rows: int) -> None:
    params = {f"name{at}": "long words " * 30 for at in range(12)} | {"text": "a\n" * 40}
    text = drawn(width, rows, params=params, reason="because " * 40)
    assert widest(text) <= width
    assert text.count("\n") <= rows
    assert "[a]llow once" in text
    assert "[r]eject" in text


def test_every_argument_is_shown_and_a_command_only_once() -> None:
    text = drawn(
        80,
        params={"command": "git push", "timeout": 5, "env": {"A": [1, True, None]}},
        preview=CommandPreview(command="git push", cwd="/w"),
    )
    assert text.count("git push") == 1
    assert "timeout" in text
    assert '{"A": [1, true, null]}' in text


def test_an_argument_that_differs_from_the_preview_is_shown_too() -> None:
    text = drawn(80, params={"command": "rm -rf /"}, preview=CommandPreview(command="git status", cwd="/w"))
    assert "git status" in text
    assert "rm -rf /" in text


def test_a_removed_line_of_dashes_is_not_taken_for_a_file_name() -> None:
    unified = "--- a\n+++ b\n@@ -1,2 +1 @@\n--- secret\n keep\n"
    text = drawn(80, preview=DiffPreview(path="notes", before="", after="", unified=unified))
    assert "--- secret" in text
    assert "+++ b" not in text


def test_a_changed_definition_is_said_first() -> None:
    lines = drawn(80, definition_changed="it now also takes bcc").split("\n")
    assert "changed since you allowed it: it now also takes bcc" in lines[1]


def test_nothing_is_a_yes_for_a_server_unless_it_was_offered() -> None:
    assert "[e]very tool of acme this session" in drawn(100)
    assert "[s]ession" not in drawn(100)


@pytest.mark.parametrize("width", [100, 60, 30])
def test_a_hint_is_one_line(width: int) -> None:
    hint = HintInfo(
        tool="t", label="a_rather_long_tool_name_日本", description="d " * 99, score=1, server="acme", state="deferred"
    )
    for place in ("selected", "first", "other"):
        line = cards.hint_line(hint, width, cards.name_width([hint], width), place)  # type: ignore[arg-type]
        assert line.cell_len <= width
        assert "\n" not in line.plain


@pytest.mark.parametrize(
    "status", ["pending", "awaitingPermission", "running", "done", "failed", "refused", "cancelled"]
)
@pytest.mark.parametrize("width", [100, 50, 24])
def test_a_call_is_one_line_with_a_mark_of_its_own_shape(status: Any, width: int) -> None:
    event = ToolCallEvent(
        call_id="1", tool="t", label="find_日本", server="acme", status=status, params={"q": "x " * 99, "n": 3}
    )
    (line, *more) = pen(width).draw(view.call(event, width)).rstrip("\n").split("\n")
    assert more == []
    assert cell_len(line) <= width
    mark = {"done": "✓", "failed": "✗", "refused": "✗", "cancelled": "◌", "awaitingPermission": "?"}
    assert line[0] == mark.get(status, line[0])
    assert line[0] in "✓✗◌?" + view.SPINNER


def test_running_output_shows_its_last_lines() -> None:
    progress = "\n".join(f"line {at}" for at in range(20)) + "\n"
    event = ToolCallEvent(call_id="1", tool="Bash", label="Bash", status="running", params={}, progress=progress)
    text = pen(80).draw(view.call(event, 80))
    assert "line 19" in text
    assert "line 16" not in text


def test_markdown_keeps_addresses_of_links_in_sight() -> None:
    text = pen(80).draw(markdown("[my bank](http://evil.example) [bold]x[/bold]"))
    assert "http://evil.example" in text
    assert "[bold]x[/bold]" in text
    assert "\x1b]8" not in text
