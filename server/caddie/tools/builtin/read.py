"""Read: a file's text with line numbers, a picture, or a folder's listing."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path

from pydantic import Field

from caddie.errors import ToolFailure
from caddie.tools.builtin.documents import Document, load, mark_seen
from caddie.tools.builtin.notebooks import is_notebook, parse, rendered
from caddie.tools.builtin.paths import os_failure, resolve, shown
from caddie.tools.builtin.text_files import lines_of
from caddie.tools.context import ToolContext
from caddie.tools.tool import ImageContent, TextContent, ToolArgs, ToolResult, builtin, text_result

MAX_LINE = 2_000
MAX_CHARACTERS = 50_000
MAX_ENTRIES = 500
MAX_IMAGE_BYTES = 5_000_000


class ReadArgs(ToolArgs):
    path: str = Field(description="File or folder to read; relative to the workspace or absolute.")
    offset: int = Field(1, ge=1, description="Number of the first line to return, counted from 1.")
    limit: int = Field(2_000, ge=1, le=10_000, description="How many lines to return at most.")


async def read(args: ReadArgs, context: ToolContext) -> ToolResult:
    path = resolve(context.workspace, args.path)
    name = shown(context.workspace, path)
    if context.editor.read_open_file(path) is None:
        special = await asyncio.to_thread(_read_folder_or_image, path, name)
        if special is not None:
            return special
    document = await load(path, context)
    mark_seen(path, document.text, context)
    notebook = await asyncio.to_thread(parse, document.text) if is_notebook(name) else None
    if notebook is not None:
        return ToolResult(rendered(notebook, name, args.offset, args.limit))
    return text_result(await asyncio.to_thread(_numbered, document, args.offset, args.limit))


def _read_folder_or_image(path: Path, name: str) -> ToolResult | None:
    try:
        if path.is_dir():
            return text_result(_listing(path, name))
        return _image(path, name) if path.is_file() else None
    except OSError as error:
        raise os_failure(error, name) from None


def _listing(folder: Path, name: str) -> str:
    entries = sorted(entry.name + ("/" if entry.is_dir() else "") for entry in folder.iterdir())
    if not entries:
        return f"{name!r} is an empty folder."
    cut = f"\n… {len(entries) - MAX_ENTRIES:,} more entries. Glob narrows them." if len(entries) > MAX_ENTRIES else ""
    return f"Folder {name!r}, {len(entries):,} entries:\n" + "\n".join(entries[:MAX_ENTRIES]) + cut


def _image(path: Path, name: str) -> ToolResult | None:
    with path.open("rb") as file:
        media_type = _image_type(file.read(12))
    if media_type is None:
        return None
    size = path.stat().st_size
    if size > MAX_IMAGE_BYTES:
        raise ToolFailure(
            f"{name!r} is an {media_type} picture of {size:,} bytes; at most {MAX_IMAGE_BYTES:,} can be shown."
        )
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    return ToolResult((TextContent(f"{name!r}: {media_type}, {size:,} bytes."), ImageContent(data, media_type)))


def _image_type(head: bytes) -> str | None:
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    return "image/webp" if head[:4] == b"RIFF" and head[8:12] == b"WEBP" else None


def _numbered(document: Document, offset: int, limit: int) -> str:
    lines = lines_of(document.text)
    if not lines:
        return f"{document.name!r} is empty."
    if offset > len(lines):
        raise ToolFailure(f"{document.name!r} has {len(lines):,} lines, so there is none at offset {offset:,}.")
    shown_lines = _within_budget(lines, offset, limit)
    last = offset + len(shown_lines) - 1
    where = f"Lines {offset:,}-{last:,} of {len(lines):,}" if (offset, last) != (1, len(lines)) else f"{last:,} lines"
    unsaved = ", from the editor's buffer" if document.is_open else ""
    more = f" Read on with offset={last + 1}." if last < len(lines) else ""
    return "\n".join(shown_lines) + f"\n\n({where}{unsaved}.{more})"


def _within_budget(lines: list[str], offset: int, limit: int) -> list[str]:
    chosen: list[str] = []
    left = MAX_CHARACTERS
    for number, line in enumerate(lines[offset - 1 : offset - 1 + limit], start=offset):
        text = f"{number:6}\t{_cut(line)}"
        left -= len(text) + 1
        if left < 0 and chosen:
            break
        chosen.append(text)
    return chosen


def _cut(line: str) -> str:
    if len(line) <= MAX_LINE:
        return line
    return f"{line[:MAX_LINE]}… (line cut: {len(line) - MAX_LINE:,} more characters)"


TOOL = builtin(
    "Read",
    "Reads a text file and returns its lines with their numbers (number, tab, text), unsaved changes in the editor "
    "included. Also shows pictures (PNG, JPEG, GIF, WebP) and the cells of notebooks, and lists folders. Long files "
    "come in pieces: use offset and limit. A file must be read before Edit or Write may change it.",
    ReadArgs,
    read,
    search_hint="open show view file contents, image, list directory folder",
    read_only=True,
)
