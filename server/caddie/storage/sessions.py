"""Conversations on disk: one JSON Lines file each, appended as things happen, replayed on opening.

A damaged line is skipped with a notice and kept in the file; what can be read is never thrown away.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import secrets
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from filelock import FileLock, Timeout

from caddie.chat.session import Record, Session, StateChanged, Titled, TurnStarted, title_of
from caddie.errors import CaddieError, InvalidInput, SessionBusy, SessionNotFound
from caddie.storage.places import Places
from caddie.storage.records import from_line, to_line
from caddie.tools.context import SessionState, TodoItem

VERSION = 1
_HEADER = '{"type": "session"'
_ID = re.compile(r"[0-9A-Za-z-]{4,64}")


@dataclass(frozen=True, slots=True)
class Summary:
    id: str
    title: str
    created: str
    updated: str
    turns: int
    mode: str


class SessionStore:
    """Appends run on one thread, in order; `flush` waits for those made so far."""

    def __init__(self, places: Places) -> None:
        self._folder = places.sessions
        self._workspace = str(places.workspace)
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="caddie-sessions")
        self._last: Future[None] | None = None
        self._problem = ""
        self._unsaved: dict[str, str] = {}  # what the disk refused is written with the next line
        self._sizes: dict[str, int] = {}  # of the files as this process read or wrote them

    def create(self) -> Session:
        now = datetime.now(UTC)
        session_id = f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"
        created = now.isoformat(timespec="seconds")
        header = {
            "type": "session",
            "version": VERSION,
            "id": session_id,
            "created": created,
            "workspace": self._workspace,
        }
        self._write(session_id, json.dumps(header, ensure_ascii=False) + "\n")
        return Session(session_id, created, SessionState(session_id), updated=created)

    def append(self, session_id: str, record: Record) -> None:
        self._write(session_id, to_line(record))

    async def flush(self) -> None:
        """Raises: CaddieError when something could not be written."""
        if self._last is not None:
            await asyncio.shield(asyncio.wrap_future(self._last))  # else giving up would take it out of the queue
        problem, self._problem = self._problem, ""
        if problem:
            raise CaddieError(
                f"The conversation could not be saved ({problem}); mend that, and it is saved with the next message."
            )

    @contextlib.contextmanager
    def claimed(self, session_id: str) -> Iterator[None]:
        """No other process changes this session meanwhile. Raises: SessionBusy, CaddieError where nothing is stored."""
        path = self._path(session_id).with_suffix(".lock")
        lock = FileLock(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            lock.acquire(blocking=False)
        except Timeout:
            raise SessionBusy("This session is in use, perhaps in another window; wait until that has ended.") from None
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise CaddieError(
                f"The conversation cannot be saved ({why}); mend that and send the message again."
            ) from None
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                path.unlink()
            lock.release()

    def is_claimed(self, session_id: str) -> bool:
        """Whether a process, perhaps another one, is at work in it."""
        if not self._path(session_id).with_suffix(".lock").exists():
            return False
        try:
            with self.claimed(session_id):
                return False
        except SessionBusy:
            return True

    async def is_current(self, session_id: str) -> bool:
        """Whether its file is as this process read or wrote it."""
        path = self._path(session_id)
        return await asyncio.wrap_future(self._writer.submit(self._is_as_known, path))

    def _is_as_known(self, path: Path) -> bool:
        """On the writer's thread, after all that was appended. One that somebody deleted goes on where it is open."""
        try:
            return self._sizes.get(path.stem) in (None, path.stat().st_size)
        except OSError:
            return True

    def open(self, session_id: str) -> tuple[Session, list[str]]:
        """The session and notices of what was damaged. Raises: SessionNotFound."""
        path = self._path(session_id)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise SessionNotFound(
                f"There is no stored session {session_id!r} in this workspace; list them first.", id=session_id
            ) from None
        self._sizes[session_id] = len(data)
        return _replay(session_id, data.decode("utf-8", "replace"), _modified(path))

    def list(self) -> list[Summary]:
        """Newest first. Reads only the lines that a summary needs."""
        paths = self._folder.glob("*.jsonl") if self._folder.is_dir() else ()
        summaries = [found for path in paths if (found := _find_summary(path))]
        return sorted(summaries, key=lambda item: (item.updated, item.id), reverse=True)

    def delete(self, session_id: str) -> None:
        """Raises: SessionNotFound."""
        path = self._path(session_id)
        if not path.exists():
            raise SessionNotFound(f"There is no stored session {session_id!r} in this workspace.", id=session_id)
        path.unlink()
        self._sizes.pop(session_id, None)
        self._unsaved.pop(session_id, None)

    def close(self) -> None:
        self._writer.shutdown(wait=True)

    def _path(self, session_id: str) -> Path:
        if not _ID.fullmatch(session_id):
            raise InvalidInput(f"{session_id!r} is not the id of a session.")
        return self._folder / f"{session_id}.jsonl"

    def _write(self, session_id: str, line: str) -> None:
        self._last = self._writer.submit(self._append, self._path(session_id), line)

    def _append(self, path: Path, line: str) -> None:
        text = self._unsaved.pop(path.stem, "") + line
        try:
            before, after = _append(path, text)
        except OSError as error:
            self._unsaved[path.stem] = text
            self._sizes.pop(path.stem, None)
            self._problem = error.strerror or type(error).__name__
            return
        if before in (0, self._sizes.get(path.stem, before)):  # else another process wrote, too
            self._sizes[path.stem] = after


