"""An engine in process, behind a door that a test answers for. Real tools, real storage, real servers."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

from caddie.chat.events import Notice, TurnEvent
from caddie.chat.provider import Provider
from caddie.engine.door import QuietDoor
from caddie.engine.engine import Engine
from caddie.engine.models import Models
from caddie.errors import ClientCannotAsk
from caddie.layers import Layer
from caddie.providers import Choice
from caddie.providers.scripted import Scripted
from caddie.search.prefetch import ToolHint
from caddie.settings import Settings
from caddie.storage.places import Places
from caddie.tools.call import CallUpdate
from caddie.tools.context import Editor, PermissionAnswer, PermissionRequest, QuestionRequest, ToolContext
from caddie.tools.tool import Tool, ToolResult, ToolSpec, text_result

BOUND = 60.0


class Sitter:
    """The person of a test: `choice` is what they press, or a function of the request."""

    def __init__(self) -> None:
        self.asked: list[PermissionRequest] = []
        self.choice: str | Callable[[PermissionRequest], str] = "reject"
        self.feedback = ""
        self.thinking: asyncio.Event | None = None
        self.answers: dict[str, str] | None = None
        self.questions: list[QuestionRequest] = []
        self.is_asked = asyncio.Event()
        self.is_questioned = asyncio.Event()

    async def ask_permission(self, request: PermissionRequest) -> PermissionAnswer:
        self.asked.append(request)
        self.is_asked.set()
        if self.thinking is not None:
            await self.thinking.wait()
        choice = self.choice if isinstance(self.choice, str) else self.choice(request)
        return PermissionAnswer(choice, self.feedback)

    async def ask_question(self, request: QuestionRequest) -> dict[str, str] | None:
        self.questions.append(request)
        self.is_questioned.set()
        return self.answers


class Desk:
    """An engine, its person, and everything the turns told. `provider` is the scripted one unless another was given."""

    def __init__(self, engine: Engine, person: Sitter, provider: Any, door: _Door) -> None:
        self.engine = engine
        self.person = person
        self.provider = provider
        self.hints, self.hinted = door.hints, door.hinted
        self.events: list[TurnEvent] = []

    async def turn(self, text: str, session_id: str | None = None, **options: Any) -> tuple[str, str]:
        """(session id, final text) of a turn."""
        async with asyncio.timeout(BOUND):
            session, _, outcome = await self.engine.turns.run(
                session_id, text, lambda _s, _t, event: self.events.append(event), **options
            )
        return session.id, outcome.text

    async def execute(self, tool: str, params: Mapping[str, Any], session_id: str = "") -> ToolResult:
        async with asyncio.timeout(BOUND):
            return await self.engine.execute(tool, params, self.events.append, session_id=session_id)

    async def bridge(self, tool: str, params: object, session_id: str = "") -> ToolResult:
        return await self.execute("ExecuteTool", {"tool_name": tool, "params": params}, session_id)

    @property
    def calls(self) -> list[CallUpdate]:
        return [event for event in self.events if isinstance(event, CallUpdate)]

    @property
    def notices(self) -> list[Notice]:
        return [event for event in self.events if isinstance(event, Notice)]


class _Chosen(Models):
    """`settings.model` switches the model as it does for a person."""

    def __init__(self, provider: Provider) -> None:
        super().__init__({})
        self.provider = provider

    async def choose(self, settings: Settings) -> Choice:
        self._choice = Choice(self.provider, settings.model or self.provider.default_model, "the test says so")
        return self._choice


class _Door(QuietDoor):
    def __init__(self, person: Sitter, trusted: bool | None) -> None:
        super().__init__(person, workspace_trusted=trusted)
        self.hints: list[tuple[ToolHint, ...]] = []
        self.hinted = asyncio.Event()

    def show_hints(self, hints: tuple[ToolHint, ...], **where: str) -> None:
        self.hints.append(hints)
        self.hinted.set()


def places(tmp_path: Path, workspace: Path) -> Places:
    return Places(tmp_path / "config", tmp_path / "data", workspace)


@contextlib.asynccontextmanager
async def desk(
    workspace: Path,
    *,
    answers: tuple[Any, ...] = (),
    settings: Mapping[str, Any] | None = None,
    tools: Mapping[str, tuple[Tool, ...]] | None = None,
    environ: Mapping[str, str] | None = None,
    trusted: bool | None = True,
    can_ask: bool = True,
    provider: Provider | None = None,
    editor: Editor | None = None,
) -> AsyncIterator[Desk]:
    """`tools` stand for what MCP servers would publish, by server."""
    person, provider = Sitter(), provider or Scripted(*answers)
    door = _Door(person, trusted)
    door.editor = editor or door.editor
    if not can_ask:
        person.ask_permission = _cannot_ask  # type: ignore[method-assign]
    engine = Engine(
        workspace,
        door,
        environ={"CADDIE_SEARCH_SEMANTIC": "off", **(environ or {})},  # as installed by default
        places=places(workspace.parent, workspace),
        editor_layers=[Layer("editorUser", dict(settings or {}))],
        models=_Chosen(provider),
    )
    for server, published in (tools or {}).items():
        engine.catalogue.replace_source(server, published)
    try:
        await engine.start()
        yield Desk(engine, person, provider, door)
    finally:
        async with asyncio.timeout(BOUND):
            await engine.close()


@contextlib.asynccontextmanager
async def over_http(
    workspace: Path, provider: str, base_url: str, *, published: Mapping[str, tuple[Tool, ...]], **settings: Any
) -> AsyncIterator[Engine]:
    """An engine that speaks to a real HTTP server, for looking at the bodies of its requests."""
    tree = {"provider": provider, "model": "m", "baseUrl": base_url, **settings}
    engine = Engine(
        workspace,
        QuietDoor(),
        environ={f"{name}_API_KEY": "k" for name in ("ANTHROPIC", "OPENAI", "GEMINI", "XAI")},
        places=places(workspace.parent, workspace),
        editor_layers=[Layer("editorUser", tree)],
    )
    for server, tools in published.items():
        engine.catalogue.replace_source(server, tools)
    try:
        await engine.start(warm=False)
        yield engine
    finally:
        async with asyncio.timeout(BOUND):
            await engine.close()


async def _cannot_ask(request: PermissionRequest) -> PermissionAnswer:
    raise ClientCannotAsk("this client cannot ask.")


def mcp_tool(
    server: str,
    name: str,
    description: str = "",
    schema: Mapping[str, Any] | None = None,
    run: Callable[[dict[str, Any], ToolContext], Any] | None = None,
    **spec: Any,
) -> Tool:
    """A tool as a connected server publishes it; by default it answers with its own name and arguments."""

    async def say_it(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        return text_result(f"{name} ran with {arguments}")

    return Tool(
        ToolSpec(
            name=f"mcp__{server}__{name}",
            description=description or f"The tool {name}",
            input_schema=schema or {"type": "object", "properties": {}},
            original_name=name,
            server=server,
            **spec,
        ),
        run or say_it,
    )
