"""What is one connection to one server, from its start to its end?

One task owns the SDK's client for life, since it must be left by the task that entered it. Callers in other tasks use
the client in between; they get errors of ours, never the owner's.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from caddie import __version__
from caddie.errors import ServerFailed
from caddie.mcp import elicit, reasons
from caddie.mcp.calls import Calls
from caddie.mcp.http import HttpTransport
from caddie.mcp.oauth import TokenVault, wants_oauth
from caddie.mcp.sdk import load_sdk
from caddie.mcp.stdio import Started, StdioCommand, StdioTransport, server_environment, with_home
from caddie.settings import McpServer
from caddie.tools.context import QuestionRequest

if TYPE_CHECKING:
    import mcp_types as types
    from mcp import Client
    from mcp.client.session import ClientRequestContext

logger = logging.getLogger(__name__)

AskQuestion = Callable[[QuestionRequest], Awaitable[Mapping[str, str] | None]]

_LISTEN_AGAIN_SECONDS = (1.0, 5.0, 30.0, 60.0)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`further` gives the folders of the workspace beside the first."""

    name: str
    server: McpServer
    workspace: Path
    vault: TokenVault | None = None
    started: Started | None = None
    further: Callable[[], tuple[Path, ...]] = tuple


@dataclass(frozen=True, slots=True)
class Ending:
    """How a connection ended. `is_final`: trying again cannot help until somebody changes something."""

    reason: str
    is_final: bool = False
    needs_authorization: bool = False


