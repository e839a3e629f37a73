"""Commands in the sandbox change nothing but the workspace; where there is none, that is said."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from caddie.settings import Permissions, Sandbox, Settings
from caddie.tools.builtin import bash, sandbox
from caddie.tools.builtin.bash import TOOL
from caddie.tools.tool import CommandPreview

WHY_NOT = asyncio.run(sandbox.find_sandbox()).why_not
needs_sandbox = pytest.mark.skipif(bool(WHY_NOT), reason=f"no sandbox on this machine: {WHY_NOT}")


def settings(*, mode: str = "always", network: bool = False, writable: tuple[str, ...] = (), permission: str = "ask"):
    return Settings(
        sandbox=Sandbox(mode=mode, network=network, writable=writable), permissions=Permissions(mode=permission)
    )


@pytest.fixture
def inside(world):
    return world.with_settings(settings())


@pytest.fixture
def listener() -> Iterator[int]:
    """A server outside of the sandbox, on loopback."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(30)

        def accept() -> None:
            try:
                server.accept()[0].close()
            except OSError:
                return

        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1]


@pytest.fixture
def outside() -> Iterator[Path]:
    """A file of the person, not below /tmp, of which commands in the sandbox have their own."""
    places = [place for place in (Path.home(), Path("/srv"), Path("/opt")) if os.access(place, os.W_OK)]
    place = next((place for place in places if not place.resolve().is_relative_to("/tmp")), None)
    if place is None:
        pytest.skip("there is no folder to write in but those below /tmp")
    with tempfile.TemporaryDirectory(dir=place, prefix=".caddie-test-") as folder:
        file = Path(folder) / "outside.txt"
        file.write_text("precious")
        yield file


def connect(port: int) -> str:
    return f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo ok"


@needs_sandbox
async def test_the_workspace_can_be_written_and_nothing_else(inside, outside):
    assert await inside.text(TOOL, command="pwd; echo x >new.txt; mkdir d; rm new.txt") == str(inside.workspace)
    for command in (f"echo x >{outside}", f"rm {outside}", f"chmod 777 {outside}", "echo x >/etc/passwd", "mkdir /new"):
        result = await inside.run(TOOL, command=command)
        assert result.is_error
        assert "only the workspace and /tmp can be written, without network" in result.text
    assert outside.read_text() == "precious"
    assert await inside.text(TOOL, command=f"cat {outside}") == "precious"


@needs_sandbox
async def test_a_link_out_of_the_workspace_does_not_lead_to_writing_there(inside, outside):
    result = await inside.run(TOOL, command=f"ln -s {outside} link; echo x >link; mount -o remount,rw /; echo x >>link")
    assert result.is_error
    assert outside.read_text() == "precious"


@needs_sandbox
async def test_the_network_is_closed_unless_the_setting_opens_it(world, listener):
    closed = await world.with_settings(settings()).run(TOOL, command=connect(listener))
    assert closed.is_error
    assert await world.with_settings(settings(network=True)).text(TOOL, command=connect(listener)) == "ok"


@needs_sandbox
async def test_folders_named_in_the_setting_can_be_written_and_one_that_is_not_there_harms_nothing(world, outside):
    one = world.with_settings(settings(writable=(str(outside.parent), "~/not-there-at-all")))
    await one.text(TOOL, command=f"echo x >{outside}")
    assert outside.read_text() == "x\n"


@needs_sandbox
async def test_sockets_of_other_programs_in_the_usual_places_cannot_be_reached(inside):
    with tempfile.TemporaryDirectory(dir="/tmp") as folder, socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{folder}/s")
        result = await inside.run(TOOL, command=f"ls {folder}; echo x >/tmp/of-a-command")
        assert "No such file" in result.text
    assert await inside.text(TOOL, command="cat /tmp/of-a-command; test ! -e /run/user && echo hidden") == "x\nhidden"
    assert not Path("/tmp/of-a-command").exists()


