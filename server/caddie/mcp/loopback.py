"""How does the answer of a sign-in page come back? To an address on this machine that listens for it, once.

Anything on the machine, and any page in the browser, may ask this address: what does not carry the sign-in's own state
is refused and changes nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from types import TracebackType
from typing import Self
from urllib.parse import parse_qs, urlsplit

PATH = "/callback"
_READ_SECONDS = 5.0
_PAGE = (
    '<!doctype html><html><head><meta charset="utf-8"><title>Caddie</title></head>'
    '<body style="font-family: sans-serif; margin: 4em"><p>{}</p></body></html>'
)
_HEADERS = (
    "Content-Type: text/html; charset=utf-8\r\nCache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n"
    "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r\nConnection: close\r\n"
)

Answer = dict[str, str]


class Loopback:
    """`expect` says which state counts; `answer` waits for it and gives the parameters that came with it."""

    def __init__(self, port: int = 0) -> None:
        """`port` is the wanted one; another is taken when it is not free."""
        self._wanted = port
        self._state = ""
        self._answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

    async def __aenter__(self) -> Self:
        try:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._wanted)
        except OSError:
            self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()

    @property
    def port(self) -> int:
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}{PATH}"

    def expect(self, state: str) -> None:
        self._state = state

    async def answer(self) -> Answer:
        return await self._answer

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_READ_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
                status, words = self._take(head)
                body = _PAGE.format(words).encode()
                writer.write(f"HTTP/1.1 {status}\r\n{_HEADERS}Content-Length: {len(body)}\r\n\r\n".encode() + body)
                await writer.drain()
        except (TimeoutError, OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # what is no request, or no address
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    def _take(self, head: bytes) -> tuple[str, str]:
        """The status and the words of the page: ours, never the request's."""
        lines = head.decode("latin-1").split("\r\n")
        method, _, rest = lines[0].partition(" ")
        target = urlsplit(rest.partition(" ")[0])
        hosts = [line.partition(":")[2].strip() for line in lines[1:] if line.lower().startswith("host:")]
        if method != "GET" or target.path != PATH or hosts != [f"127.0.0.1:{self.port}"]:
            return "404 Not Found", "There is nothing here."
        answer = {name: values[0] for name, values in parse_qs(target.query).items()}
        given = answer.get("state", "").encode()
        if not self._state or not secrets.compare_digest(given, self._state.encode()) or self._answer.done():
            return "400 Bad Request", "Caddie does not wait for this answer. Nothing was changed."
        self._answer.set_result(answer)
        if answer.get("error") or not answer.get("code"):
            return "200 OK", "The sign-in was refused. You can close this page; Caddie says why."
        return "200 OK", "You are signed in. You can close this page and go back to your editor."
