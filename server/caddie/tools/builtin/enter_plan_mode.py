"""EnterPlanMode: from here on only look and think, until the person agrees to a plan."""

from __future__ import annotations

from caddie.tools.context import ToolContext
from caddie.tools.tool import ToolArgs, ToolResult, builtin, text_result


class EnterPlanModeArgs(ToolArgs):
    pass


async def enter_plan_mode(args: EnterPlanModeArgs, context: ToolContext) -> ToolResult:
    if context.session.mode == "plan":
        return text_result("Plan mode is already on. Present the plan with ExitPlanMode when it is ready.")
    context.session.mode = "plan"
    return text_result(
        "Plan mode is on. Reading, searching and asking work as before; whatever changes files, runs commands or "
        "acts outside this conversation is refused. Present the plan with ExitPlanMode when it is ready."
    )


TOOL = builtin(
    "EnterPlanMode",
    "Switches the session to plan mode, in which nothing can be changed. Use it before larger work whose approach the "
    "person should agree to first: explore, then present a plan with ExitPlanMode.",
    EnterPlanModeArgs,
    enter_plan_mode,
    search_hint="plan first, read-only mode, design before coding",
    session_only=True,
)
