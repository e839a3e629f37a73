"""What the house knows of an MCP server and of its prompts, whoever runs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from caddie.tools.tool import Content

ServerState = Literal["connecting", "ready", "failed", "needsAuth", "stopped"]


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """`reason` is a sentence for the person: why it failed and what to do. `origin` is the file or scope that
    configured the server. A server whose `tools/list` failed is `failed` with a reason that says it is connected."""

    name: str
    state: ServerState
    reason: str = ""
    tools: int = 0
    origin: str = ""
    version: str = ""
    signed_in: bool = False


@dataclass(frozen=True, slots=True)
class PromptArgument:
    name: str
    description: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True)
class ServerPrompt:
    """A prompt that a server offers, in its own words."""

    server: str
    name: str
    title: str = ""
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()

    @property
    def full_name(self) -> str:
        return f"{self.server}:{self.name}"


@dataclass(frozen=True, slots=True)
class PromptMessage:
    role: Literal["user", "assistant"]
    content: Content
