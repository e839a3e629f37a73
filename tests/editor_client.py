"""An editor for tests: pytest-lsp's client against a real `caddie serve`, recording what the server says and asks."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.protocol import JsonRPCNotification, JsonRPCRequestMessage, JsonRPCResponseMessage, default_converter
from pytest_lsp import ClientServerConfig, LanguageClient
from pytest_lsp.protocol import LanguageClientProtocol

BOUND = 60.0
ALL = {"permission": True, "question": True, "settingsWrite": False, "editorQuery": False, "diff": True}


def clean_environment(home: Path, **extra: str) -> dict[str, str]:
    """No key and no setting of the machine's own reaches a server under test."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "OPENBLAS_CORETYPE") if name in os.environ}
    home.mkdir(parents=True, exist_ok=True)
    plain = {"CADDIE_SEARCH_SEMANTIC": "off", "CADDIE_TEST": "1", "TERM": "xterm-256color"}  # as installed by default
    return {**kept, **plain, "HOME": str(home), **extra}


class _Protocol(LanguageClientProtocol):
    """Custom messages stay plain JSON (pygls would structure every nested object)."""

    def structure_message(self, data: Any) -> Any:
        return data

    def handle_message(self, message: Any) -> None:
        super().handle_message(super().structure_message(message) if isinstance(message, dict) else message)


def _converter() -> Any:
    converter = default_converter()
    converter.register_structure_hook(
        JsonRPCRequestMessage, lambda o, t: t(id=o["id"], method=o["method"], jsonrpc="2.0", params=o.get("params"))
    )
    converter.register_structure_hook(
        JsonRPCNotification, lambda o, t: t(method=o["method"], jsonrpc="2.0", params=o.get("params"))
    )
    converter.register_structure_hook(
        JsonRPCResponseMessage, lambda o, t: t(id=o["id"], jsonrpc="2.0", result=o.get("result"))
    )
    return converter


Answer = Callable[[dict[str, Any]], Awaitable[dict[str, Any]] | dict[str, Any]]


class Editor:
    """`said` holds every notification as (method, params); `asked` every question. Answers are set by the test."""

    def __init__(self) -> None:
        self.client = LanguageClient(protocol_cls=_Protocol, converter_factory=_converter)
        self.said: list[tuple[str, dict[str, Any]]] = []
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.on_permission: Answer = lambda params: {"choice": "reject"}
        self.on_question: Answer = lambda params: {"declined": True}
        self._news = asyncio.Condition()
        for method in ("caddie/chat/event", "caddie/hints/show", "caddie/tools/changed", "caddie/mcp/status"):
            self._hear(method)
        self._hear(types.WINDOW_SHOW_MESSAGE)  # these two as lsprotocol's objects
        self._hear(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        self.pages: list[types.ShowDocumentParams] = []

        @self.client.feature(types.WINDOW_SHOW_DOCUMENT)
        def show(params: types.ShowDocumentParams) -> types.ShowDocumentResult:
            self.pages.append(params)
            return types.ShowDocumentResult(success=True)

        self._answer("caddie/permission/ask", lambda params: self.on_permission(params))
        self._answer("caddie/question/ask", lambda params: self.on_question(params))

    def _hear(self, method: str) -> None:
        @self.client.feature(method)
        async def heard(params: Any) -> None:
            await self._note(self.said, method, params)

    def _answer(self, method: str, answer: Answer) -> None:
        @self.client.feature(method)
        async def ask(params: Any) -> dict[str, Any]:
            await self._note(self.asked, method, params)
            given = answer(params)
            return await given if isinstance(given, Awaitable) else given

    async def _note(self, log: list[tuple[str, dict[str, Any]]], method: str, params: Any) -> None:
        log.append((method, params))  # at once: whoever has an answer has what was said before it
        async with self._news:
            self._news.notify_all()

    async def until(self, condition: Callable[[], Any]) -> Any:
        """Wait, bounded, until `condition` holds after some news; returns what it gave."""
        async with asyncio.timeout(BOUND), self._news:
            await self._news.wait_for(condition)
        return condition()

    def events(self, kind: str = "") -> list[dict[str, Any]]:
        found = [params["event"] for method, params in self.said if method == "caddie/chat/event"]
        return [event for event in found if not kind or event["kind"] == kind]

    def calls(self, tool: str = "") -> list[tuple[str, str]]:
        """(tool, status) in order, repeated progress left out."""
        found = [(event["tool"], event["status"]) for event in self.events("toolCall")]
        return list(dict.fromkeys(item for item in found if not tool or item[0] == tool))

    def hints(self, source: str) -> list[str]:
        shown = [params for method, params in self.said if method == "caddie/hints/show"]
        return [hint["tool"] for params in shown if params["source"] == source for hint in params["hints"]]

    async def request(self, method: str, params: dict[str, Any] | None = None, *, msg_id: str | None = None) -> Any:
        async with asyncio.timeout(BOUND):
            return await self.client.protocol.send_request_async(method, params or {}, msg_id=msg_id)

    async def turn(self, message: str, **params: Any) -> Any:
        return await self.request("caddie/chat/turn", {"message": message, **params})

    def cancel(self, msg_id: str) -> None:
        self.client.cancel_request(types.CancelParams(id=msg_id))

    async def server_is(self, name: str, status: str) -> None:
        def holds() -> bool:
            statuses = [p for method, p in self.said if method == "caddie/mcp/status" and p["name"] == name]
            return bool(statuses) and statuses[-1]["status"] == status

        await self.until(holds)


@contextlib.asynccontextmanager
async def editor(
    workspace: Path,
    home: Path,
    *,
    settings: Mapping[str, Any] | None = None,
    env: Mapping[str, str] | None = None,
    capabilities: Mapping[str, bool] | None = None,
    trusted: bool | None = True,
    shows_pages: bool = False,
    folders: Sequence[Path] | None = None,
    prepare: Callable[[Editor], None] = lambda editor: None,
) -> AsyncIterator[Editor]:
    """A started and initialised server with its editor; shut down in order at the end."""
    one = Editor()
    prepare(one)
    options: dict[str, Any] = {"settings": dict(settings or {})}
    if trusted is not None:
        options["workspaceTrusted"] = trusted
    config = ClientServerConfig(
        server_command=[sys.executable, "-m", "caddie", "serve"],
        client_factory=lambda: one.client,
        server_env=clean_environment(home, **(env or {})),
    )
    await config.start()
    try:
        async with asyncio.timeout(BOUND):
            await one.client.initialize_session(
                types.InitializeParams(
                    capabilities=types.ClientCapabilities(
                        experimental={"caddie": dict(ALL if capabilities is None else capabilities)},
                        workspace=types.WorkspaceClientCapabilities(apply_edit=True),
                        window=types.WindowClientCapabilities(
                            show_document=types.ShowDocumentClientCapabilities(support=shows_pages)
                        ),
                    ),
                    root_uri=workspace.as_uri(),
                    workspace_folders=folders and [types.WorkspaceFolder(path.as_uri(), path.name) for path in folders],
                    initialization_options=options,
                )
            )
        yield one
    finally:
        async with asyncio.timeout(BOUND):
            if not one.client.stopped:  # a test may have ended the server itself
                await one.client.shutdown_session()
                await one.client.stop()
