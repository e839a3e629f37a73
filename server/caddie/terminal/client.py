"""How the terminal talks to its server: JSON-RPC 2.0 with Content-Length framing over a child's pipes.

Plain asyncio instead of pygls, whose import alone would delay the first prompt by half a second.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import logging
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

Params = dict[str, Any]
CANCELLED = -32800
METHOD_NOT_FOUND = -32601
INTERNAL_ERROR = -32603
_STDERR_KEPT = 8_000
_GRACE = 3.0

logger = logging.getLogger(__name__)


class RpcError(Exception):
    """The server answered with an error; `message` is a sentence for the person."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class ServerGone(Exception):
    """The server's process ended; `stderr` holds its last lines."""

    def __init__(self, returncode: int | None, stderr: Sequence[str]) -> None:
        super().__init__("The server stopped.")
        self.returncode = returncode
        self.stderr = tuple(stderr)

    @property
    def how(self) -> str:
        """` (exit code 3)`, ` (signal 9)`, or nothing when it is not known."""
        if self.returncode is None:
            return ""
        return f" (exit code {self.returncode})" if self.returncode >= 0 else f" (signal {-self.returncode})"


class Call:
    """A request under way; `await call.result`."""

    def __init__(self, number: int, result: asyncio.Future[Any]) -> None:
        self.number = number
        self.result = result


class Client:
    """One connection to one child process. `on_request` answers what the server asks; `on_event` hears what it says."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        on_event: Callable[[str, Params], None],
        on_request: Callable[[str, Params], Awaitable[Any]],
    ) -> None:
        self._process = process
        self._on_event = on_event
        self._on_request = on_request
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._answering: dict[int | str, asyncio.Task[None]] = {}
        self._stderr = ""
        self._is_over = False
        self._reader = asyncio.create_task(self._read())
        self._stderr_reader = asyncio.create_task(self._read_stderr())

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        workspace: Path,
        on_event: Callable[[str, Params], None],
        on_request: Callable[[str, Params], Awaitable[Any]],
    ) -> Client:
        """The child gets its own session, so that Ctrl-C in the terminal is ours alone. Raises: OSError."""
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=workspace,
            start_new_session=True,
        )
        return cls(process, on_event, on_request)

    @property
    def is_gone(self) -> bool:
        return self._is_over or self._process.returncode is not None

    async def ended(self) -> ServerGone:
        """Waits for the end of the connection."""
        await asyncio.wait([self._reader])
        return self._gone()

    def begin(self, method: str, params: Params) -> Call:
        number = next(self._numbers)
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        if self.is_gone:
            future.set_exception(self._gone())
        else:
            self._waiting[number] = future
            self._send({"id": number, "method": method, "params": params})
        return Call(number, future)

    def cancel(self, call: Call) -> None:
        """Asks the server to stop; the call ends when it answers."""
        if call.number in self._waiting:
            self.notify("$/cancelRequest", {"id": call.number})

    async def request(self, method: str, params: Params) -> Any:
        """Raises: RpcError, ServerGone."""
        call = self.begin(method, params)
        try:
            return await call.result
        except asyncio.CancelledError:
            self.cancel(call)
            self._waiting.pop(call.number, None)
            raise

    def notify(self, method: str, params: Params) -> None:
        self._send({"method": method, "params": params})

    async def close(self) -> None:
        """shutdown, exit, and if need be terminate and kill; returns within a few seconds, the child gone."""
        with contextlib.suppress(RpcError, ServerGone, TimeoutError):
            async with asyncio.timeout(_GRACE):
                await self.request("shutdown", {})
                self.notify("exit", {})
        if self._process.stdin is not None:
            self._process.stdin.close()
        for stop in (None, self._process.terminate, self._process.kill):
            if stop is not None:
                with contextlib.suppress(ProcessLookupError):
                    stop()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_GRACE):
                    await self._process.wait()
                    break
        for task in (self._reader, self._stderr_reader, *self._answering.values()):
            task.cancel()
        await asyncio.gather(self._reader, self._stderr_reader, return_exceptions=True)

    def _send(self, message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode("utf-8", "replace")
        stdin = self._process.stdin
        if stdin is not None and not stdin.is_closing():
            stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    async def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            while True:
                self._take(json.loads(await _read_body(self._process.stdout)))
        except (asyncio.IncompleteReadError, ConnectionError, ValueError):
            # ValueError: bytes that are no message; after them nothing can be trusted to be one.
            await self._end()

    async def _end(self) -> None:
        """The connection is over: whoever waits is told, with the last words of the server."""
        self._is_over = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(1):
                await self._process.wait()
                await self._stderr_reader
        for task in self._answering.values():
            task.cancel()
        waiting, self._waiting = self._waiting, {}
        for future in waiting.values():
            if not future.done():
                future.set_exception(self._gone())

    def _gone(self) -> ServerGone:
        return ServerGone(self._process.returncode, self._stderr.splitlines()[-6:])

    def _take(self, message: dict[str, Any]) -> None:
        method = message.get("method")
        if method is None:
            self._settle(message)
        elif "id" in message:
            self._answer(message["id"], method, message.get("params") or {})
        elif method == "$/cancelRequest":
            task = self._answering.get(message["params"]["id"])
            if task is not None:
                task.cancel()
        else:
            self._on_event(method, message.get("params") or {})

    def _settle(self, message: dict[str, Any]) -> None:
        future = self._waiting.pop(message.get("id", 0), None)
        if future is None or future.done():
            return
        if error := message.get("error"):
            future.set_exception(RpcError(error["code"], error["message"], error.get("data")))
        else:
            future.set_result(message.get("result"))

    def _answer(self, number: int | str, method: str, params: Params) -> None:
        task = asyncio.create_task(self._answer_one(number, method, params))
        self._answering[number] = task
        task.add_done_callback(lambda _: self._answering.pop(number, None))

    async def _answer_one(self, number: int | str, method: str, params: Params) -> None:
        try:
            self._send({"id": number, "result": await self._on_request(method, params)})
        except asyncio.CancelledError:
            self._send({"id": number, "error": {"code": CANCELLED, "message": "The prompt was withdrawn."}})
        except NotImplementedError:
            message = f"The terminal does not know {method!r}."
            self._send({"id": number, "error": {"code": METHOD_NOT_FOUND, "message": message}})
        except Exception:  # the boundary: a prompt that breaks must not leave the server waiting
            logger.exception("answering %s failed", method)
            self._send({"id": number, "error": {"code": INTERNAL_ERROR, "message": "The prompt could not be shown."}})

    async def _read_stderr(self) -> None:
        assert self._process.stderr is not None
        while chunk := await self._process.stderr.read(4096):
            self._stderr = (self._stderr + chunk.decode("utf-8", "replace"))[-_STDERR_KEPT:]


async def _read_body(stream: asyncio.StreamReader) -> bytes:
    length = 0
    while (line := await stream.readline()).strip():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return await stream.readexactly(length if line else 1)
