"""How does a command run so that it always ends, and leaves nothing running behind?

asyncio's `Process.wait()` waits for the end of the pipes too, which a background grandchild may hold open for ever.
So this uses the event loop's own subprocess protocol, which reports the exit and the pipes separately.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from caddie.errors import ToolFailure

if TYPE_CHECKING:
    import psutil

GRACE = 0.5
"""Seconds that a process group has between TERM and KILL, and that late output has to arrive."""

OnOutput = Callable[[bytes], None]

_ALLOWED = re.compile(
    r"HOME|PATH|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|TEMP|TMP|DISPLAY|WAYLAND_DISPLAY|XDG_\w+|SSH_AUTH_SOCK"
    r"|GIT_\w+|VIRTUAL_ENV|CONDA_PREFIX|PYENV_ROOT|NVM_DIR|NVM_BIN|GOPATH|GOROOT|CARGO_HOME|RUSTUP_HOME|JAVA_HOME"
    r"|SSL_CERT_FILE|SSL_CERT_DIR|(?:HTTPS?|NO|ALL|https?|no|all)_(?:PROXY|proxy)"
    r"|SYSTEMROOT|SYSTEMDRIVE|COMSPEC|PATHEXT|USERPROFILE|APPDATA|LOCALAPPDATA|PROGRAMFILES|PROGRAMDATA"
)
_SECRET = re.compile(r"TOKEN|SECRET|PASSW|KEY|CREDENTIAL", re.IGNORECASE)


def environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """What commands get of our environment: what programs need to work, and never an API key."""
    kept = {name: value for name, value in inherited.items() if _ALLOWED.fullmatch(name) and not _SECRET.search(name)}
    return {**kept, "TERM": "dumb"}


@dataclass(frozen=True, slots=True)
class Ending:
    """`exit_code` is negative for a signal, as in `subprocess`."""

    exit_code: int
    timed_out: bool


class _Listener(asyncio.SubprocessProtocol):
    def __init__(self, on_output: OnOutput, on_error: OnOutput) -> None:
        self.exited = asyncio.Event()
        self.closed = asyncio.Event()
        self._receive = {1: on_output, 2: on_error}

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._receive[fd](data)

    def process_exited(self) -> None:
        self.exited.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed.set()


async def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout: float,
    on_output: OnOutput,
    on_error: OnOutput | None = None,
) -> Ending:
    """Run `argv` without input; without `on_error`, stderr joins stdout. When this returns or is cancelled, the
    command and what it started have ended, save what made itself a session of its own and lost its parent.

    Raises: ToolFailure when it cannot be started.
    """
    listener = _Listener(on_output, on_error or on_output)
    transport = await _start(listener, argv, cwd, env, merge_errors=on_error is None)
    try:
        timed_out = not await _exits_within(timeout, listener)
        await _end(transport.get_pid(), listener)
    except asyncio.CancelledError:
        await _end(transport.get_pid(), listener)
        raise
    finally:
        transport.close()
    code = transport.get_returncode()
    return Ending(-signal.SIGTERM if code is None else code, timed_out)


async def _exits_within(timeout: float, listener: _Listener) -> bool:
    try:
        async with asyncio.timeout(timeout):
            await listener.exited.wait()
    except TimeoutError:
        return False
    return True


async def _start(
    listener: _Listener, argv: Sequence[str], cwd: Path, env: Mapping[str, str], *, merge_errors: bool
) -> asyncio.SubprocessTransport:
    try:
        transport, _ = await asyncio.get_running_loop().subprocess_exec(
            lambda: listener,
            *argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if merge_errors else subprocess.PIPE,
            cwd=cwd,
            env=dict(env),
            start_new_session=True,
        )
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "the system refused"
        raise ToolFailure(f"The command could not be started: {reason.lower()}.") from None
    except ValueError:
        raise ToolFailure("The command holds a NUL character, which no command line can have.") from None
    return transport


async def _end(pid: int, listener: _Listener) -> None:
    """TERM, a bounded wait, KILL even if that wait is cancelled, and a bounded wait for the rest of the output."""
    strays = [] if listener.exited.is_set() else _strays(pid)
    try:
        if _signal(pid, strays, force=False):
            await _until(lambda: not _is_alive(pid, strays))
    finally:
        _signal(pid, strays, force=True)
    await _until(listener.closed.is_set)


async def _until(is_done: Callable[[], bool]) -> None:
    """Wait for `is_done`, but no longer than the grace: zombies and escaped processes must not hold us up."""
    deadline = time.monotonic() + GRACE
    while not is_done() and time.monotonic() < deadline:  # noqa: ASYNC110 - processes set no event of ours
        await asyncio.sleep(0.01)


def _strays(pid: int) -> list[psutil.Process]:
    """The descendants that a signal to the group does not reach: all of them where there are no groups."""
    import psutil  # only needed when something must be stopped

    try:
        leader = psutil.Process(pid)
        if os.name != "posix":
            return [leader, *leader.children(recursive=True)]
        return [child for child in leader.children(recursive=True) if os.getpgid(child.pid) != pid]
    except (psutil.Error, ProcessLookupError):
        return []


def _signal(pid: int, strays: Sequence[psutil.Process], *, force: bool) -> bool:
    """Whether there was anybody to tell."""
    import psutil

    reached = False
    if os.name == "posix":
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL if force else signal.SIGTERM)
            reached = True
    for stray in strays:
        with suppress(psutil.Error):
            stray.kill() if force else stray.terminate()
            reached = True
    return reached


def _is_alive(pid: int, strays: Sequence[psutil.Process]) -> bool:
    if any(stray.is_running() for stray in strays):
        return True
    if os.name != "posix":
        return False
    try:
        os.killpg(pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return _has_living_member(pid)


def _has_living_member(group: int) -> bool:
    """Some systems, containers above all, let ended processes lie about as zombies, which count for `killpg`."""
    import psutil

    for process in psutil.process_iter():
        try:
            if os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE:
                return True
        except (psutil.Error, ProcessLookupError):
            continue
    return False
