"""How is a server reached that has an address instead of a command?"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Self

from caddie.mcp.oauth import Tokens, TokenVault
from caddie.mcp.wire import mend_tool_list
from caddie.settings import McpServer

if TYPE_CHECKING:
    import httpx2

_READ_SECONDS = 300.0  # between two events of a stream; the calls have limits of their own
_UNAUTHORIZED = 401


class HttpTransport:
    """The SDK's streamable HTTP transport with the configured headers, or the tokens of a sign-in.

    `is_refused` says that the address wants to know who asks, which the SDK's error does not tell.
    """

    def __init__(self, server: McpServer, vault: TokenVault | None = None) -> None:
        self.is_refused = False
        self.tokens = Tokens(server, vault)
        self._server = server
        self._url = server.url

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[Any]:
        # Imported here because the MCP SDK, which brings httpx2, is slow to import.
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        self._url = str(httpx2.URL(self._server.url))
        client = httpx2.AsyncClient(
            headers=dict(self._server.headers),
            auth=await self.tokens.auth(),
            timeout=httpx2.Timeout(self._server.timeout, read=_READ_SECONDS),
            event_hooks={"response": [self._look]},
        )
        async with client, streamable_http_client(self._server.url, http_client=client) as (read, write):
            yield _Mended(read), write

    async def _look(self, response: httpx2.Response) -> None:
        """Only what the address itself answers: getting tokens asks others too."""
        if str(response.request.url) == self._url:
            self.is_refused = response.status_code == _UNAUTHORIZED


class _Mended:
    """What the server sends, with its tool lists as the SDK takes them."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *how: Any) -> None:
        await self._stream.__aexit__(*how)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        return _mended(await self._stream.__anext__())

    async def receive(self) -> Any:
        return _mended(await self._stream.receive())


def _mended(item: Any) -> Any:
    from mcp_types import JSONRPCResponse  # imported here because the MCP SDK is slow to import

    message = getattr(item, "message", None)  # an exception has none
    if isinstance(message, JSONRPCResponse):
        mend_tool_list(message.result)
    return item
