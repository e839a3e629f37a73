"""What do the turns do to files? Each change is written down before or right after it happens.

Edit and Write tell what they do. Round a command or a tool of an MCP server the folders of the workspace are looked at
before and after; all such looks run one after another on one thread, also those of turns that run side by side.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from caddie.chat.events import Notice
from caddie.engine.looks import Looks, Unseen
from caddie.storage.checkpoints import CheckpointStore, Entry, FileChange, Kept, Uncovered
from caddie.storage.checkpoints_content import Contents
from caddie.tools.changes import may_change_files_untold
from caddie.tools.tool import Tool

logger = logging.getLogger(__name__)

MAX_NAMED = 10
T = TypeVar("T")


class ChangeLog:
    """All checkpoints of one workspace. `limit` gives the bytes they may take on disk."""

    def __init__(self, workspace: Path, store: CheckpointStore, limit: Callable[[], int]) -> None:
        self.store = store
        self.workspace = workspace
        self._limit = limit
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="caddie-checkpoints")
        self._unfinished: set[asyncio.Future[None]] = set()
        root, own = (Path(os.path.realpath(folder)) for folder in (workspace, store.folder.parent))
        self._looks = Looks(root, store.contents, limit() // 2, own)
        self._watchers = 0  # this and the rest are touched on the thread alone
        self._told: set[str] = set()

    async def run(self, work: Callable[[], T]) -> T:
        """On the thread, after all that was begun before. What was begun is done, also when nobody waits any more."""
        return await asyncio.shield(asyncio.get_running_loop().run_in_executor(self._thread, work))

    def finish(self, work: Coroutine[None, None, None]) -> asyncio.Future[None]:
        """The end of a watch, which outlives a cancelled turn."""
        task = asyncio.ensure_future(work)
        self._unfinished.add(task)
        task.add_done_callback(self._unfinished.discard)
        return task

    def turn(self, session_id: str, turn_id: str, tell: Callable[[Notice], None]) -> TurnChanges:
        return TurnChanges(self, session_id, turn_id, tell)

    def set_further(self, folders: tuple[Path, ...]) -> None:
        """The folders of the workspace beside the first."""
        self._looks.further = folders

    async def changed_by_others(self, path: Path) -> None:
        """The person saved a file, or an undo wrote it: no command did."""
        await self.run(lambda: self.renew(os.path.realpath(path)))

    def stop(self) -> None:
        """Break off a look at many files; what it was about is not covered."""
        self._looks.stop()

    async def close(self) -> None:
        """Bounded."""
        self.stop()
        await asyncio.gather(*self._unfinished)
        await asyncio.to_thread(self._thread.shutdown)

    def begin(self, *, keep: bool) -> tuple[Unseen, ...]:
        """Before a command. Where its changes cannot be covered. On the thread."""
        self._watchers += 1
        if self._watchers == 1:
            self._told.clear()
            self._looks.begin(keep=keep)
        return self._looks.unseen()

    def end(self, session_id: str, turn_id: str) -> list[Uncovered]:
        """After it: write down what changed; what of that cannot be taken back. On the thread."""
        self.leave()
        entries: list[Entry] = []
        for found in self._looks.differences():
            if isinstance(found, Unseen):
                entries.append(Uncovered(turn_id, "", found.reason, found.folder))
            elif found.path in self._told:
                continue
            elif found.why:
                entries.append(Uncovered(turn_id, found.path, found.why))
            else:
                entries.append(FileChange(turn_id, found.path, found.before, found.after))
        self.write(session_id, entries)
        return [entry for entry in entries if isinstance(entry, Uncovered)]

    def leave(self) -> None:
        """A watch ends without a look. On the thread."""
        self._watchers -= 1

    def told(self, path: str) -> None:
        """Edit or Write of a turn beside it changes this file: the command does not. On the thread."""
        if self._watchers:
            self._told.add(path)

    def write(self, session_id: str, entries: Iterable[Entry]) -> None:
        """On the thread."""
        if entries := list(entries):
            self.store.append(session_id, entries)
        if self.store.contents.added > self._limit() // 10:
            self.store.trim(self._limit())

    def renew(self, path: str) -> None:
        """This file was not changed by the command that runs. On the thread."""
        if self._watchers:
            self._looks.renew(path)


class TurnChanges:
    """What one turn does to files: the executor and the tools tell it."""

    def __init__(self, log: ChangeLog, session_id: str, turn_id: str, tell: Callable[[Notice], None]) -> None:
        self._log = log
        self._session_id = session_id
        self._turn_id = turn_id
        self._tell = tell
        self._said: set[tuple[str, str, str]] = set()

    async def note(self, path: Path, before: bytes | None, after: bytes | None) -> None:
        await self._log.run(lambda: self._note(os.path.realpath(path), before, after))

    def _note(self, path: str, before: bytes | None, after: bytes | None) -> None:
        mode = _mode(path)
        contents = self._log.store.contents
        folder = _outermost_missing(path) if before is None else ""
        change = FileChange(self._turn_id, path, kept(contents, before, mode), kept(contents, after, mode), folder)
        self._log.write(self._session_id, [change])
        self._log.told(path)

    @contextlib.asynccontextmanager
    async def watching(self, tool: Tool) -> AsyncIterator[None]:
        if not may_change_files_untold(tool):
            yield
            return
        begun = asyncio.ensure_future(self._log.run(lambda: self._log.begin(keep=not tool.spec.read_only)))
        try:
            unseen = await asyncio.shield(begun)
            if new := self._say(Uncovered(self._turn_id, "", one.reason, one.folder) for one in unseen):
                await self._keep(new)
        except asyncio.CancelledError:
            self._log.finish(self._log.run(self._log.leave))  # as soon as it has begun
            raise
        try:
            yield
        except asyncio.CancelledError:
            self._log.finish(self._finish(is_over=True))  # the look is taken, but nobody waits for it
            raise
        except BaseException:
            await self._log.finish(self._finish())
            raise
        else:
            await asyncio.shield(self._log.finish(self._finish()))

    async def _keep(self, uncovered: list[Uncovered]) -> None:
        try:
            await self._log.run(lambda: self._log.write(self._session_id, uncovered))
        except OSError:
            logger.exception("what undo does not cover could not be kept")

    async def _finish(self, is_over: bool = False) -> None:
        """A turn that is over is told nothing more; its undo says it."""
        try:
            uncovered = await self._log.run(lambda: self._log.end(self._session_id, self._turn_id))
        except OSError:
            logger.exception("the changes of a command could not be kept")
            uncovered = [Uncovered(self._turn_id, "", "the disk refused to keep them")]
        if not is_over:
            self._say(uncovered)

    def _say(self, uncovered: Iterable[Uncovered]) -> list[Uncovered]:
        """Once a turn. What was new of it."""
        new = [item for item in uncovered if (item.folder, item.path, item.reason) not in self._said]
        self._said.update((item.folder, item.path, item.reason) for item in new)
        if new:
            self._tell(Notice("warning", not_covered(new, self._log.workspace), "not_covered"))
        return new


def not_covered(uncovered: Iterable[Uncovered], workspace: Path) -> str:
    """For the person: the files, else the folders, each folder once."""
    items = list(uncovered)
    named = [f"{shown(item.path, workspace)} ({item.reason})" for item in items if item.path]
    if not named:
        folders = {item.folder or "this workspace": item.reason for item in reversed(items)}
        said = "; ".join(f"in {folder}: {reason}" for folder, reason in reversed(folders.items()))
        return f"Undo does not cover what commands and MCP tools change {said}."
    more = f", and {len(named) - MAX_NAMED:,} more" if len(named) > MAX_NAMED else ""
    return f"Undo does not cover these changes: {', '.join(named[:MAX_NAMED])}{more}."


def shown(path: str, workspace: Path) -> str:
    real = os.path.realpath(workspace)
    return os.path.relpath(path, real) if Path(path).is_relative_to(real) else path


def kept(contents: Contents, data: bytes | None, mode: int) -> Kept | None:
    return None if data is None else Kept(contents.put(data), mode)


def _mode(path: str) -> int:
    """Of the file there; 0 for one that comes to be, whose mode is the system's choice."""
    try:
        return os.stat(path).st_mode
    except OSError:
        return 0


def _outermost_missing(path: str) -> str:
    missing = [str(folder) for folder in Path(path).parents if not folder.exists()]
    return missing[-1] if missing else ""
