"""A real workspace, and doors that a test can script."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import pytest

from caddie.errors import CaddieError, ClientCannotAsk, ServerFailed
from caddie.settings import Settings
from caddie.tools.context import (
    McpResource,
    PermissionAnswer,
    PermissionRequest,
    Problem,
    QuestionRequest,
    SessionState,
    ToolContext,
)
from caddie.tools.tool import Preview, Tool, ToolResult


@dataclass
class ScriptedPerson:
    """`answers` None declines; `can_ask` False is a door without prompts."""

    answers: Mapping[str, str] | None = None
    permission: PermissionAnswer = field(default_factory=lambda: PermissionAnswer("reject"))
    can_ask: bool = True
    asked: list[QuestionRequest] = field(default_factory=list)
    permissions_asked: list[PermissionRequest] = field(default_factory=list)

    async def ask_permission(self, request: PermissionRequest) -> PermissionAnswer:
        self._require()
        self.permissions_asked.append(request)
        return self.permission

    async def ask_question(self, request: QuestionRequest) -> Mapping[str, str] | None:
        self._require()
        self.asked.append(request)
        return self.answers

    def _require(self) -> None:
        if not self.can_ask:
            raise ClientCannotAsk("This client cannot ask.")


@dataclass
class BufferEditor:
    """Open buffers in memory."""

    buffers: dict[Path, str] = field(default_factory=dict)
    reports: Callable[[str], list[Problem]] | None = None

    async def problems(self, path: Path, settle: float) -> list[Problem] | None:
        return self.reports(self.buffers[path]) if self.reports else None

    def read_open_file(self, path: Path) -> str | None:
        return self.buffers.get(path)

    async def replace_open_file(self, path: Path, text: str) -> bool:
        if path not in self.buffers:
            return False
        self.buffers[path] = text
        return True


@dataclass
class FixedResources:
    resources: Sequence[McpResource] = ()
    texts: Mapping[str, str] = field(default_factory=dict)

    async def list_resources(self, server: str | None = None) -> Sequence[McpResource]:
        return [resource for resource in self.resources if server in (None, resource.server)]

    async def read_resource(self, server: str, uri: str) -> str:
        if uri not in self.texts:
            raise ServerFailed(f"The server {server!r} has no resource {uri!r}.")
        return self.texts[uri]


@dataclass
class RecordingInspector:
    written: list[tuple[str, Any, str]] = field(default_factory=list)

    def describe_context(self, session_id: str) -> str:
        return f"context of {session_id}"

    async def write_setting(self, key: str, value: Any, scope: Literal["user", "workspace"]) -> str:
        self.written.append((key, value, scope))
        return f"{key} is set."


@dataclass
class World:
    """One workspace and everything a tool may ask, with the tools run as the executor runs them."""

    context: ToolContext
    person: ScriptedPerson
    editor: BufferEditor
    resources: FixedResources
    inspector: RecordingInspector
    progress: list[str]

    @property
    def workspace(self) -> Path:
        return self.context.workspace

    def with_settings(self, settings: Settings) -> World:
        return replace(self, context=replace(self.context, settings=settings))

    async def run(self, tool: Tool, **arguments: Any) -> ToolResult:
        return await tool.run(arguments, self.context)

    async def text(self, tool: Tool, **arguments: Any) -> str:
        result = await self.run(tool, **arguments)
        assert not result.is_error, result.text
        return result.text

    async def failure(self, tool: Tool, **arguments: Any) -> str:
        with pytest.raises(CaddieError) as caught:
            await self.run(tool, **arguments)
        return caught.value.message

    async def preview(self, tool: Tool, **arguments: Any) -> Preview | None:
        assert tool.preview is not None
        return await tool.preview(arguments, self.context)

    @staticmethod
    async def until(is_true: Callable[[], object]) -> None:
        """For what other processes do, of which no event tells."""
        async with asyncio.timeout(60):
            while not is_true():  # noqa: ASYNC110
                await asyncio.sleep(0.01)

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path


MakeWorld = Callable[[Path], World]


@pytest.fixture(scope="session")
def make_world() -> MakeWorld:
    def make(root: Path) -> World:
        workspace, spilled = root / "workspace", root / "spilled"
        workspace.mkdir()
        spilled.mkdir()
        person, editor, resources, inspector = ScriptedPerson(), BufferEditor(), FixedResources(), RecordingInspector()
        progress: list[str] = []

        def spill(text: str) -> Path:
            path = spilled / f"{len(list(spilled.iterdir()))}.txt"
            path.write_text(text, encoding="utf-8", newline="")
            return path

        context = ToolContext(
            workspace=workspace,
            settings=Settings(),
            session=SessionState("s1"),
            person=person,
            editor=editor,
            progress=progress.append,
            spill=spill,
            resources=resources,
            inspector=inspector,
        )
        return World(context, person, editor, resources, inspector, progress)

    return make


@pytest.fixture
def world(tmp_path: Path, make_world: MakeWorld) -> World:
    return make_world(tmp_path)
