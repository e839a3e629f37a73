"""How do bytes become messages, and when does the server stop? One client, one orderly end.

pygls's own loop blocks on a slow reader, hangs on SIGINT, allocates what a header announces and lets `print` corrupt
the stream; this one does not.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import re
import signal
import stat
import sys
import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from caddie.rpc import codes
from caddie.rpc.greeting import greet

if TYPE_CHECKING:
    from caddie.rpc.codec import Proto, Server

HEADER_CAP = 16 * 1024
BODY_CAP = 64 * 1024 * 1024
SKIP_CAP = 1024 * 1024 * 1024  # a larger announced body is not waited for
HIGH_WATER = 256 * 1024  # from here on the client counts as slow
UNREAD_CAP = 256 * 1024 * 1024  # a client that has not read this much will not read any more
FLUSH_SECONDS = 1.0
STOP_SECONDS = 5.0
LINGER_SECONDS = 2.0
_CHUNK = 64 * 1024
_HTTP = re.compile(rb"[A-Z]+ [^\r\n]* HTTP/[0-9]")
_LENGTH = re.compile(rb"content-length[ \t]*:[ \t]*([^\r\n]*)", re.IGNORECASE)

logger = logging.getLogger(__name__)
MakeServer = Callable[[], "Server"]
Refuse = Callable[[None, int, str], None]


class Link(asyncio.Protocol):
    """The way to the client: pygls's writer, on a transport that never blocks."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self.reader = reader
        self.congested = False
        self.on_relief: Callable[[], None] = lambda: None
        self.lost = asyncio.Event()
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport
        transport.set_write_buffer_limits(high=HIGH_WATER)

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost.set()

    def pause_writing(self) -> None:
        self.congested = True

    def resume_writing(self) -> None:
        self.congested = False
        self.on_relief()

    def write(self, data: bytes) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        self._transport.write(data)
        if self._transport.get_write_buffer_size() > UNREAD_CAP:
            logger.error("the client does not read: connection given up")
            self._transport.abort()

    def close(self) -> None:
        """pygls's interface of a writer; the end is `finish`."""

    async def finish(self) -> None:
        if self._transport is None:
            return
        self._transport.close()
        try:
            async with asyncio.timeout(FLUSH_SECONDS):
                await self.lost.wait()
        except TimeoutError:
            self._transport.abort()


class SocketLink(Link):
    """A socket is the way from the client too."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.reader.set_transport(transport)

    def data_received(self, data: bytes) -> None:
        self.reader.feed_data(data)

    def eof_received(self) -> bool:
        self.reader.feed_eof()
        return True  # answers may still go out


class FileLink(Link):
    """Standard output that is a file or a device: it takes every write at once."""

    def __init__(self, reader: asyncio.StreamReader, descriptor: int) -> None:
        super().__init__(reader)
        self._file = os.fdopen(descriptor, "wb", 0)

    def write(self, data: bytes) -> None:
        self._file.write(data)


def run(serving: Coroutine[Any, Any, int]) -> int:
    """Like `asyncio.run`, but a thread or a handler that will not end cannot keep the process for ever."""
    runner = asyncio.Runner()
    code = runner.run(serving)
    cut = threading.Timer(LINGER_SECONDS, os._exit, (code,))
    cut.daemon = True  # it also watches over the interpreter's own waiting for threads, after this function
    cut.start()
    runner.close()
    return code


async def serve_stdio(make_server: MakeServer) -> int:
    """Serve the client at the other end of stdin and stdout; returns the exit code."""
    source, sink = _take_standard_streams()
    reader = asyncio.StreamReader(limit=HEADER_CAP)
    await _feed(reader, source)
    link = await _open_link(reader, sink)
    with _signals() as stopped:
        return await _serve(make_server, link, stopped)


async def serve_tcp(make_server: MakeServer, port: int) -> int:
    """Serve the first client that connects to the loopback port; returns the exit code when it has gone."""
    loop = asyncio.get_running_loop()
    first: asyncio.Future[Link] = loop.create_future()

    def connected() -> Link:
        link = SocketLink(asyncio.StreamReader(limit=HEADER_CAP))
        if first.done():
            return _Refused(link.reader)
        first.set_result(link)
        return link

    listener = await loop.create_server(connected, "127.0.0.1", port)
    async with listener:
        sys.stderr.write(f"listening on 127.0.0.1:{listener.sockets[0].getsockname()[1]}\n")
        sys.stderr.flush()
        with _signals() as stopped:
            await asyncio.wait({first, stopped}, return_when=asyncio.FIRST_COMPLETED)
            return await _serve(make_server, first.result(), stopped) if first.done() else stopped.result()


class _Refused(SocketLink):
    """A second client of a port: replies must never reach the wrong one."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        assert isinstance(transport, asyncio.Transport)
        error = {"code": codes.INVALID_REQUEST, "message": "This server already has a client; start another one"}
        _write(self, {"jsonrpc": "2.0", "id": None, "error": error})
        transport.write_eof()  # closing at once would reset the connection, and the words with it
        asyncio.get_running_loop().call_later(FLUSH_SECONDS, transport.abort)

    def data_received(self, data: bytes) -> None:
        """What it says is not heard."""

    def eof_received(self) -> bool:
        return False