class Connection:
    """`changed` is set when the server says that its tools changed; for prompts `on_prompts_changed` is called. `ended`
    tells how, once it is over."""

    def __init__(
        self,
        endpoint: Endpoint,
        ask_question: AskQuestion | None = None,
        on_prompts_changed: Callable[[], None] = lambda: None,
    ) -> None:
        self.changed = asyncio.Event()
        self.ended: asyncio.Future[Ending] = asyncio.get_running_loop().create_future()
        self.version = ""
        self._endpoint = endpoint
        self._ask_question = ask_question
        self._on_prompts_changed = on_prompts_changed
        self._secrets = reasons.secrets_of(endpoint.server)
        self._opened: asyncio.Future[Calls] = asyncio.get_running_loop().create_future()
        self._leave = asyncio.Event()
        self._reason = "was closed"
        self._stdio = self._stdio_transport() if endpoint.server.command else None
        self._http = HttpTransport(endpoint.server, endpoint.vault)
        self._owner: asyncio.Task[None] | None = None

    async def open(self) -> Calls:
        """Raises: ServerFailed, with the reason, when the server does not start or answer in time."""
        await load_sdk()
        self._owner = asyncio.create_task(self._own(), name=f"mcp {self._endpoint.name}")
        either: set[asyncio.Future[Any]] = {self._opened, self.ended}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not self._opened.done():
            raise ServerFailed(self.ended.result().reason)
        return self._opened.result()

    async def close(self) -> None:
        """Bounded; no process is left."""
        self._leave.set()
        if self._owner:
            if not self._opened.done():
                self._owner.cancel()
            await asyncio.wait({self._owner})

    def give_up(self, reason: str) -> None:
        """End it without waiting: it is of no use any more."""
        self._reason = reason
        self._leave.set()

    @property
    def is_usable(self) -> bool:
        """Whether a call made now may be answered."""
        is_over = self.ended.done() or self._leave.is_set() or bool(self._stdio and self._stdio.ended.is_set())
        return self._opened.done() and not is_over

    @property
    def log(self) -> str:
        """The last of what the server wrote to its stderr, without the configured secrets."""
        text = self._stdio.stderr_tail if self._stdio else ""
        return "\n".join(line for line in (reasons.clean(line, self._secrets) for line in text.splitlines()) if line)

    def kill(self) -> None:
        if self._stdio:
            self._stdio.kill()

    async def _own(self) -> None:
        """Ends without raising: what went wrong is in `ended`."""
        ending = Ending(self._reason)
        try:
            await self._live()
            if self._stdio and self._stdio.ended.is_set():
                ending = Ending(self._stdio.reason)
            else:
                ending = Ending(self._reason)
        except BaseExceptionGroup as group:
            ending = self._explain(_first(group))
        except (Exception, asyncio.CancelledError) as error:  # the SDK's task groups raise and cancel as they like
            logger.debug("MCP server %r: the connection ended", self._endpoint.name, exc_info=True)
            ending = self._explain(error)
        finally:
            self.ended.set_result(ending)

    async def _live(self) -> None:
        from mcp import Client  # imported here because the SDK is slow to import
        from mcp_types import Implementation

        server = self._endpoint.server
        if not server.command and not server.url:
            raise ServerFailed(f"has neither a command nor a url; set one in mcp.servers.{self._endpoint.name}")
        async with asyncio.timeout(server.timeout) as deadline:
            client = Client(
                self._transport(),
                read_timeout_seconds=server.timeout,
                message_handler=self._on_message,
                list_roots_callback=self._roots,
                elicitation_callback=self._elicit if self._ask_question else None,
                client_info=Implementation(name="caddie", version=__version__),
                cache=None,
            )
            async with client:
                deadline.reschedule(None)
                self.version = client.server_info.version if client.server_info else ""
                self._opened.set_result(Calls(client, self._endpoint.name, server.timeout))
                listening = asyncio.create_task(self._listen(client))
                try:
                    await self._until_over()
                finally:
                    listening.cancel()
                    await asyncio.wait({listening})

    async def _until_over(self) -> None:
        waits = [asyncio.create_task(self._leave.wait())]
        if self._stdio:
            waits.append(asyncio.create_task(self._stdio.ended.wait()))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    def _transport(self) -> AbstractAsyncContextManager[Any]:
        return self._stdio or self._http.connect()

    def _stdio_transport(self) -> StdioTransport:
        server, workspace = self._endpoint.server, self._endpoint.workspace
        command = StdioCommand(
            name=self._endpoint.name,
            program=str(with_home(server.command)) if server.command.startswith("~") else server.command,
            args=server.args,
            env=server_environment(server.env),
            cwd=workspace / with_home(server.cwd),
            secrets=self._secrets,
            started=self._endpoint.started,
        )
        return StdioTransport(command)

    def _explain(self, error: BaseException) -> Ending:
        if isinstance(error, ServerFailed):
            return Ending(reasons.clean(error.message, self._secrets), is_final=True)
        if self._stdio and self._stdio.ended.is_set():
            return Ending(self._stdio.reason)
        if isinstance(error, TimeoutError):
            said = reasons.last_line(self._stdio.stderr_tail) if self._stdio else ""
            text = f"did not answer within {self._endpoint.server.timeout:g} s" + (f": {said}" if said else "")
            return Ending(reasons.clean(text, self._secrets))
        if self._http.is_refused:
            return Ending(self._why_refused(), True, True)
        return Ending(reasons.clean(f"the connection failed: {error or type(error).__name__}", self._secrets))

    def _why_refused(self) -> str:
        setting = f"mcp.servers.{self._endpoint.name}.headers"
        if not wants_oauth(self._endpoint.server):
            return f"does not take the Authorization in {setting} (HTTP 401)"
        if self._http.tokens.is_lapsed:
            return "takes the sign-in no longer (HTTP 401); authorize it again"
        return f"wants to know who asks (HTTP 401); authorize it, or give it an Authorization in {setting}"

    @property
    def is_signed_in(self) -> bool:
        """Whether it uses the tokens of a sign-in."""
        return self._http.tokens.are_used

    async def may_get_in(self) -> bool:
        """Whether the refusal may be mended by tokens that are there."""
        return await self._http.tokens.may_help_again()

    # What the server sends of its own accord.

    async def _on_message(self, message: object) -> None:
        # Imported here because the SDK is slow to import.
        from mcp_types import PromptListChangedNotification, ToolListChangedNotification

        if isinstance(message, ToolListChangedNotification):
            self.changed.set()
        elif isinstance(message, PromptListChangedNotification):
            self._on_prompts_changed()

    async def _listen(self, client: Client) -> None:
        """Follow changes of the lists where the protocol has no notification for it."""
        from mcp import MCPError  # imported here because the SDK is slow to import
        from mcp.client.subscriptions import PromptsListChanged, SubscriptionLost
        from mcp_types.version import MODERN_PROTOCOL_VERSIONS

        tools, prompts = client.server_capabilities.tools, client.server_capabilities.prompts
        of_tools, of_prompts = bool(tools and tools.list_changed), bool(prompts and prompts.list_changed)
        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS or not (of_tools or of_prompts):
            return
        for attempt in count():
            try:
                async with client.listen(tools_list_changed=of_tools, prompts_list_changed=of_prompts) as subscription:
                    if attempt:  # what changed meanwhile was not told
                        self.changed.set()
                        self._on_prompts_changed()
                    async for event in subscription:
                        if isinstance(event, PromptsListChanged):
                            self._on_prompts_changed()
                        else:
                            self.changed.set()
            except (SubscriptionLost, TimeoutError):
                pass
            except MCPError as error:
                logger.info("MCP server %r: cannot follow its lists: %s", self._endpoint.name, error)
                return
            await asyncio.sleep(_LISTEN_AGAIN_SECONDS[min(attempt, len(_LISTEN_AGAIN_SECONDS) - 1)])

    async def _roots(self, context: ClientRequestContext) -> types.ListRootsResult:
        from mcp_types import ListRootsResult, Root  # imported here because the SDK is slow to import

        folders = (self._endpoint.workspace, *self._endpoint.further())
        trees = [{"uri": folder.absolute().as_uri(), "name": folder.name} for folder in folders]
        return ListRootsResult(roots=[Root.model_validate(tree) for tree in trees])

    async def _elicit(self, context: ClientRequestContext, params: types.ElicitRequestParams) -> types.ElicitResult:
        from mcp_types import ElicitResult  # imported here because the SDK is slow to import

        schema = getattr(params, "requested_schema", None)
        if schema is None or self._ask_question is None or not self._opened.done():
            return ElicitResult(action="decline")
        calls = self._opened.result()
        request = elicit.to_questions(self._endpoint.name, params.message, schema, calls.session_id)
        if request is None:
            return ElicitResult(action="decline")
        with calls.waiting_for_a_person():
            answers = await self._ask_question(request)
        content = None if answers is None else elicit.to_content(schema, answers)
        if content is None:
            return ElicitResult(action="decline")
        return ElicitResult(action="accept", content=content)


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The innermost first error of the groups that task groups wrap round it."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
