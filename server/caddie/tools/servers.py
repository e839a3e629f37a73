"""What the house knows of an MCP server and of its prompts, whoever runs it."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from caddie.errors import InvalidInput
from caddie.tools.tool import Content, ToolSpec

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


def check_servers(names: Iterable[str], configured: Collection[str], specs: Iterable[ToolSpec]) -> None:
    """Raises: InvalidInput for a name that no server has, with the nearest ones."""
    known = {*configured, *(spec.server for spec in specs)} - {""}
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=3, cutoff=0.5) or sorted(known)[:5]
            hint = f"did you mean {' or '.join(f'@{one}' for one in near)}?" if near else "none is configured."
            raise InvalidInput(f"No MCP server is named @{name}; {hint}", suggestions=near)
