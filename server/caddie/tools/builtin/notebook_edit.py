"""NotebookEdit: change one cell of a Jupyter notebook that was read before."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field

from caddie.errors import ToolFailure
from caddie.tools.builtin.diffs import short_diff
from caddie.tools.builtin.documents import Document, load, require_seen, store
from caddie.tools.builtin.notebooks import Notebook, is_notebook, parse, source_of, with_source
from caddie.tools.builtin.paths import resolve
from caddie.tools.builtin.text_files import line_end, with_line_end
from caddie.tools.context import ToolContext
from caddie.tools.tool import DiffPreview, Preview, ToolArgs, ToolResult, builtin, text_result


class NotebookEditArgs(ToolArgs):
    path: str = Field(description="The .ipynb file, relative to the workspace or absolute.")
    cell: str = Field(
        description="Number (from 1) or id of the cell, as Read shows them. To insert: the cell to insert after, or 0."
    )
    mode: Literal["replace", "insert", "delete"] = Field("replace", description="What to do with the cell.")
    source: str = Field("", description="The whole new text of the cell.")
    cell_type: Literal["code", "markdown", "raw"] | None = Field(
        None, description="Kind of the cell; an inserted one is `code` and a replaced one stays what it is without it."
    )


@dataclass(frozen=True, slots=True)
class Plan:
    document: Document
    text: str
    did: str
    before: str
    after: str


async def preview_notebook_edit(args: NotebookEditArgs, context: ToolContext) -> Preview:
    plan = await _plan(args, context)
    return DiffPreview(str(plan.document.path), plan.before, plan.after)


async def notebook_edit(args: NotebookEditArgs, context: ToolContext) -> ToolResult:
    plan = await _plan(args, context)
    await store(plan.document, plan.text, context)
    diff = await asyncio.to_thread(short_diff, plan.before, plan.after)
    return text_result(f"{plan.did} of {plan.document.name!r}.\n{diff}")


async def _plan(args: NotebookEditArgs, context: ToolContext) -> Plan:
    path = await asyncio.to_thread(resolve, context.workspace, args.path)
    document = await load(path, context)
    require_seen(document, context)
    notebook = await asyncio.to_thread(parse, document.text) if is_notebook(document.name) else None
    if notebook is None:
        raise ToolFailure(f"{document.name!r} is no notebook that can be read (.ipynb, format 4). Use Edit.")
    cells, did, before, after = _changed(notebook, args)
    text = with_line_end(notebook.with_cells(cells), line_end(document.text))
    return Plan(document, text, did, before, after)


def _changed(notebook: Notebook, args: NotebookEditArgs) -> tuple[list[dict[str, Any]], str, str, str]:
    """The new cells, what was done, and the cell's text before and after."""
    cells = notebook.cells
    if args.mode == "insert":
        at = 0 if args.cell == "0" else notebook.find(args.cell) + 1
        cells.insert(at, notebook.new_cell(args.cell_type or "code", args.source))
        return cells, f"Inserted cell {at + 1}", "", args.source
    at = notebook.find(args.cell)
    before = source_of(cells[at])
    if args.mode == "delete":
        del cells[at]
        return cells, f"Deleted cell {at + 1}", before, ""
    if before == args.source and args.cell_type in (None, cells[at].get("cell_type")):
        raise ToolFailure(f"Cell {at + 1} has this text already, so there is nothing to change.")
    cells[at] = with_source(cells[at], args.source, args.cell_type or "")
    return cells, f"Replaced the text of cell {at + 1}", before, args.source


TOOL = builtin(
    "NotebookEdit",
    "Replaces, inserts or deletes one cell of a Jupyter notebook (.ipynb). The notebook must have been read with Read "
    "before. Everything else in the file stays; the outputs of a changed code cell are cleared.",
    NotebookEditArgs,
    notebook_edit,
    preview=preview_notebook_edit,
    search_hint="jupyter notebook ipynb, change insert delete cell",
    edits_files=True,
)
