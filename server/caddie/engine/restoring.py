"""How does a file, or the open buffer of one, get another content without loss? What was there is kept first."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from caddie.engine.changes import ChangeLog, shown
from caddie.engine.taking_back import CannotTakeBack, NothingToTakeBack, content_before
from caddie.errors import CaddieError
from caddie.storage.checkpoints import FileChange, Kept
from caddie.tools.builtin.text_files import NotText, decode, write_atomic
from caddie.tools.context import Editor

Outcome = Literal["restored", "merged", "partly", "kept", "conflict"]


@dataclass(frozen=True, slots=True)
class FileUndone:
    """`restored`: as before the turn. `merged`: others' edits stayed. `partly`: the hunks that were meant.
    `kept`: nothing was to be taken back. `conflict`: left as it is. `detail` is a clause for the person."""

    path: str
    outcome: Outcome
    detail: str = ""

    @property
    def is_done(self) -> bool:
        return self.outcome in ("restored", "merged", "partly")


@dataclass(frozen=True, slots=True)
class There:
    """What is at a path; without data, nothing."""

    data: bytes | None
    mode: int = 0
    is_link: bool = False
    folder: str = ""  # was not there either


Step = tuple[There, There]


@dataclass(frozen=True, slots=True)
class Wanted:
    """`is_exact`: there is nothing else in it than what was there before. `detail` is set where only a part is taken
    back, and says how much."""

    there: There
    is_exact: bool
    detail: str = ""

    @property
    def outcome(self) -> Outcome:
        if self.detail:
            return "partly"
        return "restored" if self.is_exact else "merged"


Decide = Callable[[There], Wanted]
"""From what is there now to what shall be. Raises: CannotTakeBack."""


class Restorer:
    def __init__(self, log: ChangeLog, editor: Editor) -> None:
        self._log = log
        self._editor = editor

    def steps(self, changes: Sequence[FileChange]) -> list[Step]:
        """The contents of one file's changes. On the log's thread. Raises: CannotTakeBack, OSError."""
        return [self._step(change) for change in changes]

    def open_text(self, path: str) -> str | None:
        return self._editor.read_open_file(Path(path))

    async def restore(self, session_id: str, undo_id: str, path: str, decide: Decide) -> FileUndone:
        """Nothing here raises but a defect: what cannot be done is an outcome."""
        name = shown(path, self._log.workspace)
        try:
            return replace(await self._restore(session_id, undo_id, path, decide), path=name)
        except NothingToTakeBack as reason:
            return FileUndone(name, "kept", str(reason))
        except CannotTakeBack as reason:
            return FileUndone(name, "conflict", str(reason))
        except OSError as error:
            return FileUndone(name, "conflict", f"cannot be written ({(error.strerror or 'refused').lower()})")

    async def _restore(self, session_id: str, undo_id: str, path: str, decide: Decide) -> FileUndone:
        if leads_elsewhere(path):
            raise CannotTakeBack("now leads elsewhere, by a link that was made since")
        if (text := self.open_text(path)) is not None:
            try:
                return await self._in_buffer(session_id, undo_id, path, decide, text.encode("utf-8", "replace"))
            except NothingToTakeBack:
                pass  # a command changed the file, and the editor did not follow
        return await self._log.run(lambda: self._on_disk(session_id, undo_id, path, decide))

    def _step(self, change: FileChange) -> Step:
        before = self._content(change.before) if change.before else There(None, folder=change.folder)
        return before, self._content(change.after)

    def _content(self, kept: Kept | None) -> There:
        if kept is None:
            return There(None)
        data = self._log.store.contents.get(kept.digest)
        if data is None:
            raise CannotTakeBack("was changed too long ago: its old content is not kept any more")
        return There(data, kept.mode, stat.S_ISLNK(kept.mode))

    async def _in_buffer(self, session_id: str, undo_id: str, path: str, decide: Decide, now: bytes) -> FileUndone:
        """As one undo step of the editor; what the file on disk has is the editor's business."""
        wanted = await self._log.run(lambda: decide(There(now)))
        if wanted.there.data is None:
            disk = await self._log.run(lambda: present(path))
            if disk.data is not None and not (await self._log.run(lambda: decide(disk))).is_exact:
                raise CannotTakeBack("was created by it and changed since")
            return await self._log.run(lambda: self._on_disk(session_id, undo_id, path, decide))
        try:
            text, _ = decode(wanted.there.data)
        except NotText:
            raise CannotTakeBack("was no text before, and is open in the editor") from None
        await self._log.run(lambda: self._write_down(session_id, undo_id, path, There(now), wanted.there))
        try:
            is_done = await self._editor.replace_open_file(Path(path), text)
        except CaddieError as error:
            raise CannotTakeBack(f"is open in the editor: {error.message.rstrip('.')}") from None
        if not is_done:
            raise CannotTakeBack("was closed in the editor at this very moment; undo again")
        detail = ", ".join(filter(None, [wanted.detail, "in the editor, not saved yet"]))
        return FileUndone(path, wanted.outcome, detail)

    def _on_disk(self, session_id: str, undo_id: str, path: str, decide: Decide) -> FileUndone:
        now = present(path)
        wanted = decide(now)
        self._write_down(session_id, undo_id, path, now, wanted.there)
        if present(path) != now:
            raise CannotTakeBack("is being changed at this very moment; undo again")
        _put(path, wanted.there, now)
        self._log.renew(path)
        if wanted.there.data is None:
            return FileUndone(path, "restored", "deleted, as it was not there before")
        detail = wanted.detail or ("" if now.data is not None else "there again")
        return FileUndone(path, wanted.outcome, detail)

    def _write_down(self, session_id: str, undo_id: str, path: str, now: There, result: There) -> None:
        sides = [self.keep(side) for side in (now, result)]
        self._log.write(session_id, [FileChange(undo_id, path, sides[0], sides[1])])

    def keep(self, there: There) -> Kept | None:
        """On the log's thread."""
        return None if there.data is None else Kept(self._log.store.contents.put(there.data), there.mode)


