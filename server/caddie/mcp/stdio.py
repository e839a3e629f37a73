"""How is a server that is a program started, spoken to over its pipes, and surely ended?

Own code instead of the SDK's transport, which leaves grandchildren of well-behaved servers running, takes quadratic
time for long lines and does not notice that an idle server died.
"""

from __future__ import annotations

import asyncio
import asyncio.subprocess
import contextlib
import logging
import os
import shutil
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

from caddie.errors import ServerFailed
from caddie.mcp import reasons
from caddie.mcp.wire import LineJoiner, LongLine, read_message, refuse_line, write_message

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.shared.message import SessionMessage
    from mcp_types import JSONRPCMessage

    Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]

logger = logging.getLogger(__name__)

STDERR_TAIL_BYTES = 8 * 1024
EXIT_GRACE_SECONDS = 2.0
TERM_GRACE_SECONDS = 1.0
FLUSH_SECONDS = 0.5
_CHUNK_BYTES = 64 * 1024
_POLL_SECONDS = 0.01

_WINDOWS = sys.platform == "win32"
_INHERITED = (
    "APPDATA HOMEDRIVE HOMEPATH LOCALAPPDATA PATH PATHEXT PROCESSOR_ARCHITECTURE SYSTEMDRIVE SYSTEMROOT TEMP "
    "USERNAME USERPROFILE"
    if _WINDOWS
    else "HOME LANG LOGNAME PATH SHELL TERM TMPDIR USER"
).split()


class Started(Protocol):
    """Keeps which process groups run, so that those of a killed Caddie can be ended later."""

    @property
    def environment(self) -> Mapping[str, str]: ...

    def note(self, group: int) -> None: ...


@dataclass(frozen=True, slots=True)
class StdioCommand:
    """`secrets` never appear in a failure's reason."""

    name: str
    program: str
    args: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
    secrets: tuple[str, ...] = ()
    started: Started | None = None


def server_environment(configured: Mapping[str, str], ours: Mapping[str, str] | None = None) -> dict[str, str]:
    """A minimal environment, so that our API keys reach no server that was not given them."""
    ours = os.environ if ours is None else ours
    kept = {key: value for key, value in ours.items() if key.upper() in _INHERITED or key.startswith("LC_")}
    return kept | dict(configured)


