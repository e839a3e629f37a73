"""What have the model's turns made of the files, as far as it is in force and the person has not accepted it yet?

Worked out from the checkpoints and the files as they are now, so it holds after a restart, an undo, an edit by hand.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import uuid4

from caddie.engine.changes import ChangeLog, shown
from caddie.engine.restoring import Decide, Restorer, Step, There, Wanted, present, step_back
from caddie.engine.taking_back import CannotTakeBack, NothingToTakeBack, encoded
from caddie.engine.undo import UndoReport, begun
from caddie.errors import NothingToUndo
from caddie.storage.checkpoints import Accepted, FileChange, Journal, Undone, by_path
from caddie.tools.builtin.text_files import Encoding, NotText, decode
from caddie.tools.merge import Hunk, applied, ended_lines, hunks

Status = Literal["created", "modified", "deleted"]
NOT_AS_SEEN = "is not as it was when you looked at it; look again"


@dataclass(frozen=True, slots=True)
class Choice:
    """`hunks` are ids; None is the whole file."""

    path: str
    hunks: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class OldAndNew:
    """One hunk: lines of the file as it is now, and what stood there. `id` stays while the lines do."""

    id: str
    old: tuple[str, ...]
    new: tuple[str, ...]
    hunk: Hunk


@dataclass(frozen=True, slots=True)
class Reviewed:
    """`blocked`: why nothing can be taken back. `before`: the text without the model's changes, "" if it is no text."""

    path: str
    status: Status
    turns: tuple[str, ...]
    hunks: tuple[OldAndNew, ...] = ()
    added: int = 0
    removed: int = 0
    blocked: str = ""
    before: str = ""


@dataclass(frozen=True, slots=True)
class _Texts:
    before: str
    now: str
    encoding: Encoding

    def hunks(self) -> tuple[OldAndNew, ...]:
        lines = ended_lines(self.now)
        seen: Counter[tuple[tuple[str, ...], tuple[str, ...]]] = Counter()
        found = []
        for hunk in hunks(self.now, self.before):
            old, new = hunk.lines, tuple(lines[hunk.start : hunk.end])
            found.append(OldAndNew(_id(old, new, seen[old, new]), old, new, hunk))
            seen[old, new] += 1
        return tuple(found)


@dataclass(frozen=True, slots=True)
class _Pending:
    """What is to be reviewed of one file."""

    path: str
    changes: tuple[FileChange, ...]
    turns: tuple[str, ...]


class Review:
    def __init__(self, log: ChangeLog, restorer: Restorer) -> None:
        self._log = log
        self._restorer = restorer

    async def changes(self, session_id: str, path: str = "") -> tuple[Reviewed, ...]:
        """By path; only this one if it is given."""
        found = [await self._look(pending) for pending in await self._pending(session_id) if self._is(pending, path)]
        return tuple(sorted((one for one in found if one), key=lambda one: one.path))

    async def take_back(self, session_id: str, choices: Sequence[Choice]) -> UndoReport:
        """Raises: NothingToUndo when nothing of a file is to be reviewed."""
        if not choices:
            raise NothingToUndo("No file is named; `caddie/session/changes` lists those that can be.")
        pending = await self._chosen(session_id, choices)
        undo_id = uuid4().hex[:12]
        await self._log.run(lambda: self._log.write(session_id, [begun(undo_id)]))
        files = []
        for choice, one in pending:
            decide = self._decide(one, choice.hunks)
            files.append(await self._restorer.restore(session_id, undo_id, one.path, decide))
        if is_done := any(file.is_done for file in files):
            await self._log.run(lambda: self._log.write(session_id, [Undone(undo_id, "")]))
        return UndoReport("", undo_id if is_done else "", tuple(files))

    async def keep(self, session_id: str, choices: Sequence[Choice] | None = None) -> None:
        """Raises: NothingToUndo when nothing of a file is to be reviewed, or a hunk is not there any more."""
        if choices is None:
            chosen = [(Choice(one.path), one) for one in await self._pending(session_id)]
        else:
            chosen = await self._chosen(session_id, choices)
        for choice, one in chosen:
            accepted = await self._accepted(one, choice)
            await self._log.run(lambda accepted=accepted: self._log.write(session_id, [accepted]))  # type: ignore[misc]

    async def _pending(self, session_id: str) -> list[_Pending]:
        return to_review(await self._log.run(lambda: self._log.store.read(session_id)))

    def _is(self, pending: _Pending, path: str) -> bool:
        return path in ("", pending.path, shown(pending.path, self._log.workspace))

    async def _chosen(self, session_id: str, choices: Sequence[Choice]) -> list[tuple[Choice, _Pending]]:
        pending = await self._pending(session_id)
        found = []
        for choice in choices:
            one = next((one for one in pending if choice.path and self._is(one, choice.path)), None)
            if one is None:
                raise NothingToUndo(f"Nothing of {choice.path!r} is to be reviewed in this session.")
            found.append((choice, one))
        return found

    async def _look(self, one: _Pending) -> Reviewed | None:
        """None when nothing of it is in force."""
        text = self._restorer.open_text(one.path)
        seen = await self._log.run(lambda: self._compare(one, None if text is None else _as_bytes(text)))
        if seen is None and text is not None:  # a command changed the file, and the editor did not follow
            seen = await self._log.run(lambda: self._compare(one, None))
        return seen

    def _compare(self, one: _Pending, open_data: bytes | None) -> Reviewed | None:
        name = shown(one.path, self._log.workspace)
        try:
            now = There(open_data) if open_data is not None else present(one.path)
            before = _without(self._restorer.steps(one.changes), now)
        except CannotTakeBack as reason:
            return Reviewed(name, "modified", one.turns, blocked=str(reason))
        except OSError as error:
            return Reviewed(name, "modified", one.turns, blocked=f"cannot be read ({error.strerror or 'refused'})")
        if _is_same(before, now):
            return None
        status: Status = "created" if before.data is None else "deleted" if now.data is None else "modified"
        texts = _texts(before, now)
        if texts is None:
            return Reviewed(name, status, one.turns)
        parts = texts.hunks()
        return Reviewed(
            name,
            status,
            one.turns,
            parts if status == "modified" else (),
            added=sum(len(part.new) for part in parts),
            removed=sum(len(part.old) for part in parts),
            before=texts.before,
        )

    def _decide(self, one: _Pending, chosen: Sequence[str] | None) -> Decide:
        def decide(now: There) -> Wanted:
            steps = self._restorer.steps(one.changes)
            before = _without(steps, now)
            if _is_same(before, now):
                raise NothingToTakeBack("has no change of the model any more")
            if chosen is None:
                return Wanted(before, now.data == steps[-1][1].data)
            texts, parts, meant = _meant(before, now, chosen)
            left = applied(texts.now, [part.hunk for part in meant])
            count = f"{len(meant)} of {len(parts)} changes" if len(parts) > 1 else "the change"
            return Wanted(There(encoded(left, texts.encoding), now.mode), False, count)

        return decide

    async def _accepted(self, one: _Pending, choice: Choice) -> Accepted:
        if choice.hunks is None:
            return Accepted(one.path, None, None)
        chosen, text = choice.hunks, self._restorer.open_text(one.path)
        try:
            return await self._log.run(lambda: self._accept(one, chosen, None if text is None else _as_bytes(text)))
        except CannotTakeBack as reason:
            raise NothingToUndo(f"{choice.path} {reason}.") from None

    def _accept(self, one: _Pending, chosen: Sequence[str], open_data: bytes | None) -> Accepted:
        now = There(open_data) if open_data is not None else present(one.path)
        before = _without(self._restorer.steps(one.changes), now)
        texts, parts, meant = _meant(before, now, chosen)
        others = [part.hunk for part in parts if part not in meant]
        mode = now.mode or before.mode
        left = There(encoded(applied(texts.now, others), texts.encoding), mode)
        return Accepted(one.path, self._restorer.keep(left), self._restorer.keep(There(now.data, mode)))


