"""What does a turn do to files? Told here as it happens, so that the turn can be taken back."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import Protocol

from caddie.tools.tool import Tool


class Changes(Protocol):
    async def note(self, path: Path, before: bytes | None, after: bytes | None) -> None:
        """A tool is about to put `after` in the place of `before`; None is no file. Told before it happens, so that
        no change is without its record."""
        ...

    def watching(self, tool: Tool) -> AbstractAsyncContextManager[None]:
        """Round the run of a tool that may change files without telling: a command, a tool of an MCP server."""
        ...


class NoChanges:
    """For calls outside of a turn: nothing is kept."""

    async def note(self, path: Path, before: bytes | None, after: bytes | None) -> None:
        return None

    def watching(self, tool: Tool) -> AbstractAsyncContextManager[None]:
        return nullcontext()


def may_change_files_untold(tool: Tool) -> bool:
    """Edit and Write tell themselves; what a stranger's tool says of itself is not relied upon."""
    if tool.spec.server:
        return True
    return tool.spec.destructive and not (tool.spec.read_only or tool.session_only or tool.edits_files)
