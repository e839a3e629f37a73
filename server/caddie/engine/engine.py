"""One workspace's Caddie: the catalogue, the servers, the sessions and the turns, wired together once."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from caddie.chat.session import Session
from caddie.engine.admin import ToolAdmin
from caddie.engine.agents import Subagents
from caddie.engine.background import Background
from caddie.engine.changes import ChangeLog
from caddie.engine.configuration import Configuration
from caddie.engine.deferral import Deferrals
from caddie.engine.door import Door
from caddie.engine.hints import Hints
from caddie.engine.inspect import ContextInspector
from caddie.engine.models import Models
from caddie.engine.restoring import Restorer
from caddie.engine.review import Review
from caddie.engine.sessions import Sessions
from caddie.engine.settings_check import SettingsCheck
from caddie.engine.toolbox import SessionTools
from caddie.engine.trusting import is_trusted_by
from caddie.engine.turns import Turns
from caddie.engine.undo import Undo, UndoReport
from caddie.errors import NothingToUndo
from caddie.layers import Layer
from caddie.mcp.manager import McpManager
from caddie.search.engine import ToolIndex
from caddie.search.execute_tool import TOOL as EXECUTE_TOOL
from caddie.search.semantic import SemanticRanker
from caddie.search.tool_search import ToolSearcher, make_tool_search
from caddie.settings import Settings
from caddie.storage.checkpoints import CheckpointStore
from caddie.storage.grants import GrantStore
from caddie.storage.habits import read_habits
from caddie.storage.manifests import ManifestFiles
from caddie.storage.places import Places, cache_folder, usual_places
from caddie.storage.results import ResultStore
from caddie.storage.sessions import SessionStore
from caddie.storage.started import StartedPrograms
from caddie.storage.tokens import TokenFiles
from caddie.tools.builtin import BUILTIN
from caddie.tools.call import Call, Report
from caddie.tools.catalogue import Catalogue, Change
from caddie.tools.context import SessionState, ToolContext
from caddie.tools.executor import Authority, Executor
from caddie.tools.folders import further_folders
from caddie.tools.permissions import read_rules
from caddie.tools.servers import ServerStatus
from caddie.tools.states import Decision
from caddie.tools.tool import Tool, ToolResult

if TYPE_CHECKING:
    from caddie.engine.usage import Usage


SERVER_WAIT_SECONDS = 20.0
LIST_WAIT_SECONDS = 5.0


class Engine:
    """Construct, `await start()`, use, `await close()`. Everything runs on one event loop."""

    def __init__(
        self,
        workspace: Path,
        door: Door,
        *,
        environ: Mapping[str, str],
        places: Places | None = None,
        editor_layers: Sequence[Layer] = (),
        models: Models | None = None,
    ) -> None:
        places = places or usual_places(workspace)
        self.workspace = places.workspace
        self.further: tuple[Path, ...] = ()
        self.door = door
        self.configuration = Configuration(
            places, environ, trusted=door.workspace_trusted, way_to_trust=door.way_to_trust
        )
        self.configuration.set_editor_layers(editor_layers)
        self.catalogue = Catalogue()
        self.deferrals = Deferrals(self)
        refusals = self.deferrals.refusals
        self.tools = SessionTools(
            self.catalogue, self.configuration, refusals, in_step=self.in_step, further=lambda: self.further
        )
        settings = self.configuration.settings
        self.index = ToolIndex(
            weight_keyword=settings.search.weights.keyword,
            weight_tfidf=settings.search.weights.tfidf,
            aliases=settings.tools.aliases,
            semantic=_semantic_ranker(settings),
        )
        self.searcher = ToolSearcher(
            self.catalogue,
            self.index,
            states=self.tools.states,
            settings=lambda: self.configuration.settings,
            sessions_with_states=lambda: self.configuration.sessions_with_settings,
        )
        self.grants = GrantStore(places)
        self.results = ResultStore(places)
        self.changes = ChangeLog(self.workspace, CheckpointStore(places), self._checkpoint_bytes)
        restorer = Restorer(self.changes, door.editor)
        self.undone = Undo(self.changes, restorer)
        self.review = Review(self.changes, restorer)
        self.sessions = Sessions(SessionStore(places), on_open=self._session_opened)
        self.models = models or Models(environ)
        self._started = StartedPrograms(places)
        self.mcp = McpManager(
            self.workspace,
            on_tools=self._server_tools,
            on_status=self._server_status,
            on_prompts=door.prompts_changed,
            ask_question=door.person.ask_question,
            vault=TokenFiles(places),
            manifests=ManifestFiles(places),
            started=self._started,
            further=lambda: self.further,
        )
        authority = Authority(
            self._states_now,
            lambda: read_rules(self.configuration.resolved()),
            self.grants,
            lambda session_id: self.configuration.resolved(session_id).settings.permissions,
            own=(places.config, places.grants, places.trust),
        )
        self.executor = Executor(self.catalogue, authority, await_server=self._await_server)
        self.admin = ToolAdmin(self)
        self.check = SettingsCheck(self)
        self._states: Mapping[str, Decision] = {}
        self._background = Background()
        self._asking: asyncio.Task[None] | None = None
        self.hints = Hints(self)
        self.turns = Turns(self)
        self.catalogue.listen(self._catalogue_changed)
        search = make_tool_search(self.searcher, await_lists=self._await_lists)
        self.catalogue.replace_source("", (*BUILTIN, search, EXECUTE_TOOL))

    # Lifecycle.

    async def start(self, *, warm: bool = True) -> None:
        """Start servers and warm-ups in the background; returns at once. What does not search needs no warm-up."""
        self.in_background(asyncio.to_thread(self._started.end_leftovers))
        if warm:
            self.in_background(self._warm_up())
        await self.mcp.configure(self.configuration.servers())
        self.check.soon()
        # An editor with a trust of its own has asked already.
        if self.configuration.wants_trust and not self.configuration.is_trusted and self.door.workspace_trusted is None:
            self._asking = self.in_background(self._ask_trust())

    async def until_asked(self) -> None:
        """Wait until the person has been asked about this folder's trust, if they are."""
        if self._asking is not None:
            await asyncio.wait({self._asking})

    async def close(self) -> None:
        """Bounded; leaves no child process and no task. What was said is on disk afterwards."""
        self.check.close()
        self.hints.forget()
        await self._background.close()
        await self.mcp.close()
        self._started.close()
        await self.models.close()
        await self.changes.close()
        await self.sessions.flush()
        self.sessions.close()

    def in_background(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        return self._background.begin(work)

    async def _warm_up(self) -> None:
        await asyncio.to_thread(importlib.import_module, "mcp")  # 0.4 s that the first connection would wait for
        await self.index.warm()
        await asyncio.to_thread(self.results.remove_old)
        await asyncio.to_thread(self.changes.store.trim, self._checkpoint_bytes())

    async def _ask_trust(self) -> None:
        configuration = self.configuration
        while configuration.wants_trust:
            asked = configuration.wishes()
            if not await is_trusted_by(self.door.person, configuration.trust_question()):
                return
            configuration.reload_if_changed()
            if configuration.wishes() == asked:  # else the answer was about something else: ask again
                configuration.trust()
                await self.apply_settings()
                return

    def set_folders(self, folders: Iterable[Path]) -> None:
        """Those that the editor's window has now. The first that it ever had stays what relative paths count from."""
        self.further = further_folders(self.workspace, folders)
        self.changes.set_further(self.further)
        self.executor.look_again()

    # Settings.

    async def set_editor_layers(self, layers: Sequence[Layer]) -> None:
        self.configuration.set_editor_layers(layers)
        await self.apply_settings()

    async def apply_settings(self) -> None:
        """Bring everything that depends on settings in step with them."""
        self._settings_changed()
        await self.mcp.configure(self.configuration.servers())

    def in_step(self) -> None:
        """Called at each use: what another process or the person wrote to a settings file holds from here on."""
        if self.configuration.reload_if_changed():
            self._settings_changed()
            self.in_background(self.mcp.configure(self.configuration.servers()))

    def _settings_changed(self) -> None:
        settings = self.configuration.settings
        self.index.set_aliases(settings.tools.aliases)
        self.index.set_weights(settings.search.weights.keyword, settings.search.weights.tfidf)
        self.searcher.refresh()
        states = self.tools.states()
        changed = tuple(name for name, decision in states.items() if self._states.get(name, decision) != decision)
        self._states = states
        self.executor.look_again()
        self.door.tools_changed(Change(self.catalogue.revision, (), (), changed))
        self.check.soon()

    def _states_now(self, session_id: str) -> Mapping[str, Decision]:
        self.in_step()
        return self.tools.states(session_id)

    def _session_opened(self, session: Session) -> None:
        """States that were set for a session hold again when it is resumed."""
        if session.settings:
            self.configuration.set_session(session.id, session.settings)
            self.searcher.refresh()

    # What the servers say.

    def _server_tools(self, server: str, tools: Sequence[Tool]) -> None:
        self.catalogue.replace_source(server, tools)

    def _server_status(self, status: ServerStatus) -> None:
        if status.name in self.configuration.servers():
            self.catalogue.set_server(status)
        else:
            self.catalogue.forget_server(status.name)
        self.door.server_changed(status)
        self.check.soon()

    def _catalogue_changed(self, change: Change) -> None:
        self.searcher.refresh()
        self._states = self.tools.states()
        self.executor.look_again()
        self.door.tools_changed(change)
        self.check.soon()
        self.hints.look_again()  # what is being typed may fit a tool that has just come

    async def _await_server(self, name: str) -> None:
        await self.mcp.settled([name], SERVER_WAIT_SECONDS)

    async def _await_lists(self) -> list[str]:
        """Those of the ready servers whose changed list of tools takes longer than a search waits for it."""
        ready = [status.name for status in self.mcp.statuses() if status.state == "ready"]
        late = await self.mcp.settled(ready, LIST_WAIT_SECONDS)
        return [status.name for status in self.mcp.statuses() if status.state == "ready" and status.name in late]

    # Calls, and what they did.

    async def undo(self, session_id: str, turn_id: str = "") -> UndoReport:
        """Take back what a turn did to files, or an undo; without `turn_id` the newest that is in force.

        Raises: SessionNotFound, SessionBusy, NothingToUndo.
        """
        async with self.sessions.held(session_id, "undo"):
            try:
                return await self.undone.undo(session_id, turn_id)
            except NothingToUndo as error:
                is_on = self.configuration.settings.checkpoints.enabled
                why = "" if is_on else " The setting checkpoints.enabled is off."
                raise NothingToUndo(error.message + why) from None

    async def changed_files(self, session_id: str, turn_id: str) -> list[str]:
        """What `undo` can take back of a turn."""
        return await self.undone.changed_files(session_id, turn_id)

    def _checkpoint_bytes(self) -> int:
        return self.configuration.settings.checkpoints.max_megabytes * 1_000_000

    async def execute(
        self, name: str, params: Mapping[str, Any], report: Report, *, session_id: str = ""
    ) -> ToolResult:
        """Run one tool as the bridge does."""
        state = (await self.sessions.get(session_id)).state if session_id else SessionState("")
        return await self.executor.execute(Call(uuid4().hex[:12], name, params), self.context(state), report)

    def context(self, state: SessionState) -> ToolContext:
        return ToolContext(
            workspace=self.workspace,
            settings=self.configuration.resolved(state.session_id).settings,
            session=state,
            person=self.door.person,
            editor=self.door.editor,
            progress=lambda text: None,
            spill=self.results.spill,
            resources=self.mcp,
            inspector=ContextInspector(self),
            agents=Subagents(self),
            further=lambda: self.further,
        )

    async def usage(self, session_id: str = "") -> Usage:
        """What the tools cost in this session, or would in a new one."""
        from caddie.engine.usage import report  # the providers' schema rules take a while to load

        await self.sessions.flush()
        habits = await asyncio.to_thread(read_habits, self.configuration.places)
        return report(self, self._token_provider(), habits, session_id)

    def _token_provider(self) -> str:
        provider = self.configuration.settings.provider
        chosen = self.models.chosen
        return chosen.provider.name if provider == "auto" and chosen else provider


def _semantic_ranker(settings: Settings) -> SemanticRanker | None:
    wanted = settings.search.semantic == "auto" and SemanticRanker.available()
    return SemanticRanker(cache_folder()) if wanted else None
