"""Runs the slash commands: one request each, the answer printed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from caddie.protocol import methods
from caddie.protocol.base import Empty, Message
from caddie.protocol.chat import (
    CompactResult,
    Mode,
    SessionListResult,
    SessionOpenResult,
    SessionParams,
    UndoParams,
    UndoResult,
)
from caddie.protocol.mcp import ServersResult
from caddie.protocol.methods import Method
from caddie.protocol.models import ModelsListParams, ModelsListResult
from caddie.protocol.tools import (
    ExplainParams,
    ExplainResult,
    SearchParams,
    SearchResult,
    ToolsListParams,
    ToolsListResult,
)
from caddie.terminal import commands
from caddie.terminal.client import RpcError, ServerGone
from caddie.terminal.desk import Desk, Errand, Outgoing
from caddie.terminal.link import Link
from caddie.terminal.printer import Printer
from caddie.terminal.screen import Screen
from caddie.terminal.server_errands import ServerErrands

_NEEDS = {
    "search": "/search late invoices", "explain": "/explain WebFetch", "resume": "/resume 1, after /sessions",
    "prompt": "/git:commit style=short, after /prompts", "authorize": "/authorize github, after /servers",
    "signout": "/signout github, after /servers",
}  # fmt: skip


class Errands:
    def __init__(
        self, desk: Desk, printer: Printer, screen: Screen, link: Link, send: Callable[[Outgoing], None]
    ) -> None:
        """`send` takes a message to the model."""
        self._desk, self._printer, self._screen, self._link = desk, printer, screen, link
        self._servers = ServerErrands(printer, self._ask, send)
        self._sessions: list[str] = []
        self._undone: list[str] = []
        self._models: list[str] = []  # as listed last; a number counts in it

    async def run(self, name: str, argument: str) -> None:
        if name in _NEEDS and not argument:
            self._printer.notice("warning", f"/{name} needs an argument, for example {_NEEDS[name]}.")
            return
        task = asyncio.current_task()
        assert task is not None
        errand = Errand(name, task)
        self._desk.errands.append(errand)
        try:
            try:
                async with self._screen.animated():
                    await self._run(name, argument)
            finally:
                self._desk.errands.remove(errand)
                self._screen.refresh()
        except RpcError as error:
            self._printer.notice("error", error.message)
        except (ServerGone, OSError):
            self._printer.notice("error", f"/{name} needs the server, and it is not running; a message starts it.")
        except asyncio.CancelledError:
            if not errand.stopping:
                raise
            self._printer.notice("info", f"/{name} was stopped.")

    def stop(self) -> bool:
        """The newest one. True when there was one."""
        if not self._desk.errands:
            return False
        self._desk.errands[-1].stopping = True
        return self._desk.errands[-1].task.cancel()

    async def _run(self, name: str, argument: str) -> None:
        width = self._printer.pen.width
        match name:
            case "help":
                self._printer.show(commands.help_text(width))
            case "tools":
                listed = await self._ask(methods.TOOLS_LIST, ToolsListParams(session_id=self._desk.session_id))
                self._printer.show(commands.tools(ToolsListResult.model_validate(listed), width))
            case "search":
                params = SearchParams(query=argument, session_id=self._desk.session_id, limit=None)
                found = SearchResult.model_validate(await self._ask(methods.TOOLS_SEARCH, params))
                self._printer.show(commands.search(argument, found, width))
            case "explain":
                why = ExplainParams(tool=argument, session_id=self._desk.session_id)
                explained = ExplainResult.model_validate(await self._ask(methods.TOOLS_EXPLAIN, why))
                self._printer.show(commands.explain(explained))
            case "servers":
                servers = ServersResult.model_validate(await self._ask(methods.MCP_LIST, Empty()))
                self._printer.show(commands.servers(servers))
            case "prompts":
                await self._servers.prompts()
            case "prompt":
                await self._servers.prompt(argument)
            case "authorize":
                await self._servers.authorize(argument)
            case "signout":
                await self._servers.sign_out(argument)
            case "model":
                await self._model(argument)
            case "sessions":
                self._printer.show(commands.sessions(await self._list_sessions(), width))
            case "resume":
                await self._resume(argument)
            case "undo":
                await self._undo()
            case "redo":
                await self._redo()
            case "new":
                self._go_to(None)
                self._printer.notice("info", "A new conversation.")
            case "compact":
                await self._compact()
            case "plan" | "agent":
                self._set_mode("plan" if name == "plan" else "agent")
            case _:
                self._printer.show(commands.unknown(name))

    async def _model(self, argument: str) -> None:
        if not argument:
            listed = await self._list_models()
            self._models = [model.id for model in listed.models]
            self._printer.show(commands.models(listed, self._printer.pen.width))
            return
        is_number = argument.isdecimal() and 1 <= int(argument) <= len(self._models)
        wanted = self._models[int(argument) - 1] if is_number else argument
        await self._link.set("model", wanted)
        listed = await self._list_models()
        self._desk.model = listed.model
        if listed.model == wanted:
            self._printer.notice("info", f"From the next message on: {listed.provider}, {listed.model}.")
        else:
            words = f"It stays {listed.model}: a nearer setting says so (CADDIE_MODEL in the environment?)."
            self._printer.notice("warning", words)

    async def _list_models(self) -> ModelsListResult:
        params = ModelsListParams(session_id=self._desk.session_id)
        return ModelsListResult.model_validate(await self._ask(methods.MODELS_LIST, params))

    async def _compact(self) -> None:
        if not self._desk.session_id:
            self._printer.notice("info", "There is no conversation yet.")
            return
        self._printer.notice("info", "The conversation is being summarized…")
        params = SessionParams(session_id=self._desk.session_id)
        made = CompactResult.model_validate(await self._ask(methods.SESSION_COMPACT, params))
        sizes = f"About {made.tokens_before:,} tokens became {made.tokens_after:,}"
        self._printer.notice("info", f"{sizes}; the next message goes on from the notes.")

    async def _undo(self, checkpoint: str | None = None) -> None:
        if self._desk.session_id is None:
            self._printer.notice("warning", "There is nothing to undo yet.")
            return
        params = UndoParams(session_id=self._desk.session_id, turn_id=checkpoint)
        result = UndoResult.model_validate(await self._ask(methods.SESSION_UNDO, params))
        if checkpoint is None and result.undo_id:
            self._undone.append(result.undo_id)
        self._printer.show(commands.undone(result, self._printer.pen.width))

    async def _redo(self) -> None:
        if not self._undone:
            self._printer.notice("warning", "There is no /undo to take back.")
            return
        await self._undo(self._undone.pop())

    def _set_mode(self, mode: Mode) -> None:
        self._desk.mode = mode
        words = {"plan": "Plan mode: read and plan, nothing is changed. /agent goes back.", "agent": "Agent mode."}
        self._printer.notice("info", words[mode])

    async def _list_sessions(self) -> SessionListResult:
        result = SessionListResult.model_validate(await self._ask(methods.SESSION_LIST, Empty()))
        self._sessions = [info.session_id for info in result.sessions]
        return result

    async def _resume(self, argument: str) -> None:
        """A number counts in the list that was shown last."""
        if not self._sessions:
            await self._list_sessions()
        if argument.isdecimal() and 1 <= int(argument) <= len(self._sessions):
            await self.open(self._sessions[int(argument) - 1])
        elif argument in self._sessions:
            await self.open(argument)
        else:
            words = f"There is no conversation {argument!r}; /sessions lists {len(self._sessions)}."
            self._printer.notice("warning", words)

    async def open(self, session_id: str) -> None:
        """Raises: RpcError, ServerGone, OSError."""
        opened = await self._ask(methods.SESSION_OPEN, SessionParams(session_id=session_id))
        result = SessionOpenResult.model_validate(opened)
        self._go_to(result.session.session_id)
        self._desk.mode = result.session.mode
        self._printer.show(commands.transcript(result, self._printer.pen.width))

    def _go_to(self, session_id: str | None) -> None:
        self._desk.session_id, self._undone = session_id, []
        if self._desk.running is not None:
            self._desk.running.left = True

    async def _ask(self, method: Method, params: Message) -> object:
        client = await self._link.client()
        return await client.request(method.name, params.wire())
