"""Write: create a file, or replace all of one that was read before."""

from __future__ import annotations

import asyncio
from pathlib import Path

from pydantic import Field

from caddie.errors import ToolFailure
from caddie.tools.builtin.documents import Document, find, require_seen, store
from caddie.tools.builtin.notebooks import is_notebook, parse
from caddie.tools.builtin.paths import resolve, shown
from caddie.tools.builtin.problems import new_problems, problems_now
from caddie.tools.builtin.text_files import UTF_8, Encoding, line_end, lines_of, with_line_end
from caddie.tools.context import ToolContext
from caddie.tools.tool import DiffPreview, Preview, ToolArgs, ToolResult, builtin, text_result


class WriteArgs(ToolArgs):
    path: str = Field(description="File to write, relative to the workspace or absolute; missing folders are created.")
    content: str = Field(description="The whole new text of the file.")


async def preview_write(args: WriteArgs, context: ToolContext) -> Preview:
    path, existing = await _target(args, context)
    return DiffPreview(str(path), existing.text if existing else "", _new_text(args, existing))


async def write(args: WriteArgs, context: ToolContext) -> ToolResult:
    path, existing = await _target(args, context)
    if is_notebook(path.name) and await asyncio.to_thread(parse, args.content) is None:
        raise ToolFailure(
            "Expected the JSON of a notebook, an object with `nbformat` 4 and `cells`. NotebookEdit changes one cell."
        )
    document = existing or Document(path, shown(context.workspace, path), "", is_new=True)
    text = _new_text(args, existing)
    encoding, note = _encoding_for(document, text)
    known = await problems_now(document, context)
    await store(document, text, context, encoding=encoding)
    problems = await new_problems(known, document, context)
    did = "Replaced" if existing else "Created"
    where = " (in the editor's buffer)" if document.is_open else ""
    return text_result(
        f"{did} {document.name!r}{where}: {len(lines_of(text)):,} lines, {len(text):,} characters.{note}{problems}"
    )


async def _target(args: WriteArgs, context: ToolContext) -> tuple[Path, Document | None]:
    path = await asyncio.to_thread(resolve, context.workspace, args.path)
    existing = await find(path, context)
    if existing is not None and existing.text:
        require_seen(existing, context)
    return path, existing


def _new_text(args: WriteArgs, existing: Document | None) -> str:
    """A file with CRLF keeps it, as models write LF."""
    if existing is None or "\n" not in existing.text:
        return args.content
    return with_line_end(args.content, line_end(existing.text))


def _encoding_for(document: Document, text: str) -> tuple[Encoding, str]:
    """As everything is replaced, a text that the old encoding cannot hold changes it rather than fails."""
    try:
        text.encode(document.encoding.name)
    except UnicodeEncodeError:
        if document.encoding != UTF_8:
            return UTF_8, f" The encoding is now UTF-8; it was {document.encoding.name}."
    return document.encoding, ""


TOOL = builtin(
    "Write",
    "Writes a whole file: creates it with its folders, or replaces what is there. An existing file must have been read "
    "with Read before. To change a part of a file use Edit.",
    WriteArgs,
    write,
    preview=preview_write,
    search_hint="create new file, save text, overwrite",
    edits_files=True,
)
