"""What does a server publish of a tool, in our terms? Everything here is the server's claim."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from caddie.settings import McpServer
from caddie.tools.tool import ToolSpec

if TYPE_CHECKING:
    import mcp_types as types

_ALWAYS_LOAD = "anthropic/alwaysLoad"
_SEARCH_HINT = "anthropic/searchHint"
_NEEDS_INTERACTION = "anthropic/requiresUserInteraction"


@dataclass(frozen=True, slots=True)
class RemoteTool:
    name: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    read_only: bool
    destructive: bool
    always_load: bool
    search_hint: str
    needs_interaction: bool = False

    def spec(self, server: str, wire: str, identity: str = "") -> ToolSpec:
        return ToolSpec(
            name=wire,
            description=self.description,
            input_schema=self.input_schema,
            original_name=self.name,
            server=server,
            title=self.title,
            search_hint=self.search_hint,
            read_only=self.read_only,
            destructive=self.destructive,
            always_load=self.always_load,
            needs_interaction=self.needs_interaction,
            identity=identity,
        )


def to_remote(tool: types.Tool) -> RemoteTool:
    """Absent annotations mean what MCP says they mean: not read-only, destructive."""
    hints, meta = tool.annotations, tool.meta or {}
    read_only = bool(hints and hints.read_only_hint)
    destructive = hints.destructive_hint if hints else None
    search_hint = meta.get(_SEARCH_HINT)
    return RemoteTool(
        name=tool.name,
        title=tool.title or (hints.title if hints else "") or "",
        description=tool.description or "",
        input_schema=tool.input_schema or {"type": "object"},
        read_only=read_only,
        destructive=not read_only if destructive is None else destructive,
        always_load=meta.get(_ALWAYS_LOAD) is True,
        search_hint=search_hint if isinstance(search_hint, str) else "",
        needs_interaction=meta.get(_NEEDS_INTERACTION) is True,
    )


def identity_of(server: McpServer) -> str:
    """Which program or address it is. Tokens may change; what is started, where or asked may not."""
    text = json.dumps([server.command, server.args, server.cwd, server.url])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