@needs_sandbox
async def test_what_runs_by_itself_later_stays_as_it_is(inside):
    own = (".git/config", ".caddie/settings.json", ".vscode/tasks.json", ".bashrc", ".vimrc", ".ssh/authorized_keys",
           ".config/fish/config.fish")  # fmt: skip
    for name in (".git/hooks/pre-commit", ".git/HEAD", ".config/else", *own):
        inside.write(name, "x")
    command = f"for f in .git/hooks/new .git/HEAD .config/else {' '.join(own)}; do echo y >$f; done"
    await inside.run(TOOL, command=f"{command}; mv .git/hooks .git/away; rm -rf .vscode .ssh")
    for name in (".git/HEAD", ".config/else"):
        assert (inside.workspace / name).read_text() == "y\n"
    assert os.listdir(inside.workspace / ".git/hooks") == ["pre-commit"]
    for name in own:
        assert (inside.workspace / name).read_text() == "x"


@needs_sandbox
async def test_nothing_runs_on_after_the_command_whatever_it_did_to_get_away(inside):
    marker = f"86421.{os.getpid()}"  # of this run of the tests alone
    await inside.text(TOOL, command=f"setsid sh -c 'trap \"\" TERM; sleep {marker}' & sleep 0.2")
    task = asyncio.create_task(inside.run(TOOL, command=f"touch up; setsid sleep {marker}; sleep 300"))
    await inside.until((inside.workspace / "up").exists)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await inside.until(lambda: not [p for p in psutil.process_iter(["cmdline"]) if marker in (p.info["cmdline"] or [])])


@needs_sandbox
async def test_exit_codes_time_and_output_are_as_outside(inside):
    assert (await inside.run(TOOL, command="echo before; exit 3")).text.startswith(
        "before\n\nExit code 3.\n\n(It ran in"
    )
    assert "Stopped after 0.5 seconds" in (await inside.run(TOOL, command="sleep 60", timeout_seconds=0.5)).text
    assert await inside.text(TOOL, command="true") == "(The command succeeded and printed nothing.)"


@needs_sandbox
async def test_permission_mode_auto_uses_it_and_asking_modes_do_not(world, outside):
    auto = world.with_settings(settings(mode="auto", permission="auto"))
    assert (await auto.run(TOOL, command=f"echo x >{outside}")).is_error
    asked = world.with_settings(settings(mode="auto", permission="ask"))
    await asked.text(TOOL, command=f"echo x >{outside}")
    off = world.with_settings(settings(mode="off", permission="auto"))
    await off.text(TOOL, command=f"echo y >{outside}")
    assert outside.read_text() == "y\n"


@needs_sandbox
async def test_the_prompt_says_what_would_hold(world, inside):
    where = str(world.workspace)
    in_sandbox = "Runs in a sandbox: only the workspace and /tmp can be written, without network."
    assert await inside.preview(TOOL, command="ls") == CommandPreview("ls", where, in_sandbox)
    assert await world.preview(TOOL, command="ls") == CommandPreview("ls", where, "Runs without a sandbox.")


@pytest.fixture
def no_bubblewrap(monkeypatch, tmp_path):
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("bash", "sh", "true"):
        (folder / name).symlink_to(f"/bin/{name}")
    monkeypatch.setenv("PATH", str(folder))
    return folder


async def test_absent_it_is_said_once_a_session_and_the_command_runs(world, no_bubblewrap, monkeypatch):
    monkeypatch.setattr(bash, "_told", type(bash._told)())
    auto = world.with_settings(settings(mode="auto", permission="auto"))
    assert (await auto.text(TOOL, command="echo hi")).startswith("hi\n\n(Commands run without a sandbox here: ")
    assert await auto.text(TOOL, command="echo hi") == "hi"
    preview = await auto.preview(TOOL, command="ls")
    assert preview.note.startswith("Runs without a sandbox: bubblewrap")


async def test_absent_and_wanted_always_nothing_runs(world, no_bubblewrap):
    message = await world.with_settings(settings()).failure(TOOL, command="echo x >new.txt")
    assert "Nothing was run: sandbox.mode is `always`, and bubblewrap" in message
    assert not (world.workspace / "new.txt").exists()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="bubblewrap needs Linux")
async def test_a_bubblewrap_that_may_not_work_is_found_out_before_the_first_command(world, no_bubblewrap):
    fake = no_bubblewrap / "bwrap"
    fake.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2; exit 1\n")
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    message = await world.with_settings(settings()).failure(TOOL, command="true")
    assert "not allowed to work here (No permissions to create new namespace)" in message
