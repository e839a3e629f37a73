"""Why a tool cannot be called now: one true sentence each, the same wherever the cause appears."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from caddie.tools.catalogue import Catalogue
from caddie.tools.core_tools import EXECUTE_TOOL
from caddie.tools.exact import normalise, spellings
from caddie.tools.servers import ServerStatus
from caddie.tools.states import Source
from caddie.tools.tool import ToolSpec


def nearest_names(specs: Iterable[ToolSpec], name: str, limit: int = 3) -> list[str]:
    by_spelling = {spelling: spec.name for spec in specs for _, spelling in spellings(spec)}
    close = difflib.get_close_matches(normalise(name), list(by_spelling), n=limit * 3, cutoff=0.6)
    return list(dict.fromkeys(by_spelling[spelling] for spelling in close))[:limit]


def unknown(name: str, suggestions: Sequence[str]) -> str:
    nearest = f" Nearest: {', '.join(suggestions)}." if suggestions else ""
    return f"There is no tool named {name!r}.{nearest} ToolSearch finds tools by what they do."


def ambiguous(name: str, specs: Sequence[ToolSpec]) -> str:
    return f"{name!r} may mean {', '.join(spec.name for spec in specs)}. Call one of them by its full name."


def deferred(spec: ToolSpec, source: Source) -> str:
    return (
        f"{spec.label} is deferred by {source.words}: the model knows its name only, "
        f"and calls it with {EXECUTE_TOOL} after a search for its schema."
    )


def disabled(spec: ToolSpec, source: Source) -> str:
    return f"{spec.label} is disabled by {source.words}. It stays off until that is changed."


def denied(spec: ToolSpec, by: str) -> str:
    return f"{spec.label} was refused by {by}. It holds until that rule is changed in the settings."


def plan_mode(spec: ToolSpec) -> str:
    return (
        f"{spec.label} may change things, and plan mode allows reading only. It can run when plan mode is over: "
        "once the plan is agreed to (ExitPlanMode asks), or by the person's own choice."
    )


def server_not_ready(status: ServerStatus) -> str:
    why = f": {status.reason}" if status.reason else ""
    match status.state:
        case "connecting":
            return f"The MCP server {status.name} is still connecting{why}; its tools are not known yet."
        case "needsAuth":
            return f"The MCP server {status.name} needs you to sign in{why}."
        case "stopped":
            return f"The MCP server {status.name} is stopped{why}."
        case _:
            return f"The MCP server {status.name} failed{why}."


def server_of(name: str, catalogue: Catalogue) -> ServerStatus | None:
    """The configured server that a name points to: `mcp__git__x`, `git/x`, `git`."""
    wanted = name.strip().casefold()
    for status in catalogue.servers:
        server = status.name.casefold()
        if wanted == server or wanted.startswith((f"mcp__{server}__", f"{server}/", f"{server}__")):
            return status
    return None
