"""Which MCP servers run now, what do they offer, and how is that kept in step with the settings?"""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from pathlib import Path

from caddie.errors import ServerFailed, ToolUnavailable, Unavailable
from caddie.mcp.calls import Calls
from caddie.mcp.connection import AskQuestion
from caddie.mcp.manifests import Manifests, ManifestStore
from caddie.mcp.oauth import TokenVault
from caddie.mcp.prompts import check_arguments, find_prompt
from caddie.mcp.remote import RemoteTool, identity_of
from caddie.mcp.sign_ins import SignIns
from caddie.mcp.stdio import Started
from caddie.mcp.supervisor import ConfiguredServer, Supervisor
from caddie.tools.context import McpResource, ToolContext
from caddie.tools.names import assign_names
from caddie.tools.servers import PromptMessage, ServerPrompt, ServerStatus
from caddie.tools.tool import Arguments, Run, Tool, ToolResult, error_result

__all__ = ["ConfiguredServer", "McpManager"]

CLOSE_SECONDS = 8.0


class McpManager:
    """Owns the servers' processes. All methods belong to one event loop; `on_…` are called on it.

    `on_tools(server, tools)` replaces all tools of that server; an empty list means that it is gone for good.
    """

    def __init__(
        self,
        workspace: Path,
        *,
        on_tools: Callable[[str, Sequence[Tool]], None],
        on_status: Callable[[ServerStatus], None],
        on_prompts: Callable[[], None] = lambda: None,
        ask_question: AskQuestion | None = None,
        vault: TokenVault | None = None,
        manifests: ManifestStore | None = None,
        started: Started | None = None,
        further: Callable[[], tuple[Path, ...]] = tuple,
    ) -> None:
        """`vault` keeps what servers gave after a sign-in; without it nobody can sign in. `manifests` keeps what lazy
        servers offered, `started` which programs run. `further` gives the folders of the workspace beside the first,
        for servers that ask."""
        self._workspace = workspace
        self._on_tools = on_tools
        self._on_status = on_status
        self._on_prompts = on_prompts
        self._ask_question = ask_question
        self._vault = vault
        self._manifests = Manifests(manifests)
        self._started = started
        self._further = further
        self._sign_ins = SignIns(vault, self._again)
        self._supervisors: dict[str, Supervisor] = {}
        self._leaving: dict[asyncio.Task[None], Supervisor] = {}
        self._wire_names: dict[str, set[str]] = {}

    # Which servers.

    async def configure(self, servers: Mapping[str, ConfiguredServer]) -> None:
        """By difference: start the new, stop the gone, restart the changed. Connecting is not waited for."""
        for name in self._supervisors.keys() - servers.keys():
            supervisor = self._supervisors.pop(name)
            self._sign_ins.cancel(name)
            self._see_out(supervisor, supervisor.halt("no longer configured"))
        for name, configured in servers.items():
            known = self._supervisors.get(name)
            if known is None:
                self._add(name, configured)
            elif known.configured.server != configured.server:
                is_another = identity_of(known.configured.server) != identity_of(configured.server)
                known.configured = configured
                self._sign_ins.cancel(name)
                if is_another:  # the same tools, and from here on not those that were allowed
                    self._publish(known, known.tools)
                self._apply(known)
            elif known.configured != configured:
                known.reorigin(configured)

    def statuses(self) -> tuple[ServerStatus, ...]:
        """By name."""
        return tuple(self._supervisors[name].status for name in sorted(self._supervisors))

    async def start(self, name: str) -> None:
        """Raises: ServerFailed for an unknown name."""
        self._find(name).start()

    async def stop(self, name: str) -> None:
        """Raises: ServerFailed for an unknown name."""
        supervisor = self._find(name)
        await self._see_out(supervisor, supervisor.halt("stopped by you"))

    async def restart(self, name: str) -> None:
        """Its tools stay until the new list is there. Raises: ServerFailed for an unknown name."""
        await self._again(self._find(name))

    def log(self, name: str) -> str:
        """The last of what it wrote to its stderr. Raises: ServerFailed for an unknown name."""
        return self._find(name).log

    async def settled(self, names: Collection[str] | None, timeout: float) -> tuple[str, ...]:
        """Wait until those servers (or all) neither connect nor fetch a changed tool list; who still does."""
        waiting = [one for name, one in self._supervisors.items() if names is None or name in names]
        try:
            async with asyncio.timeout(timeout):
                for supervisor in waiting:
                    await supervisor.until_settled()
        except TimeoutError:
            pass
        return tuple(sorted(one.name for one in waiting if one.is_pending))

    async def close(self) -> None:
        """Bounded; leaves no process."""
        await self._sign_ins.close()
        for supervisor in self._supervisors.values():
            self._see_out(supervisor, supervisor.halt("Caddie is closing"))
        self._supervisors = {}
        leaving = dict(self._leaving)
        if leaving:
            _, late = await asyncio.wait(leaving, timeout=CLOSE_SECONDS)
            for task in late:
                leaving[task].kill()

    # Signing in.

    async def authorize(self, name: str) -> str:
        """Begin a sign-in; the address of its page. The server's status tells how it goes on. Raises: ServerFailed."""
        return await self._sign_ins.begin(self._find(name))

    def cancel_authorize(self, name: str) -> None:
        """Raises: ServerFailed for an unknown name."""
        self._sign_ins.cancel(self._find(name).name)

    async def sign_out(self, name: str) -> None:
        """Raises: ServerFailed for an unknown name."""
        await self._sign_ins.sign_out(self._find(name))

    # The port `Resources`.

    async def list_resources(self, server: str | None = None) -> Sequence[McpResource]:
        """Of one server, or of all that are ready. Raises: ServerFailed when the one named cannot say."""
        if server is not None:
            return await self._find(server).ask(lambda calls: calls.list_resources())
        ready = [one for one in self._supervisors.values() if one.status.state == "ready"]
        lists = await asyncio.gather(*(self._resources_or_none(one) for one in ready))
        return sorted((found for part in lists for found in part), key=lambda found: (found.server, found.uri))

    async def read_resource(self, server: str, uri: str) -> str:
        """Raises: ServerFailed."""
        return await self._find(server).ask(lambda calls: calls.read_resource(uri))

    # Prompts.

    async def list_prompts(self) -> Sequence[ServerPrompt]:
        """Of all servers that are ready; one that cannot say is left out."""
        ready = [one for one in self._supervisors.values() if one.status.state == "ready"]
        lists = await asyncio.gather(*map(_prompts_or_none, ready))
        return sorted((found for part in lists for found in part), key=lambda found: (found.server, found.name))

    async def get_prompt(self, name: str, arguments: Mapping[str, str]) -> tuple[ServerPrompt, Sequence[PromptMessage]]:
        """`name` is `server:prompt`. Raises: InvalidInput, ServerFailed."""
        prompt = find_prompt(name, await self._prompts_for(name))
        check_arguments(prompt, arguments)
        return prompt, await self._find(prompt.server).ask(lambda calls: calls.get_prompt(prompt.name, arguments))

    async def _prompts_for(self, name: str) -> Sequence[ServerPrompt]:
        """Of the server that the name begins with, though it may not be ready; else of all."""
        servers = [one for one in self._supervisors.values() if name.removeprefix("/").startswith(f"{one.name}:")]
        if not servers:
            return await self.list_prompts()
        return [prompt for one in servers for prompt in await one.prompts()]

    async def _resources_or_none(self, supervisor: Supervisor) -> Sequence[McpResource]:
        try:
            return await supervisor.ask(lambda calls: calls.list_resources())
        except ServerFailed:
            return ()

    # Inside.

    def _add(self, name: str, configured: ConfiguredServer) -> None:
        supervisor = self._supervisors[name] = Supervisor(
            name,
            configured,
            self._workspace,
            on_tools=lambda server, tools: self._publish(supervisor, tools),
            on_status=self._on_status,
            on_prompts=self._on_prompts,
            on_listed=lambda tools: self._listed(supervisor, tools),
            ask_question=self._ask_question,
            vault=self._vault,
            started=self._started,
            further=self._further,
        )
        self._apply(supervisor)

    def _apply(self, supervisor: Supervisor) -> None:
        """Bring a new or changed configuration into force."""
        server = supervisor.configured.server
        if not server.enabled:
            self._see_out(supervisor, supervisor.halt(f"switched off by mcp.servers.{supervisor.name}.enabled"))
        elif server.lazy:
            self._see_out(supervisor, self._lay_to_rest(supervisor, supervisor.halt_for_restart()))
        else:
            self._again(supervisor)

    def _again(self, supervisor: Supervisor) -> asyncio.Task[None]:
        async def start_after(ended: asyncio.Future[None]) -> None:
            await ended
            if not supervisor.is_given_up:
                supervisor.start()

        return self._see_out(supervisor, start_after(supervisor.halt_for_restart()))

    async def _lay_to_rest(self, supervisor: Supervisor, ended: Awaitable[None]) -> None:
        """Until it is used; one that is not known yet runs once before, to learn its tools."""
        order = supervisor.orders
        await ended
        known: Sequence[RemoteTool] | None = await self._manifests.load(supervisor.configured.server)
        if known is None and supervisor.orders == order:
            supervisor.start()
            order, uses = supervisor.orders, supervisor.uses
            await supervisor.until_settled()
            if supervisor.status.state == "ready" and supervisor.uses == uses:
                known = supervisor.tools
        if known is not None and supervisor.orders == order:
            await supervisor.rest(known)

    def _listed(self, supervisor: Supervisor, tools: Sequence[RemoteTool]) -> None:
        server = supervisor.configured.server
        if server.lazy:
            self._see_out(supervisor, self._manifests.save(server, tools))

    def _publish(self, supervisor: Supervisor, remote: Sequence[RemoteTool]) -> None:
        name = supervisor.name
        if self._supervisors.get(name, supervisor) is not supervisor:
            return  # a successor of the same name speaks for it now
        taken = {wire for server, wires in self._wire_names.items() if server != name for wire in wires}
        names = assign_names(name, (tool.name for tool in remote), taken)
        self._wire_names[name] = set(names.values())
        identity = identity_of(supervisor.configured.server)
        tools = [
            Tool(tool.spec(name, wire := names[tool.name], identity), _runner(supervisor, tool, wire))
            for tool in remote
        ]
        self._on_tools(name, tools)

    def _find(self, name: str) -> Supervisor:
        found = self._supervisors.get(name)
        if found is None:
            near = difflib.get_close_matches(name, self._supervisors, n=3, cutoff=0.5) or sorted(self._supervisors)[:5]
            hint = f"did you mean {', '.join(map(repr, near))}?" if near else "none is configured."
            raise ServerFailed(f"no MCP server is named {name!r}; {hint}", name=name, suggestions=near)
        return found

    def _see_out(self, supervisor: Supervisor, ended: Awaitable[None]) -> asyncio.Task[None]:
        """Keep the end of a server in sight, whoever waits for it."""

        async def wait() -> None:
            await ended

        task = asyncio.create_task(wait())
        self._leaving[task] = supervisor
        task.add_done_callback(lambda done: self._leaving.pop(done, None))
        return task


async def _prompts_or_none(supervisor: Supervisor) -> Sequence[ServerPrompt]:
    try:
        return await supervisor.prompts()
    except ServerFailed:
        return ()


def _runner(supervisor: Supervisor, tool: RemoteTool, wire: str) -> Run:
    async def run(arguments: Arguments, context: ToolContext) -> ToolResult:
        async def call(calls: Calls) -> ToolResult:
            # A server that started for this call may offer something else than what was shown and permitted.
            if not any(one == tool for one in supervisor.tools if one.name == tool.name):
                return error_result(
                    f"{wire} is not what it was when you called it: the MCP server {supervisor.name!r} describes its "
                    "tools otherwise now. Nothing was called; look it up again and call it as it is."
                )
            return await calls.call_tool(tool.name, arguments, context)

        try:
            return await supervisor.ask(call)
        except ServerFailed as failure:
            starting = supervisor.status.state == "connecting"
            reason: Unavailable = "server_starting" if starting else "server_down"
            raise ToolUnavailable(failure.message, name=wire, reason=reason) from None

    return run
