"""The MCP servers and their status."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from caddie.protocol.base import Message

ServerState = Literal["connecting", "ready", "failed", "needsAuth", "stopped"]


class ServerInfo(Message):
    name: str
    status: ServerState
    reason: str | None = Field(None, description="Why, and what to do, in one sentence.")
    tools: int
    origin: str | None = Field(None, description="The file or scope that configured it.")
    version: str | None = None
    signed_in: bool | None = Field(None, description="True when a sign-in is used, which `caddie/mcp/signOut` ends.")


class ServersResult(Message):
    servers: list[ServerInfo]
    notices: list[str] = Field(description="Broken files, servers that wait for trust.")


class ServerParams(Message):
    server: str


class AuthorizeResult(Message):
    url: str = Field(description="The page where the person signs in; it ends at an address of this machine.")
    opened: bool = Field(description="Whether the editor opened it; else the client shows it.")


class ServerLogResult(Message):
    text: str = Field(description="The last of what it wrote to its stderr.")


class ResourceInfo(Message):
    uri: str
    name: str
    description: str | None = None
    media_type: str | None = None


class ResourcesResult(Message):
    resources: list[ResourceInfo]


class ResourceParams(Message):
    server: str
    uri: str


class ResourceResult(Message):
    text: str
