"""What does a server's answer look like as ours? Values in, values out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from caddie.tools.tool import Content, ImageContent, ResourceContent, TextContent, ToolResult

if TYPE_CHECKING:
    import mcp_types as types


def to_tool_result(result: types.CallToolResult) -> ToolResult:
    structured = result.structured_content
    content = tuple(to_content(block) for block in result.content)
    if not content and structured is not None:  # servers should say it as text too, and some do not
        content = (TextContent(visible(json.dumps(structured, ensure_ascii=False))),)
    return ToolResult(
        content=content,
        structured=structured if isinstance(structured, Mapping) else None,
        is_error=bool(result.is_error),
    )


def to_content(block: types.ContentBlock) -> Content:
    match block.type:
        case "text":
            return TextContent(visible(block.text))
        case "image":
            return ImageContent(block.data, block.mime_type)
        case "audio":
            return TextContent(f"[audio, {block.mime_type}, {_size(block.data)}; not shown]")
        case "resource_link":
            about = " — ".join(filter(None, (block.title or block.name, block.description)))
            return ResourceContent(str(block.uri), visible(about), block.mime_type or "")
        case "resource":
            return _embedded(block.resource)


def _embedded(resource: types.TextResourceContents | types.BlobResourceContents) -> Content:
    media_type = resource.mime_type or ""
    if media_type.startswith("image/") and hasattr(resource, "blob"):
        return ImageContent(resource.blob, media_type)
    return ResourceContent(str(resource.uri), resource_text(resource), media_type)


def resource_text(resource: types.TextResourceContents | types.BlobResourceContents) -> str:
    """The text, or a note in place of bytes."""
    blob: str | None = getattr(resource, "blob", None)
    if blob is None:
        return visible(str(getattr(resource, "text", "")))
    return f"[{resource.mime_type or 'binary'}, {_size(blob)}; not shown]"


def visible(text: str) -> str:
    """NUL is valid in JSON and breaks what comes after it: files, terminals, C strings."""
    return text.replace("\0", "\ufffd")


def _size(base64: str) -> str:
    return f"about {len(base64) * 3 // 4:,} bytes"


def progress_text(progress: float, total: float | None, message: str | None) -> str:
    done = f"{progress:g}/{total:g}" if total else f"{progress:g}"
    return f"{visible(message)} ({done})" if message else done
