"""Turns from the terminal's side: messages wait in line, one turn runs, Ctrl-C stops it, what settles is printed."""

from __future__ import annotations

import asyncio
import time

from caddie.protocol import methods
from caddie.protocol.chat import ChatEvent, NoticeEvent, ToolCallEvent, TurnParams, TurnResult
from caddie.terminal import view
from caddie.terminal.client import CANCELLED, Params, RpcError, ServerGone
from caddie.terminal.desk import Desk, Outgoing, Running
from caddie.terminal.link import Link
from caddie.terminal.printer import Printer
from caddie.terminal.screen import Screen
from caddie.terminal.turn import UNSETTLED, Item, TurnState, apply

_PATIENCE = 5.0


class Turns:
    def __init__(self, desk: Desk, printer: Printer, screen: Screen, link: Link) -> None:
        self._desk, self._printer, self._screen, self._link = desk, printer, screen, link
        self._wake = asyncio.Event()
        self._over: set[str] = set()

    def send(self, outgoing: Outgoing) -> None:
        self._desk.queue.append(outgoing)
        self._wake.set()

    async def work(self) -> None:
        """Sends what is queued, one turn after another, for as long as the program runs."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._desk.queue and await self.connect():
                if self._desk.queue:
                    await self._run(self._desk.queue.pop(0))

    async def connect(self) -> bool:
        """True when the server is there; if not, the person is told why."""
        if self._link.is_ready:
            return True
        self._desk.starting_since = time.monotonic()
        try:
            async with self._screen.animated():
                await self._link.client()
        except (RpcError, ServerGone, OSError) as error:
            self._printer.notice("error", _why_not(error))
            return False
        finally:
            self._desk.starting_since = None
            self._screen.refresh()
        return True

    def on_chat(self, params: Params) -> None:
        message = ChatEvent.model_validate(params)
        running = self._desk.running
        if running is None or message.turn_id in self._over:
            return
        running.turn_id, event = message.turn_id, message.event
        if not running.left:
            self._desk.session_id = message.session_id
        if isinstance(event, ToolCallEvent) and event.status == "running":
            running.seen.setdefault(event.call_id, time.monotonic() - event.elapsed_ms / 1000)
        if isinstance(event, NoticeEvent):
            if event.mode and not running.left:
                self._desk.mode = running.mode = event.mode
            running.told = event.message if event.level == "error" else running.told
        running.state, settled = apply(running.state, event)
        self._printer.items(settled)

    def stop(self) -> None:
        """Asks the server to stop the turn; a second time, or after some seconds, goes on without its answer."""
        running = self._desk.running
        if running is None or running.call is None:
            return
        if running.stopping:
            _give_up(running)
            return
        running.stopping = True
        if (client := self._link.now) is not None:
            client.cancel(running.call)
        asyncio.get_running_loop().call_later(_PATIENCE, _give_up, running)

    async def _run(self, outgoing: Outgoing) -> None:
        client = await self._link.client()
        self._printer.show(view.said(outgoing.message))
        params = TurnParams(
            session_id=self._desk.session_id,
            message=outgoing.message,
            picked_tools=list(outgoing.picked),
            attachments=list(outgoing.attachments),
            mode=self._desk.mode,
        )
        running = self._desk.running = Running(client.begin(methods.CHAT_TURN.name, params.wire()), self._desk.mode)
        try:
            async with self._screen.animated():
                result = await running.call.result
            self._finish(running, TurnResult.model_validate(result))
        except RpcError as error:
            self._settle_rest(running)
            if error.code != CANCELLED and error.message != running.told:
                self._printer.notice("error", error.message)
        except ServerGone:
            self._settle_rest(running)  # the link tells why
        finally:
            self._over.add(running.turn_id)
            self._desk.running = None
            self._printer.clear_note()

    def _finish(self, running: Running, result: TurnResult) -> None:
        self._settle_rest(running)
        if not running.left:
            self._desk.session_id = result.session_id
            if self._desk.mode == running.mode:  # else the person has chosen meanwhile
                self._desk.mode = result.mode
        self._desk.model = result.model or self._desk.model
        if result.usage.input_tokens or result.usage.output_tokens:
            self._printer.show(view.usage(result.usage))

    def _settle_rest(self, running: Running) -> None:
        """What is still live when no last event came is printed as it stands."""
        rest, running.state = running.state.live, TurnState()
        self._printer.items(_stopped(thing) for thing in rest)


def _stopped(thing: Item) -> Item:
    if isinstance(thing, ToolCallEvent) and thing.status in UNSETTLED:
        return thing.model_copy(update={"status": "cancelled"})
    return thing


def _give_up(running: Running) -> None:
    if not running.call.result.done():
        running.call.result.set_exception(RpcError(CANCELLED, "Stopped without waiting for the server."))


def _why_not(error: Exception) -> str:
    if isinstance(error, ServerGone):
        return "\n".join([f"The server did not start{error.how}.", *error.stderr])
    if isinstance(error, OSError):
        return f"The server could not be started: {error.strerror or error}."
    return f"The server refused to start: {error}"
