"""Taking back what a turn did to files, and nothing that anybody else did.

Each file is merged by itself. Where that clashes it is left as it is, and said. An undo is a checkpoint too: undoing it
brings the changes back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import get_args
from uuid import uuid4

from caddie.chat import prompt
from caddie.chat.messages import Text
from caddie.engine.changes import ChangeLog, not_covered, shown
from caddie.engine.restoring import Decide, FileUndone, Outcome, Restorer, before
from caddie.errors import NothingToUndo
from caddie.storage.checkpoints import FileChange, Journal, Undone, by_path

NAMED = 10
NAMED_TO_MODEL = 50


@dataclass(frozen=True, slots=True)
class UndoReport:
    """`undo_id` undoes the undo; empty when no file was changed by it. `turn_id` is empty when files were named."""

    turn_id: str
    undo_id: str
    files: tuple[FileUndone, ...]
    not_covered: str = ""

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
            ("Taken back in part: ", _named([f"{file.path} ({file.detail})" for file in by_outcome["partly"]], NAMED)),
            ("Left as it is: ", _named([f"{file.path} {file.detail}" for file in by_outcome["conflict"]], NAMED)),
            ("Nothing to take back: ", _named([f"{file.path} {file.detail}" for file in by_outcome["kept"]], NAMED)),
        ]
        sentences = [f"{begin}{names}." for begin, names in said if names]
        return " ".join(filter(None, [*sentences, self.not_covered]))


class Undo:
    def __init__(self, log: ChangeLog, restorer: Restorer) -> None:
        self._log = log
        self._restorer = restorer

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
        await self._log.run(lambda: self._log.write(session_id, [begun(undo_id)]))
        files = [
            await self._restorer.restore(session_id, undo_id, path, self._without(steps))
            for path, steps in by_path(changes).items()
        ]
        if is_done := any(file.is_done for file in files):
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
        extent = "" if all(undo.of for undo in untold) else ", some of them in part"
        words = f"The person took back earlier changes of yours to files{extent}: {names}"
        return (Text(prompt.block("undone", words)),)

    def _without(self, changes: Sequence[FileChange]) -> Decide:
        return lambda now: before(self._restorer.steps(changes), now)

    async def changed_files(self, session_id: str, turn_id: str) -> list[str]:
        journal = await self._log.run(lambda: self._log.store.read(session_id))
        return sorted({shown(change.path, self._log.workspace) for change in journal.changes(turn_id)})


def begun(undo_id: str) -> Undone:
    """Written first: what an undo does, or fails to do, is never a change of the model."""
    return Undone(undo_id, "", told=True)


def _nothing(journal: Journal, checkpoint: str) -> str:
    if not checkpoint:
        return "There is nothing to undo: no turn of this session has changes to files that are in force."
    if (uncovered := journal.uncovered(checkpoint)) and not journal.changes(checkpoint):
        return f"Nothing of this turn can be undone: {uncovered[0].reason}."
    return f"{checkpoint!r} changed no files, or is too long ago to be undone."


def _named(names: Sequence[str], most: int) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
