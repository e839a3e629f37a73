"""What did each turn do to files? One journal of JSON lines per session, and the contents that it names.

A checkpoint is a turn, or an undo of one: an undo can be undone the same way.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from caddie.storage.checkpoints_content import Contents
from caddie.storage.places import Places

VERSION = 1
KEEP_SECONDS = 30 * 24 * 3600


@dataclass(frozen=True, slots=True)
class Kept:
    """What was at a path: a file's content, or where a symbolic link pointed. `mode` is that of `stat`."""

    digest: str
    mode: int


@dataclass(frozen=True, slots=True)
class FileChange:
    """None is: nothing was there. `folder` is the outermost folder that was made for the file."""

    checkpoint: str
    path: str
    before: Kept | None
    after: Kept | None
    folder: str = ""


@dataclass(frozen=True, slots=True)
class Uncovered:
    """A change that cannot be taken back. `path` is empty when it is not known which files it is about; `folder` then
    says in which of several folders they are."""

    checkpoint: str
    path: str
    reason: str
    folder: str = ""


@dataclass(frozen=True, slots=True)
class Undone:
    """The checkpoint `checkpoint` took back what `of` did, or single files and hunks when `of` is empty.
    `told` is said of it once the model knows."""

    checkpoint: str
    of: str
    told: bool = False


@dataclass(frozen=True, slots=True)
class Accepted:
    """Of all that was done to this file before, only what is between `before` and `after` is still to be reviewed."""

    path: str
    before: Kept | None
    after: Kept | None


Entry = FileChange | Uncovered | Undone | Accepted
_ENTRIES: dict[str, type[Entry]] = {
    "change": FileChange,
    "uncovered": Uncovered,
    "undone": Undone,
    "accepted": Accepted,
}
_NAMES = {kind: name for name, kind in _ENTRIES.items()}


@dataclass(frozen=True, slots=True)
class Journal:
    entries: tuple[Entry, ...]

    def changes(self, checkpoint: str) -> tuple[FileChange, ...]:
        return tuple(e for e in self.entries if isinstance(e, FileChange) and e.checkpoint == checkpoint)

    def uncovered(self, checkpoint: str) -> tuple[Uncovered, ...]:
        found = (e for e in self.entries if isinstance(e, Uncovered) and e.checkpoint == checkpoint)
        return tuple(dict.fromkeys(found))

    @property
    def undos(self) -> dict[str, str]:
        """What each undo took back."""
        return {e.checkpoint: e.of for e in self.entries if isinstance(e, Undone)}

    @property
    def untold(self) -> tuple[Undone, ...]:
        """Undos of which the model does not know yet."""
        last = {e.checkpoint: e for e in self.entries if isinstance(e, Undone)}
        return tuple(e for e in last.values() if not e.told)

    def newest(self) -> str:
        """The last turn whose changes are in force; "" when there is none."""
        undos, taken_back = self.undos, set[str]()
        for of in undos.values():
            taken_back.add(of)
            taken_back.discard(undos.get(of, ""))
        turns = dict.fromkeys(e.checkpoint for e in self.entries if isinstance(e, FileChange))
        return next((turn for turn in reversed(turns) if turn not in undos and turn not in taken_back), "")


def by_path(changes: Iterable[FileChange]) -> dict[str, list[FileChange]]:
    """Each file's changes in order; those that follow on one another are one."""
    found: dict[str, list[FileChange]] = {}
    for change in changes:
        steps = found.setdefault(change.path, [])
        if steps and _same(steps[-1].after, change.before):
            steps[-1] = replace(steps[-1], after=change.after)
        else:
            steps.append(change)
    return found


def _same(one: Kept | None, other: Kept | None) -> bool:
    return (one and one.digest) == (other and other.digest)


class CheckpointStore:
    """Everything here blocks: call it off the loop."""

    def __init__(self, places: Places) -> None:
        self.folder = places.data / "checkpoints"
        self._journals = self.folder / places.sessions.name
        self.contents = Contents(self.folder / "contents")

    def append(self, session_id: str, entries: Iterable[Entry]) -> None:
        """Raises: OSError."""
        lines = [json.dumps({"type": _NAMES[type(entry)], **asdict(entry)}, ensure_ascii=False) for entry in entries]
        path = self._path(session_id)
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with open(path, "ab", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            if file.tell() == 0:
                lines.insert(0, json.dumps({"type": "checkpoints", "version": VERSION}))
            begin = "\n" if file.tell() else ""  # an earlier process may have died in the middle of a line
            file.write((begin + "\n".join(lines) + "\n").encode("utf-8", "surrogateescape"))

    def read(self, session_id: str) -> Journal:
        try:
            text = self._path(session_id).read_bytes().decode("utf-8", "surrogateescape")
        except FileNotFoundError:
            return Journal(())
        return Journal(tuple(entry for line in text.split("\n") if (entry := _entry(line)) is not None))

    def forget(self, session_id: str) -> None:
        self._path(session_id).unlink(missing_ok=True)

    def trim(self, limit: int) -> None:
        """Keep what is on disk within `limit` bytes; journals of a month ago go."""
        oldest = time.time() - KEEP_SECONDS
        for path in self.folder.glob("*/*.jsonl"):
            try:
                if path.stat().st_mtime < oldest:
                    path.unlink(missing_ok=True)
            except FileNotFoundError:
                continue
        self.contents.trim(limit)

    def _path(self, session_id: str) -> Path:
        return self._journals / f"{session_id}.jsonl"


def _entry(line: str) -> Entry | None:
    """None for a blank, damaged or newer line: what can be read still holds."""
    try:
        tree: dict[str, Any] = json.loads(line)
        kind = _ENTRIES[tree.pop("type")]
        if kind in (FileChange, Accepted):
            tree |= {side: Kept(**tree[side]) if tree[side] else None for side in ("before", "after")}
        return kind(**tree)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
