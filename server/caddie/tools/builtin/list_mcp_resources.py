"""ListMcpResources: what the connected MCP servers offer for reading."""

from __future__ import annotations

from pydantic import Field

from caddie.tools.builtin.output import clipped
from caddie.tools.context import McpResource, ToolContext
from caddie.tools.tool import ToolArgs, ToolResult, builtin, text_result


class ListMcpResourcesArgs(ToolArgs):
    server: str = Field("", description="Only this server's resources; empty for all servers.")


async def list_mcp_resources(args: ListMcpResourcesArgs, context: ToolContext) -> ToolResult:
    resources = await context.resources.list_resources(args.server or None)
    if not resources:
        return text_result(
            f"The server {args.server!r} offers no resources." if args.server else "No server offers resources."
        )
    ordered = sorted(resources, key=lambda resource: (resource.server, resource.uri))
    return text_result(await clipped("\n".join(_line(resource) for resource in ordered), context))


def _line(resource: McpResource) -> str:
    kind = f" ({resource.media_type})" if resource.media_type else ""
    about = " — ".join(" ".join(text.split()) for text in (resource.name, resource.description) if text.strip())
    return f"{resource.server}: {resource.uri}{kind}" + (f" — {about}" if about else "")


TOOL = builtin(
    "ListMcpResources",
    "Lists the resources (documents, records, files) that connected MCP servers offer, as server, URI and description. "
    "ReadMcpResource reads one.",
    ListMcpResourcesArgs,
    list_mcp_resources,
    search_hint="MCP server resources, documents, what data is there",
    read_only=True,
)