async def _serve(make_server: MakeServer, link: Link, stopped: asyncio.Future[int]) -> int:
    """Greet the client, then make the server (which imports pygls) and let it read on."""
    greeting = asyncio.create_task(_greet(link))
    lost = asyncio.create_task(link.lost.wait())
    await _first_of(greeting, lost, stopped)
    if not greeting.done():
        greeting.cancel()
        lost.cancel()
        await link.finish()
        return stopped.result() if stopped.done() else 0
    server = await asyncio.to_thread(make_server)  # a second of imports
    protocol = server.protocol
    protocol.set_writer(link)
    link.on_relief = protocol.relieved
    protocol.on_exit = lambda code: None if stopped.done() else stopped.set_result(code)
    reading = asyncio.create_task(_read_all(link.reader, protocol, greeting.result()))
    await _first_of(reading, lost, stopped)
    code = stopped.result() if stopped.done() else reading.result() if reading.done() else 0
    for task in (reading, lost):
        task.cancel()
    await _close(server, link)
    return code


async def _first_of(*futures: asyncio.Future[Any]) -> None:
    await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)


@dataclass(frozen=True, slots=True)
class _First:
    """How the stream began: the first body, whether it was answered, or why nothing more can be read."""

    message: dict[str, Any] | None = None
    body: bytes = b""
    error: BaseException | None = None


async def _greet(link: Link) -> _First:
    def refuse(msg_id: None, code: int, message: str) -> None:
        _write(link, {"jsonrpc": "2.0", "id": msg_id, "error": {"code": code, "message": message}})

    try:
        while (body := await _read_body(link.reader, refuse)) is None:
            pass
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, _LostError) as error:
        return _First(error=error)
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return _First(body=body)
    if (answer := greet(message)) is None:
        return _First(body=body)
    _write(link, answer)
    return _First(message=message)


def _write(link: Link, message: dict[str, Any]) -> None:
    body = json.dumps(message).encode()
    link.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))


async def _close(server: Server, link: Link) -> None:
    """Handlers get their `finally`, the server its `on_close`, the client what was written; each within its time."""
    server.protocol.close()
    await server.protocol.cancel_running()
    if server.on_close is not None:
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await server.on_close()
        except Exception:  # the boundary of the process: the end must be reached
            logger.exception("closing failed")
    await link.finish()


@contextlib.contextmanager
def _signals() -> Any:
    """A future that SIGTERM and SIGINT resolve to the exit code."""
    loop = asyncio.get_running_loop()
    stopped: asyncio.Future[int] = loop.create_future()
    caught = (signal.SIGTERM, signal.SIGINT)

    def stop(number: int) -> None:
        if not stopped.done():
            stopped.set_result(128 + number)

    with contextlib.suppress(NotImplementedError):  # Windows has no signal handlers in its loop
        for number in caught:
            loop.add_signal_handler(number, stop, number)
    try:
        yield stopped
    finally:
        with contextlib.suppress(NotImplementedError):
            for number in caught:
                loop.remove_signal_handler(number)


