"""What the house knows of an MCP server, whoever runs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
