from __future__ import annotations

import asyncio
import os

import psutil
import pytest

from caddie.tools.builtin.glob import TOOL as GLOB
from caddie.tools.builtin.grep import TOOL as GREP


def aged(path, age):
    os.utime(path, (1_700_000_000 - age, 1_700_000_000 - age))


def searches():
    return [process for process in psutil.Process().children() if process.name() == "rg"]


async def test_glob_lists_newest_first(world):
    for age, name in enumerate(["b.py", "src/a.py", "src/deep/c.py"]):
        aged(world.write(name, ""), age)
    world.write("d.txt", "")
    assert await world.text(GLOB, pattern="**/*.py") == "b.py\nsrc/a.py\nsrc/deep/c.py"
    assert await world.text(GLOB, pattern="src/*.py") == "src/a.py"
    assert await world.text(GLOB, pattern="*.{py,txt}", path="src") == "src/a.py\nsrc/deep/c.py"
    assert await world.text(GLOB, pattern=f"{world.workspace}/src/**/c.*") == "src/deep/c.py"
    assert await world.text(GLOB, pattern=f"{world.workspace}/b.py") == "b.py"


async def test_ignore_files_count_even_without_a_git_repository(world):
    world.write(".gitignore", "*.log\n/build/\n")
    world.write("a.log", "needle\n")
    world.write("build/b.py", "needle\n")
    world.write("c.py", "needle\n")
    assert "No file matches" in await world.text(GLOB, pattern="*.log")
    assert await world.text(GLOB, pattern="**/*.py") == "c.py"
    assert await world.text(GREP, pattern="needle", output_mode="files_with_matches") == "c.py"
    assert "No match" in await world.text(GREP, pattern="needle", glob="*.log")
    assert "1: needle" in await world.text(GREP, pattern="needle", path="a.log")


async def test_hidden_files_are_left_out_unless_named(world):
    world.write(".env", "needle\n")
    world.write(".github/workflows/ci.yml", "needle\n")
    assert "No file matches" in await world.text(GLOB, pattern="*")
    assert await world.text(GLOB, pattern=".env") == ".env"
    assert await world.text(GLOB, pattern=".github/**") == ".github/workflows/ci.yml"
    assert "No match" in await world.text(GREP, pattern="needle")
    assert ".github/workflows/ci.yml\n1: needle" in await world.text(GREP, pattern="needle", glob=".github/**")


async def test_glob_says_what_was_cut(world):
    for number in range(5):
        world.write(f"{number}.txt", "")
    text = await world.text(GLOB, pattern="*.txt", limit=2)
    assert text.endswith("… 3 more of 5 files not shown. Narrow the pattern.")
    assert len(text.splitlines()) == 3


async def test_a_pattern_is_never_an_option_or_a_negation(world):
    world.write("--files", "x\n")
    world.write("!a", "--help -e x\n")
    assert await world.text(GLOB, pattern="!a") == "!a"
    assert await world.text(GLOB, pattern="--files") == "--files"
    assert "1: --help -e x" in await world.text(GREP, pattern="--help")
    assert await world.text(GREP, pattern="^x", path="--files") == "--files\n1: x"
    assert "!a" in await world.text(GREP, pattern="help", glob="!a")


async def test_wrong_folders_and_patterns_are_told_in_a_sentence(world):
    world.write("source/a.py", "")
    assert "Nearest names in this folder: source" in await world.failure(GLOB, pattern="*", path="sorce")
    assert "is a file" in await world.failure(GLOB, pattern="*", path="source/a.py")
    assert "Nearest names" in await world.failure(GREP, pattern="x", path="sorce")
    assert "glob" in await world.failure(GLOB, pattern="{a")
    message = await world.failure(GREP, pattern="foo(")
    assert "regex parse error" in message
    assert "unclosed group" in message


async def test_content_comes_by_file_with_numbers_and_is_sorted(world):
    world.write("b.txt", "x\nneedle 1\n")
    world.write("a.txt", "needle 2\r\ny\nneedle 3\n")
    assert await world.text(GREP, pattern=r"needle \d") == "a.txt\n1: needle 2\n3: needle 3\n\nb.txt\n2: needle 1"


async def test_context_lines_are_told_apart_and_gaps_marked(world):
    world.write("a.txt", "".join(f"{i}\n" for i in range(1, 10)))
    assert await world.text(GREP, pattern="^[28]$", context=1) == "a.txt\n1- 1\n2: 2\n3- 3\n--\n7- 7\n8: 8\n9- 9"


async def test_counts_and_names(world):
    world.write("a.txt", "n\nn\n")
    world.write("sub/b.txt", "n\n")
    assert await world.text(GREP, pattern="n", output_mode="count") == "a.txt: 2\nsub/b.txt: 1"
    assert await world.text(GREP, pattern="n", output_mode="files_with_matches", path="sub") == "sub/b.txt"
    text = await world.text(GREP, pattern="n", output_mode="files_with_matches", limit=1)
    assert text == "a.txt\n\n… 1 more of 2 files not shown. Narrow with path or glob."


async def test_case_and_line_ends_can_be_crossed(world):
    world.write("a.txt", "Begin\nend\n")
    assert "1: Begin" in await world.text(GREP, pattern="BEGIN", case_insensitive=True)
    assert await world.text(GREP, pattern="Begin.end", multiline=True) == "a.txt\n1: Begin\n2: end"


async def test_what_was_cut_is_counted(world):
    world.write("a.txt", "n\n" * 10)
    world.write("b.txt", "n\n" * 10)
    text = await world.text(GREP, pattern="n", limit=3)
    assert text.count(": n") == 3
    assert text.endswith("… 17 more of 20 matching lines in 2 files not shown. Narrow with path or glob.")


async def test_enormous_results_and_lines_are_bounded(world):
    world.write("a.txt", "needle" + "x" * 2_000_000 + "\n")
    world.write("b.txt", ("needle" + "y" * 400 + "\n") * 5_000)
    text = await world.text(GREP, pattern="needle", limit=2_000)
    assert len(text) < 32_000
    assert "more characters)" in text
    assert "of 5,001 matching lines in 2 files" in text


async def test_text_in_other_encodings_is_shown_as_far_as_it_goes(world):
    world.write("a.txt", "n grün\n".encode("latin-1"))
    assert await world.text(GREP, pattern="^n") == "a.txt\n1: n gr\ufffdn"


async def test_a_cancelled_search_leaves_no_ripgrep_behind(world):
    os.mkfifo(world.workspace / "pipe")  # rg waits for a writer, so the search is surely in flight
    task = asyncio.create_task(world.run(GREP, pattern="x", path="pipe"))
    await world.until(lambda: searches())
    children = searches()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not [p for p in children if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]


async def test_a_path_longer_than_paths_can_be_is_said_not_to_be_there(world):
    for tool, pattern in ((GLOB, "*"), (GREP, "x")):
        assert "There is no" in await world.failure(tool, pattern=pattern, path="a" * 300)
