"""What is in a Jupyter notebook, in the order a person sees it? Cells as text, and back without losing the rest."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from caddie.errors import ToolFailure
from caddie.tools.tool import Content, ImageContent, TextContent

MAX_OUTPUT = 2_000
MAX_TEXT = 50_000
MAX_IMAGES = 5
_IMAGES = ("image/png", "image/jpeg")
_INDENT = re.compile(r"\{\n( +|\t+)")


@dataclass(frozen=True, slots=True)
class Notebook:
    """`tree` is all of the file; cells are changed in copies of it."""

    tree: Mapping[str, Any]
    indent: str
    ends_with_newline: bool

    @property
    def cells(self) -> list[dict[str, Any]]:
        return list(self.tree["cells"])

    def find(self, name: str) -> int:
        """The place of a cell by its number from 1, or its id. Raises: ToolFailure."""
        ids = [str(cell.get("id", "")) for cell in self.cells]
        if name in ids:
            return ids.index(name)
        if name.isdecimal() and 1 <= int(name) <= len(ids):
            return int(name) - 1
        known = f"cells 1 to {len(ids)}" if ids else "no cells"
        raise ToolFailure(f"There is no cell {name!r}; the notebook has {known}. Read shows them with their ids.")

    def with_cells(self, cells: list[dict[str, Any]]) -> str:
        tree = {**self.tree, "cells": cells}
        text = json.dumps(tree, indent=self.indent, ensure_ascii=False)
        return text + "\n" if self.ends_with_newline else text

    def new_cell(self, kind: str, source: str) -> dict[str, Any]:
        has_ids = (self.tree.get("nbformat"), self.tree.get("nbformat_minor", 0)) >= (4, 5)
        cell: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": _lines(source)}
        cell |= {"id": uuid4().hex[:8]} if has_ids else {}
        return _without_outputs(cell) if kind == "code" else cell


def is_notebook(name: str) -> bool:
    return name.endswith(".ipynb")


def parse(text: str) -> Notebook | None:
    """None for what is no notebook of the format that has been in use since 2014."""
    try:
        tree = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(tree, dict) or tree.get("nbformat") != 4 or not isinstance(tree.get("cells"), list):
        return None
    if not all(isinstance(cell, dict) for cell in tree["cells"]):
        return None
    indent = _INDENT.match(text.replace("\r\n", "\n"))
    return Notebook(tree, indent[1] if indent else " ", text.endswith("\n"))


def source_of(cell: Mapping[str, Any]) -> str:
    return _joined(cell.get("source", ""))


def with_source(cell: Mapping[str, Any], source: str, kind: str = "") -> dict[str, Any]:
    """The cell with another text. What it printed belonged to the old one."""
    changed = copy.deepcopy(dict(cell))
    changed["source"] = source if isinstance(cell.get("source"), str) else _lines(source)
    if kind and kind != cell.get("cell_type"):
        changed["cell_type"] = kind
        changed.pop("outputs", None)
        changed.pop("execution_count", None)
    return _without_outputs(changed) if changed.get("cell_type") == "code" else changed


def rendered(notebook: Notebook, name: str, offset: int, limit: int) -> tuple[Content, ...]:
    """Cells `offset` to `offset + limit`, as far as there is room; pictures after the text."""
    cells = notebook.cells
    if cells and offset > len(cells):
        raise ToolFailure(f"{name!r} has {len(cells)} cells, so there is none at offset {offset:,}.")
    shown, images, room = list[str](), list[Content](), MAX_TEXT
    for number, cell in enumerate(cells[offset - 1 : offset - 1 + limit], start=offset):
        text = _cell_text(number, cell)
        room -= len(text)
        if room < 0 and shown:
            break
        shown.append(text[:MAX_TEXT])
        images += list(_images(cell))
    last = offset + len(shown) - 1
    more = f" Read on with offset={last + 1}." if last < len(cells) else ""
    end = f"(Notebook {name!r}: cells {offset}-{last} of {len(cells)}.{more} NotebookEdit changes cells.)"
    if not cells:
        end = f"(Notebook {name!r} has no cells. NotebookEdit inserts some.)"
    return (TextContent("\n\n".join([*shown, end])), *images[:MAX_IMAGES])


def _cell_text(number: int, cell: Mapping[str, Any]) -> str:
    ran = f", run {cell['execution_count']}" if cell.get("execution_count") else ""
    name = f" [{cell['id']}]" if cell.get("id") else ""
    head = f"cell {number}{name} {cell.get('cell_type', 'unknown')}{ran}:"
    outputs = [f"output: {_cut(text)}" for text in _outputs(cell) if text.strip()]
    return "\n".join([head, source_of(cell), *outputs])


def _outputs(cell: Mapping[str, Any]) -> Iterator[str]:
    for output in _listed(cell.get("outputs")):
        data = output.get("data")
        if output.get("output_type") == "error":
            yield f"{output.get('ename', 'Error')}: {output.get('evalue', '')}"
        elif isinstance(data, Mapping):
            yield _joined(data.get("text/plain", "")) + "".join(f" [{kind}]" for kind in _IMAGES if kind in data)
        else:
            yield _joined(output.get("text", ""))


def _images(cell: Mapping[str, Any]) -> Iterator[ImageContent]:
    for output in _listed(cell.get("outputs")):
        data = output.get("data")
        for kind in _IMAGES if isinstance(data, Mapping) else ():
            if kind in data:  # type: ignore[operator]  # a mapping, as the line above says
                yield ImageContent("".join(_joined(data[kind]).split()), kind)  # type: ignore[index]


def _listed(value: object) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _joined(value: object) -> str:
    return "".join(map(str, value)) if isinstance(value, list) else str(value)


def _lines(source: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", source.replace("\r\n", "\n"))


def _without_outputs(cell: dict[str, Any]) -> dict[str, Any]:
    return {**cell, "execution_count": None, "outputs": []}


def _cut(text: str) -> str:
    return text if len(text) <= MAX_OUTPUT else f"{text[:MAX_OUTPUT]}… ({len(text) - MAX_OUTPUT:,} more characters)"
