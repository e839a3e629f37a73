"""The settings in force, for everyone and for one session, and which of the workspace's wishes are granted."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any

from caddie.layers import Layer, Problem, Resolved, environment_layer, resolve
from caddie.mcp.config import FILES, WorkspaceServers, read_workspace_servers
from caddie.mcp.supervisor import ConfiguredServer
from caddie.settings import NEEDS_TRUST, Scope, Settings
from caddie.storage.files import stamp
from caddie.storage.places import Places
from caddie.storage.settings_files import (
    SCOPES,
    FileScope,
    SettingsFile,
    put,
    read_settings_files,
    stamps,
    update_settings,
)
from caddie.storage.trust import TrustStore

_NEEDS_TRUST = tuple(tuple(path.split(".")) for path in NEEDS_TRUST)


_EDITOR_SCOPES: Mapping[FileScope, Scope] = {"user": "editorUser", "workspace": "editorWorkspace"}


class Configuration:
    """`revision` grows with each change, so that what is derived from settings knows when it is stale."""

    def __init__(self, places: Places, environ: Mapping[str, str], *, trusted: bool | None, way_to_trust: str) -> None:
        """`trusted` None looks up the person's earlier answer; `way_to_trust` goes on after “until you”."""
        self.places = places
        self.environ = environ
        self.revision = 0
        self._trust_store = TrustStore(places)
        self._door_trusts = trusted
        self._way_to_trust = way_to_trust
        self._editor_layers: tuple[Layer, ...] = ()
        self._session_trees: dict[str, dict[str, Any]] = {}
        self._resolved: dict[str, Resolved] = {}
        self.workspace_servers = WorkspaceServers({}, (), "")
        self.files: dict[FileScope, SettingsFile] = {}
        self.reload()

    def reload(self) -> None:
        """Read the files again."""
        self._stamps = self._stamps_now()
        self.workspace_servers = read_workspace_servers(self.places.workspace)
        before, self.files = self.files, read_settings_files(self.places)
        for scope, file in before.items():
            if self.files[scope].is_broken:  # half a word is no reason to enable what was disabled
                self.files[scope] = replace(self.files[scope], layer=file.layer)
        self._changed()

    def reload_if_changed(self) -> bool:
        """Whether another process or the person wrote a file since it was read. Cheap: asked at each use, so that
        nothing has to watch."""
        if self._stamps_now() == self._stamps:
            return False
        self.reload()
        return True

    def _stamps_now(self) -> tuple[object, ...]:
        others = tuple(stamp(self.places.workspace / relative) for relative, _ in FILES)
        return (*stamps(self.places), *others)

    @property
    def _file_layers(self) -> list[Layer]:
        return [self.files[scope].layer for scope in SCOPES]

    def set_editor_layers(self, layers: Iterable[Layer]) -> None:
        self._editor_layers = tuple(layers)
        self._changed()

    def set_session(self, session_id: str, tree: dict[str, Any]) -> None:
        self._session_trees[session_id] = tree
        self._changed()

    @property
    def sessions_with_settings(self) -> tuple[str, ...]:
        return tuple(self._session_trees)

    def forget_session(self, session_id: str) -> None:
        if self._session_trees.pop(session_id, None) is not None:
            self._changed()

    def scope_tree(self, scope: FileScope) -> Mapping[str, Any]:
        """The tree of a scope's file."""
        self.reload_if_changed()
        return self.files[scope].layer.tree

    def editor_tree(self, scope: FileScope) -> Mapping[str, Any]:
        """The tree of a scope as the editor last told it."""
        return next((layer.tree for layer in self._editor_layers if layer.scope == _EDITOR_SCOPES[scope]), {})

    def put_in_editor(self, scope: FileScope, key: str, value: Any) -> None:
        """What the editor has just stored for us; its own word of it comes later."""
        wanted = _EDITOR_SCOPES[scope]
        tree: dict[str, Any] = json.loads(json.dumps(dict(self.editor_tree(scope))))
        put(tree, key, value)
        others = [layer for layer in self._editor_layers if layer.scope != wanted]
        origin = next((layer.origin for layer in self._editor_layers if layer.scope == wanted), "the editor's settings")
        self.set_editor_layers([*others, Layer(wanted, tree, origin)])

    async def update_file(self, scope: FileScope, change: Callable[[dict[str, Any]], None]) -> str:
        """Change a scope's file under its lock; its path. `change` runs in a thread. Raises: InvalidInput."""
        self.reload_if_changed()
        trusted = self.wishes() if self.is_trusted else None
        found: list[object] = []

        def change_what_is_there(tree: dict[str, Any]) -> None:
            found[:] = [deepcopy(_restricted(tree))]
            change(tree)

        path = await asyncio.to_thread(update_settings, self.places, scope, change_what_is_there)
        self.reload()
        is_ours_alone = trusted == (self.workspace_servers.fingerprint, *found)
        if scope == "workspace" and is_ours_alone and not self.is_trusted:
            self.trust()  # our own write is not a stranger's change
        return path

    def resolved(self, session_id: str = "") -> Resolved:
        key = session_id if session_id in self._session_trees else ""
        if key not in self._resolved:
            session = [Layer("session", self._session_trees[key], "this session")] if key else []
            layers = [*self._granted_layers(), *self._editor_layers, environment_layer(self.environ), *session]
            resolved = resolve(layers)
            in_files = [problem for file in self.files.values() for problem in file.problems]
            problems = (*in_files, *resolved.problems)
            self._resolved[key] = Resolved(resolved.settings, resolved.layers, problems)
        return self._resolved[key]

    @property
    def settings(self) -> Settings:
        return self.resolved().settings

    @property
    def problems(self) -> tuple[Problem, ...]:
        return self.resolved().problems

    def servers(self) -> dict[str, ConfiguredServer]:
        """The servers to run: settings first, then the workspace's own files when trusted."""
        found: dict[str, ConfiguredServer] = {}
        if self.is_trusted:
            found.update(self.workspace_servers.servers)
        for layer in self.resolved().layers:
            names = _branch(layer.tree, ("mcp", "servers")) or {}
            for name in names:
                found[name] = ConfiguredServer(self.settings.mcp.servers[name], layer.origin or layer.scope)
        return {name: item for name, item in found.items() if item.server.enabled}

    @property
    def is_trusted(self) -> bool:
        if self._door_trusts is not None:
            return self._door_trusts
        return not self.wants_trust or self._trust_store.is_trusted(self._fingerprint())

    @property
    def wants_trust(self) -> bool:
        """Whether the workspace's files ask for anything that needs trust."""
        return bool(self.workspace_servers.servers or self._restricted())

    def notices(self) -> list[str]:
        """Broken files, and servers that wait for the person's trust."""
        notices = list(self.workspace_servers.problems)
        if self.wants_trust and not self.is_trusted:
            names = ", ".join(self.workspace_servers.servers)
            wait = f"the servers {names} of this folder wait" if names else "settings of this folder wait"
            notices.append(f"{wait[0].upper()}{wait[1:]} until you {self._way_to_trust}.")
        notices += [f"{problem.scope} settings: {problem.path}: {problem.message}" for problem in self.problems]
        return notices

    def trust(self) -> None:
        self._trust_store.trust(self._fingerprint())
        self._changed()

    def wishes(self) -> tuple[object, ...]:
        """What of this folder's files the person trusts or does not, to compare."""
        return self.workspace_servers.fingerprint, self._restricted()

    def trust_question(self) -> str:
        wishes = [f"start the MCP server {name}" for name in self.workspace_servers.servers]
        wishes += [f"set {'.'.join(path)}" for path in self._restricted()]
        return f"This folder's files want to: {'; '.join(wishes)}. Do you trust {self.places.workspace}?"

    def _fingerprint(self) -> str:
        restricted = {".".join(path): value for path, value in self._restricted().items()}
        text = json.dumps([self.workspace_servers.fingerprint, restricted], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def _restricted(self) -> dict[tuple[str, ...], Any]:
        return _restricted(self.files["workspace"].layer.tree)

    def _granted_layers(self) -> list[Layer]:
        if self.is_trusted:
            return self._file_layers
        return [
            Layer(layer.scope, _without(layer.tree, self._restricted()), layer.origin)
            if layer.scope == "workspace"
            else layer
            for layer in self._file_layers
        ]

    def _changed(self) -> None:
        self.revision += 1
        self._resolved.clear()


def _restricted(tree: Mapping[str, Any]) -> dict[tuple[str, ...], Any]:
    return {path: value for path in _NEEDS_TRUST if (value := _branch(tree, path)) is not None}


def _branch(tree: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    node: Any = tree
    for part in path:
        if not isinstance(node, Mapping):
            return None
        node = node.get(part)
    return node


def _without(tree: Mapping[str, Any], paths: Iterable[tuple[str, ...]]) -> dict[str, Any]:
    copy: dict[str, Any] = json.loads(json.dumps(tree))
    for *parents, last in paths:
        node = copy
        for part in parents:
            node = node[part]
        node.pop(last, None)
    return copy
