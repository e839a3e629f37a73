"""Which tools a name or glob in the settings means. One rule for states, search scope and permissions.

A pattern matches a tool by its wire name (`mcp__git__git_log`), `server/tool`, `server__tool` or its bare
original name, in any case; `mcp__git` and `git/` mean the whole server.
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from caddie.tools.tool import ToolSpec


def spellings(spec: ToolSpec) -> tuple[str, ...]:
    """All names a person may call this tool by, casefolded, the wire name first."""
    names = [spec.name]
    if spec.server:
        original = spec.original_name or spec.name
        names += [
            f"mcp__{spec.server}__{original}",
            f"{spec.server}/{original}",
            f"{spec.server}__{original}",
            original,
        ]
    return tuple(dict.fromkeys(name.casefold() for name in names))


def matches(pattern: str, spec: ToolSpec) -> bool:
    wanted = pattern.strip().casefold()
    if not wanted:
        return False
    if spec.server and wanted.rstrip("/") in (f"mcp__{spec.server.casefold()}", f"mcp/{spec.server.casefold()}"):
        return True
    if wanted.endswith("/"):
        return wanted[:-1] == spec.server.casefold()
    return any(fnmatchcase(name, wanted) for name in spellings(spec))


def first_match(patterns: Iterable[str], spec: ToolSpec) -> str | None:
    return next((pattern for pattern in patterns if matches(pattern, spec)), None)
