"""The product's index behind the door that the retrieval bench knocks at: `make_search(tools) -> search(query, k)`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from caddie.search.engine import ToolIndex
from caddie.tools.exact import bare_name, server_name
from caddie.tools.tool import ToolSpec


def make_search(tools: Sequence[dict[str, Any]]) -> Callable[[str, int], list[str]]:
    index = ToolIndex()
    index.update(added=map(to_spec, tools))
    asyncio.run(index.warm())

    def search(query: str, k: int) -> list[str]:
        return [hit.tool.name for hit in index.search(query, k).hits]

    return search


def to_spec(tool: dict[str, Any]) -> ToolSpec:
    """Two tools of a set may share a name but not an id, as tools of a catalogue never share a wire name."""
    published = ToolSpec(name=tool["name"], description="", input_schema={}, server=tool.get("server") or "")
    return ToolSpec(
        name=tool["id"],
        description=tool.get("description") or "",
        input_schema=tool.get("input_schema") or {},
        original_name=bare_name(published),
        server=server_name(published),
        search_hint=tool.get("search_hint") or "",
    )