async def _read_all(reader: asyncio.StreamReader, protocol: Proto, first: _First) -> int:
    """Read messages until the end of the stream (0), or until there is no telling where the next one starts (1)."""
    try:
        if first.error is not None:
            raise first.error
        if first.message is not None:
            protocol.receive_answered(first.message)
        else:
            _decode(first.body, protocol)
        while True:
            body = await _read_body(reader, protocol.refuse)
            if body is not None:
                _decode(body, protocol)
    except asyncio.IncompleteReadError:
        return 0
    except (asyncio.LimitOverrunError, _LostError) as error:
        why = str(error) if isinstance(error, _LostError) else f"a header line of more than {HEADER_CAP} bytes"
        protocol.refuse(None, codes.PARSE_ERROR, f"Parse error: {why}; the connection is closed")
        return 1


class _LostError(Exception):
    """The stream cannot be read on."""


async def _read_body(reader: asyncio.StreamReader, refuse: Refuse) -> bytes | None:
    """The next body, or None when it was refused and passed over."""
    header = await _read_header(reader)
    if _HTTP.match(header):  # a page in a browser may send requests to any port of this machine
        raise _LostError("an HTTP request came")
    # Not tied to the start of a line: after a bad frame its body runs into the next header.
    announced = _LENGTH.findall(header)
    value = announced[-1].strip() if announced else b""
    if not re.fullmatch(rb"[0-9]{1,18}", value):
        refuse(None, codes.PARSE_ERROR, "Parse error: a header without a valid Content-Length")
        return None
    length = int(value)
    if length > SKIP_CAP:
        raise _LostError(f"a message of {length} bytes was announced")
    if length > BODY_CAP:
        await _skip(reader, length)
        refuse(
            None,
            codes.INVALID_REQUEST,
            f"Invalid request: {length} bytes, at most {BODY_CAP} are taken in one message",
        )
        return None
    return await reader.readexactly(length)


async def _read_header(reader: asyncio.StreamReader) -> bytes:
    lines: list[bytes] = []
    while True:
        line = await reader.readuntil(b"\n")
        if line.strip():
            lines.append(line)
        elif lines:
            return b"".join(lines)
        if sum(map(len, lines)) > HEADER_CAP:
            raise _LostError(f"a header of more than {HEADER_CAP} bytes")


async def _skip(reader: asyncio.StreamReader, length: int) -> None:
    while length:
        chunk = await reader.read(min(length, _CHUNK))
        if not chunk:
            raise asyncio.IncompleteReadError(b"", length)
        length -= len(chunk)


def _decode(body: bytes, protocol: Proto) -> None:
    try:
        message = json.loads(body.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        protocol.refuse(None, codes.PARSE_ERROR, "Parse error: the body is not JSON in UTF-8")
    else:
        protocol.receive(message)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _take_standard_streams() -> tuple[int, int]:
    """Keep stdin and stdout for the protocol alone: a `print`, or a child process, then writes to stderr."""
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return source, sink


def _is_pipe(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return os.name == "posix" and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor))


async def _feed(reader: asyncio.StreamReader, source: int) -> None:
    loop = asyncio.get_running_loop()
    if _is_pipe(source):
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(source, "rb", 0))
        return

    def pump() -> None:  # files and devices cannot be polled
        with os.fdopen(source, "rb", 0) as stream, contextlib.suppress(RuntimeError):  # the loop may be closed first
            while chunk := stream.read(_CHUNK):
                loop.call_soon_threadsafe(reader.feed_data, chunk)
            loop.call_soon_threadsafe(reader.feed_eof)

    threading.Thread(target=pump, name="stdin", daemon=True).start()


async def _open_link(reader: asyncio.StreamReader, sink: int) -> Link:
    if not _is_pipe(sink):
        return FileLink(reader, sink)
    loop = asyncio.get_running_loop()
    _, link = await loop.connect_write_pipe(lambda: Link(reader), os.fdopen(sink, "wb", 0))
    return link
