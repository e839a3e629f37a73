"""What do commands change in all folders of the workspace? A look at each, before and after.

A folder that cannot be looked through takes nothing from the others. Everything here but `further` and `stop` blocks
and belongs to one thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from caddie.engine.snapshot import CannotLook, Difference, Snapshot, reading_deadline
from caddie.storage.checkpoints_content import Contents

_LATE = "it was added while another command ran"


@dataclass(frozen=True, slots=True)
class Unseen:
    """Why nothing can be said of a folder; `folder` is empty when the workspace is but one."""

    folder: str
    reason: str


class Looks:
    """`further` are the folders beside the first; who is new is looked at from the next `begin` on."""

    def __init__(self, first: Path, contents: Contents, budget: int, own: Path) -> None:
        self.further: tuple[Path, ...] = ()
        self._first = first
        self._contents = contents
        self._budget = budget
        self._own = own
        self._snapshots: dict[Path, Snapshot] = {}
        self._blind: dict[Path, str] = {}
        self._is_stopped = False

    def stop(self) -> None:
        """Break off a look at many files. From any thread."""
        self._is_stopped = True
        for snapshot in self._snapshots.values():
            snapshot.is_stopped = True

    def begin(self, *, keep: bool) -> None:
        """Before a command. A folder that cannot be looked through once is not looked at again."""
        folders = (self._first, *self.further)
        self._snapshots = {folder: self._snapshots.get(folder) or self._new(folder) for folder in folders}
        self._blind = {folder: why for folder, why in self._blind.items() if folder in folders}
        deadline = reading_deadline()
        for folder, snapshot in self._seeing():
            try:
                snapshot.look(keep=keep, deadline=deadline)
            except (CannotLook, OSError) as error:
                self._blind[folder] = _reason(error)

    def unseen(self) -> tuple[Unseen, ...]:
        """The folders whose changes cannot be covered now."""
        late = {folder: _LATE for folder in self.further if folder not in self._snapshots}
        return tuple(self._unseen(folder, why) for folder, why in (*self._blind.items(), *late.items()))

    def differences(self) -> Iterator[Difference | Unseen]:
        """After the command."""
        deadline = reading_deadline()
        for folder, snapshot in self._seeing():
            try:
                yield from snapshot.differences(deadline)
            except (CannotLook, OSError) as error:
                yield self._unseen(folder, _reason(error))

    def renew(self, path: str) -> None:
        """Somebody else changed this file. Raises: OSError."""
        around = next((folder for folder in self._snapshots if Path(path).is_relative_to(folder)), None)
        if around is not None and around not in self._blind:
            self._snapshots[around].renew(path)

    def _new(self, folder: Path) -> Snapshot:
        apart = (self._own,) if folder == self._first else (self._own, self._first)
        return Snapshot(folder, self._contents, self._budget, apart)

    def _seeing(self) -> Iterator[tuple[Path, Snapshot]]:
        kept = sum(snapshot.kept_bytes for snapshot in self._snapshots.values())
        for folder, snapshot in self._snapshots.items():
            if folder in self._blind:
                continue
            snapshot.budget = self._budget - (kept - snapshot.kept_bytes)
            snapshot.is_stopped = self._is_stopped
            before = snapshot.kept_bytes
            yield folder, snapshot
            kept += snapshot.kept_bytes - before

    def _unseen(self, folder: Path, why: str) -> Unseen:
        return Unseen(str(folder) if self.further else "", why)


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, CannotLook) else "the disk refused to keep its files"
