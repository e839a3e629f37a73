"""Which settings does an editor tell: at the start, pushed when they change, or asked for?

A push or answer that says nothing (null, other sections only) changes nothing; a part that is wrong is reported.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsprotocol import types
from pydantic.alias_generators import to_camel
from pygls.exceptions import JsonRpcException

from caddie.layers import Layer
from caddie.rpc.codec import Server
from caddie.settings import Settings

SECTION = "caddie"
ANSWER_SECONDS = 10.0  # every request waits for the engine, and that for this
_WORKSPACE = "workspaceSettings"
_KNOWN = frozenset(to_camel(name) for name in Settings.model_fields)
_WATCHED = ("**/.caddie/settings.json", "**/.mcp.json", "**/.vscode/mcp.json")


@dataclass(frozen=True, slots=True)
class Told:
    """What an editor told. A part that is None was not told; `wrong` says what could not be read."""

    user: Mapping[str, Any] | None = None
    workspace: Mapping[str, Any] | None = None
    wrong: str = ""


def read_push(pushed: Any) -> Told:
    """`{caddie: section}`, a bare section, or either with `workspaceSettings` beside it."""
    if pushed is None:
        return Told()
    if not isinstance(pushed, Mapping):
        return Told(wrong=_wrong(pushed))
    if SECTION not in pushed and _WORKSPACE not in pushed:
        is_ours = not pushed or any(key in _KNOWN for key in pushed)
        return Told(user=pushed) if is_ours else Told()
    return read_parts(pushed.get(SECTION), pushed.get(_WORKSPACE))


def read_parts(user: Any, workspace: Any = None) -> Told:
    wrong = next((_wrong(part) for part in (user, workspace) if not isinstance(part, Mapping | None)), "")
    return Told(
        user if isinstance(user, Mapping) else None, workspace if isinstance(workspace, Mapping) else None, wrong
    )


def _wrong(part: object) -> str:
    kind = {"list": "a list", "str": "text", "bool": "true or false", "int": "a number"}.get(type(part).__name__, "")
    return f"expected the section {SECTION!r} to be an object, got {kind or 'something else'}; it is ignored"


class EditorSettings:
    """The editor's two layers, as it last told them."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._user: Mapping[str, Any] = {}
        self._workspace: Mapping[str, Any] = {}
        self.is_told = False

    def take(self, told: Told) -> bool:
        """Whether anything was told."""
        self._user = self._user if told.user is None else told.user
        self._workspace = self._workspace if told.workspace is None else told.workspace
        is_news = told.user is not None or told.workspace is not None
        self.is_told = self.is_told or is_news
        return is_news

    def layers(self) -> list[Layer]:
        return [
            Layer("editorUser", dict(self._user), "the editor's settings"),
            Layer("editorWorkspace", dict(self._workspace), "the editor's workspace settings"),
        ]

    async def pull(self) -> Told:
        """Ask an editor that can be asked."""
        workspace = self._server.client_capabilities.workspace
        if not (workspace and workspace.configuration):
            return Told()
        items = [types.ConfigurationItem(section=SECTION)]
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                answer = await self._server.workspace_configuration_async(types.ConfigurationParams(items=items))
        except (JsonRpcException, TimeoutError, ConnectionError):
            return Told()
        return read_parts(answer[0]) if answer else Told()

    async def watch(self, user_file: Path) -> None:
        """Have the editor say when settings or their files change; nothing here polls."""
        workspace = self._server.client_capabilities.workspace
        registrations: list[types.Registration] = []
        if workspace and (changes := workspace.did_change_configuration) and changes.dynamic_registration:
            options = types.DidChangeConfigurationRegistrationOptions(section=SECTION)
            registrations.append(
                types.Registration("caddie-settings", types.WORKSPACE_DID_CHANGE_CONFIGURATION, options)
            )
        if workspace and (files := workspace.did_change_watched_files) and files.dynamic_registration:
            watchers = [types.FileSystemWatcher(pattern) for pattern in _WATCHED]
            if files.relative_pattern_support:
                pattern = types.RelativePattern(user_file.parent.as_uri(), user_file.name)
                watchers.append(types.FileSystemWatcher(pattern))
            registrations.append(
                types.Registration(
                    "caddie-files",
                    types.WORKSPACE_DID_CHANGE_WATCHED_FILES,
                    types.DidChangeWatchedFilesRegistrationOptions(watchers),
                )
            )
        if registrations:
            try:
                await self._server.client_register_capability_async(types.RegistrationParams(registrations))
            except JsonRpcException:
                return  # then files are looked at when they are used
