"""Sleep: wait for a while, cancellable, showing what is left."""

from __future__ import annotations

import asyncio
import math

from pydantic import Field

from caddie.tools.context import ToolContext
from caddie.tools.tool import ToolArgs, ToolResult, builtin, text_result


class SleepArgs(ToolArgs):
    seconds: float = Field(gt=0, le=3_600, description="How long to wait.")


async def sleep(args: SleepArgs, context: ToolContext) -> ToolResult:
    clock = asyncio.get_running_loop().time
    end = clock() + args.seconds
    while (remaining := end - clock()) > 0:
        context.progress(f"{math.ceil(remaining)} s remaining")
        await asyncio.sleep(min(1.0, remaining))
    return text_result(f"Waited {args.seconds:g} seconds.")


TOOL = builtin(
    "Sleep",
    "Waits for a number of seconds, up to an hour. Use it to let something outside finish before looking again.",
    SleepArgs,
    sleep,
    search_hint="wait, pause, delay, poll later",
    read_only=True,
    session_only=True,
)
