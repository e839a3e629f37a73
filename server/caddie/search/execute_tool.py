"""ExecuteTool: the other half of the bridge. The executor unwraps it before anything runs."""

from __future__ import annotations

from caddie.errors import ToolUnavailable
from caddie.tools.context import ToolContext
from caddie.tools.core_tools import EXECUTE_TOOL
from caddie.tools.tool import Arguments, Tool, ToolResult, ToolSpec


async def _never(arguments: Arguments, context: ToolContext) -> ToolResult:
    raise ToolUnavailable("ExecuteTool cannot run itself.", name=EXECUTE_TOOL, reason="bridge")


TOOL = Tool(
    ToolSpec(
        name=EXECUTE_TOOL,
        description=(
            "Run any tool by name: one found with ToolSearch, or one listed as deferred. It is the same as calling "
            "the tool directly: same permissions, same result."
        ),
        # Open on purpose: a closed `params` makes constrained decoding drop the target's arguments.
        input_schema={
            "type": "object",
            "properties": {
                "tool_name": {"type": "string", "description": "The tool's full name."},
                "params": {
                    "type": "object",
                    "description": "The arguments, as the tool's own schema asks for them.",
                    "additionalProperties": True,
                },
            },
            "required": ["tool_name", "params"],
        },
    ),
    _never,
    session_only=True,
)
