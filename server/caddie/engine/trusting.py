"""May this folder's files start servers and give permissions? One question, where the door can ask it."""

from __future__ import annotations

from caddie.errors import ClientCannotAsk
from caddie.tools.context import Option, Person, Question, QuestionRequest


async def is_trusted_by(person: Person, question: str) -> bool:
    """False when the person says no, closes the question or cannot be asked."""
    asked = Question("trust", question, "Trust this folder?", (Option("Trust"), Option("Do not trust")))
    try:
        answers = await person.ask_question(QuestionRequest("", "Workspace trust", (asked,)))
    except ClientCannotAsk:
        return False
    return answers is not None and answers.get("trust") == "Trust"
