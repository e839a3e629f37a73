"""A server's form, as questions and back."""

from __future__ import annotations

from typing import Any

import pytest

from caddie.mcp.elicit import to_content, to_questions

FORM: dict[str, Any] = {
    "properties": {
        "name": {"type": "string", "description": "Your name?"},
        "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]},
        "old": {"type": "string", "enum": ["r", "b"], "enumNames": ["Red", "Blue"]},
        "price": {"type": "number"},
        "sure": {"type": "boolean"},
        "days": {"type": "array", "items": {"enum": ["Mon", "Tue"]}},
    },
    "required": ["name"],
}


def test_each_kind_of_field_becomes_a_question() -> None:
    request = to_questions("shop", "Order?", FORM, "s1")
    assert request is not None
    assert (request.session_id, request.title) == ("s1", "shop asks: Order?")
    shown = {question.id: [option.label for option in question.options] for question in request.questions}
    assert shown == {
        "name": [],
        "size": ["Small", "Large"],
        "old": ["Red", "Blue"],
        "price": [],
        "sure": ["Yes", "No"],
        "days": ["Mon", "Tue"],
    }
    assert [question.id for question in request.questions if question.multiple] == ["days"]


def test_answers_come_back_in_the_forms_types() -> None:
    answers = {"name": "Ann", "size": "Large", "old": "b", "price": "1.5", "sure": "yes", "days": "Mon, tue"}
    assert to_content(FORM, answers) == {
        "name": "Ann",
        "size": "l",
        "old": "b",
        "price": 1.5,
        "sure": True,
        "days": ["Mon", "Tue"],
    }


def test_choices_with_commas_in_them_are_told_apart() -> None:
    items = {"enum": ["Paris, France", "Rome", "Paris"]}
    form = {"properties": {"towns": {"type": "array", "items": items}}}
    assert to_content(form, {"towns": "Paris, France, Rome"}) == {"towns": ["Paris, France", "Rome"]}
    assert to_content(form, {"towns": "rome,paris"}) == {"towns": ["Rome", "Paris"]}


@pytest.mark.parametrize("answers", [{}, {"name": "A", "price": "a lot"}, {"name": "A", "size": "Huge"}])
def test_an_answer_that_does_not_fit_is_none(answers: dict[str, str]) -> None:
    assert to_content(FORM, answers) is None


def test_a_form_without_fields_asks_for_a_confirmation() -> None:
    request = to_questions("shop", "Really?", {"properties": {}}, "")
    assert request is not None
    assert [option.label for option in request.questions[0].options] == ["Continue"]
    assert to_content({}, {"confirm": "Continue"}) == {}


@pytest.mark.parametrize("field", [{"type": "object"}, {"type": "array", "items": {"type": "string"}}, "text", None])
def test_a_form_that_is_not_flat_is_not_asked(field: object) -> None:
    assert to_questions("shop", "?", {"properties": {"x": field}}, "") is None
