"""CtxInspect: what fills the model's context, and what deferring tools saves."""

from __future__ import annotations

from caddie.tools.context import ToolContext
from caddie.tools.tool import ToolArgs, ToolResult, builtin, text_result


class CtxInspectArgs(ToolArgs):
    pass


async def ctx_inspect(args: CtxInspectArgs, context: ToolContext) -> ToolResult:
    return text_result(context.inspector.describe_context(context.session.session_id))


TOOL = builtin(
    "CtxInspect",
    "Shows what fills the context of this conversation: tokens per tool, messages, and what deferral saves.",
    CtxInspectArgs,
    ctx_inspect,
    search_hint="context window usage, tokens, how full, debug prompt",
    read_only=True,
)
