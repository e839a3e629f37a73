from __future__ import annotations

import os

import pytest

from caddie.tools.builtin.read import TOOL as READ
from caddie.tools.builtin.text_files import write_atomic
from caddie.tools.builtin.write import TOOL
from caddie.tools.tool import DiffPreview


async def test_a_new_file_is_created_with_its_folders(world):
    text = await world.text(TOOL, path="a/b/c.txt", content="one\ntwo\n")
    assert text == "Created 'a/b/c.txt': 2 lines, 8 characters."
    assert (world.workspace / "a/b/c.txt").read_bytes() == b"one\ntwo\n"


async def test_a_new_file_gets_the_usual_mode(world):
    await world.text(TOOL, path="a.txt", content="x")
    usual = world.write("usual", "")
    assert (world.workspace / "a.txt").stat().st_mode == usual.stat().st_mode


async def test_an_existing_file_must_have_been_read(world):
    file = world.write("a.txt", "precious")
    assert "Read it first" in await world.failure(TOOL, path="a.txt", content="new")
    await world.text(READ, path="a.txt")
    assert "Replaced 'a.txt'" in await world.text(TOOL, path="a.txt", content="new")
    assert file.read_text() == "new"


async def test_what_was_written_may_be_written_again(world):
    await world.text(TOOL, path="a.txt", content="one")
    await world.text(TOOL, path="a.txt", content="two")
    assert (world.workspace / "a.txt").read_text() == "two"


async def test_line_ends_mark_and_mode_of_the_old_file_are_kept(world):
    file = world.write("a.txt", b"\xef\xbb\xbfone\r\ntwo\r\n")
    file.chmod(0o600)
    await world.text(READ, path="a.txt")
    await world.text(TOOL, path="a.txt", content="three\nfour\n")
    assert file.read_bytes() == b"\xef\xbb\xbfthree\r\nfour\r\n"
    assert file.stat().st_mode & 0o777 == 0o600


async def test_a_text_that_the_old_encoding_cannot_hold_becomes_utf_8_and_says_so(world):
    file = world.write("a.txt", "grün\n".encode("latin-1"))
    await world.text(READ, path="a.txt")
    assert "now UTF-8; it was latin-1" in await world.text(TOOL, path="a.txt", content="中\n")
    assert file.read_text(encoding="utf-8") == "中\n"


async def test_an_open_buffer_is_replaced_in_the_editor(world):
    file = world.write("a.txt", "saved")
    world.editor.buffers[file] = "typed"
    assert "Read it first" in await world.failure(TOOL, path="a.txt", content="new")
    await world.text(READ, path="a.txt")
    await world.text(TOOL, path="a.txt", content="new")
    assert (world.editor.buffers[file], file.read_text()) == ("new", "saved")


async def test_the_preview_shows_before_and_after(world):
    file = world.workspace / "a.txt"
    assert await world.preview(TOOL, path="a.txt", content="x") == DiffPreview(str(file), "", "x")
    assert not file.exists()


async def test_folders_and_binaries_are_refused(world):
    world.write("folder/x", "")
    world.write("binary", b"\0\1\2")
    world.write("file", "x")
    assert "is a folder" in await world.failure(TOOL, path="folder", content="x")
    assert "binary" in await world.failure(TOOL, path="binary", content="x")
    assert "not a directory" in await world.failure(TOOL, path="file/x", content="x")


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    file = tmp_path / "a.txt"
    file.write_text("old")

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="No space"):
        write_atomic(file, b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert file.read_text() == "old"


async def test_a_file_is_written_whose_name_is_as_long_as_names_can_be(world):
    name = "名" * 82 + ".md"
    assert name in await world.text(TOOL, path=name, content="x\n")
    assert (world.workspace / name).read_text() == "x\n"
