"""How does a request reach a model API, and what becomes of everything that goes wrong on the way?"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any, Protocol
from urllib.parse import urlsplit

import httpx

from caddie import __version__
from caddie.chat.messages import Completed, StreamEvent
from caddie.errors import ProviderAuth, ProviderError, ProviderRejected, ProviderUnreachable, StreamTruncated
from caddie.providers.faults import Fault, Service, error_of, fault_of_response
from caddie.providers.sse import Event, is_json, is_web_page, read_events

_ERROR_BODY_LIMIT = 100_000
# For a model list or a count, which nobody waits long for.
_ASK_SECONDS = 10.0
_JSON_BODY_LIMIT = 32_000_000
# After the terminal event: long enough for a usage chunk or the end of the body, so that the connection is reused.
_GRACE = 2.0
_STALE_SECONDS = 5.0


class Decoder(Protocol):
    """Turns the events of one answer into ours. `ended`: the terminal event came; `closed`: nothing follows it."""

    @property
    def ended(self) -> bool: ...

    @property
    def closed(self) -> bool: ...

    def feed(self, event: Event) -> list[StreamEvent]: ...

    def finish(self) -> Completed: ...


class Endpoint:
    """One address, one key. Every exception that leaves it is a ProviderError without the key in it."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        *,
        service: Service,
        url: httpx.URL,
        headers: Mapping[str, str],
        idle_timeout: float,
    ) -> None:
        _check_key(service)
        self.service = service
        self.url = url
        self._client = client
        self._headers = {
            "content-type": "application/json",
            "accept": "text/event-stream",
            "user-agent": f"caddie/{__version__}",
            **headers,
        }
        self._timeout = httpx.Timeout(connect=10, read=idle_timeout, write=60, pool=10)
        self._idle = idle_timeout

    @asynccontextmanager
    async def post(
        self,
        body: Mapping[str, Any],
        *,
        tools: Sequence[str] = (),
        headers: Mapping[str, str] | None = None,
        url: httpx.URL | None = None,
    ) -> AsyncIterator[httpx.Response]:
        """A successful response, not yet read. `tools` are the names of the body's tools, in their order; `url` is
        another address of the same server.

        Raises: ProviderError.
        """
        begun = False
        try:
            response = await self._send("POST", url or self.url, encode(body), {**self._headers, **(headers or {})})
            async with aclosing(response):
                begun = response.is_success
                if not begun:
                    raise error_of(await _fault(response), self.service, tools)
                yield response
        except httpx.HTTPError as error:
            raise self._translate(error, begun) from error

    async def _send(
        self, method: str, url: httpx.URL, content: bytes | None, headers: Mapping[str, str]
    ) -> httpx.Response:
        """A kept connection that the server closed meanwhile fails at once; a new one is then tried, once.

        Raises: httpx.HTTPError.
        """
        begun: float | None = time.monotonic()
        while True:
            request = self._client.build_request(method, url, content=content, headers=headers, timeout=self._timeout)
            try:
                return await self._client.send(request, stream=True)
            except (httpx.RemoteProtocolError, httpx.ReadError, httpx.WriteError):
                if begun is None or time.monotonic() - begun > _STALE_SECONDS:
                    raise
                begun = None

    async def ask(
        self,
        url: httpx.URL,
        body: Mapping[str, Any] | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        seconds: float = _ASK_SECONDS,
    ) -> dict[str, Any]:
        """A small JSON object, such as a model list or a count: by GET, or by POST of `body`. Raises: ProviderError."""
        method, content = ("GET", None) if body is None else ("POST", encode(body))
        heads = {**self._headers, "accept": "application/json", **(headers or {})}
        try:
            async with asyncio.timeout(seconds):
                response = await self._send(method, url, content, heads)
                async with aclosing(response):
                    if not response.is_success:
                        raise error_of(await _fault(response), self.service)
                    content = await read_json(response)
        except TimeoutError as error:
            raise ProviderUnreachable(f"{self.service.name} did not answer within {seconds:g} seconds.") from error
        except httpx.HTTPError as error:
            raise self._translate(error, begun=False) from error
        try:
            parsed = json.loads(content)
        except (ValueError, RecursionError):
            parsed = None
        if not isinstance(parsed, dict):
            raise ProviderRejected(f"{self.service.name} answered {url.path} with something that is not a JSON object.")
        return parsed

    def _translate(self, error: httpx.HTTPError, begun: bool) -> ProviderError:
        name, address = self.service.name, self.service.address
        match error:
            case httpx.ReadTimeout():
                return ProviderUnreachable(
                    f"{name} was silent for {self._idle:g} seconds; "
                    "if the model needs longer, raise caddie.requestTimeout."
                )
            case _ if begun:
                return StreamTruncated(f"The connection to {name} broke in the middle of the answer.")
            case httpx.UnsupportedProtocol():
                return ProviderRejected(f"caddie.baseUrl must begin with http:// or https://, not {address!r}.")
            case httpx.ConnectError() | httpx.ConnectTimeout():
                return ProviderUnreachable(
                    f"Nothing answers at {address}: check that the server runs, that caddie.baseUrl is right, "
                    "and the network or proxy."
                )
            case _:
                return ProviderUnreachable(
                    f"The connection to {address} failed before an answer came; check the network or proxy."
                )

    def not_a_stream(self, response: httpx.Response) -> ProviderRejected:
        kind = response.headers.get("content-type", "no type")
        return ProviderRejected(
            f"{self.service.address} answered with {self.service.redact(kind)!r} where an event stream was expected; "
            "check caddie.baseUrl.",
            status=response.status_code,
        )

    def rejected(self, fault: Fault) -> ProviderError:
        return error_of(fault, self.service)


