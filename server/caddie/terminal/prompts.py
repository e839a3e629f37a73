"""What the server asks the person: which keys a prompt takes, and what they answer. Pure; view.py draws it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from caddie.protocol.permissions import Choice, PermissionAsk, Question, QuestionAsk

Entry = Literal["", "feedback", "answer"]
OTHER = "other"
_KEYS = {"allowOnce": "a", "allowSession": "s", "allowAlways": "w", "allowServerSession": "e", "reject": "r"}


@dataclass(slots=True)
class PermissionPrompt:
    """One choice by one key. `entry` is set while a line of text is being typed; `answer` ends the prompt."""

    ask: PermissionAsk
    entry: Entry = ""
    shown_all: bool = False
    answer: dict[str, Any] | None = None

    @property
    def keys(self) -> list[tuple[str, Choice]]:
        """Only choices the server offered have a key."""
        return [(_KEYS[choice.kind], choice) for choice in self.ask.choices]

    def press(self, key: str) -> None:
        """Any key that is not shown does nothing: nothing else is ever a yes."""
        for own, choice in self.keys:
            if key == own and choice.kind == "reject":
                self.entry = "feedback"
            elif key == own:
                self.answer = {"choice": choice.id}

    def enter(self, text: str) -> None:
        self.reject(text.strip())

    def escape(self) -> None:
        """Leaves the feedback line; the prompt itself stays, since no answer is no decision."""
        self.entry = ""

    def reject(self, feedback: str = "") -> None:
        reject = next((choice.id for choice in self.ask.choices if choice.kind == "reject"), "reject")
        self.answer = {"choice": reject, **({"feedback": feedback} if feedback else {})}


@dataclass(slots=True)
class QuestionPrompt:
    """Questions one after another: a number picks, several numbers where several are allowed, text where it is free."""

    ask: QuestionAsk
    at: int = 0
    chosen: list[str] = field(default_factory=list)
    given: dict[str, str] = field(default_factory=dict)
    entry: Entry = ""
    answer: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        self._begin()

    @property
    def question(self) -> Question:
        return self.ask.questions[self.at]

    @property
    def labels(self) -> list[str]:
        return [option.label for option in self.question.options]

    def press(self, key: str) -> None:
        if key == "enter" and self.question.multiple and self.chosen:
            self._take(", ".join(self.chosen))
        elif key.isdecimal() and 1 <= int(key) <= len(self.labels):
            self._pick(self.labels[int(key) - 1])

    def enter(self, text: str) -> None:
        """An empty line is no answer."""
        if text.strip():
            self._take(", ".join([*self.chosen, text.strip()]))

    def escape(self) -> None:
        if self.entry and self.labels:
            self.entry = ""
        else:
            self.reject()

    def reject(self, feedback: str = "") -> None:
        self.answer = {"declined": True}

    def _begin(self) -> None:
        if self.at == len(self.ask.questions):
            self.answer = {"answers": self.given}
            return
        self.chosen = []
        self.entry = "" if self.labels else "answer"

    def _pick(self, label: str) -> None:
        if label.strip().lower() == OTHER:
            self.entry = "answer"
        elif not self.question.multiple:
            self._take(label)
        elif label in self.chosen:
            self.chosen.remove(label)
        else:
            self.chosen.append(label)

    def _take(self, text: str) -> None:
        self.given[self.question.id] = text
        self.at += 1
        self._begin()


Prompt = PermissionPrompt | QuestionPrompt
