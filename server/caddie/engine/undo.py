"""Taking back what a turn did to files, and nothing that anybody else did.

Each file is merged by itself. Where that clashes it is left as it is, and said. An undo is a checkpoint too: undoing it
brings the changes back.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args
from uuid import uuid4

from caddie.chat import prompt
from caddie.chat.messages import Text
from caddie.engine.changes import ChangeLog, not_covered, shown
from caddie.engine.taking_back import CannotTakeBack, NothingToTakeBack, content_before
from caddie.errors import CaddieError, NothingToUndo
from caddie.storage.checkpoints import FileChange, Journal, Kept, Undone
from caddie.tools.builtin.text_files import NotText, decode, write_atomic
from caddie.tools.context import Editor

Outcome = Literal["restored", "merged", "kept", "conflict"]
NAMED = 10
NAMED_TO_MODEL = 50


@dataclass(frozen=True, slots=True)
class FileUndone:
    """`restored`: as before the turn. `merged`: others' edits stayed. `kept`: nothing was to be taken back.
    `conflict`: left as it is. `detail` is a clause for the person."""

    path: str
    outcome: Outcome
    detail: str = ""


@dataclass(frozen=True, slots=True)
class UndoReport:
    """`undo_id` undoes the undo; empty when no file was changed by it."""

    turn_id: str
    undo_id: str
    files: tuple[FileUndone, ...]
    not_covered: str

    @property
    def words(self) -> str:
        """All of it for the person."""
        by_outcome = {outcome: [f for f in self.files if f.outcome == outcome] for outcome in get_args(Outcome)}
        said = [
            ("Restored: ", _named([file.path for file in by_outcome["restored"]], NAMED)),
            (
                "Taken back beside other edits, which stay: ",
                _named([file.path for file in by_outcome["merged"]], NAMED),
            ),
            ("Left as it is: ", _named([f"{file.path} {file.detail}" for file in by_outcome["conflict"]], NAMED)),
            ("Nothing to take back: ", _named([f"{file.path} {file.detail}" for file in by_outcome["kept"]], NAMED)),
        ]
        sentences = [f"{begin}{names}." for begin, names in said if names]
        return " ".join(filter(None, [*sentences, self.not_covered]))


@dataclass(frozen=True, slots=True)
class _There:
    """What is at a path; without data, nothing."""

    data: bytes | None
    mode: int = 0
    is_link: bool = False
    folder: str = ""  # was not there either


class Undo:
    def __init__(self, log: ChangeLog, editor: Editor) -> None:
        self._log = log
        self._editor = editor

    async def undo(self, session_id: str, checkpoint: str = "") -> UndoReport:
        """Take back a turn, or an undo of one; without `checkpoint` the newest turn whose changes are in force.

        Raises: NothingToUndo, OSError.
        """
        journal = await self._log.run(lambda: self._log.store.read(session_id))
        checkpoint = checkpoint or journal.newest()
        changes = journal.changes(checkpoint)
        if not changes:
            raise NothingToUndo(_nothing(journal, checkpoint))
        undo_id = uuid4().hex[:12]
        files = [await self._undo_file(session_id, undo_id, path, steps) for path, steps in _by_path(changes)]
        is_done = any(file.outcome in ("restored", "merged") for file in files)
        if is_done:
            await self._log.run(lambda: self._log.write(session_id, [Undone(undo_id, checkpoint)]))
        left = [item for item in journal.uncovered(checkpoint) if item.path] or list(journal.uncovered(checkpoint))
        words = not_covered(left, self._log.workspace) if left else ""
        return UndoReport(checkpoint, undo_id if is_done else "", tuple(files), words)

    async def news(self, session_id: str) -> tuple[Text, ...]:
        """What the model must be told of undos since it was last told; said once."""
        journal = await asyncio.to_thread(self._log.store.read, session_id)  # a turn waits for no look at files
        untold = journal.untold
        if not untold:
            return ()
        paths = dict.fromkeys(change.path for undo in untold for change in journal.changes(undo.checkpoint))
        told = [replace(undo, told=True) for undo in untold]
        await self._log.run(lambda: self._log.write(session_id, told))
        names = _named([repr(shown(path, self._log.workspace)) for path in paths], NAMED_TO_MODEL)
        return (Text(prompt.block("undone", f"The person took back earlier changes of yours to files: {names}")),)

    async def changed_files(self, session_id: str, turn_id: str) -> list[str]:
        journal = await self._log.run(lambda: self._log.store.read(session_id))
        return sorted({shown(change.path, self._log.workspace) for change in journal.changes(turn_id)})

    async def _undo_file(self, session_id: str, undo_id: str, path: str, steps: Sequence[FileChange]) -> FileUndone:
        name = shown(path, self._log.workspace)
        try:
            file = await self._merge_file(session_id, undo_id, path, steps)
        except NothingToTakeBack as reason:
            return FileUndone(name, "kept", str(reason))
        except CannotTakeBack as reason:
            return FileUndone(name, "conflict", str(reason))
        except OSError as error:
            return FileUndone(name, "conflict", f"cannot be written ({(error.strerror or 'refused').lower()})")
        return replace(file, path=name)

    async def _merge_file(self, session_id: str, undo_id: str, path: str, steps: Sequence[FileChange]) -> FileUndone:
        if _leads_elsewhere(path):
            raise CannotTakeBack("now leads elsewhere, by a link that was made since")
        pairs = await self._log.run(lambda: [self._pair(step) for step in steps])
        if (text := self._editor.read_open_file(Path(path))) is not None:
            try:
                return await self._undo_buffer(session_id, undo_id, path, pairs, text.encode("utf-8", "replace"))
            except NothingToTakeBack:
                pass  # a command changed the file, and the editor did not follow
        return await self._log.run(lambda: self._undo_on_disk(session_id, undo_id, path, pairs))

    def _pair(self, change: FileChange) -> tuple[_There, _There]:
        before = self._content(change.before) if change.before else _There(None, folder=change.folder)
        return before, self._content(change.after)

    def _content(self, kept: Kept | None) -> _There:
        if kept is None:
            return _There(None)
        data = self._log.store.contents.get(kept.digest)
        if data is None:
            raise CannotTakeBack("was changed too long ago: its old content is not kept any more")
        return _There(data, kept.mode, stat.S_ISLNK(kept.mode))

    async def _undo_buffer(
        self, session_id: str, undo_id: str, path: str, pairs: Sequence[tuple[_There, _There]], now: bytes
    ) -> FileUndone:
        """As one undo step of the editor; what the file on disk has is the editor's business."""
        result = _before(pairs, _There(now))
        if result.data is None:
            disk = await self._log.run(lambda: _present(path))
            if disk.data is not None and disk.data != pairs[-1][1].data:
                raise CannotTakeBack("was created by it and changed since")
            return await self._log.run(lambda: self._undo_on_disk(session_id, undo_id, path, pairs))
        try:
            text, _ = decode(result.data)
        except NotText:
            raise CannotTakeBack("was no text before, and is open in the editor") from None
        await self._log.run(lambda: self._write_down(session_id, undo_id, path, _There(now), result))
        try:
            is_done = await self._editor.replace_open_file(Path(path), text)
        except CaddieError as error:
            raise CannotTakeBack(f"is open in the editor: {error.message.rstrip('.')}") from None
        if not is_done:
            raise CannotTakeBack("was closed in the editor at this very moment; undo again")
        is_exact = now == pairs[-1][1].data
        return FileUndone(path, "restored" if is_exact else "merged", "in the editor, not saved yet")

    def _undo_on_disk(
        self, session_id: str, undo_id: str, path: str, pairs: Sequence[tuple[_There, _There]]
    ) -> FileUndone:
        now = _present(path)
        result = _before(pairs, now)
        self._write_down(session_id, undo_id, path, now, result)
        if _present(path) != now:
            raise CannotTakeBack("is being changed at this very moment; undo again")
        _put(path, result, now)
        self._log.renew(path)
        if result.data is None:
            return FileUndone(path, "restored", "deleted, as it was not there before")
        detail = "" if now.data is not None else "there again"
        return FileUndone(path, "restored" if now.data == pairs[-1][1].data else "merged", detail)

    def _write_down(self, session_id: str, undo_id: str, path: str, now: _There, result: _There) -> None:
        sides = [
            None if side.data is None else Kept(self._log.store.contents.put(side.data), side.mode)
            for side in (now, result)
        ]
        self._log.write(session_id, [FileChange(undo_id, path, sides[0], sides[1])])


