"""What do we ask of a connected server, how long do we wait, and what does a bad answer become?"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pydantic import ValidationError

from caddie.errors import ServerFailed
from caddie.mcp import prompts, results
from caddie.tools.context import McpResource, ToolContext
from caddie.tools.servers import PromptMessage, ServerPrompt
from caddie.tools.tool import Arguments, ToolResult, error_result

if TYPE_CHECKING:
    import mcp_types as types
    from mcp import Client

MAX_PAGES = 200
MAX_ENTRIES = 10_000
# The SDK wants a limit for each request; ours is kept around it, since progress moves it.
_NO_LIMIT_SECONDS = 7 * 24 * 3600.0


class ConnectionLost(Exception):
    """The server did not answer this and will not answer the next; translated by the supervisor."""


class _Page(Protocol):
    @property
    def next_cursor(self) -> str | None: ...


P = TypeVar("P", bound=_Page)
E = TypeVar("E")
T = TypeVar("T")


class Calls:
    """Requests to one server. Errors of the SDK end here: they become results, or ServerFailed, or ConnectionLost."""

    def __init__(self, client: Client, server: str, timeout: float) -> None:
        self._client = client
        self._server = server
        self._timeout = timeout
        self._running: dict[asyncio.Timeout, str] = {}
        self._questions = 0  # that wait for a person

    async def list_tools(self) -> list[types.Tool]:
        """Raises: ServerFailed, ConnectionLost."""
        listed = await self._asked(self._all(lambda cursor: self._list_tools(cursor), lambda page: page.tools))
        return sorted({tool.name: tool for tool in reversed(listed)}.values(), key=lambda tool: tool.name)

    async def list_resources(self) -> list[McpResource]:
        """Raises: ServerFailed, ConnectionLost."""
        if self._client.server_capabilities.resources is None:
            return []
        found = await self._asked(
            self._all(lambda cursor: self._client.list_resources(cursor=cursor), lambda page: page.resources)
        )
        return [
            McpResource(self._server, str(one.uri), one.title or one.name, one.description or "", one.mime_type or "")
            for one in found
        ]

    async def read_resource(self, uri: str) -> str:
        """Raises: ServerFailed, ConnectionLost."""
        result = await self._asked(self._client.read_resource(uri))
        return "\n\n".join(results.resource_text(part) for part in result.contents)

    async def list_prompts(self) -> list[ServerPrompt]:
        """Raises: ServerFailed, ConnectionLost."""
        if self._client.server_capabilities.prompts is None:
            return []
        found = await self._asked(
            self._all(lambda cursor: self._client.list_prompts(cursor=cursor), lambda page: page.prompts)
        )
        return sorted((prompts.to_prompt(self._server, one) for one in found), key=lambda prompt: prompt.name)

    async def get_prompt(self, name: str, arguments: Mapping[str, str]) -> tuple[PromptMessage, ...]:
        """Raises: ServerFailed, ConnectionLost."""
        return prompts.to_messages(await self._asked(self._client.get_prompt(name, dict(arguments))))

    async def call_tool(self, name: str, arguments: Arguments, context: ToolContext) -> ToolResult:
        """Cancelling this cancels the call at the server too. Raises: ConnectionLost."""
        try:
            async with asyncio.timeout(self._timeout) as deadline:
                with self._counted(deadline, context.session.session_id):
                    return results.to_tool_result(
                        await self._asked(
                            self._client.call_tool(
                                name,
                                arguments,
                                read_timeout_seconds=_NO_LIMIT_SECONDS,
                                progress_callback=self._on_progress(deadline, context.progress),
                            )
                        )
                    )
        except TimeoutError:
            setting = f"mcp.servers.{self._server}.timeout"
            return error_result(
                f"MCP server {self._server!r} gave no answer within {self._timeout:g} s and was told to stop; "
                f"{setting} sets how long to wait."
            )
        except ServerFailed as error:
            return error_result(error.message)

    @property
    def session_id(self) -> str:
        """The session of the newest running call, which is the one a server's question most likely belongs to."""
        return next(reversed(self._running.values()), "")

    @contextlib.contextmanager
    def waiting_for_a_person(self) -> Iterator[None]:
        """The time a person takes to answer is not the server's."""
        self._questions += 1
        for deadline in self._running:
            if not deadline.expired():
                deadline.reschedule(None)
        try:
            yield
        finally:
            self._questions -= 1
            for deadline in self._running:
                self._extend(deadline)

    @contextlib.contextmanager
    def _counted(self, deadline: asyncio.Timeout, session_id: str) -> Iterator[None]:
        self._running[deadline] = session_id
        try:
            yield
        finally:
            del self._running[deadline]

    def _extend(self, deadline: asyncio.Timeout) -> None:
        if not self._questions and not deadline.expired():
            deadline.reschedule(asyncio.get_running_loop().time() + self._timeout)

    def _on_progress(self, deadline: asyncio.Timeout, show: Callable[[str], None]) -> Any:
        async def on_progress(progress: float, total: float | None, message: str | None) -> None:
            if deadline in self._running:
                self._extend(deadline)
                show(results.progress_text(progress, total, message))

        return on_progress

    async def _list_tools(self, cursor: str | None) -> types.ListToolsResult:
        from mcp import MCPError  # imported here because the SDK is slow to import
        from mcp_types import METHOD_NOT_FOUND, ListToolsResult

        try:
            return await self._client.list_tools(cursor=cursor)
        except MCPError as error:
            if error.code == METHOD_NOT_FOUND and self._client.server_capabilities.tools is None:
                return ListToolsResult(tools=[])
            raise

    async def _all(self, fetch: Callable[[str | None], Awaitable[P]], entries: Callable[[P], list[E]]) -> list[E]:
        """All pages, up to a cap: a server may hand out cursors for ever."""
        found: list[E] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = await fetch(cursor)
            found += entries(page)
            cursor = page.next_cursor
            if not cursor or len(found) >= MAX_ENTRIES:
                break
        return found[:MAX_ENTRIES]

    async def _asked(self, request: Awaitable[T]) -> T:
        from mcp import MCPError  # imported here because the SDK is slow to import
        from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT

        try:
            return await request
        except MCPError as error:
            if error.code == CONNECTION_CLOSED or "session not found" in error.message.lower():
                raise ConnectionLost(error.message) from None
            if error.code == REQUEST_TIMEOUT:
                raise ServerFailed(f"no answer within {self._timeout:g} s") from None
            raise ServerFailed(f"MCP server {self._server!r} answered: {results.visible(error.message)}") from None
        except ValidationError as error:
            where = ".".join(str(part) for part in error.errors(include_input=False)[0]["loc"][:6])
            raise ServerFailed(
                f"MCP server {self._server!r} sent an answer that MCP does not have (at {where})"
            ) from None
        except RuntimeError as error:  # how the SDK says that a result breaks the server's own output schema
            raise ServerFailed(f"MCP server {self._server!r} broke its own promise: {error}") from None
