from __future__ import annotations

import pytest

from caddie.terminal.commands import complete, parse, unknown


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("/search late invoices", ("search", "late invoices")),
        (" /Help ", ("help", "")),
        ("/etc/hosts is broken", None),
        ("/2 is half", None),
        ("a /help", None),
        ("/fix this\nand that", None),
        ("hello", None),
    ],
)
def test_a_command_is_told_from_a_message(text: str, parsed: tuple[str, str] | None) -> None:
    assert parse(text) == parsed


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
