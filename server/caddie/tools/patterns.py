"""Which tools a name or glob in the settings means. One rule for states, search scope and permissions.

A pattern matches a tool by its wire name (`mcp__git__git_log`), `server/tool`, `server__tool` or its bare
original name, in any case; `mcp__git` and `git/` mean the whole server.
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from caddie.tools.exact import BARE, spellings
from caddie.tools.tool import ToolSpec


def matches(pattern: str, spec: ToolSpec, *, widening: bool = False) -> bool:
    """`widening` is for patterns that allow or enable something: there a bare name means the built-in tool alone,
    so that no server can publish its way into a permission by calling a tool `Read`."""
    wanted = pattern.strip().casefold()
    if not wanted:
        return False
    if spec.server and wanted.rstrip("/") in (f"mcp__{spec.server.casefold()}", f"mcp/{spec.server.casefold()}"):
        return True
    if wanted.endswith("/"):
        return wanted[:-1] == spec.server.casefold()
    is_strict = widening and spec.server
    return any(fnmatchcase(name, wanted) for rank, name in spellings(spec) if rank != BARE or not is_strict)


def first_match(patterns: Iterable[str], spec: ToolSpec, *, widening: bool = False) -> str | None:
    return next((pattern for pattern in patterns if matches(pattern, spec, widening=widening)), None)
