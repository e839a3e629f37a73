"""The LSP door: a pygls server, and the engine behind it once the client has said who it is."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.uris import to_fs_path

from caddie import __version__
from caddie.engine.engine import Engine
from caddie.rpc.codec import Server, create_base_server
from caddie.rpc.config import EditorSettings, read_parts, read_push
from caddie.rpc.documents import mend
from caddie.rpc.door import EditorDoor
from caddie.rpc.peer import Peer


class App:
    """Holds what one connection needs. The engine is made once the client has said who it is."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.peer = Peer(server.protocol)
        self._options: dict[str, Any] = {}
        self._settings = EditorSettings(server)
        self._can: dict[str, bool] = {}
        self._workspace = Path.cwd()
        self._folders: list[Path] = []
        self._engine: asyncio.Task[Engine] | None = None

    async def engine(self) -> Engine:
        """The engine, once it is made; a request may come before that."""
        if self._engine is None:
            self._engine = asyncio.create_task(self._make_engine())
        return await asyncio.shield(self._engine)

    def initialize(self, params: types.InitializeParams) -> None:
        experimental = _plain(params.capabilities.experimental)
        self._can = {str(key): value is True for key, value in _plain(experimental.get("caddie")).items()}
        self._options = _plain(params.initialization_options)
        self._settings.take(read_parts(self._options.get("settings"), self._options.get("workspaceSettings")))
        self._folders = _paths(params.workspace_folders or ())
        self._workspace = self._folders[0] if self._folders else _root_of(params)

    async def initialized(self) -> None:
        engine = await self.engine()
        await self._settings.watch(engine.configuration.places.user_settings)

    async def change_configuration(self, pushed: Any) -> None:
        """What was pushed; when that says nothing, the client is asked."""
        told = read_push(pushed)
        if not told.wrong and told.user is None and told.workspace is None:
            told = await self._settings.pull()
        if told.wrong:
            self._warn(told.wrong)
        engine = await self.engine()
        engine.in_step()
        if self._settings.take(told):
            await engine.set_editor_layers(self._settings.layers())

    async def saved(self, uri: str) -> None:
        """The person's own change of a file: no command that runs meanwhile made it."""
        if path := to_fs_path(uri):
            await (await self.engine()).changes.changed_by_others(Path(path))

    async def change_folders(self, event: types.WorkspaceFoldersChangeEvent) -> None:
        gone = _paths(event.removed)
        self._folders = [folder for folder in self._folders if folder not in gone] + _paths(event.added)
        engine = await self.engine()
        engine.set_folders(self._folders)

    async def change_files(self) -> None:
        (await self.engine()).in_step()

    def _warn(self, text: str) -> None:
        self.server.window_show_message(types.ShowMessageParams(types.MessageType.Warning, f"Caddie: {text}."))

    async def close(self) -> None:
        if self._engine is None:
            return
        engine = await asyncio.shield(self._engine)
        await engine.close()

    async def _make_engine(self) -> Engine:
        if not self._settings.is_told:
            self._settings.take(await self._settings.pull())
        trusted = self._options.get("workspaceTrusted")
        door = EditorDoor(self.server, self.peer, self._can, trusted if isinstance(trusted, bool) else None)
        engine = Engine(self._workspace, door, environ=dict(os.environ), editor_layers=self._settings.layers())
        engine.set_folders(self._folders)
        await engine.start()
        return engine


def _plain(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


def _paths(folders: Iterable[types.WorkspaceFolder]) -> list[Path]:
    """Of those that are on this machine's disk."""
    return [Path(path) for folder in folders if (path := to_fs_path(folder.uri))]


def _root_of(params: types.InitializeParams) -> Path:
    """For clients that know no folders."""
    path = (to_fs_path(params.root_uri) if params.root_uri else None) or params.root_path
    return Path(path) if path else Path.cwd()


def create_server() -> Server:
    """The one place where the LSP door is wired together."""
    from caddie.rpc.handlers import bind_all

    server = create_base_server("caddie", __version__)
    app = App(server)
    server.on_close = app.close

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        mend(server.workspace)
        app.initialize(params)

    @server.feature(types.INITIALIZED)
    async def initialized(params: types.InitializedParams) -> None:
        await app.initialized()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def did_change_configuration(params: types.DidChangeConfigurationParams) -> None:
        await app.change_configuration(params.settings)

    @server.feature(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    async def did_change_workspace_folders(params: types.DidChangeWorkspaceFoldersParams) -> None:
        await app.change_folders(params.event)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def did_change_watched_files(params: types.DidChangeWatchedFilesParams) -> None:
        await app.change_files()

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def did_save(params: types.DidSaveTextDocumentParams) -> None:
        await app.saved(params.text_document.uri)
        await app.change_files()  # a settings file, perhaps; not every editor watches files

    bind_all(server, app)
    return server
