"""Which name does a provider see for a tool of an MCP server?

Providers accept `[A-Za-z0-9_-]{1,64}`; servers publish anything. A name that fits is kept as `mcp__server__tool`.
One that had to change, or whose parts could be read in two ways, ends in a hash of the original. One that ends like
that by itself is hashed too, so that no tool can take another's name: a name depends on its own server and tool alone,
not on who else is there or came first, and stays the same across restarts.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable

MAX_LENGTH = 64
_HASH_DIGITS = 8
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")
_LOOKS_HASHED = re.compile(rf"_[0-9a-f]{{{_HASH_DIGITS}}}$")


def wire_name(server: str, tool: str) -> str:
    """`mcp__server__tool`, or a shortened form ending in `_` and eight hex digits."""
    canonical = f"mcp__{server}__{tool}"
    fits = len(canonical) <= MAX_LENGTH and not _UNSAFE.search(canonical)
    if fits and tool and not _is_ambiguous(server) and not _LOOKS_HASHED.search(canonical):
        return canonical
    return _hashed(server, tool)


def assign_names(server: str, tool_names: Iterable[str], taken: Collection[str] = ()) -> dict[str, str]:
    """Wire names by original name; `taken` are the wire names of other servers.

    Clashing names all get a further hash, so the order of the list never decides who keeps the short one.
    """
    rounds = dict.fromkeys(sorted(set(tool_names)), 0)
    while True:
        wires = {
            tool: _hashed(server, tool, turn) if turn else wire_name(server, tool) for tool, turn in rounds.items()
        }
        counts = Counter(wires.values())
        clashing = [tool for tool, wire in wires.items() if counts[wire] > 1 or wire in taken]
        if not clashing:
            return wires
        for tool in clashing:
            rounds[tool] += 1


def _is_ambiguous(server: str) -> bool:
    """`a__b` + `c` and `a` + `b__c` would spell the same name."""
    return not server or "__" in server or server.endswith("_")


def _hashed(server: str, tool: str, turn: int = 0) -> str:
    original = f"{server}\0{tool}" + (f"\0{turn}" if turn else "")
    digest = hashlib.sha256(original.encode("utf-8", "surrogatepass")).hexdigest()
    readable = _UNSAFE.sub("_", f"mcp__{server}__{tool}")
    return f"{readable[: MAX_LENGTH - _HASH_DIGITS - 1]}_{digest[:_HASH_DIGITS]}"
