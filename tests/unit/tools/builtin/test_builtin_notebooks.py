from __future__ import annotations

import json

import pytest

from caddie.tools.builtin.edit import TOOL as EDIT
from caddie.tools.builtin.notebook_edit import TOOL
from caddie.tools.builtin.read import TOOL as READ
from caddie.tools.builtin.write import TOOL as WRITE
from caddie.tools.tool import DiffPreview, ImageContent

PICTURE = {
    "output_type": "display_data",
    "metadata": {},
    "data": {"image/png": "iVBO\nRw0=\n", "text/plain": ["<Figure>"]},
}
CODE = {
    "cell_type": "code", "id": "c0de", "metadata": {"tags": ["keep"]}, "execution_count": 3,
    "outputs": [{"output_type": "stream", "name": "stdout", "text": ["1\n", "2\n"]}, PICTURE],
    "source": ["for n in (1, 2):\n", "    print(n)"],
}  # fmt: skip
TREE = {
    "cells": [{"cell_type": "markdown", "id": "md", "metadata": {}, "source": ["# Größe\n", "\n", "text"]}, CODE],
    "metadata": {"kernelspec": {"name": "python3"}, "custom": [1, 2.5]}, "nbformat": 4, "nbformat_minor": 5,
}  # fmt: skip
TEXT = json.dumps(TREE, indent=1, ensure_ascii=False) + "\n"


async def notebook(world, text=TEXT, name="a.ipynb"):
    file = world.write(name, text)
    await world.run(READ, path=name)
    return file


def cells(file):
    return json.loads(file.read_text())["cells"]


async def test_the_cells_are_read_with_their_outputs_and_pictures(world):
    world.write("a.ipynb", TEXT)
    result = await world.run(READ, path="a.ipynb")
    assert result.content[0].text == (
        "cell 1 [md] markdown:\n# Größe\n\ntext\n\n"
        "cell 2 [c0de] code, run 3:\nfor n in (1, 2):\n    print(n)\noutput: 1\n2\n\noutput: <Figure> [image/png]\n\n"
        "(Notebook 'a.ipynb': cells 1-2 of 2. NotebookEdit changes cells.)"
    )
    assert result.content[1:] == (ImageContent("iVBORw0=", "image/png"),)


async def test_long_notebooks_come_in_pieces_and_long_outputs_are_cut(world):
    many = [{**CODE, "outputs": [{"output_type": "stream", "text": "x" * 5_000}]} for _ in range(100)]
    world.write("a.ipynb", json.dumps({**TREE, "cells": many}))
    text = await world.text(READ, path="a.ipynb", offset=11, limit=5)
    assert text.startswith("cell 11 [c0de]")
    assert "(3,000 more characters)" in text
    assert "cells 11-15 of 100. Read on with offset=16." in text
    assert len(await world.text(READ, path="a.ipynb")) < 52_000
    assert "none at offset 101" in await world.failure(READ, path="a.ipynb", offset=101)


async def test_a_replaced_cell_loses_its_outputs_and_nothing_else_in_the_file_changes(world):
    file = await notebook(world)
    text = await world.text(TOOL, path="a.ipynb", cell="c0de", source="print('ä')\n")
    assert text.startswith("Replaced the text of cell 2 of 'a.ipynb'.\n@@")
    changed = {**CODE, "source": ["print('ä')\n"], "outputs": [], "execution_count": None}
    assert (
        file.read_text()
        == json.dumps({**TREE, "cells": [TREE["cells"][0], changed]}, indent=1, ensure_ascii=False) + "\n"
    )


async def test_cells_are_inserted_and_deleted_by_number_or_id(world):
    file = await notebook(world)
    await world.text(TOOL, path="a.ipynb", cell="0", mode="insert", source="first", cell_type="markdown")
    await world.text(TOOL, path="a.ipynb", cell="md", mode="insert", source="x = 1\ny = 2")
    await world.text(TOOL, path="a.ipynb", cell="4", mode="delete")
    found = cells(file)
    assert [(cell["cell_type"], "".join(cell["source"])) for cell in found] == [
        ("markdown", "first"), ("markdown", "# Größe\n\ntext"), ("code", "x = 1\ny = 2"),
    ]  # fmt: skip
    assert found[2]["source"] == ["x = 1\n", "y = 2"]
    assert (found[2]["outputs"], found[2]["execution_count"], len(found[2]["id"])) == ([], None, 8)
    assert "outputs" not in found[0]


async def test_a_cell_that_becomes_text_keeps_no_outputs(world):
    file = await notebook(world)
    await world.text(TOOL, path="a.ipynb", cell="2", source="words", cell_type="markdown")
    assert set(cells(file)[1]) == {"cell_type", "id", "metadata", "source"}


async def test_indentation_and_line_ends_of_the_file_stay_and_old_formats_get_no_ids(world):
    old = {**TREE, "nbformat_minor": 2, "cells": []}
    file = await notebook(world, json.dumps(old, indent=4).replace("\n", "\r\n"))
    await world.text(TOOL, path="a.ipynb", cell="0", mode="insert", source="x")
    cell = {"cell_type": "code", "metadata": {}, "source": ["x"], "execution_count": None, "outputs": []}
    assert file.read_bytes().decode() == json.dumps({**old, "cells": [cell]}, indent=4).replace("\n", "\r\n")


async def test_the_preview_is_the_cell_before_and_after(world):
    file = await notebook(world)
    preview = await world.preview(TOOL, path="a.ipynb", cell="1", source="# Neu")
    assert preview == DiffPreview(str(file), "# Größe\n\ntext", "# Neu")


async def test_what_cannot_be_done_is_said(world):
    await notebook(world)
    assert "There is no cell '7'; the notebook has cells 1 to 2" in await world.failure(TOOL, path="a.ipynb", cell="7")
    assert "nothing to change" in await world.failure(TOOL, path="a.ipynb", cell="1", source="# Größe\n\ntext")
    world.write("b.txt", TEXT)
    await world.text(READ, path="b.txt")
    assert "is no notebook" in await world.failure(TOOL, path="b.txt", cell="1", source="x")
    world.write("c.ipynb", TEXT)
    assert "has not been read" in await world.failure(TOOL, path="c.ipynb", cell="1", source="x")


async def test_edit_and_write_do_not_break_a_notebook_but_may_mend_a_broken_one(world):
    file = await notebook(world)
    message = await world.failure(EDIT, path="a.ipynb", old_string="print(n)", new_string='print("a\nb")')
    assert "is a notebook. NotebookEdit changes its cells" in message
    assert "Expected the JSON of a notebook" in await world.failure(WRITE, path="a.ipynb", content="print(1)")
    await world.text(WRITE, path="new.ipynb", content=TEXT)
    assert file.read_text() == TEXT
    broken = await notebook(world, TEXT[:-3], name="broken.ipynb")
    await world.text(EDIT, path="broken.ipynb", old_string='"nbformat_minor": 5', new_string='"nbformat_minor": 5}')
    assert json.loads(broken.read_text()) == TREE


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"nbformat": 3, "worksheets": []}', '{"nbformat": 4, "cells": [1]}'])
async def test_what_is_no_notebook_is_read_as_the_text_it_is(world, text):
    world.write("a.ipynb", text)
    assert "cell 1" not in await world.text(READ, path="a.ipynb")
