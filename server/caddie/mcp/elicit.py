"""How does a server's form become a question for the person, and the answers a form again?

Flat forms only, as the protocol has them: text, numbers, yes or no, one or several of a list.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from caddie.tools.context import Option, Question, QuestionRequest

Value = str | int | float | bool | list[str] | None
_YES, _NO = "Yes", "No"


def to_questions(server: str, message: str, schema: Mapping[str, Any], session_id: str) -> QuestionRequest | None:
    """None when the form asks for something that cannot be put as a question."""
    properties = schema.get("properties") or {}
    questions = [_question(name, field) for name, field in properties.items() if isinstance(field, dict)]
    if len(questions) != len(properties) or None in questions:
        return None
    asked = tuple(question for question in questions if question) or (_confirmation(message),)
    return QuestionRequest(session_id, f"{server} asks: {message}", asked)


def to_content(schema: Mapping[str, Any], answers: Mapping[str, str]) -> dict[str, Value] | None:
    """The answers with the types that the form wants; None when one does not fit or a required one is missing."""
    content: dict[str, Value] = {}
    for name, field in (schema.get("properties") or {}).items():
        text = answers.get(name, "")
        if not text.strip():
            if "default" in field:
                content[name] = field["default"]
            continue
        try:
            content[name] = _value(field, text)
        except ValueError:
            return None
    return None if set(schema.get("required") or ()) - set(content) else content


def _confirmation(message: str) -> Question:
    return Question("confirm", message, options=(Option("Continue"),))


def _question(name: str, field: Mapping[str, Any]) -> Question | None:
    kind = field.get("type", "string")
    text = str(field.get("description") or field.get("title") or name)
    header = str(field.get("title") or name)
    if kind == "boolean":
        return Question(name, text, header, (Option(_YES), Option(_NO)))
    if kind == "array":
        return Question(name, text, header, _options(_items(field)), multiple=True) if _choices(_items(field)) else None
    if kind in ("string", "number", "integer"):
        return Question(name, text, header, _options(field))
    return None


def _items(field: Mapping[str, Any]) -> Mapping[str, Any]:
    items = field.get("items")
    return items if isinstance(items, dict) else {}


def _options(field: Mapping[str, Any]) -> tuple[Option, ...]:
    return tuple(Option(label) for label in _choices(field))


def _choices(field: Mapping[str, Any]) -> dict[str, str]:
    """Values by the label that a person sees, for all four ways in which the protocol spells a list."""
    titled = field.get("oneOf") or field.get("anyOf")
    if titled:
        return {str(entry.get("title", entry["const"])): str(entry["const"]) for entry in titled if "const" in entry}
    values = [str(value) for value in field.get("enum") or ()]
    labels = [str(label) for label in field.get("enumNames") or ()]
    return dict(zip(labels, values, strict=True)) if len(labels) == len(values) else {value: value for value in values}


def _value(field: Mapping[str, Any], text: str) -> Value:
    match field.get("type", "string"):
        case "boolean":
            return _truth(text)
        case "integer":
            return int(text)
        case "number":
            return float(text)
        case "array":
            return list(_several(_items(field), text.split(",")))
        case _:
            return _chosen(field, text) if _choices(field) else text


def _truth(text: str) -> bool:
    word = text.strip().casefold()
    if word not in ("yes", "no", "true", "false"):
        raise ValueError(text)
    return word in ("yes", "true")


def _several(field: Mapping[str, Any], parts: list[str]) -> Iterator[str]:
    """A choice may have commas in it, so the longest that fits is taken."""
    while parts:
        for count in range(len(parts), 0, -1):
            with contextlib.suppress(ValueError):
                yield _chosen(field, ",".join(parts[:count]))
                del parts[:count]
                break
        else:
            raise ValueError(parts)


def _chosen(field: Mapping[str, Any], text: str) -> str:
    choices = _choices(field)
    if text in choices:
        return choices[text]
    if text.strip() in choices.values():
        return text.strip()
    return choices[_only_key(choices, text)]


def _only_key(choices: Mapping[str, str], text: str) -> str:
    for label in choices:
        if label.strip().casefold() == text.strip().casefold():
            return label
    raise ValueError(text)
