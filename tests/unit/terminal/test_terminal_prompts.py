from __future__ import annotations

import string
from typing import Any

import pytest

from caddie.protocol.permissions import Choice, PermissionAsk, Question, QuestionAsk, QuestionOption
from caddie.terminal.prompts import PermissionPrompt, QuestionPrompt

KINDS: dict[str, Any] = {"once": "allowOnce", "session": "allowSession", "always": "allowAlways", "reject": "reject"}


def permission(*ids: str) -> PermissionPrompt:
    choices = [Choice(id=name, label=name, kind=KINDS[name]) for name in ids or KINDS]
    ask = PermissionAsk(
        request_id="1", session_id="s", tool="t", label="t", params={}, choices=choices, reason="", preview=None
    )
    return PermissionPrompt(ask)


def questions(*asked: tuple[list[str], bool]) -> QuestionPrompt:
    return QuestionPrompt(
        QuestionAsk(
            request_id="1",
            title="t",
            questions=[
                Question(
                    id=f"q{at}", question="?", options=[QuestionOption(label=name) for name in labels], multiple=many
                )
                for at, (labels, many) in enumerate(asked)
            ],
        )
    )


@pytest.mark.parametrize(("key", "choice"), [("a", "once"), ("s", "session"), ("w", "always")])
def test_each_allow_key_answers_with_its_own_choice(key: str, choice: str) -> None:
    prompt = permission()
    prompt.press(key)
    assert prompt.answer == {"choice": choice}


def test_no_other_key_is_an_answer() -> None:
    prompt = permission()
    for key in [*(set(string.printable) - set("aswr")), "enter", "", "aa", "always"]:
        prompt.press(key)
        assert prompt.answer is None
        assert prompt.entry == ""


def test_a_choice_that_was_not_offered_has_no_key() -> None:
    prompt = permission("once", "reject")
    prompt.press("w")
    prompt.press("s")
    assert prompt.answer is None


def test_r_asks_for_a_word_and_an_empty_one_is_fine() -> None:
    prompt = permission()
    prompt.press("r")
    assert (prompt.entry, prompt.answer) == ("feedback", None)
    prompt.enter("  ")
    assert prompt.answer == {"choice": "reject"}


def test_escape_leaves_the_feedback_but_decides_nothing() -> None:
    prompt = permission()
    prompt.press("r")
    prompt.escape()
    assert (prompt.entry, prompt.answer) == ("", None)
    prompt.escape()
    assert prompt.answer is None


def test_questions_are_answered_one_after_another() -> None:
    prompt = questions((["A", "B"], False), ([], False))
    prompt.press("3")
    prompt.press("2")
    assert prompt.entry == "answer"
    prompt.enter("")
    assert prompt.answer is None
    prompt.enter(" mine ")
    assert prompt.answer == {"answers": {"q0": "B", "q1": "mine"}}


def test_several_options_are_toggled_and_joined() -> None:
    prompt = questions((["A", "B", "C"], True))
    for key in ("enter", "1", "2", "3", "2", "enter"):
        prompt.press(key)
    assert prompt.answer == {"answers": {"q0": "A, C"}}


def test_other_asks_for_words_of_ones_own() -> None:
    prompt = questions((["A", "Other"], False))
    prompt.press("2")
    assert prompt.entry == "answer"
    prompt.enter("neither")
    assert prompt.answer == {"answers": {"q0": "neither"}}


def test_escape_declines() -> None:
    prompt = questions((["A", "Other"], False))
    prompt.press("2")
    prompt.escape()
    assert prompt.answer is None
    prompt.escape()
    assert prompt.answer == {"declined": True}


def test_a_raised_two_as_on_french_keyboards_chooses_nothing() -> None:
    prompt = questions((["one", "two"], False))
    prompt.press("²")
    assert prompt.answer is None
    prompt.press("2")
    assert prompt.answer == {"answers": {"q0": "two"}}
