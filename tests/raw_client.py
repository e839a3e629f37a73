"""A real server process, and a client that speaks bytes."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

SERVER = Path(__file__).parent / "fixtures" / "echo_server.py"
SECONDS = 60


def frame(message: object) -> bytes:
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def request(msg_id: Any, method: str, params: Any = ...) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": msg_id, "method": method}
    return message if params is ... else {**message, "params": params}


class RawClient:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        assert process.stdin is not None
        assert process.stdout is not None
        self.stdin, self.stdout = process.stdin, process.stdout
        self._lines, self._changed = bytearray(), asyncio.Event()
        self.log = asyncio.create_task(self._log())

    def send(self, *messages: object) -> None:
        for message in messages:
            self.stdin.write(frame(message))

    async def read(self) -> Any:
        async with asyncio.timeout(SECONDS):
            header = await self.stdout.readuntil(b"\r\n\r\n")
            assert header.startswith(b"Content-Length: "), header
            return json.loads(await self.stdout.readexactly(int(header.split()[1])))

    async def call(self, msg_id: Any, method: str, params: Any = ...) -> Any:
        self.send(request(msg_id, method, params))
        return await self.read()

    async def initialize(self) -> None:
        capabilities = {"experimental": {"caddie": {"permission": True}}}
        answer = await self.call(0, "initialize", {"processId": None, "rootUri": None, "capabilities": capabilities})
        assert "capabilities" in answer["result"]
        self.send({"jsonrpc": "2.0", "method": "initialized", "params": {}})

    async def stderr_has(self, word: bytes) -> bytes:
        """The whole lines of the log, once one of them has `word`."""
        async with asyncio.timeout(SECONDS):
            while word not in (whole := self._lines[: self._lines.rfind(b"\n") + 1]):
                await self._changed.wait()
                self._changed.clear()
        return bytes(whole)

    async def end(self) -> tuple[int, str]:
        """Exit code and all that was logged."""
        async with asyncio.timeout(SECONDS):
            await self.log
            return await self.process.wait(), self._lines.decode()

    async def _log(self) -> None:
        assert self.process.stderr is not None
        while chunk := await self.process.stderr.read(4096):
            self._lines += chunk
            self._changed.set()


@asynccontextmanager
async def start(
    *arguments: str, initialized: bool = True, program: tuple[str, ...] = (str(SERVER),), **options: Any
) -> AsyncIterator[RawClient]:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, *program, *arguments, stdin=pipe, stdout=pipe, stderr=pipe, **options
    )
    client = RawClient(process)
    try:
        if initialized:
            await client.initialize()
        yield client
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGKILL)
            await process.wait()
        await client.log
        client.stdin.close()
        process._transport.close()  # type: ignore[attr-defined]
