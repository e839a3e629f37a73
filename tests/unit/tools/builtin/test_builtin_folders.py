"""The tools in a window of several folders: searches go through all, paths say which one."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from caddie.settings import Sandbox, Settings
from caddie.tools.builtin import sandbox
from caddie.tools.builtin.bash import TOOL as BASH
from caddie.tools.builtin.edit import TOOL as EDIT
from caddie.tools.builtin.glob import TOOL as GLOB
from caddie.tools.builtin.grep import TOOL as GREP
from caddie.tools.builtin.read import TOOL as READ


@pytest.fixture
def api(tmp_path):
    folder = tmp_path / "api"
    (folder / "src").mkdir(parents=True)
    return folder


@pytest.fixture
def both(world, api):
    """The workspace, a further folder and one that is not there (any more)."""
    return replace(world, context=replace(world.context, further=lambda: (api, api.parent / "gone")))


def dated(path, age):
    os.utime(path, (1_700_000_000 - age, 1_700_000_000 - age))


async def test_glob_looks_in_all_folders_newest_first_and_names_each_file_plainly(both, api):
    (api / "src/a.py").write_text("")
    dated(both.write("a.py", ""), 1)
    dated(api / "src/a.py", 0)
    dated(both.write("src/b.py", ""), 2)
    assert await both.text(GLOB, pattern="*.py") == f"{api}/src/a.py\na.py\nsrc/b.py"
    assert await both.text(GLOB, pattern="src/*.py") == f"{api}/src/a.py\nsrc/b.py"
    assert await both.text(GLOB, pattern="*.py", path=".") == "a.py\nsrc/b.py"
    assert await both.text(GLOB, pattern="*.py", path=str(api)) == f"{api}/src/a.py"
    assert await both.text(GLOB, pattern=f"{api}/**/*.py") == f"{api}/src/a.py"
    assert "in the folders of the workspace" in await both.text(GLOB, pattern="*.rs")


async def test_each_folder_has_its_own_ignore_files(both, api):
    both.write(".gitignore", "*.log\n")
    both.write("a.log", "needle\n")
    (api / "a.log").write_text("needle\n")
    (api / ".gitignore").write_text("*.txt\n")
    (api / "b.txt").write_text("needle\n")
    assert await both.text(GLOB, pattern="*") == f"{api}/a.log"
    assert await both.text(GREP, pattern="needle", output_mode="files_with_matches") == f"{api}/a.log"


async def test_grep_searches_all_folders_in_their_order_within_one_limit(both, api):
    both.write("z.py", "needle 1\n")
    (api / "src/a.py").write_text("needle 2\nneedle 3\n")
    assert await both.text(GREP, pattern="needle") == f"z.py\n1: needle 1\n\n{api}/src/a.py\n1: needle 2\n2: needle 3"
    assert await both.text(GREP, pattern="needle", output_mode="count") == f"z.py: 1\n{api}/src/a.py: 2"
    assert await both.text(GREP, pattern="needle", glob="src/*.py", output_mode="count") == f"{api}/src/a.py: 2"
    assert await both.text(GREP, pattern="needle", path=".", output_mode="count") == "z.py: 1"
    assert await both.text(GREP, pattern="needle", path=str(api), output_mode="count") == f"{api}/src/a.py: 2"
    assert "1 more of 3 matching lines in 2 files" in await both.text(GREP, pattern="needle", limit=2)
    assert "in the folders of the workspace" in await both.text(GREP, pattern="hay")
    assert "refused" in await both.failure(GREP, pattern="(")


async def test_a_file_is_found_once_when_the_first_folder_lies_in_a_further_one(world):
    around = replace(world, context=replace(world.context, further=lambda: (world.workspace.parent,)))
    world.write("a.py", "needle\n")
    outer = world.workspace.parent / "b.py"
    outer.write_text("needle\n")
    assert sorted((await around.text(GLOB, pattern="*.py")).splitlines()) == [str(outer), "a.py"]
    assert await around.text(GREP, pattern="needle", output_mode="count") == f"a.py: 1\n{outer}: 1"


async def test_alone_the_workspace_is_searched_as_ever(world):
    world.write("a.py", "needle\n")
    assert await world.text(GLOB, pattern="*.py") == await world.text(GLOB, pattern="*.py", path=".") == "a.py"
    assert await world.text(GREP, pattern="needle", output_mode="count") == "a.py: 1"
    assert "'hay' in the workspace" in await world.text(GREP, pattern="hay")


async def test_a_path_with_the_folders_name_in_front_is_answered_with_where_that_is(both, api):
    said = f"There is no 'api/src/a.py'. Paths in the folder 'api' begin with {str(api)!r}."
    assert await both.failure(READ, path="api/src/a.py") == said
    assert await both.failure(EDIT, path="api/src/a.py", old_string="a", new_string="b") == said
    assert "begin with" in await both.failure(GREP, pattern="a", path="api/src")
    assert "begin with" in await both.failure(GLOB, pattern="a", path="api")
    assert str(both.workspace) in await both.failure(READ, path="workspace/a.py")
    both.write("api/src/a.py", "here\n")
    assert "here" in await both.text(READ, path="api/src/a.py")


async def test_a_sandboxed_command_writes_in_every_folder_but_not_what_runs_later(both, api):
    if why_not := (await sandbox.find_sandbox()).why_not:
        pytest.skip(f"no sandbox on this machine: {why_not}")
    (api / ".git/hooks").mkdir(parents=True)
    (api / ".mcp.json").write_text("{}")
    inside = both.with_settings(Settings(sandbox=Sandbox(mode="always")))
    assert await inside.text(BASH, command=f"pwd; echo x > {api}/new; echo x > here") == str(both.workspace)
    assert (api / "new").exists()
    for path in (f"{api}/.git/hooks/post-commit", f"{api}/.mcp.json", f"{api.parent}/other"):
        await inside.run(BASH, command=f"echo x > {path}")
    assert list((api / ".git/hooks").iterdir()) == []
    assert (api / ".mcp.json").read_text() == "{}"
    assert not (api.parent / "other").exists()


async def test_a_further_folder_round_the_first_guards_both(world):
    if why_not := (await sandbox.find_sandbox()).why_not:
        pytest.skip(f"no sandbox on this machine: {why_not}")
    outer = world.workspace.parent
    (outer / ".vscode").mkdir()
    world.write(".vscode/tasks.json", "{}")
    inside = replace(world, context=replace(world.context, further=lambda: (outer,)))
    inside = inside.with_settings(Settings(sandbox=Sandbox(mode="always")))
    await inside.run(BASH, command=f"echo x > .vscode/tasks.json; echo x > {outer}/.vscode/a; echo x > {outer}/new")
    assert world.workspace.joinpath(".vscode/tasks.json").read_text() == "{}"
    assert list((outer / ".vscode").iterdir()) == []
    assert (outer / "new").exists()
