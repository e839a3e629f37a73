"""The tools panel in the terminal: which tools the model gets, who decided it, and one key to change it.

Whoever opens it gives it a `Desk`. Every change is saved at once, so that no way of
leaving loses anything, and can be taken back while the panel is open.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import ClassVar, Literal

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Input

from caddie.protocol.tools import State, ToolInfo
from caddie.terminal import panel_lines
from caddie.terminal.panel_desk import Desk, Refused, Scope
from caddie.terminal.panel_foot import detail_lines, hints, keys_for
from caddie.terminal.panel_head import TABS, Tab, head
from caddie.terminal.panel_keys import KEYS, WHILE_TYPING
from caddie.terminal.panel_lines import Piece, totals_pieces
from caddie.terminal.panel_rows import (
    NEXT,
    GrantLine,
    Header,
    Row,
    ServerLine,
    ToolLine,
    permission_rows,
    server_rows,
    tool_rows,
    totals,
)
from caddie.terminal.panel_told import about_server, told, told_of_all
from caddie.terminal.panel_widgets import Bar, Clicked, RowList
from caddie.terminal.panel_words import Words
from caddie.terminal.text import one_line

_REST_SECONDS = 0.05
_ROWS_THAT_STAY = 14


class ToolsPanel(App[None]):
    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    TITLE = "caddie tools"
    CSS = """
    Screen { layout: vertical; }
    #filter-line { height: 1; }
    #slash { width: 3; }
    Input { width: 1fr; height: 1; border: none; padding: 0; background: ansi_default; }
    Input:focus { border: none; }
    Input > .input--placeholder { text-style: dim; color: ansi_default; }
    Input > .input--cursor { text-style: reverse; color: ansi_default; background: ansi_default; }
    #detail { display: none; }
    #foot { height: 2; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding(keys, action, priority=True) for keys, action in KEYS]

    def __init__(self, desk: Desk, words: Words) -> None:
        super().__init__(ansi_color=True)  # the terminal's own colours, and none with NO_COLOR
        self.theme = "ansi-dark"
        self._desk = desk
        self._words = words
        self._view = desk.view()
        self._tab: Tab = "tools"
        self._scope: Scope = "workspace"
        self._folded: set[str] = set()
        self._since: dict[str, float] = {}
        self._message = ""
        self._detail: tuple[str, ...] = ()
        self._explains = False
        self._is_log = False
        self._pending: Callable[[], Awaitable[None]] | None = None
        self._list = RowList(self._draw)
        self._filter = Input(placeholder=words("filter"), compact=True, select_on_focus=False)
        self._filter.cursor_blink = False
        self._bars = {name: Bar(id=name) for name in ("top", "rule-above", "rule-below", "detail", "foot")}
        self._totals = Bar(fitted=True)
        self._following: asyncio.Task[None] | None = None

    # Drawing.

    def compose(self) -> ComposeResult:
        slash = Bar(id="slash")
        slash.show([Piece(" / ", "dim", "filter")])
        yield self._bars["top"]
        yield self._bars["rule-above"]
        yield Horizontal(slash, self._filter, self._totals, id="filter-line")
        yield self._list
        yield self._bars["rule-below"]
        yield self._bars["detail"]
        yield self._bars["foot"]

    def on_mount(self) -> None:
        self.set_focus(self._list)
        self._say(self._words("m_stored_in", path=self._desk.place(self._scope)))
        if self._view.notices:
            self._say(one_line(self._view.notices[0]))
        self._following = asyncio.create_task(self._follow())
        self.set_interval(1.0, self._tick)

    def on_unmount(self) -> None:
        if self._following:
            self._following.cancel()

    def on_resize(self) -> None:
        self.call_after_refresh(self._redraw)

    async def _follow(self) -> None:
        """Draw news soon, and many of them at once."""
        while True:
            await self._desk.news.wait()
            self._desk.news.clear()
            self._renew()
            await asyncio.sleep(_REST_SECONDS)

    def _tick(self) -> None:
        if self._since:
            self._redraw()

    def _renew(self) -> None:
        self._view = self._desk.view()
        connecting = {status.name for status in self._view.servers if status.status == "connecting"}
        self._since = {name: self._since.get(name, time.monotonic()) for name in connecting}
        self._redraw()

    def _redraw(self, *, key: str = "") -> None:
        self._list.show(self._rows(), key=key)
        width, words = self.size.width, self._words
        self._bars["top"].show(head(self._tab, self._scope, self._view.servers, width, words))
        for rule in ("rule-above", "rule-below"):
            self._bars[rule].show([Piece("─" * width, "dim")])
        self._totals.show(totals_pieces(totals(self._view.tools), words, use=self._view.use))
        self._redraw_foot()

    def _redraw_foot(self) -> None:
        width = self.size.width
        if self._explains:
            self._detail = self._explanation(self._list.selected)
        message = [Piece(f" {self._message}")]
        is_long = message[0].cells > width
        texts = self._detail or ((self._message,) if is_long else ())
        lines = detail_lines(texts, width, max(self.size.height - _ROWS_THAT_STAY, 3), is_log=self._is_log)
        bar = self._bars["detail"]
        bar.display = bool(lines)
        bar.styles.height = len(lines)
        bar.show(*([Piece(line)] for line in lines))
        typing, asking = self._is_typing, self._pending is not None
        first, second = keys_for(
            self._tab, self._list.selected, self._words, typing=typing, asking=asking, use=self._view.use,
            detail=bool(lines),
        )  # fmt: skip
        below = message if self._message and not is_long else hints(second, width)
        self._bars["foot"].show(hints(first, width), below)

    def _rows(self) -> tuple[Row, ...]:
        match self._tab:
            case "mcp":
                return server_rows(self._view)
            case "permissions":
                return permission_rows(self._view)
            case _:
                return tool_rows(self._view, self._filter.value, self._folded)

    def _draw(self, row: Row, width: int) -> list[Piece]:
        now = time.monotonic()
        waited = {name: int(now - since) for name, since in self._since.items()}
        return panel_lines.draw(row, width, self._words, waited)

    def _explanation(self, row: Row | None) -> tuple[str, ...]:
        match row:
            case ToolLine(tool):
                return tuple(self._desk.explain(tool.name))
            case Header(server="") | None:
                return (self._words("m_builtin", profile=self._view.profile),)
            case Header(status=status) | ServerLine(status) if status:
                return about_server(status, self._words)
            case _:
                return ()

    def _say(self, text: str) -> None:
        self._message = text
        if self._following:
            self._redraw_foot()

    @property
    def _is_typing(self) -> bool:
        return self.focused is self._filter

    # What widgets report.

    def on_input_changed(self) -> None:
        self._tab = "tools"
        self._redraw()

    async def on_input_submitted(self) -> None:
        if not self._is_typing:  # the second of two quick ones was meant for the list
            await self.action_act()
            return
        self.set_focus(self._list)
        if isinstance(self._list.selected, Header):
            self._list.move(1)
        self._redraw_foot()

    def on_row_list_selected(self) -> None:
        self._moved()

    def _moved(self) -> None:
        """Another row is selected: what was said of the last one is over, and a standing “why” follows."""
        self._message = ""
        if not self._explains:
            self._close_detail()
        self._redraw_foot()

    async def on_row_list_acted(self) -> None:
        await self.action_act()

    async def on_clicked(self, message: Clicked) -> None:
        """Names of servers and grants are strangers' text: they are arguments here, never parsed as an action."""
        name, _, argument = message.action.partition(" ")
        match name:
            case "restart":
                self._restart(argument)
            case "log":
                self._show_log(argument)
            case "revoke":
                self._ask_revoke(argument)
            case "tab":
                self.action_tab(argument)
            case _:
                await self.run_action(message.action)

    def on_descendant_focus(self) -> None:
        self._redraw_foot()

    # What keys do. They are looked at here, before any widget, so that fast typing never meets yesterday's focus.

    async def _check_bindings(self, key: str, priority: bool = False) -> bool:
        """Letters are text while the filter is typed."""
        if priority and self._is_typing and key not in WHILE_TYPING:
            return False
        return await super()._check_bindings(key, priority)

    def action_leave(self) -> None:
        self.exit()

    def action_step_back(self) -> None:
        """One step: the question, the explanation, the filter, and then the panel."""
        if self._pending or self._detail:
            self._close_detail()
        elif self._filter.value or self._is_typing:
            self._filter.value = ""
            self.set_focus(self._list)
        else:
            self.exit()
        self._redraw_foot()

    def action_scope(self) -> None:
        self._scope = "user" if self._scope == "workspace" else "workspace"
        self._close_detail()
        self._say(self._words("m_stored_in", path=self._desk.place(self._scope)))
        self._redraw()

    def action_tab(self, tab: str) -> None:
        self._tab = next(known for known in TABS if known == tab)
        self._message = ""
        self._close_detail()
        self._explains = tab == "mcp"  # a reason is often longer than its line
        self.set_focus(self._list)
        self._redraw()

    def action_filter(self) -> None:
        self.action_tab("tools")
        self.set_focus(self._filter)

    def action_move(self, rows: int) -> None:
        self._list.move(rows)
        self._moved()

    def action_page(self, direction: int) -> None:
        self._list.page(direction)
        self._moved()

    def action_group(self, step: int) -> None:
        self._list.to_next(step, lambda row: isinstance(row, Header))
        self._moved()

    async def action_act(self) -> None:
        if self._pending:
            await self.action_yes()
            return
        match self._list.selected:
            case Header() as row:
                self._fold(row.server, row.is_open)
            case ToolLine(tool):
                await self._cycle(tool)
            case ServerLine():
                self.action_why()
            case _:
                pass

    def action_fold(self, is_folding: bool) -> None:
        match self._list.selected:
            case Header() as row:
                self._fold(row.server, is_folding)
            case ToolLine(tool) if is_folding:
                self._fold(tool.server or "", True)
            case _:
                pass

    def _fold(self, server: str, is_folding: bool) -> None:
        if self._tab == "tools" and not self._filter.value:
            (self._folded.add if is_folding else self._folded.discard)(server)
            self._redraw(key=f"server {server}")

    async def _cycle(self, tool: ToolInfo) -> None:
        if not self._view.use:
            self._say(self._words("m_switch_off"))
            return
        wanted = NEXT[tool.state]
        await self._change(self._desk.cycle_state(tool.name, self._scope), lambda: self._told(tool.name, wanted))

    async def action_reset(self) -> None:
        match self._list.selected:
            case ToolLine(tool):
                work = self._desk.set_state(tool.name, "default", self._scope)
                await self._change(work, lambda: self._told(tool.name, None))
            case Header(status=status) | ServerLine(status) if status:
                self._restart(status.name)
            case _:
                pass

    async def action_all(self, state: State | Literal["default"]) -> None:
        if self._tab != "tools":
            return
        wanted = None if state == "default" else state
        work = self._desk.set_state("*", state, self._scope)
        await self._change(work, lambda: told_of_all(self._view.tools, wanted, self._scope, self._words))

    def action_all_off(self) -> None:
        if self._tab != "tools":
            return
        scope = self._words.scope(self._scope)
        self._ask(
            self._words("m_all_off_ask", n=len(self._view.tools), scope=scope), lambda: self.action_all("disabled")
        )

    async def action_master(self) -> None:
        on, scope = not self._view.use, self._words.scope(self._scope)
        work = self._desk.use_tools(on, self._scope)
        await self._change(work, lambda: self._words("m_on" if self._view.use else "m_off", scope=scope))

    async def action_undo(self) -> None:
        undone: list[Scope | None] = []

        async def undo() -> None:
            undone.append(await self._desk.undo())

        await self._change(undo(), lambda: self._told_undone(*undone))

    def _told_undone(self, scope: Scope | None) -> str:
        return self._words("m_undone", scope=self._words.scope(scope)) if scope else self._words("m_nothing_to_undo")

    def action_why(self) -> None:
        wanted = not self._explains
        self._close_detail()
        self._explains = wanted
        self._redraw_foot()

    def action_log(self) -> None:
        match self._list.selected:
            case Header(status=status) | ServerLine(status) if status:
                self._show_log(status.name)
            case _:
                pass

    def action_revoke(self) -> None:
        if isinstance(row := self._list.selected, GrantLine):
            self._ask_revoke(row.grant.id)

    async def action_yes(self) -> None:
        work = self._pending
        self._close_detail()
        if work:
            await work()
        self._redraw_foot()

    # How it is done.

    async def _change(self, work: Awaitable[object], say: Callable[[], str]) -> None:
        """Do it, draw it, and say what came of it."""
        self._close_detail(keep_explaining=True)
        try:
            await work
        except Refused as refused:
            self._say(str(refused))
            return
        self._renew()
        self._say(say())

    def _told(self, name: str, wanted: State | None) -> str:
        tool = self._view.find_tool(name)
        return told(tool, wanted, self._scope, self._words) if tool else ""

    def _restart(self, server: str) -> None:
        """Not waited for: a server may take its time to end."""
        said = self._words("m_restarting", server=one_line(server))
        self._since[server] = time.monotonic()
        self._say(said)
        self.run_worker(self._change(self._desk.restart(server), lambda: said))

    def _show_log(self, server: str) -> None:
        self._explains, self._is_log = False, True
        self._detail = (self._desk.log(server).strip() or self._words("m_no_log", server=server),)
        self._redraw_foot()

    def _ask_revoke(self, grant_id: str) -> None:
        grant = next((grant for grant in self._view.grants if grant.id == grant_id), None)
        if grant is None:
            return
        tool = one_line(grant.tool)

        async def revoke() -> None:
            await self._change(self._desk.revoke(grant_id), lambda: self._words("m_revoked", tool=tool))

        self._ask(self._words("m_revoke_ask", tool=tool), revoke)

    def _ask(self, question: str, work: Callable[[], Awaitable[None]]) -> None:
        self._explains, self._detail, self._pending, self._message = False, (question,), work, ""
        self._redraw_foot()

    def _close_detail(self, *, keep_explaining: bool = False) -> None:
        self._pending, self._is_log = None, False
        if not (keep_explaining and self._explains):
            self._explains, self._detail = False, ()
