"""Agent: a task for another model turn that works in a conversation of its own and reports back."""

from __future__ import annotations

from pydantic import Field

from caddie.errors import ToolFailure
from caddie.tools.context import ToolContext
from caddie.tools.tool import ToolArgs, ToolResult, builtin, text_result


class AgentArgs(ToolArgs):
    description: str = Field(min_length=1, max_length=200, description="The task in three to five words.")
    prompt: str = Field(
        min_length=1,
        description="All the agent must know: it sees nothing of this conversation. Say what it should report.",
    )


async def agent(args: AgentArgs, context: ToolContext) -> ToolResult:
    if context.agents is None:
        raise ToolFailure("An agent starts no other agents; do the task yourself.")
    return text_result(await context.agents.run(args.prompt, context))


TOOL = builtin(
    "Agent",
    "Gives a task to an agent with the same tools, permissions and folder, and returns its report. Use it for work "
    "that reads much and answers little, such as a search through many files: what it read stays out of this "
    "conversation.",
    AgentArgs,
    agent,
    search_hint="subagent, delegate a task, research in the background",
    session_only=True,
)
