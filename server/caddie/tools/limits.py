"""How much of a tool's result goes into the conversation. The rest is kept in a file, and the text says where."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from caddie.tools.tool import Content, ImageContent, ResourceContent, TextContent, ToolResult, as_text

MAX_RESULT_CHARS = 60_000
MAX_IMAGE_CHARS = 5_000_000
MAX_URI_CHARS = 2_000
_HEAD = 40_000
_TAIL = 10_000
_IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


async def capped(result: ToolResult, spill: Callable[[str], Path]) -> ToolResult:
    """Long texts become head and tail with counts; `spill` stores the whole. Many parts are counted together.

    Images pass when a model can look at them, and are a note otherwise.
    """
    content = tuple(_seen(part) for part in result.content)
    if sum(_length(part) for part in content) > MAX_RESULT_CHARS:
        content = await _short(content, spill)
    return replace(result, content=content)


def _length(part: Content) -> int:
    return 0 if isinstance(part, ImageContent) else len(as_text(part))


async def _short(content: tuple[Content, ...], spill: Callable[[str], Path]) -> tuple[Content, ...]:
    """One long part is cut by itself; many parts become one text, since no single one is too long."""
    long = [part for part in content if _length(part) > MAX_RESULT_CHARS]
    rest = sum(_length(part) for part in content if part not in long)
    if len(long) == 1 and rest <= MAX_RESULT_CHARS:
        return tuple([await _cut(part, spill) if part is long[0] else part for part in content])
    texts = [as_text(part) for part in content if not isinstance(part, ImageContent)]
    images = [part for part in content if isinstance(part, ImageContent)]
    return (await _cut(TextContent("\n\n".join(texts)), spill), *images)


async def _cut(part: Content, spill: Callable[[str], Path]) -> Content:
    text = part.text if isinstance(part, ResourceContent) else as_text(part)
    path = await asyncio.to_thread(spill, text)
    cut = len(text) - _HEAD - _TAIL
    size = len(text.encode("utf-8", "replace"))
    note = (
        f"\n\n[… {cut:,} of {len(text):,} characters ({size:,} bytes) left out; "
        f"the whole text is in {path}; Read it in parts …]\n\n"
    )
    short = text[:_HEAD] + note + text[-_TAIL:]
    return replace(part, text=short) if isinstance(part, ResourceContent) else TextContent(short)


def _seen(part: Content) -> Content:
    """An image that a provider would refuse would make every later request of the session fail."""
    if isinstance(part, ResourceContent) and len(part.uri) > MAX_URI_CHARS:
        return replace(part, uri=part.uri[:MAX_URI_CHARS] + "…")
    if not isinstance(part, ImageContent):
        return part
    size = f"about {len(part.data) * 3 // 4:,} bytes"
    if part.media_type not in _IMAGE_TYPES:
        return TextContent(f"[{part.media_type or 'image'}, {size}; of a kind that is not shown]")
    if len(part.data) > MAX_IMAGE_CHARS:
        return TextContent(f"[{part.media_type}, {size}; too large to be shown]")
    try:
        base64.b64decode(part.data, validate=True)
    except (binascii.Error, ValueError):
        return TextContent(f"[{part.media_type}; its data cannot be read]")
    return part
