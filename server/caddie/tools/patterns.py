"""Which tools a name or glob in the settings means. One rule for states, search scope and permissions.

A pattern matches a tool by its wire name (`mcp__git__git_log`), `server/tool`, `server__tool` or its bare
original name, in any case; `mcp__git` and `git/` mean the whole server.
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import lru_cache

from caddie.tools.exact import BARE, spellings
from caddie.tools.tool import ToolSpec

_GLOB = frozenset("*?[")


def matches(pattern: str, spec: ToolSpec, *, widening: bool = False) -> bool:
    """`widening` is for patterns that allow or enable something: there a bare name means the built-in tool alone,
    so that no server can publish its way into a permission by calling a tool `Read`."""
    wanted, is_glob = _form(pattern)
    if not wanted:
        return False
    server = spec.server
    if server and wanted.rstrip("/") in (f"mcp__{server.casefold()}", f"mcp/{server.casefold()}"):
        return True
    if wanted.endswith("/"):
        return wanted[:-1] == server.casefold()
    names = _names(spec.name, spec.original_name, server, bool(widening and server))
    return any(fnmatchcase(name, wanted) for name in names) if is_glob else wanted in names


def is_glob(pattern: str) -> bool:
    """Whether it means more than one name by its form."""
    wanted, has_wildcard = _form(pattern)
    return has_wildcard or wanted.endswith("/")


def first_match(patterns: Iterable[str], spec: ToolSpec, *, widening: bool = False) -> str | None:
    return next((pattern for pattern in patterns if matches(pattern, spec, widening=widening)), None)


@lru_cache(10_000)
def _form(pattern: str) -> tuple[str, bool]:
    wanted = pattern.strip().casefold()
    return wanted, not _GLOB.isdisjoint(wanted)


@lru_cache(20_000)  # lists of hundreds of names meet hundreds of tools at each change
def _names(name: str, original_name: str, server: str, is_strict: bool) -> frozenset[str]:
    spec = ToolSpec(name=name, description="", input_schema={}, original_name=original_name, server=server)
    found = {spelling for rank, spelling in spellings(spec) if rank != BARE or not is_strict}
    if server:  # as published too, with blanks and letters that comparing names takes out
        found |= {
            f"{start}{original_name}".strip().casefold() for start in (f"{server}/", f"{server}__", f"mcp__{server}__")
        }
    return frozenset(found if is_strict else found | {original_name.strip().casefold()} - {""})
