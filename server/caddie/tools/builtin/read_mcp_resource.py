"""ReadMcpResource: one resource of an MCP server, bounded."""

from __future__ import annotations

from pydantic import Field

from caddie.tools.builtin.output import clipped
from caddie.tools.context import ToolContext
from caddie.tools.tool import ResourceContent, ToolArgs, ToolResult, builtin


class ReadMcpResourceArgs(ToolArgs):
    server: str = Field(min_length=1, description="Name of the server, as ListMcpResources shows it.")
    uri: str = Field(min_length=1, description="URI of the resource, as ListMcpResources shows it.")


async def read_mcp_resource(args: ReadMcpResourceArgs, context: ToolContext) -> ToolResult:
    text = await context.resources.read_resource(args.server, args.uri)
    return ToolResult((ResourceContent(args.uri, await clipped(text, context) or "(empty)"),))


TOOL = builtin(
    "ReadMcpResource",
    "Reads one resource of a connected MCP server.",
    ReadMcpResourceArgs,
    read_mcp_resource,
    search_hint="read MCP server resource by URI, fetch document",
    read_only=True,
)
