"""Which tools does a name mean? Wire name, original name, bare name and `server/tool`, in any case."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator

from caddie.tools.tool import ToolSpec

BARE = 3  # the rank of a name without its server
_PREFIX = "mcp__"
_QUOTES = " \t\r\n\"'`“”‘’「」"


def normalise(name: str) -> str:
    """The form in which names are compared: trimmed, unquoted, without case."""
    return unicodedata.normalize("NFKC", name).strip(_QUOTES).casefold()


def bare_name(spec: ToolSpec) -> str:
    """The tool's name without its server: `git_log` of `mcp__git__git_log`."""
    if spec.original_name:
        return spec.original_name
    return _split_wire_name(spec.name)[1]


def server_name(spec: ToolSpec) -> str:
    return spec.server or _split_wire_name(spec.name)[0]


def _split_wire_name(name: str) -> tuple[str, str]:
    server, separator, tool = name.removeprefix(_PREFIX).partition("__")
    return (server, tool) if name.startswith(_PREFIX) and separator and tool else ("", name)


def resolve(name: str, tools: Iterable[ToolSpec]) -> tuple[ToolSpec, ...]:
    """The tools that `name` can mean, in order of wire name: none, one, or all candidates of an ambiguous name.

    The more exact spelling wins: a wire name as written, a wire name in another case, a name with its server, a
    bare name.
    """
    wanted = normalise(name)
    if not wanted:
        return ()
    ranks: dict[int, list[ToolSpec]] = {}
    for tool in tools:
        rank = _rank(name.strip(_QUOTES), wanted, tool)
        if rank is not None:
            ranks.setdefault(rank, []).append(tool)
    return tuple(sorted(ranks[min(ranks)], key=lambda tool: tool.name)) if ranks else ()


def _rank(written: str, wanted: str, tool: ToolSpec) -> int | None:
    if written == tool.name:
        return 0
    return next((rank for rank, spelling in spellings(tool) if spelling == wanted), None)


def spellings(tool: ToolSpec) -> Iterator[tuple[int, str]]:
    """(how exact, normalised name); lower is more exact."""
    server, bare = normalise(server_name(tool)), normalise(bare_name(tool))
    yield 1, normalise(tool.name)
    if server:
        yield from ((2, f"{server}{separator}{bare}") for separator in ("/", "__", ".", ":"))
        yield 2, f"{_PREFIX}{server}__{bare}"
    yield BARE, bare
    yield BARE, normalise(_split_wire_name(tool.name)[1])
