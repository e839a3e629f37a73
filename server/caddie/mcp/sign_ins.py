"""Which sign-ins are under way, and what becomes of the server when one ends?"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from caddie.errors import ServerFailed
from caddie.mcp.oauth import SignIn, TokenVault, wants_oauth
from caddie.mcp.remote import identity_of
from caddie.mcp.supervisor import Supervisor

logger = logging.getLogger(__name__)

_WAITING = "waits for you to sign in in the browser"
_CANCELLED = "the sign-in was cancelled; authorize it to try again"


class SignIns:
    """`restart` is called when a server may be connected with new tokens, or has lost those it had."""

    def __init__(self, vault: TokenVault | None, restart: Callable[[Supervisor], object]) -> None:
        self._vault = vault
        self._restart = restart
        self._running: dict[str, SignIn] = {}
        self._watching: set[asyncio.Task[None]] = set()

    async def begin(self, supervisor: Supervisor) -> str:
        """The address of the page where the person signs in; a new attempt replaces the one before.

        Cancelling this cancels the attempt. Raises: ServerFailed.
        """
        name, server = supervisor.name, supervisor.configured.server
        if not server.url:
            raise ServerFailed(f"MCP server {name!r} is started by a command: there is nothing to sign in to.")
        if self._vault is None or not wants_oauth(server):
            setting = f"mcp.servers.{name}.headers"
            raise ServerFailed(f"MCP server {name!r} gets the Authorization in {setting}; remove that to sign in.")
        self.cancel(name)
        attempt = self._running[name] = SignIn(name, server, self._vault)
        watching = asyncio.create_task(self._watch(supervisor, attempt))
        self._watching.add(watching)
        watching.add_done_callback(self._watching.discard)
        try:
            url = await asyncio.shield(attempt.url)
        except asyncio.CancelledError:
            attempt.cancel()
            raise
        supervisor.wait_for_person(_WAITING)
        return url

    def cancel(self, name: str) -> None:
        if attempt := self._running.get(name):
            attempt.cancel()

    async def sign_out(self, supervisor: Supervisor) -> None:
        """Forget its tokens; a connection that used them is made anew. Raises: ServerFailed."""
        self.cancel(supervisor.name)
        if self._vault is not None:
            await asyncio.to_thread(self._vault.write, identity_of(supervisor.configured.server), None)
        if not supervisor.is_given_up:
            self._restart(supervisor)

    async def close(self) -> None:
        for attempt in self._running.values():
            attempt.cancel()
        if self._watching:
            await asyncio.wait(self._watching)

    async def _watch(self, supervisor: Supervisor, attempt: SignIn) -> None:
        await asyncio.wait({attempt.done})
        is_newest = self._running.get(supervisor.name) is attempt
        if is_newest:
            del self._running[supervisor.name]
        if attempt.done.cancelled():
            if is_newest:
                supervisor.wait_for_person(_CANCELLED)
        elif error := attempt.done.exception():
            if isinstance(error, ServerFailed):
                reason = error.message
            else:
                logger.error("MCP server %r: the sign-in failed", supervisor.name, exc_info=error)
                reason = "The sign-in failed; the log has the details."
            if is_newest:
                supervisor.wait_for_person(f"{reason} Authorize it to try again.")
        else:
            self._restart(supervisor)