def to_review(journal: Journal) -> list[_Pending]:
    """Undos are no work of the model: they show in the files themselves."""
    undos = journal.undos
    found: dict[str, list[FileChange]] = {}
    turns: dict[str, dict[str, None]] = {}
    for entry in journal.entries:
        match entry:
            case FileChange(checkpoint, path) if checkpoint not in undos:
                found.setdefault(path, []).append(entry)
                turns.setdefault(path, {})[checkpoint] = None
            case Accepted(path, before, after):
                found[path] = [] if before == after else [FileChange("", path, before, after)]
                if not found[path]:
                    turns.pop(path, None)
            case _:
                pass
    return [
        _Pending(path, tuple(by_path(changes)[path]), tuple(turns.get(path, ())))
        for path, changes in found.items()
        if changes
    ]


def _without(steps: Sequence[Step], now: There) -> There:
    """What would be there without the model's changes; one that is gone already is none. Raises: CannotTakeBack."""
    for step in reversed(steps):
        with contextlib.suppress(NothingToTakeBack):
            now = step_back(step, now)
    return now


def _is_same(one: There, other: There) -> bool:
    if one.data != other.data or one.is_link != other.is_link:
        return False
    return one.data is None or not one.mode or not other.mode or one.mode == other.mode


def _texts(before: There, now: There) -> _Texts | None:
    """None where one of them is no text."""
    if before.is_link or now.is_link:
        return None
    try:
        old, encoding = decode(before.data or b"")
        new, present_encoding = decode(now.data or b"")
    except NotText:
        return None
    return _Texts(old, new, present_encoding if now.data is not None else encoding)


def _meant(
    before: There, now: There, chosen: Sequence[str]
) -> tuple[_Texts, tuple[OldAndNew, ...], tuple[OldAndNew, ...]]:
    """Texts, all hunks, and those of these ids. Raises: CannotTakeBack."""
    texts = _texts(before, now)
    if texts is None or before.data is None or now.data is None:
        raise CannotTakeBack("has no single changes; take it whole")
    parts = texts.hunks()
    if not set(chosen) or not set(chosen) <= {part.id for part in parts}:
        raise CannotTakeBack(NOT_AS_SEEN)
    return texts, parts, tuple(part for part in parts if part.id in chosen)


def _id(old: Sequence[str], new: Sequence[str], at: int) -> str:
    """Of lines that are the same as others, the first has 0."""
    return hashlib.sha256("\0".join([*old, "\1", *new, str(at)]).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _as_bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
