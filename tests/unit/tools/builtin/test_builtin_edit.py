from __future__ import annotations

import asyncio
import os
import random
import re
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from caddie.tools.builtin.edit import TOOL
from caddie.tools.builtin.read import TOOL as READ
from caddie.tools.builtin.write import TOOL as WRITE
from caddie.tools.context import Problem
from caddie.tools.tool import DiffPreview


async def edit(world, old, new, path="a.txt", **more):
    return await world.text(TOOL, path=path, old_string=old, new_string=new, **more)


async def read_file(world, content, path="a.txt"):
    file = world.write(path, content)
    await world.text(READ, path=path)
    return file


async def test_one_place_is_changed_and_shown_as_a_diff(world):
    file = await read_file(world, "one\ntwo\nthree\n")
    text = await edit(world, "two", "2")
    assert file.read_text() == "one\n2\nthree\n"
    assert text == "Changed 'a.txt' in 1 place.\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three"


async def test_a_diff_deep_in_a_file_has_the_right_line_numbers(world):
    await read_file(world, "".join(f"line {i}\n" for i in range(1, 1001)))
    assert "@@ -497,7 +497,7 @@\n line 497" in await edit(world, "line 500\n", "five hundred\n")


async def test_the_preview_shows_the_whole_text_before_and_after(world):
    file = await read_file(world, "one\ntwo\n")
    preview = await world.preview(TOOL, path="a.txt", old_string="two", new_string="2")
    assert preview == DiffPreview(str(file), "one\ntwo\n", "one\n2\n")
    assert file.read_text() == "one\ntwo\n"


async def test_an_ambiguous_text_is_refused_unless_all_are_meant(world):
    file = await read_file(world, "a b a b a")
    message = await world.failure(TOOL, path="a.txt", old_string="a", new_string="c")
    assert "is in 'a.txt' 3 times, all in line 1." in message
    assert "3 places" in await edit(world, "a", "c", replace_all=True)
    assert file.read_text() == "c b c b c"


async def test_several_matches_are_named_by_their_lines(world):
    await read_file(world, "x = 1\r\ny\r\nx = 1\r\nz\r\nx = 1\r\n" + "tail\r\n" * 30)
    message = await world.failure(TOOL, path="a.txt", old_string="x = 1\n", new_string="c")
    assert "3 times, at lines 1, 3 and 5. Add lines" in message
    message = await world.failure(TOOL, path="a.txt", old_string="tail", new_string="c")
    assert "30 times, first at lines 6, 7, 8, 9, 10, 11, 12, 13, 14, 15. Add" in message


async def test_a_file_must_have_been_read(world):
    world.write("a.txt", "one")
    message = await world.failure(TOOL, path="a.txt", old_string="one", new_string="two")
    assert "has not been read in this session" in message


async def test_a_file_that_changed_since_it_was_read_must_be_read_again(world):
    file = await read_file(world, "one\n")
    status = file.stat()
    file.write_text("one!\n")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert "has changed since you read it" in await world.failure(
        TOOL, path="a.txt", old_string="one", new_string="two"
    )
    await world.text(READ, path="a.txt")
    await edit(world, "one", "two")
    assert file.read_text() == "two!\n"


async def test_edits_follow_each_other_without_reading_again(world):
    file = await read_file(world, "one\ntwo\n")
    await edit(world, "one", "1")
    await edit(world, "two", "2")
    assert file.read_text() == "1\n2\n"


async def test_edits_at_the_same_time_are_done_or_refused_but_never_lost(world):
    file = await read_file(world, "one\ntwo\n")
    calls = [("one", "1"), ("two", "2")]
    done = await asyncio.gather(*(edit(world, old, new) for old, new in calls), return_exceptions=True)
    text = file.read_text()
    for (_, new), result in zip(calls, done, strict=True):
        assert (new in text) is isinstance(result, str), result


async def test_an_open_file_is_changed_in_the_editor_and_not_on_disk(world):
    file = world.write("a.txt", "saved\r\n")
    world.editor.buffers[file] = "unsaved\r\n"
    await world.text(READ, path="a.txt")
    assert "in the editor's buffer" in await edit(world, "unsaved\n", "agent\nwas here\n")
    assert world.editor.buffers[file] == "agent\r\nwas here\r\n"
    assert file.read_bytes() == b"saved\r\n"


