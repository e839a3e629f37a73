"""A turn of a session, from the person's message to the outcome: what it is given, and who hears of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import uuid4

from caddie.chat.events import Hinted, Notice, TurnEvent
from caddie.chat.messages import Part
from caddie.chat.provider import Chosen
from caddie.chat.session import Session
from caddie.chat.turn import Outcome, Turn, TurnInput
from caddie.errors import InvalidInput, SessionBusy
from caddie.tools.context import Mode, ToolContext
from caddie.tools.servers import check_servers

if TYPE_CHECKING:
    from caddie.engine.engine import Engine

FIRST_TURN_WAIT_SECONDS = 5.0


class Turns:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._is_first = True

    async def run(
        self,
        session_id: str | None,
        text: str,
        emit: Callable[[str, str, TurnEvent], None],
        *,
        attachments: tuple[Part, ...] = (),
        attached: tuple[str, ...] = (),
        picked: tuple[str, ...] = (),
        servers: tuple[str, ...] = (),
        mode: Mode | None = None,
        await_servers: float = FIRST_TURN_WAIT_SECONDS,
    ) -> tuple[Session, str, Outcome]:
        """Run a turn. `emit` gets session id, turn id and event; `attached` are the attachments' names.

        Raises: InvalidInput, SessionNotFound, SessionBusy, ProviderError, CancelledError.
        """
        if not text.strip() and not attachments:
            raise InvalidInput("The message is empty; write what you want to know or have done.")
        check_servers(servers, {status.name for status in self._engine.mcp.statuses()}, self._engine.catalogue.specs)
        if not session_id and mode is None and self._engine.configuration.settings.permissions.mode == "plan":
            mode = "plan"
        session = await self._engine.sessions.get(session_id) if session_id else self._engine.sessions.create()
        if session.is_running:
            raise SessionBusy("A turn is already running in this session; wait for it or stop it.")
        self._engine.hints.forget()
        turn_id = uuid4().hex[:12]
        with self._engine.sessions.running(session):
            attachments = (*await self._engine.undone.news(session.id), *attachments)
            outcome = await self._run(
                session, TurnInput(turn_id, text, attachments, attached, picked, mode, servers), emit, await_servers
            )
        return session, turn_id, outcome

    async def _run(
        self, session: Session, turn: TurnInput, emit: Callable[[str, str, TurnEvent], None], await_servers: float
    ) -> Outcome:
        def tell(event: TurnEvent) -> None:
            if isinstance(event, Hinted):
                self._engine.door.show_hints(event.hints, session_id=session.id, turn_id=turn.turn_id)
            else:
                emit(session.id, turn.turn_id, event)

        async def choose() -> Chosen:
            await self._servers_of_first_turn(await_servers, tell)
            before = self._engine.models.chosen
            chosen = await self._engine.deferrals.chosen(session.id)
            if why := self._engine.models.news(before):
                tell(Notice("info", why, "model_chosen"))
            return chosen

        running = Turn(
            session,
            turn,
            choose=choose,
            toolbox=self._engine.tools,
            executor=self._engine.executor,
            context=replace(self._context_of_turn(session, turn.turn_id, tell), servers=turn.servers),
            prefetch=lambda text: self._engine.hints.of(text, turn.servers),
            record=self._engine.sessions.recorder(session.id),
            flush=self._engine.sessions.flush,
            emit=tell,
            refusals=self._engine.deferrals.refusals,
        )
        return await running.run()

    async def _servers_of_first_turn(self, seconds: float, tell: Callable[[TurnEvent], None]) -> None:
        """The first message of a process often comes before the servers do; give them a moment, and say so."""
        is_first, self._is_first = self._is_first, False
        connecting = [status.name for status in self._engine.mcp.statuses() if status.state == "connecting"]
        if not is_first or not connecting or seconds <= 0:
            return
        tell(Notice("info", f"Waiting for the MCP servers {', '.join(connecting)}.", "waiting_for_servers"))
        if late := await self._engine.mcp.settled(None, seconds):
            tell(Notice("warning", f"Still connecting: {', '.join(late)}. The turn goes on.", "servers_pending"))

    def _context_of_turn(self, session: Session, turn_id: str, tell: Callable[[TurnEvent], None]) -> ToolContext:
        context = self._engine.context(session.state)
        if not context.settings.checkpoints.enabled:
            return context
        return replace(context, changes=self._engine.changes.turn(session.id, turn_id, tell))
