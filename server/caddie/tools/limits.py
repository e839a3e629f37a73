"""How much of a tool's result goes into the conversation. The rest is kept in a file, and the text says where."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from caddie.tools.tool import Content, TextContent, ToolResult

MAX_RESULT_CHARS = 60_000
_HEAD = 40_000
_TAIL = 10_000


def capped(result: ToolResult, spill: Callable[[str], Path]) -> ToolResult:
    """Long texts become head and tail with counts; `spill` stores the whole. Images pass."""
    if all(len(part.text) <= MAX_RESULT_CHARS for part in result.content if isinstance(part, TextContent)):
        return result
    return replace(result, content=tuple(_capped(part, spill) for part in result.content))


def _capped(part: Content, spill: Callable[[str], Path]) -> Content:
    if not isinstance(part, TextContent) or len(part.text) <= MAX_RESULT_CHARS:
        return part
    path = spill(part.text)
    cut = len(part.text) - _HEAD - _TAIL
    note = f"\n\n[… {cut} of {len(part.text)} characters left out; the whole text is in {path}; read it in parts …]\n\n"
    return TextContent(part.text[:_HEAD] + note + part.text[-_TAIL:])
