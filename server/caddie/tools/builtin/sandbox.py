"""Can a command run here so that it changes nothing but the workspace? With bubblewrap: all else is read-only.

Hidden are the places where sockets of other programs lie (`/run`, `/tmp`), as a socket can be used on a read-only
disk too; commands have a `/tmp` of their own instead, which lasts as long as this process. Files that run by
themselves later (git's hooks, the editor's and Caddie's settings) stay read-only.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from caddie.errors import ToolFailure
from caddie.settings import Settings
from caddie.tools.builtin.process import run
from caddie.tools.places import RUN_LATER

PROBE_SECONDS = 10.0
_NAMESPACES = ("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")
_HIDDEN = ("/var/tmp", "/run")
_NEEDED_IN_RUN = ("/run/current-system", "/run/systemd/resolve")  # programs (NixOS) and the names of hosts
_OUTSIDE_VARIABLES = frozenset({"SSH_AUTH_SOCK", "DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR"})

_probed: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Sandbox:
    """`why_not` is a clause that says why there is none here; empty when it works."""

    program: str = ""
    why_not: str = ""


def is_wanted(settings: Settings) -> bool:
    """In permission mode `auto` nobody sees a command before it runs."""
    mode = settings.sandbox.mode
    return mode == "always" or (mode == "auto" and settings.permissions.mode == "auto")


async def find_sandbox() -> Sandbox:
    """Looked for when it is first needed; an installed program is tried once."""
    if not sys.platform.startswith("linux"):
        return Sandbox(why_not="bubblewrap needs Linux")
    program = await asyncio.to_thread(shutil.which, "bwrap")
    if program is None:
        return Sandbox(why_not="bubblewrap (bwrap) is not installed")
    if program not in _probed:
        _probed[program] = await _try(program)
    return Sandbox(program, _probed[program])


async def _try(program: str) -> str:
    said = bytearray()
    root = Path(os.path.realpath(os.sep))
    argv = [*_options(program, network=False), "--chdir", str(root), "--", "true"]
    try:
        ending = await run(argv, cwd=root, env=dict(os.environ), timeout=PROBE_SECONDS, on_output=said.extend)
    except ToolFailure:
        return "bubblewrap (bwrap) cannot be started"
    if ending.timed_out:
        return "bubblewrap (bwrap) hangs here"
    lines = said.decode("utf-8", "replace").strip().splitlines()
    reason = lines[-1].removeprefix("bwrap: ")[:200] if lines else f"exit code {ending.exit_code}"
    return f"bubblewrap is installed but not allowed to work here ({reason})" if ending.exit_code else ""


def wrapped(program: str, argv: Sequence[str], folders: Sequence[Path], settings: Settings) -> list[str]:
    """`argv` so that it runs inside, in the first of the workspace's folders. Blocks: call it off the loop."""
    options = _options(program, network=settings.sandbox.network)
    roots = [os.path.realpath(folder) for folder in folders]
    options += ["--bind", _own_tmp(), "/tmp"]
    for folder in dict.fromkeys([*roots, *(_expanded(path) for path in settings.sandbox.writable)]):
        options += ["--bind-try", folder, folder]
    for root in roots:
        for name in RUN_LATER:
            path = os.path.join(root, name)
            if _is_plain(path, root):
                options += ["--ro-bind", path, path]
    return [*options, "--chdir", roots[0], "--", *argv]


@cache
def _own_tmp() -> str:
    folder = tempfile.mkdtemp(prefix="caddie-sandbox-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _options(program: str, *, network: bool) -> list[str]:
    options = [program, "--die-with-parent", *_NAMESPACES, "--cap-drop", "ALL"]
    options += [] if network else ["--unshare-net"]
    options += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    for folder in _HIDDEN:
        if os.path.isdir(folder) and not os.path.islink(folder):
            options += ["--tmpfs", folder]
    for path in _NEEDED_IN_RUN:
        options += ["--ro-bind-try", path, path]
    return options


def _expanded(path: str) -> str:
    return os.path.realpath(os.path.expanduser(path))


def _is_plain(path: str, root: str) -> bool:
    """There, and reached through no link: what a link leads to is read-only anyway, or the workspace's own."""
    try:
        return not stat.S_ISLNK(os.lstat(path).st_mode) and os.path.realpath(path).startswith(root + os.sep)
    except OSError:
        return False


def inside_environment(env: Mapping[str, str]) -> dict[str, str]:
    """Without what leads to programs outside."""
    return {**{name: value for name, value in env.items() if name not in _OUTSIDE_VARIABLES}, "TMPDIR": "/tmp"}


def bounds(settings: Settings) -> str:
    """What holds inside, as a clause."""
    network = "with network" if settings.sandbox.network else "without network"
    folders = "the workspace, /tmp and sandbox.writable" if settings.sandbox.writable else "the workspace and /tmp"
    return f"only {folders} can be written, {network}"
