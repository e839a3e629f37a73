"""The LSP door: a pygls server, and the engine behind it once the client has said who it is."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.uris import to_fs_path

from caddie import __version__
from caddie.engine.engine import Engine
from caddie.layers import Layer
from caddie.rpc.codec import Server, create_base_server
from caddie.rpc.door import EditorDoor
from caddie.rpc.peer import Peer


class App:
    """Holds what one connection needs. The engine is made once the client has said who it is."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.peer = Peer(server.protocol)
        self._options: dict[str, Any] = {}
        self._can: dict[str, bool] = {}
        self._workspace = Path.cwd()
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
        self._workspace = _workspace_of(params)

    async def initialized(self) -> None:
        await self.engine()

    async def change_configuration(self, settings: Any) -> None:
        """A pushed section, `{caddie: section}`, or nothing: then the client is asked."""
        section = _plain(settings)
        section = _plain(section["caddie"]) if "caddie" in section else section
        if not section:
            section = await self._pull()
        engine = await self.engine()
        self._options["settings"] = section
        engine.configuration.reload()
        await engine.set_editor_layers(self._layers())

    async def close(self) -> None:
        if self._engine is None:
            return
        engine = await asyncio.shield(self._engine)
        await engine.close()

    async def _make_engine(self) -> Engine:
        trusted = self._options.get("workspaceTrusted")
        door = EditorDoor(self.server, self.peer, self._can, trusted if isinstance(trusted, bool) else None)
        engine = Engine(self._workspace, door, environ=dict(os.environ), editor_layers=self._layers())
        await engine.start()
        return engine

    def _layers(self) -> list[Layer]:
        return [
            Layer("editorUser", _plain(self._options.get("settings")), "the editor's settings"),
            Layer("editorWorkspace", _plain(self._options.get("workspaceSettings")), "the editor's workspace settings"),
        ]

    async def _pull(self) -> dict[str, Any]:
        workspace = self.server.client_capabilities.workspace
        if not (workspace and workspace.configuration):
            return {}
        items = [types.ConfigurationItem(section="caddie")]
        answer = await self.server.workspace_configuration_async(types.ConfigurationParams(items=items))
        return _plain(answer[0]) if answer else {}


def _plain(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


def _workspace_of(params: types.InitializeParams) -> Path:
    uris = [folder.uri for folder in params.workspace_folders or ()]
    uris += [params.root_uri] if params.root_uri else []
    paths = [path for uri in uris if (path := to_fs_path(uri))]
    paths += [params.root_path] if params.root_path else []
    return Path(paths[0]) if paths else Path.cwd()


def create_server() -> Server:
    """The one place where the LSP door is wired together."""
    from caddie.rpc.handlers import bind_all

    server = create_base_server("caddie", __version__)
    app = App(server)
    server.on_close = app.close

    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        app.initialize(params)

    @server.feature(types.INITIALIZED)
    async def initialized(params: types.InitializedParams) -> None:
        await app.initialized()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def did_change_configuration(params: types.DidChangeConfigurationParams) -> None:
        await app.change_configuration(params.settings)

    bind_all(server, app)
    return server