def _by_path(changes: Sequence[FileChange]) -> list[tuple[str, list[FileChange]]]:
    """Each file's changes in order; those that follow on one another are one."""
    found: dict[str, list[FileChange]] = {}
    for change in changes:
        steps = found.setdefault(change.path, [])
        if steps and _same(steps[-1].after, change.before):
            steps[-1] = replace(steps[-1], after=change.after)
        else:
            steps.append(change)
    return list(found.items())


def _same(one: Kept | None, other: Kept | None) -> bool:
    return (one and one.digest) == (other and other.digest)


def _before(pairs: Sequence[tuple[_There, _There]], now: _There) -> _There:
    """The last change is taken back first. Raises: CannotTakeBack."""
    for before, after in reversed(pairs):
        if before.is_link or after.is_link or now.is_link:
            if now.data != after.data or (now.data is not None and now.is_link != after.is_link):
                raise CannotTakeBack("is a symbolic link, or was one, and was changed since")
            now = before
            continue
        if now.data == after.data == before.data and now.data is not None:
            now = _with_mode_before(before, after, now)
            continue
        data = content_before(before.data, after.data, now.data)
        if data is None:
            now = before
            continue
        mode = before.mode if now.data is None else now.mode
        now = _with_mode_before(before, after, _There(data, mode))
    return now


def _with_mode_before(before: _There, after: _There, now: _There) -> _There:
    """A change of the mode alone is one too, unless somebody changed it once more."""
    if before.mode and after.mode and before.mode != after.mode and now.mode == after.mode:
        return replace(now, mode=before.mode)
    return now


def _present(path: str) -> _There:
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return _There(None)
    if stat.S_ISLNK(status.st_mode):
        return _There(os.fsencode(os.readlink(path)), status.st_mode, is_link=True)
    if not stat.S_ISREG(status.st_mode):
        raise CannotTakeBack("is no file any more")
    return _There(Path(path).read_bytes(), status.st_mode)


def _put(path: str, wanted: _There, now: _There) -> None:
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


def _leads_elsewhere(path: str) -> bool:
    """Real paths are kept, so a folder on the way that is a link now was none when the file was changed."""
    folder = os.path.dirname(path)
    return os.path.realpath(folder) != folder


def _nothing(journal: Journal, checkpoint: str) -> str:
    if not checkpoint:
        return "There is nothing to undo: no turn of this session has changes to files that are in force."
    if (uncovered := journal.uncovered(checkpoint)) and not journal.changes(checkpoint):
        return f"Nothing of this turn can be undone: {uncovered[0].reason}."
    return f"{checkpoint!r} changed no files, or is too long ago to be undone."


def _named(names: Sequence[str], most: int) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