def before(steps: Sequence[Step], now: There) -> Wanted:
    """Without these changes; the last is taken back first. Raises: CannotTakeBack."""
    is_exact = now.data == steps[-1][1].data
    for step in reversed(steps):
        now = step_back(step, now)
    return Wanted(now, is_exact)


def step_back(step: Step, now: There) -> There:
    """Raises: CannotTakeBack."""
    before, after = step
    if before.is_link or after.is_link or now.is_link:
        if now.data != after.data or (now.data is not None and now.is_link != after.is_link):
            raise CannotTakeBack("is a symbolic link, or was one, and was changed since")
        return before
    if now.data == after.data == before.data and now.data is not None:
        return _with_mode_before(before, after, now)
    data = content_before(before.data, after.data, now.data)
    if data is None:
        return before
    mode = before.mode if now.data is None else now.mode
    return _with_mode_before(before, after, There(data, mode))


def _with_mode_before(before: There, after: There, now: There) -> There:
    """A change of the mode alone is one too, unless somebody changed it once more."""
    if before.mode and after.mode and before.mode != after.mode and now.mode == after.mode:
        return replace(now, mode=before.mode)
    return now


def present(path: str) -> There:
    """Raises: CannotTakeBack, OSError."""
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return There(None)
    if stat.S_ISLNK(status.st_mode):
        return There(os.fsencode(os.readlink(path)), status.st_mode, is_link=True)
    if not stat.S_ISREG(status.st_mode):
        raise CannotTakeBack("is no file any more")
    return There(Path(path).read_bytes(), status.st_mode)


def _put(path: str, wanted: There, now: There) -> None:
    """Raises: OSError."""
    target = Path(path)
    if wanted.data is None:
        target.unlink()
        _remove_empty(target.parent, wanted.folder)
        return
    if wanted.is_link or now.is_link:
        target.unlink(missing_ok=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    if wanted.is_link:
        os.symlink(os.fsdecode(wanted.data), target)
        return
    if wanted.data != now.data:
        write_atomic(target, wanted.data)
    if wanted.mode and stat.S_IMODE(wanted.mode) != stat.S_IMODE(target.stat().st_mode):
        os.chmod(target, stat.S_IMODE(wanted.mode))


def _remove_empty(folder: Path, outermost: str) -> None:
    """The folders that were made for a file go with it, unless others put something into them."""
    with contextlib.suppress(OSError):
        while outermost and folder.is_relative_to(outermost):
            folder.rmdir()
            folder = folder.parent


def leads_elsewhere(path: str) -> bool:
    """Real paths are kept, so a folder on the way that is a link now was none when the file was changed."""
    folder = os.path.dirname(path)
    return os.path.realpath(folder) != folder
