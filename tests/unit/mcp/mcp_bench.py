"""A manager with a record of what it told, and fixture servers by file name."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

from caddie.mcp.manager import ConfiguredServer, McpManager
from caddie.settings import McpServer, Settings
from caddie.storage.manifests import ManifestFiles
from caddie.storage.places import Places
from caddie.storage.tokens import TokenFiles
from caddie.tools.context import NoEditor, QuestionRequest, SessionState, ToolContext
from caddie.tools.servers import ServerStatus
from caddie.tools.tool import Tool, ToolResult

SERVERS = Path(__file__).parents[2] / "fixtures" / "mcp_servers"
PATIENCE = 60.0


def fixture_server(script: str, *args: object, **more: Any) -> ConfiguredServer:
    words = [str(SERVERS / script), *map(str, args)]
    return ConfiguredServer(McpServer(command=sys.executable, args=tuple(words), **more), "test")


class Bench:
    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace
        self.tools: dict[str, Sequence[Tool]] = {}
        self.told: list[tuple[str, int]] = []
        self.statuses: list[ServerStatus] = []
        self.progress: list[str] = []
        self.questions: list[QuestionRequest] = []
        self.answers: dict[str, str] | None = None
        self._news = asyncio.Event()
        self.prompts_changed = 0
        self.further: tuple[Path, ...] = ()
        places = Places(workspace, workspace / "data", workspace)
        self.manager = McpManager(
            workspace,
            on_tools=self._on_tools,
            on_status=self._on_status,
            on_prompts=self._on_prompts,
            ask_question=self._ask,
            vault=TokenFiles(places),
            manifests=ManifestFiles(places),
            further=lambda: self.further,
        )

    async def connect(self, **servers: ConfiguredServer) -> None:
        await self.manager.configure(servers)
        assert await self.manager.settled(None, PATIENCE) == ()

    def status(self, name: str) -> ServerStatus:
        return next(status for status in self.manager.statuses() if status.name == name)

    def names(self, server: str) -> list[str]:
        return [tool.spec.original_name for tool in self.tools[server]]

    async def call(self, server: str, name: str, **arguments: Any) -> ToolResult:
        tool = next(tool for tool in self.tools[server] if tool.spec.original_name == name)
        async with asyncio.timeout(PATIENCE):
            return await tool.run(arguments, self.context())

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait for something that the manager will tell."""
        async with asyncio.timeout(PATIENCE):
            while not is_so():
                await self._news.wait()
                self._news.clear()

    def context(self) -> ToolContext:
        nobody = cast(Any, None)
        return ToolContext(
            workspace=self.workspace,
            settings=Settings(),
            session=SessionState("s1"),
            person=nobody,
            editor=NoEditor(),
            progress=self.progress.append,
            spill=nobody,
            resources=self.manager,
            inspector=nobody,
        )

    def _on_tools(self, server: str, tools: Sequence[Tool]) -> None:
        self.tools[server] = tools
        self.told.append((server, len(tools)))
        self._news.set()

    def _on_status(self, status: ServerStatus) -> None:
        self.statuses.append(status)
        self._news.set()

    def _on_prompts(self) -> None:
        self.prompts_changed += 1
        self._news.set()

    async def _ask(self, request: QuestionRequest) -> dict[str, str] | None:
        self.questions.append(request)
        return self.answers


async def until_true(is_so: Callable[[], bool]) -> None:
    """For what only the system knows: a file written by, or the death of, another process."""
    async with asyncio.timeout(PATIENCE):
        while not is_so():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
