"""How is one configured server kept up: started, watched, started again, and given up?

The owner sees three things change: the status, the tools, and whether there is something to wait for.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from caddie.errors import ServerFailed
from caddie.mcp.calls import Calls, ConnectionLost
from caddie.mcp.connection import AskQuestion, Connection, Ending, Endpoint
from caddie.mcp.oauth import TokenVault
from caddie.mcp.remote import RemoteTool, to_remote
from caddie.mcp.stdio import Started
from caddie.settings import McpServer
from caddie.tools.servers import ServerPrompt, ServerState, ServerStatus

logger = logging.getLogger(__name__)

MAX_QUICK_DEATHS = 5
QUICK_SECONDS = 30.0
FIRST_BACKOFF_SECONDS = 1.0
MAX_BACKOFF_SECONDS = 60.0
CALL_WAIT_SECONDS = 15.0
_RELIST_PAUSE_SECONDS = 0.05
_REASON_WAIT_SECONDS = 2.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ConfiguredServer:
    """`origin` is the scope or file that configured the server."""

    server: McpServer
    origin: str


class Supervisor:
    """Keeps one server connected.

    `on_tools` gets all its tools whenever they changed, and none when it is gone for good.
    """

    def __init__(
        self,
        name: str,
        configured: ConfiguredServer,
        workspace: Path,
        *,
        on_tools: Callable[[str, Sequence[RemoteTool]], None],
        on_status: Callable[[ServerStatus], None],
        on_prompts: Callable[[], None],
        on_listed: Callable[[Sequence[RemoteTool]], None],
        ask_question: AskQuestion | None,
        vault: TokenVault | None = None,
        started: Started | None = None,
        further: Callable[[], tuple[Path, ...]] = tuple,
    ) -> None:
        self.name = name
        self.configured = configured
        self.is_given_up = True
        self.orders = 0
        """Grows with each order, and `uses` with each request: who waited can tell what came meanwhile."""
        self.uses = 0
        self.status = ServerStatus(name, "stopped", origin=configured.origin)
        self._workspace = workspace
        self._on_tools = on_tools
        self._on_status = on_status
        self._on_prompts = on_prompts
        self._on_listed = on_listed
        self._ask_question = ask_question
        self._vault = vault
        self._started = started
        self._further = further
        self._tools: list[RemoteTool] = []
        self._prompts: Sequence[ServerPrompt] | None = None
        self._prompts_changed = 0  # how often
        self._calls: Calls | None = None
        self._connection: Connection | None = None
        self._task: asyncio.Task[None] | None = None
        self._gone: asyncio.Future[None] | None = None  # done when no process of an earlier life is left
        self._earlier_log = ""
        self._is_relisting = False
        self._is_resting = False
        self._news = asyncio.Event()  # replaced at each change of the status

    # Orders from outside.

    def start(self) -> None:
        self.orders += 1
        self._is_resting = False
        if self._task is None or self._task.done():
            self.is_given_up = False
            self._become("connecting")
            self._task = asyncio.create_task(self._supervise(self._gone), name=f"mcp supervisor {self.name}")
            self._task.add_done_callback(self._on_done)

    def halt(self, reason: str) -> asyncio.Future[None]:
        """For good: the tools go now. What is returned is done when no process is left; that is bounded."""
        self.is_given_up = True
        ending = self._end_life()
        self._publish([])
        self._become("stopped", reason)
        return ending

    def halt_for_restart(self) -> asyncio.Future[None]:
        """As `halt`, but the tools stay, since `start` follows."""
        self.is_given_up = False
        reason = "starting it again" if self._task else ""
        ending = self._end_life()
        self._become("connecting", reason)
        return ending

    def rest(self, tools: Sequence[RemoteTool]) -> asyncio.Future[None]:
        """Known and not running: the first request starts it."""
        self.is_given_up = True
        ending = self._end_life()
        self._is_resting = True
        self._publish(list(tools))
        self._become("stopped", "starts when a tool of it is called (lazy)")
        return ending

    def wait_for_person(self, reason: str) -> None:
        """Say what a server that needs authorization waits for."""
        if self.status.state == "needsAuth":
            self._become("needsAuth", reason)

    def _end_life(self) -> asyncio.Future[None]:
        self.orders += 1
        self._is_resting = False
        task, self._task, self._calls = self._task, None, None
        if task:
            task.cancel()
            self._gone = asyncio.ensure_future(_end_of(task, self._gone))
        return asyncio.ensure_future(_end_of(self._gone))

    def kill(self) -> None:
        if self._connection:
            self._connection.kill()

    @property
    def tools(self) -> Sequence[RemoteTool]:
        return self._tools

    @property
    def log(self) -> str:
        """The last of its stderr: of the life that is on, else of the one before."""
        return (self._connection.log if self._connection else "") or self._earlier_log

    def reorigin(self, configured: ConfiguredServer) -> None:
        self.configured = configured
        self._become(self.status.state, self.status.reason)

    @property
    def is_pending(self) -> bool:
        """Something is under way that a search or call may wait for, a fresh tool list included."""
        if self.status.state != "ready":
            return self.status.state == "connecting"
        connection = self._connection
        return self._is_relisting or connection is None or connection.changed.is_set() or not connection.is_usable

    async def until_settled(self) -> None:
        while self.is_pending:
            await self._news.wait()

    async def ask(self, request: Callable[[Calls], Awaitable[T]]) -> T:
        """Run `request` on the connection, waiting a bounded time while there is none.

        Raises: ServerFailed, with the reason, when there is none or it broke meanwhile.
        """
        self.uses += 1
        connection, calls = await self._connected()
        try:
            return await request(calls)
        except ConnectionLost as lost:
            connection.give_up(f"lost the connection ({lost})")
            await asyncio.wait({connection.ended}, timeout=_REASON_WAIT_SECONDS)
            how = f"it {connection.ended.result().reason}" if connection.ended.done() else str(lost)
            raise ServerFailed(
                f"MCP server {self.name!r} was lost during the call: {how}. "
                "The call may have had its effect or not; the server is started again."
            ) from None

    async def prompts(self) -> Sequence[ServerPrompt]:
        """What it offers, asked once until it says that they changed. Raises: ServerFailed."""
        if self._prompts is not None:
            return self._prompts
        asked = self._prompts_changed
        found = await self.ask(lambda calls: calls.list_prompts())
        if asked == self._prompts_changed:
            self._prompts = found
        return found

    def _forget_prompts(self) -> None:
        self._prompts = None
        self._prompts_changed += 1
        self._on_prompts()

    async def _connected(self) -> tuple[Connection, Calls]:
        is_slow = self.configured.server.lazy  # a start from nothing, perhaps
        seconds = max(CALL_WAIT_SECONDS, self.configured.server.timeout) if is_slow else CALL_WAIT_SECONDS
        try:
            async with asyncio.timeout(seconds):
                while self._is_resting or not self.is_given_up:
                    if self._is_resting:
                        self.start()
                    if self._connection and self._calls and self._connection.is_usable:
                        return self._connection, self._calls
                    await self._news.wait()
        except TimeoutError:
            pass
        raise ServerFailed(f"MCP server {self.name!r} is {self.status.state}: {self.status.reason or 'not ready yet'}")

    # The life of the server.

    async def _supervise(self, gone: asyncio.Future[None] | None) -> None:
        await _end_of(gone)
        loop = asyncio.get_running_loop()
        quick, delay = 0, FIRST_BACKOFF_SECONDS
        while True:
            began = loop.time()
            ending = await self._live_once()
            was_ready, self._calls = self._calls is not None, None
            if was_ready and loop.time() - began >= QUICK_SECONDS:
                quick, delay = 0, FIRST_BACKOFF_SECONDS
            quick += 1
            if ending.is_final or quick >= MAX_QUICK_DEATHS:
                self._give_up(ending, quick)
                return
            if was_ready:
                self._become("connecting", f"{ending.reason}; starting it again")
            else:
                self._become("failed", f"{ending.reason}; trying again")
            await asyncio.sleep(delay)
            delay = min(delay * 2, MAX_BACKOFF_SECONDS)

    async def _live_once(self) -> Ending:
        """Connect and stay until it ends."""
        server = self.configured.server
        endpoint = Endpoint(self.name, server, self._workspace, self._vault, self._started, self._further)
        connection = self._connection = Connection(endpoint, self._ask_question, self._forget_prompts)
        self._prompts = None
        try:
            calls = await connection.open()
            following = asyncio.create_task(self._follow(connection, calls))
            try:
                over: set[asyncio.Future[Any]] = {connection.ended, following}
                await asyncio.wait(over, return_when=asyncio.FIRST_COMPLETED)
            finally:
                following.cancel()
                await asyncio.wait({following})
                if not following.cancelled() and (error := following.exception()):
                    logger.error("MCP server %r: cannot follow its tools", self.name, exc_info=error)
        except ServerFailed:
            pass  # `ended` says it too
        finally:
            await _to_its_end(connection.close())
            self._earlier_log = connection.log or self._earlier_log
        ending = connection.ended.result()
        if ending.needs_authorization and await connection.may_get_in():
            return replace(ending, is_final=False)
        return ending

    async def _follow(self, connection: Connection, calls: Calls) -> None:
        """Keep the tool list as the server has it; nothing is asked while nothing changes."""
        delay = FIRST_BACKOFF_SECONDS
        while True:
            connection.changed.clear()
            try:
                listed = await calls.list_tools()
            except ConnectionLost:
                return
            except ServerFailed as failure:
                self._become("failed", f"connected, but its tool list failed: {failure.message}; trying again")
                await asyncio.sleep(delay)
                delay = min(delay * 2, MAX_BACKOFF_SECONDS)
                continue
            delay = FIRST_BACKOFF_SECONDS
            self._publish([to_remote(tool) for tool in listed])
            self._on_listed(self._tools)
            self._calls = calls
            self._become("ready", version=connection.version)
            await asyncio.sleep(_RELIST_PAUSE_SECONDS)
            await connection.changed.wait()
            self._is_relisting = True

    def _on_done(self, task: asyncio.Task[None]) -> None:
        """A mistake of ours must not look like a server that connects for ever."""
        if not task.cancelled() and (error := task.exception()):
            logger.error("MCP server %r: its supervisor failed", self.name, exc_info=error)
            self._give_up(Ending("stopped by an internal error; the log has the details"), 1)

    def _give_up(self, ending: Ending, deaths: int) -> None:
        self.is_given_up = True
        self._publish([])
        tries = f" (given up after {deaths} tries)" if deaths > 1 else ""
        self._become("needsAuth" if ending.needs_authorization else "failed", ending.reason + tries)

    # What the outside sees.

    def _publish(self, tools: list[RemoteTool]) -> None:
        if tools != self._tools:
            self._tools = tools
            self._on_tools(self.name, tools)

    def _become(self, state: ServerState, reason: str = "", *, version: str = "") -> None:
        status = ServerStatus(
            self.name,
            state,
            reason,
            len(self._tools),
            self.configured.origin,
            version or self.status.version,
            bool(self._connection and self._connection.is_signed_in),
        )
        self._is_relisting = False
        self._news.set()
        self._news = asyncio.Event()
        if status != self.status:
            was_ready, self.status = self.status.state == "ready", status
            self._on_status(status)
            if was_ready != (state == "ready"):
                self._on_prompts()  # its own came or went with it


async def _end_of(*lives: asyncio.Future[None] | None) -> None:
    if known := {life for life in lives if life}:
        await asyncio.wait(known)


async def _to_its_end(closing: Awaitable[None]) -> None:
    """A cancelled supervisor still sees its server's processes out."""
    task = asyncio.ensure_future(closing)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        with contextlib.suppress(asyncio.CancelledError):
            await task
        raise
