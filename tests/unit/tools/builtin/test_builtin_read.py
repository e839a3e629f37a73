from __future__ import annotations

import base64
import os
import threading

from caddie.tools.builtin import read as reading
from caddie.tools.builtin.read import TOOL
from caddie.tools.tool import ImageContent

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


async def test_lines_come_with_their_numbers_and_the_whole_is_told(world):
    world.write("a.txt", "one\ntwo\n")
    assert await world.text(TOOL, path="a.txt") == "     1\tone\n     2\ttwo\n\n(2 lines.)"


async def test_a_part_says_where_it_is_and_how_to_read_on(world):
    world.write("a.txt", "".join(f"l{i}\n" for i in range(1, 11)))
    text = await world.text(TOOL, path="a.txt", offset=3, limit=2)
    assert text == "     3\tl3\n     4\tl4\n\n(Lines 3-4 of 10. Read on with offset=5.)"
    assert (await world.text(TOOL, path="a.txt", offset=10)).endswith("(Lines 10-10 of 10.)")


async def test_a_long_line_is_cut_and_says_by_how_much(world):
    world.write("a.txt", "x" * 2_000_000)
    text = await world.text(TOOL, path="a.txt")
    assert len(text) < 2_200
    assert "1,998,000 more characters" in text


async def test_a_result_is_bounded_whatever_limit_asks_for(world):
    world.write("a.txt", ("x" * 1_500 + "\n") * 3_000)
    text = await world.text(TOOL, path="a.txt", limit=3_000)
    assert len(text) < 52_000
    assert "of 3,000. Read on with offset=" in text


async def test_only_line_ends_end_a_line(world):
    world.write("a.txt", "a\u2028b\x0cc\r\nd\r\n")
    assert await world.text(TOOL, path="a.txt") == "     1\ta\u2028b\x0cc\n     2\td\n\n(2 lines.)"


async def test_unsaved_changes_are_read_and_said(world):
    path = world.write("a.txt", "saved")
    world.editor.buffers[path] = "unsaved"
    assert await world.text(TOOL, path="a.txt") == "     1\tunsaved\n\n(1 lines, from the editor's buffer.)"


async def test_an_empty_file_is_said_and_a_line_past_the_end_is_an_error(world):
    world.write("empty", "")
    world.write("short", "one\n")
    assert await world.text(TOOL, path="empty") == "'empty' is empty."
    assert "has 1 lines" in await world.failure(TOOL, path="short", offset=5)


async def test_encodings_with_a_mark_and_old_ones_are_read(world):
    world.write("utf16", "\ufeffgrün\n".encode("utf-16-le"))
    world.write("latin", "grün\n".encode("latin-1"))
    assert "grün" in await world.text(TOOL, path="utf16")
    assert "grün" in await world.text(TOOL, path="latin")


async def test_a_binary_file_is_refused_with_type_and_size(world):
    world.write("a.pdf", b"%PDF\0" + b"\xff" * 1_000)
    message = await world.failure(TOOL, path="a.pdf")
    assert message == "'a.pdf' is a binary file (application/pdf, 1,005 bytes), not text."


async def test_a_picture_is_shown_whatever_its_name(world):
    world.write("picture.dat", PNG)
    result = await world.run(TOOL, path="picture.dat")
    assert result.content[1] == ImageContent(base64.b64encode(PNG).decode(), "image/png")


async def test_a_picture_too_large_is_refused_with_its_size(world):
    world.write("big.png", PNG + b"\0" * 5_000_000)
    assert "5,000,028 bytes" in await world.failure(TOOL, path="big.png")


async def test_a_folder_is_listed(world):
    world.write("src/a.py", "")
    world.write("src/sub/b.py", "")
    assert await world.text(TOOL, path="src") == "Folder 'src', 2 entries:\na.py\nsub/"


async def test_a_missing_file_is_answered_with_the_nearest_names(world):
    world.write("src/settings.py", "")
    assert "Nearest names in this folder: settings.py" in await world.failure(TOOL, path="src/setings.py")
    assert "Nearest names in '.', the nearest existing folder,: src." in await world.failure(TOOL, path="scr/x/y.py")
    assert "no similar name" in await world.failure(TOOL, path="zzz")


async def test_what_is_no_path_or_no_file_is_refused(world):
    os.mkfifo(world.workspace / "pipe")
    assert "device, pipe or socket" in await world.failure(TOOL, path="pipe")
    assert "empty text" in await world.failure(TOOL, path=" ")
    assert "NUL" in await world.failure(TOOL, path="a\0b")
    world.write("file", "")
    assert "not a directory" in await world.failure(TOOL, path="file/below")


async def test_an_enormous_file_is_refused_before_it_is_read(world):
    with (world.workspace / "huge").open("wb") as file:
        file.truncate(60_000_000)
    assert "60,000,000 bytes" in await world.failure(TOOL, path="huge")


async def test_a_file_is_cut_into_lines_beside_the_loop(world, monkeypatch):
    world.write("a.txt", "one\n")
    places = []
    numbered = reading._numbered

    def noting(*arguments):
        places.append(threading.current_thread())
        return numbered(*arguments)

    monkeypatch.setattr(reading, "_numbered", noting)
    assert "one" in await world.text(TOOL, path="a.txt")
    assert places
    assert threading.main_thread() not in places