def _append(path: Path, text: str) -> tuple[int, int]:
    """The file's sizes before and after. Nothing of the text is in it when this raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "ab", buffering=0, opener=_private) as file:
        before = file.tell()
        begin = b"\n" if before and not _ends_with_newline(path) else b""  # an earlier process died amid a line
        data = begin + text.encode("utf-8", "replace")
        try:
            while data:
                data = data[file.write(data) :]
        except OSError:
            file.truncate(before)
            raise
        return before, file.tell()


def _private(path: str, flags: int) -> int:
    """Conversations are for their person only."""
    return os.open(path, flags, 0o600)


def _ends_with_newline(path: Path) -> bool:
    with open(path, "rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def _modified(path: Path) -> str:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat(timespec="seconds")


def _replay(session_id: str, text: str, updated: str) -> tuple[Session, list[str]]:
    session = Session(session_id, updated, SessionState(session_id), updated=updated)
    damaged: list[int] = []
    has_beginning = False
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        has_beginning |= line.startswith(_HEADER)
        try:
            _apply_line(session, line)
        except (ValueError, KeyError, TypeError, AttributeError):
            damaged.append(number)
    notices = []
    if damaged:
        lines = ", ".join(map(str, damaged[:10]))
        notices.append(f"{len(damaged)} damaged lines of this session were skipped (line {lines}); the rest is here.")
    if not has_beginning:
        notices.append("The beginning of this session is missing; what is left of it is here.")
    return session, notices


def _apply_line(session: Session, line: str) -> None:
    if line.startswith(_HEADER):
        session.created = str(json.loads(line)["created"])
    elif (record := from_line(line)) is not None:
        session.apply(record)
        if isinstance(record, StateChanged):
            session.state.mode = "plan" if record.mode == "plan" else "agent"
            session.state.todo = tuple(TodoItem(**item) for item in record.todo)


def _find_summary(path: Path) -> Summary | None:
    """None when another window deleted it at this moment, or it cannot be read."""
    try:
        return _summary(path)
    except OSError:
        return None


def _summary(path: Path) -> Summary:
    """Scans lines by their beginning; long message lines are not parsed."""
    title, created, turns, mode = "", "", 0, "agent"
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            try:
                if line.startswith('{"type":"turn"'):
                    turns += 1
                    title = title or title_of(_record(line, TurnStarted).text)
                elif line.startswith('{"type":"title"'):
                    title = _record(line, Titled).title
                elif line.startswith('{"type":"state"'):
                    mode = _record(line, StateChanged).mode
                elif line.startswith(_HEADER):
                    created = str(json.loads(line)["created"])
            except (ValueError, KeyError, TypeError, AttributeError):
                continue
    updated = _modified(path)
    return Summary(path.stem, title, created or updated, updated, turns, mode)


R = TypeVar("R")


def _record(line: str, kind: type[R]) -> R:
    record = from_line(line)
    if not isinstance(record, kind):
        raise TypeError(kind)
    return record
