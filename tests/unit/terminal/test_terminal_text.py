from __future__ import annotations

import pytest

from caddie.terminal.text import amount, clean, duration, fit, one_line, reveal


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]52;c;cGFzdGU=\x07after", "after"),
        ("\x1bPq#0\x1b\\after", "after"),
        ("\x1b]never ended\nstays", "never ended\nstays"),
        ("\x9b2Jgone", "gone"),
        ("a\x00b\x08c\x7f", "abc"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("user\u202etxt.exe", "usertxt.exe"),
        ("\ud800", "?"),
        ("tab\tstop", "tab stop"),
        ("ünï ✓ 日本", "ünï ✓ 日本"),
    ],
)
def test_nothing_that_acts_on_a_terminal_is_left(given: str, shown: str) -> None:
    assert clean(given) == shown


def test_what_is_to_be_allowed_is_shown_whole() -> None:
    assert reveal("ls\x1b]0;rm -rf ~\x07 a\rb\u202e") == "ls␛]0;rm -rf ~␇ a␍b⟨U+202E⟩"


def test_one_line_joins_words() -> None:
    assert one_line(" a\n\n b\tc ") == "a b c"


def test_text_is_cut_by_cells_not_by_characters() -> None:
    assert fit("日本語です", 7) == "日本語…"
    assert fit("short", 7) == "short"
    assert fit("short", 0) == ""


def test_times_and_amounts_read_as_people_say_them() -> None:
    assert [duration(0), duration(3), duration(0.04), duration(0.44), duration(42.4), duration(125)] == [
        "0 s",
        "3 s",
        "<0.1 s",
        "0.4 s",
        "42 s",
        "2 min 05 s",
    ]
    assert [amount(950), amount(1230), amount(61_000), amount(1_400_000)] == ["950", "1.2k", "61k", "1.4M"]
