"""What each thing the person does leads to: the screen's `Actions`, joined to turns, prompts, hints and commands."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from typing import Any

from caddie.protocol import methods
from caddie.protocol.chat import MAX_MESSAGE, DraftParams
from caddie.protocol.mcp import ServerInfo
from caddie.protocol.tools import ShowHints
from caddie.terminal import commands, view
from caddie.terminal.asks import Asks
from caddie.terminal.client import Params, RpcError, ServerGone
from caddie.terminal.desk import Desk, Outgoing
from caddie.terminal.errands import Errands
from caddie.terminal.link import Link
from caddie.terminal.printer import Printer
from caddie.terminal.screen import Screen
from caddie.terminal.text import too_long
from caddie.terminal.turns import Turns

_DEBOUNCE = 0.2
_LEAVE_WINDOW = 2.0


class Conversation:
    """`attach` gives it what it needs: screen and link call back into it, so they are made first."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._draft_timer: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._last_interrupt = 0.0
        self._told: dict[str, str] = {}  # MCP server -> what was said of it

    def attach(self, pen: view.Pen, screen: Screen, link: Link) -> Printer:
        self._screen, self._link = screen, link
        self._printer = Printer(self._desk, pen, screen)
        self._asks = Asks(self._desk, self._printer, screen)
        self._turns = Turns(self._desk, self._printer, screen, link)
        self._errands = Errands(self._desk, self._printer, screen, link, self._turns.send)
        return self._printer

    def start(self) -> None:
        for work in (self._begin(), self._turns.work()):
            self._spawn(work)

    async def stop(self) -> None:
        self._cancel_draft()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def typed(self, text: str) -> None:
        self._desk.candidates = []
        if self._desk.note:
            self._printer.clear_note()
        draft_id = self._desk.hints.next_draft()
        self._cancel_draft()
        if text.strip() and not text.startswith("/"):
            self._draft_timer = asyncio.get_running_loop().call_later(_DEBOUNCE, self._send_draft, draft_id, text)
        else:
            self._desk.hints.clear()

    def submit(self, text: str) -> bool:
        hints = self._desk.hints
        if hints.selected is not None:
            hints.pick()
            return False
        if not text.strip():
            return False
        if why := too_long(text, MAX_MESSAGE):
            self._printer.notice("warning", why)
            return False
        self._cancel_draft()
        command = commands.parse(text)
        if command is None:
            self._turns.send(Outgoing(text.strip("\n"), tuple(hints.take_picked())))
        elif command[0] in ("quit", "exit"):
            self.leave()
        else:
            self._printer.show(view.said(text))
            self._spawn(self._errands.run(*command))
        return True

    def tab(self, text: str, step: int) -> str | None:
        if self._desk.hints.shown:
            self._desk.hints.cycle(step)
            return None
        certain, fits = commands.complete(text)
        self._desk.candidates = fits if certain == text else []
        return None if certain == text else certain

    def escape(self) -> None:
        self._desk.hints.dismiss()
        self._desk.candidates = []

    def backspace(self) -> None:
        self._desk.hints.unpick()

    def interrupt(self) -> None:
        """Stops the nearest thing: a prompt with its turn, a turn, a command, the queue, a draft, last the program."""
        if self._asks.reject() or self._desk.running is not None:
            self._turns.stop()
            self._return_queue()
        elif self._errands.stop():
            pass
        elif self._desk.queue:
            self._return_queue()
        elif self._screen.draft.text:
            self._screen.draft.reset()
            self.typed("")
        elif time.monotonic() - self._last_interrupt < _LEAVE_WINDOW:
            self.leave()
        else:
            self._last_interrupt = time.monotonic()
            self._printer.note("Ctrl-C again or Ctrl-D leaves", seconds=_LEAVE_WINDOW)

    def leave(self) -> None:
        self._screen.leave()

    def prompt_key(self, key: str) -> None:
        self._asks.key(key)

    def prompt_enter(self, text: str) -> None:
        self._asks.enter(text)

    def prompt_escape(self) -> None:
        self._asks.escape()

    def on_event(self, method: str, params: Params) -> None:
        if method == methods.CHAT_EVENT.name:
            self._turns.on_chat(params)
        elif method == methods.HINTS_SHOW.name:
            self._on_hints(ShowHints.model_validate(params))
        elif method == methods.TOOLS_CHANGED.name and self._desk.hints.selected is None:
            self._search_again()
        elif method == methods.MCP_STATUS.name:
            self._on_server(ServerInfo.model_validate(params))

    async def on_request(self, method: str, params: Params) -> Any:
        return await self._asks.on_request(method, params)

    def on_gone(self, gone: ServerGone) -> None:
        self._desk.connecting.clear()
        after = "The next message starts it again and goes on with this conversation."
        self._printer.notice("error", "\n".join([f"The server stopped{gone.how}.", *gone.stderr, after]))

    def _on_hints(self, hints: ShowHints) -> None:
        """Only those for what is being typed: a turn's own hints are the model's business and would come between."""
        if hints.source == "draft" and self._screen.draft.text:
            self._desk.hints.show(hints)
            self._screen.refresh()

    def _on_server(self, server: ServerInfo) -> None:
        """A server on its way is a word in the status line; one that did not arrive says why."""
        if server.status == "connecting":
            self._desk.connecting.add(server.name)
        else:
            self._desk.connecting.discard(server.name)
        if server.status in ("failed", "needsAuth"):
            words = server.reason or ("needs you to sign in" if server.status == "needsAuth" else "failed")
            self._warn_once(server.name, words)
        self._screen.refresh()

    def _warn_once(self, server: str, words: str) -> None:
        """A server that is tried again and again says the same thing once."""
        if self._told.get(server) != words:
            self._told[server] = words
            self._printer.notice("warning", f"{server}: {words}")

    async def _begin(self) -> None:
        """Connects at once, so that the server is warm when the first message comes."""
        if await self._turns.connect() and self._desk.session_id:
            try:
                await self._errands.open(self._desk.session_id)
            except (RpcError, ServerGone) as error:
                self._desk.session_id = None
                self._printer.notice("error", str(error))
        self._search_again()

    def _search_again(self) -> None:
        """Hints for what was typed before the server, or a tool, was there."""
        if self._screen.draft.text:
            self.typed(self._screen.draft.text)

    def _send_draft(self, draft_id: str, text: str) -> None:
        if (client := self._link.now) is not None:
            draft = DraftParams(draft_id=draft_id, text=text[:100_000], session_id=self._desk.session_id)
            client.notify(methods.CHAT_DRAFT.name, draft.wire())

    def _cancel_draft(self) -> None:
        if self._draft_timer is not None:
            self._draft_timer.cancel()
            self._draft_timer = None

    def _return_queue(self) -> None:
        """Messages that were to follow go back into the input line: the person decides anew."""
        words = [outgoing.message for outgoing in self._desk.queue]
        self._desk.queue.clear()
        if words:
            self._screen.draft.text = "\n".join([*words, *filter(None, [self._screen.draft.text])])
            self._screen.draft.cursor_position = len(self._screen.draft.text)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