def encode(body: Mapping[str, Any]) -> bytes:
    """The same bytes for the same values; a lone surrogate (half an emoji) becomes `?` instead of an error."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


async def decode(response: httpx.Response, decoder: Decoder) -> AsyncGenerator[StreamEvent, None]:
    """All events of one answer, `Completed` last.

    Raises: what the decoder raises, StreamTruncated included.
    """
    async with aclosing(read_events(response)) as events:  # type: ignore[type-var]
        async for event in events:
            for ours in decoder.feed(event):
                yield ours
            if decoder.ended:
                break
        for ours in await _rest(events, decoder):
            yield ours
    yield decoder.finish()


async def _rest(events: AsyncIterator[Event], decoder: Decoder) -> list[StreamEvent]:
    """What follows the terminal event. The answer is whole by now, so a broken connection no longer matters."""
    found: list[StreamEvent] = []
    try:
        async with asyncio.timeout(_GRACE / 10 if decoder.closed else _GRACE) as limit:
            async for event in events:
                found += decoder.feed(event)
                if decoder.closed:
                    limit.reschedule(min(limit.when() or 0, asyncio.get_running_loop().time() + _GRACE / 10))
    except (TimeoutError, httpx.HTTPError):
        pass
    return found


async def read_json(response: httpx.Response) -> bytes:
    return await _read(response, _JSON_BODY_LIMIT)


def is_event_stream(response: httpx.Response) -> bool:
    return not is_json(response) and not is_web_page(response)


def join(base_url: str, *, prefix: str, path: str) -> httpx.URL:
    """`base_url` plus `path`; a bare host gets `prefix` first. A query (as some gateways want) stays.

    Raises: ProviderRejected.
    """
    try:
        url = httpx.URL(base_url.strip())
        is_possible = bool(url.host) and (url.port or 0) < 65_536
    except (httpx.InvalidURL, ValueError) as error:
        raise ProviderRejected(f"caddie.baseUrl is not an address: {shown(base_url)!r}.") from error
    if url.scheme not in ("http", "https") or not url.host:
        raise ProviderRejected(f"caddie.baseUrl must begin with http:// or https://, not {shown(base_url)!r}.")
    if not is_possible:
        raise ProviderRejected(f"caddie.baseUrl names a port that does not exist: {shown(base_url)!r}.")
    base = url.path.rstrip("/").removesuffix(path)
    return url.copy_with(path=(base or prefix) + path)


def shown(base_url: str) -> str:
    """An address fit for a message: without user name, password and query, which may hold secrets."""
    try:
        parts = urlsplit(base_url.strip())
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "that address"
    if not parts.hostname:
        return base_url.strip().split("?")[0].rpartition("@")[2][:80]
    return f"{parts.scheme}://{parts.hostname}{port}{parts.path}"


def host_of(base_url: str) -> str:
    try:
        return urlsplit(base_url.strip()).hostname or ""
    except ValueError:
        return ""


def _check_key(service: Service) -> None:
    if service.key and not (service.key.isascii() and service.key.isprintable() and " " not in service.key):
        raise ProviderAuth(
            f"The key in the environment variable {service.key_name} holds characters that no key has "
            "(a space, a line break or a letter outside ASCII); copy it again."
        )


async def _fault(response: httpx.Response) -> Fault:
    try:
        body = await _read(response, _ERROR_BODY_LIMIT)
    except httpx.HTTPError:
        body = b""  # The status alone says enough.
    return fault_of_response(response.status_code, response.headers, body)


async def _read(response: httpx.Response, limit: int) -> bytes:
    found = bytearray()
    async with aclosing(response.aiter_bytes()) as chunks:  # type: ignore[type-var]
        async for chunk in chunks:
            found += chunk
            if len(found) > limit:
                break
    return bytes(found[:limit])
