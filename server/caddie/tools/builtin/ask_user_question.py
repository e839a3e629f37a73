"""AskUserQuestion: the model puts one to four questions to the person and gets the answers."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict, Field

from caddie.errors import ClientCannotAsk, ToolFailure
from caddie.tools.context import Option, Question, QuestionRequest, ToolContext
from caddie.tools.tool import ToolArgs, ToolResult, builtin, text_result


class AskedOption(BaseModel):
    model_config = ConfigDict(extra="forbid")

    label: str = Field(min_length=1, max_length=200, description="The answer in one to five words.")
    description: str = Field("", max_length=1_000, description="What choosing it means.")


class AskedQuestion(BaseModel):
    model_config = ConfigDict(extra="forbid")

    question: str = Field(min_length=1, max_length=4_000, description="The whole question, ending in a question mark.")
    header: str = Field("", max_length=40, description="Its topic in one or two words.")
    options: list[AskedOption] = Field(
        default_factory=list, max_length=6, description="Answers to choose from; none for a free text."
    )
    multi_select: bool = Field(False, description="More than one option may be chosen.")


class AskUserQuestionArgs(ToolArgs):
    questions: list[AskedQuestion] = Field(min_length=1, max_length=4, description="One to four questions.")


async def ask_user_question(args: AskUserQuestionArgs, context: ToolContext) -> ToolResult:
    questions = tuple(_question(number, asked) for number, asked in enumerate(args.questions, start=1))
    try:
        answers = await context.person.ask_question(
            QuestionRequest(context.session.session_id, "The assistant has a question", questions)
        )
    except ClientCannotAsk as error:
        raise ToolFailure(
            f"{error.message} Decide yourself and say what you assumed, or ask in your final answer."
        ) from None
    if answers is None:
        return text_result("The person declined to answer. Do not ask the same again; go on without, or stop.")
    return text_result("\n\n".join(_answered(question, answers) for question in questions))


def _question(number: int, asked: AskedQuestion) -> Question:
    options = tuple(Option(option.label, option.description) for option in asked.options)
    return Question(f"q{number}", asked.question, asked.header, options, asked.multi_select)


def _answered(question: Question, answers: Mapping[str, str]) -> str:
    return f"{question.question}\n→ {answers.get(question.id, '').strip() or '(no answer)'}"


TOOL = builtin(
    "AskUserQuestion",
    "Asks the person one to four questions, with options to choose from or as free text, and waits for the answers. "
    "Use it when the answer changes what you do and you cannot find it out yourself.",
    AskUserQuestionArgs,
    ask_user_question,
    search_hint="ask the person, clarify, choose between options, confirm",
    session_only=True,
)