async def test_what_the_person_types_after_the_read_is_not_overwritten(world):
    file = world.write("a.txt", "one")
    world.editor.buffers[file] = "one"
    await world.text(READ, path="a.txt")
    world.editor.buffers[file] = "one and more"
    assert "has changed" in await world.failure(TOOL, path="a.txt", old_string="one", new_string="two")


async def test_opening_an_unchanged_file_does_not_count_as_a_change(world):
    file = await read_file(world, "one\r\n")
    world.editor.buffers[file] = "one\n"
    await edit(world, "one", "two")
    assert world.editor.buffers[file] == "two\n"


async def test_a_text_that_differs_only_in_whitespace_is_shown_as_it_is(world):
    await read_file(world, "def f():\n\tif x:\n\t\treturn 1\n")
    message = await world.failure(TOOL, path="a.txt", old_string="    if x:\n        return 1", new_string="pass")
    assert "only whitespace differs from lines 2-3" in message
    assert "     2\t\tif x:\n     3\t\t\treturn 1" in message


async def test_the_nearest_lines_are_shown_when_nothing_matches(world):
    await read_file(world, "alpha\ndef compute_total(items):\n    return sum(items)\nomega\n")
    message = await world.failure(TOOL, path="a.txt", old_string="def compute_totals(item):", new_string="x")
    assert "     2\tdef compute_total(items):" in message


async def test_other_near_places_are_named_too(world):
    await read_file(world, "def total(a):\n  pass\ndef total(b):\n  pass\ndef totals(c):\n  pass\n")
    message = await world.failure(TOOL, path="a.txt", old_string="def total(x):", new_string="x")
    assert re.search(r"The nearest lines are:\n(     \d\t.*\n){3}Also near: line \d, line \d\.$", message)


async def test_line_numbers_copied_from_read_are_recognised(world):
    await read_file(world, "one\ntwo\n")
    message = await world.failure(TOOL, path="a.txt", old_string="     1\tone\n     2\ttwo", new_string="x")
    assert "holds the line numbers that Read shows" in message


async def test_problems_that_appear_with_the_edit_reach_the_model_and_old_ones_do_not(world):
    file = world.write("a.txt", "")
    world.editor.buffers[file] = "a\nold\n"
    b = world.workspace / "b.txt"

    def reports(text):
        found = [
            Problem(file, n, "error", f"bad {word}", "lint") for n, word in enumerate(text.split(), 1) if word != "a"
        ]
        return [*found, *([Problem(b, 7, "warning", "a is gone\nfrom here")] if "a" not in text else [])]

    world.editor.reports = reports
    await world.text(READ, path="a.txt")
    first = await edit(world, "a\n", "new\n\n")
    assert first.endswith(
        "\n\nSince this change the editor reports:\n"
        "  a.txt:1: error: bad new (lint)\n  b.txt:7: warning: a is gone from here"
    )
    assert "editor reports" not in await edit(world, "new\n\n", "new\n")
    text = await world.text(WRITE, path="a.txt", content="".join(f"w{n}\n" for n in range(30)))
    assert "a.txt:1: error: bad w0 (lint)" in text
    assert text.endswith("… and 10 more")


async def test_a_file_that_is_not_open_is_not_waited_for(world):
    await read_file(world, "one\n")
    world.editor.reports = lambda text: pytest.fail("asked")
    await edit(world, "one", "two")


async def test_nothing_to_do_is_refused(world):
    await read_file(world, "one")
    assert "nothing to change" in await world.failure(TOOL, path="a.txt", old_string="one", new_string="one")
    assert "Write" in await world.failure(TOOL, path="a.txt", old_string="", new_string="one")
    assert "nor anything like it" in await world.failure(TOOL, path="a.txt", old_string="zzzz", new_string="one")


async def test_a_character_that_the_encoding_lacks_is_refused(world):
    file = await read_file(world, "grün\n".encode("latin-1"))
    assert "latin-1, which has no character '中'" in await world.failure(
        TOOL, path="a.txt", old_string="gr", new_string="中"
    )
    assert file.read_bytes() == "grün\n".encode("latin-1")


async def test_half_a_surrogate_pair_is_refused_and_nothing_is_left_behind(world):
    file = await read_file(world, "one\n")
    assert "no character" in await world.failure(TOOL, path="a.txt", old_string="one", new_string="\ud800")
    assert [file] == list(world.workspace.iterdir())


async def test_a_link_inside_stays_a_link_and_the_mode_is_kept(world):
    file = await read_file(world, "#!/bin/sh\n", path="real.sh")
    file.chmod(0o750)
    (world.workspace / "link.sh").symlink_to("real.sh")
    await edit(world, "sh", "bash", path="link.sh")
    assert (world.workspace / "link.sh").is_symlink()
    assert file.read_text() == "#!/bin/bash\n"
    assert file.stat().st_mode & 0o777 == 0o750


