"""ExitPlanMode: the person sees the plan, and only their yes ends plan mode."""

from __future__ import annotations

from pydantic import Field

from caddie.errors import ClientCannotAsk, ToolFailure
from caddie.tools.context import Option, Question, QuestionRequest, ToolContext
from caddie.tools.tool import ToolArgs, ToolResult, builtin, text_result

START = "Start work"
KEEP = "Keep planning"
_OPTIONS = (Option(START, "Leave plan mode and do this."), Option(KEEP, "Stay in plan mode; say what to change."))


class ExitPlanModeArgs(ToolArgs):
    plan: str = Field(min_length=1, description="The plan for the person to agree to, in Markdown.")


async def exit_plan_mode(args: ExitPlanModeArgs, context: ToolContext) -> ToolResult:
    if context.session.mode != "plan":
        raise ToolFailure("Plan mode is not on, so there is nothing to leave. EnterPlanMode switches it on.")
    question = Question("decision", args.plan, header="Plan", options=_OPTIONS)
    try:
        answers = await context.person.ask_question(QuestionRequest(context.session.session_id, "Plan", (question,)))
    except ClientCannotAsk as error:
        raise ToolFailure(
            f"{error.message} Plan mode stays on: the person must switch the mode. Put the plan into your answer."
        ) from None
    answer = answers.get(question.id, "").strip() if answers else ""
    if answer != START:
        return text_result(_kept(answer))
    context.session.mode = "agent"
    return text_result("The person agreed to the plan. Plan mode is off; start the work.")


def _kept(answer: str) -> str:
    feedback = f" They say: {answer}" if answer not in ("", KEEP) else ""
    return f"The person did not agree yet; plan mode stays on.{feedback}"


TOOL = builtin(
    "ExitPlanMode",
    "Shows the finished plan to the person and asks whether to start. Plan mode ends only when they agree; otherwise "
    "their feedback comes back.",
    ExitPlanModeArgs,
    exit_plan_mode,
    search_hint="present plan, approve plan, start work, leave plan mode",
    session_only=True,
)