def with_home(path: str) -> Path:
    """`~` spelled out; as it is for a user who is not known, and then there is no such file."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


class _Watched(asyncio.subprocess.SubprocessStreamProtocol):
    """Tells of the exit itself: `Process.wait` also waits for pipes, which a grandchild may hold open."""

    def __init__(self, on_exit: Callable[[], None]) -> None:
        super().__init__(limit=_CHUNK_BYTES, loop=asyncio.get_running_loop())
        self._on_exit = on_exit

    def process_exited(self) -> None:
        super().process_exited()
        self._on_exit()


class StdioTransport:
    """An MCP transport: entering starts the program, leaving ends its whole process group.

    `ended` is set when the program is gone or has closed its output. Raises: ServerFailed when it cannot be started.
    """

    def __init__(self, command: StdioCommand) -> None:
        self.ended = asyncio.Event()
        self._command = command
        self._exited = asyncio.Event()
        self._stderr = bytearray()
        self._reported: set[str] = set()
        self._tasks: list[asyncio.Task[None]] = []
        self._started = 0.0
        self._elapsed = 0.0
        self._flushed = asyncio.Event()

    @property
    def stderr_tail(self) -> str:
        return self._stderr.decode("utf-8", "replace")

    @property
    def reason(self) -> str:
        """How the program ended, for a person."""
        text = reasons.ending(self._transport.get_returncode(), self._elapsed, self.stderr_tail)
        return reasons.clean(text, self._command.secrets)

    async def __aenter__(self) -> Streams:
        # Imported here because the MCP SDK brings it, and is slow to import.
        from anyio import create_memory_object_stream

        await self._start()
        self._incoming, read = create_memory_object_stream["SessionMessage | Exception"](0)
        write, self._outgoing = create_memory_object_stream["SessionMessage"](0)
        self._session_ends = (read, write)
        pumps = (self._pump_stdout(), self._pump_stdin(), self._pump_stderr())
        self._tasks = [asyncio.create_task(pump) for pump in pumps]
        self._tasks.append(asyncio.create_task(self._notice_end(self._tasks[0], self._tasks[2])))
        return read, write

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        closing = asyncio.create_task(self._close())
        try:
            await asyncio.shield(closing)
        except asyncio.CancelledError:
            await closing
            raise

    def kill(self) -> None:
        """The last resort, at once and without waiting."""
        if self._started:
            self._signal_group("KILL")

    async def _start(self) -> None:
        command, loop = self._command, asyncio.get_running_loop()
        if not command.cwd.is_dir():
            raise ServerFailed(f"its working directory {command.cwd} does not exist")
        program = command.program
        if _WINDOWS:
            program = shutil.which(program, path=command.env.get("PATH")) or program
        try:
            transport, protocol = await loop.subprocess_exec(
                lambda: _Watched(self._exited.set),
                program,
                *command.args,
                env=dict(command.env) | dict(command.started.environment if command.started else {}),
                cwd=command.cwd,
                start_new_session=True,
            )
        except FileNotFoundError:
            key = f"mcp.servers.{command.name}.command"
            raise ServerFailed(f"command {command.program!r} was not found; install it or correct {key}") from None
        except (OSError, ValueError) as error:
            detail = getattr(error, "strerror", None) or str(error)
            raise ServerFailed(f"command {command.program!r} could not be started: {detail}") from None
        if command.started:
            command.started.note(transport.get_pid())
        self._started = loop.time()
        self._transport = transport
        self._process = asyncio.subprocess.Process(transport, protocol, loop)

    async def _pump_stdout(self) -> None:
        # Imported here because the MCP SDK is slow to import.
        from anyio import BrokenResourceError, ClosedResourceError
        from mcp.shared.message import SessionMessage

        assert self._process.stdout
        joiner, is_open = LineJoiner(), True
        while chunk := await self._process.stdout.read(_CHUNK_BYTES):
            # After the session is gone reading goes on: a server that cannot write may never see its stdin end.
            for line in joiner.feed(chunk) if is_open else ():
                message = self._read(line)
                try:
                    if message:
                        await self._incoming.send(SessionMessage(message))
                except (BrokenResourceError, ClosedResourceError):
                    is_open = False
                    break

    def _read(self, line: bytes | LongLine) -> JSONRPCMessage | None:
        if isinstance(line, LongLine):
            self._report("long", f"dropped a line of {line.length:,} bytes")
            return refuse_line(line)
        message = read_message(line)
        if message is None and line.strip():
            self._report("noise", "skipped output that is not a message; servers should log to stderr")
            return refuse_line(line)
        return message

    def _report(self, kind: str, what: str) -> None:
        if kind not in self._reported:
            self._reported.add(kind)
            logger.warning("MCP server %r: %s", self._command.name, what)

    async def _pump_stdin(self) -> None:
        stdin = self._process.stdin
        assert stdin
        try:
            async for item in self._outgoing:
                stdin.write(write_message(item.message))
                await stdin.drain()
        except OSError:
            pass  # nobody reads any more; who writes next learns it from the closed stream
        finally:
            self._outgoing.close()
            self._flushed.set()

    async def _pump_stderr(self) -> None:
        assert self._process.stderr
        while chunk := await self._process.stderr.read(_CHUNK_BYTES):
            self._stderr += chunk
            del self._stderr[:-STDERR_TAIL_BYTES]

    async def _notice_end(self, stdout: asyncio.Task[None], stderr: asyncio.Task[None]) -> None:
        exited = asyncio.create_task(self._exited.wait())
        try:
            await asyncio.wait({exited, stdout}, return_when=asyncio.FIRST_COMPLETED)
            self._elapsed = asyncio.get_running_loop().time() - self._started
            # Whichever came first, the rest follows at once unless a grandchild holds the pipes.
            await asyncio.wait({exited, stdout, stderr}, timeout=FLUSH_SECONDS)
        finally:
            exited.cancel()
        self.ended.set()
        await self._incoming.aclose()

    async def _close(self) -> None:
        for end in self._session_ends:
            end.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FLUSH_SECONDS):
                await self._flushed.wait()
        assert self._process.stdin
        self._process.stdin.close()
        await self._wait_until(self._exited.is_set, EXIT_GRACE_SECONDS)
        await self._end_group()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._incoming.close()
        self._transport.close()

    async def _end_group(self) -> None:
        """Also when the program itself left: what it started must not outlive it."""
        if self._signal_group("TERM"):
            await self._wait_until(lambda: not self._signal_group("NONE"), TERM_GRACE_SECONDS)
            self._signal_group("KILL")
        await self._wait_until(self._exited.is_set, TERM_GRACE_SECONDS)

    def _signal_group(self, which: str) -> bool:
        """False when nobody is left to hear it."""
        if sys.platform == "win32":
            if self._exited.is_set():
                return False
            if which == "KILL":
                self._transport.kill()
            return True
        number = 0 if which == "NONE" else signal.Signals[f"SIG{which}"]
        try:
            os.killpg(self._transport.get_pid(), number)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    async def _wait_until(self, is_so: Callable[[], bool], seconds: float) -> None:
        """Polls, and only while closing: neither a group nor a zombie tells when it ends."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        while not is_so() and loop.time() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(_POLL_SECONDS)