async def test_links_in_a_circle_or_to_nothing_are_clear_errors(world):
    (world.workspace / "loop").symlink_to("loop")
    (world.workspace / "dangling").symlink_to("missing.txt")
    for tool, more in ((READ, {}), (TOOL, {"old_string": "a", "new_string": "b"})):
        assert "too many levels of symbolic links" in await world.failure(tool, path="loop", **more)
        assert "There is no 'dangling'" in await world.failure(tool, path="dangling", **more)
    await world.text(WRITE, path="dangling", content="x")
    assert (world.workspace / "missing.txt").read_text() == "x"


async def test_binaries_and_enormous_files_are_refused_before_anything_is_compared(world):
    world.write("a.bin", b"\0\1one")
    with (world.workspace / "huge").open("wb") as file:
        file.truncate(60_000_000)
    arguments = {"old_string": "one", "new_string": "two"}
    assert "is a binary file" in await world.failure(TOOL, path="a.bin", **arguments)
    assert "60,000,000 bytes" in await world.failure(TOOL, path="huge", **arguments)


async def test_in_a_file_of_mixed_line_ends_only_the_place_is_touched(world):
    file = await read_file(world, b"a\r\nb\nc\r\nd\r\n")
    await edit(world, "b\nc", "B\nC")
    assert file.read_bytes() == b"a\r\nB\r\nC\r\nd\r\n"


LINES = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0\ufeff\ufffe"), max_size=8), min_size=1)
ENCODINGS = st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32", "latin-1"])
PLAIN = "abc xyz äöü"


@settings(max_examples=60)
@given(
    lines=LINES,
    end=st.sampled_from(["\n", "\r\n"]),
    encoding=ENCODINGS,
    new=st.text(PLAIN + "\n", min_size=1, max_size=10),
    data=st.data(),
)
def test_an_edit_and_its_reverse_give_the_same_bytes(make_world, lines, end, encoding, new, data):
    at = data.draw(st.integers(0, len(lines)))
    old = "<" + data.draw(st.text(PLAIN + "\n", max_size=10)) + ">"
    new = "{" + new + "}"
    lines = ["".join(c for c in line if c not in "<>{}") for line in lines]
    if encoding == "latin-1":
        lines = [line.encode("latin-1", "ignore").decode("latin-1") for line in lines]
        lines = ["é", *("".join(c for c in line if c.isprintable()) for line in lines)]  # é: surely no UTF-8
    text = "\n".join([*lines[:at], old, *lines[at:]]).replace("\n", end)
    mark = {"utf-16-be": "\ufeff"}.get(encoding, "")
    before = (mark + text).encode(encoding)

    async def there_and_back(world):
        file = world.write("a.txt", before)
        await world.text(READ, path="a.txt")
        await edit(world, old, new)
        changed = file.read_bytes()
        await edit(world, new, old)
        return changed, file.read_bytes()

    with tempfile.TemporaryDirectory() as root:
        changed, after = asyncio.run(there_and_back(make_world(Path(root))))
    assert after == before
    assert changed == (mark + text.replace(old.replace("\n", end), new.replace("\n", end))).encode(encoding)


async def test_what_the_person_types_while_an_edit_is_made_is_not_lost(world):
    path = world.write("a.py", "one\n")
    world.editor.buffers[path] = "one\n"
    await world.text(READ, path="a.py")

    def typing(text):
        world.editor.buffers[path] = text + "typed\n"
        return []

    world.editor.reports = typing
    said = await world.failure(TOOL, path="a.py", old_string="one", new_string="two")
    assert "changed at this very moment" in said
    assert world.editor.buffers[path] == "one\ntyped\n"


async def test_thousands_of_long_lines_that_look_alike_are_compared_in_bounded_time(world):
    chance, row = random.Random(1), list("the quick brown fox jumps over the lazy dog and runs, " * 9)
    lines = []
    for _ in range(20_001):
        line = list(row)
        for _ in range(20):
            line[chance.randrange(len(line))] = chance.choice("oeurh ")
        lines.append("".join(line))
    await read_file(world, "\n".join(lines[:-1]))
    started = time.process_time()
    assert "is not in 'a.txt'" in await world.failure(TOOL, path="a.txt", old_string=lines[-1], new_string="x")
    assert time.process_time() - started < 2
