"""Which files did a command change, and what was in them before? A look at one folder before and after.

Files that are ignored (`.gitignore`, `.ignore`) or inside `.git` are not looked at. Only what has a new stamp is read
again, so that a look costs one `stat` a file. Everything here blocks and belongs to one thread.
"""

from __future__ import annotations

import os
import stat
import subprocess
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from caddie.errors import ToolFailure
from caddie.storage.checkpoints import Kept
from caddie.storage.checkpoints_content import Contents
from caddie.tools.builtin.process import environment
from caddie.tools.builtin.ripgrep import find_ripgrep

MAX_FILES = 50_000
MAX_FILE_BYTES = 5_000_000
LISTING_SECONDS = 5.0
READING_SECONDS = 20.0
_RACY_NS = 50_000_000  # a file written this shortly before the look may be written again under the same stamp

Stamp = tuple[int, int, int, int, int]


def reading_deadline() -> float:
    """For all that is read at one look."""
    return time.monotonic() + READING_SECONDS


class CannotLook(Exception):
    """A clause why the folder cannot be looked through."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A file at the last look. `kept` is None when its content is not kept, and `why` says why. Without a stamp it
    must be read again, as it was written at the very moment of the look."""

    stamp: Stamp | None
    kept: Kept | None
    why: str = ""
    size: int = 0


@dataclass(frozen=True, slots=True)
class Difference:
    """`why` says why it cannot be taken back; else `before` and `after` tell what was and is there, None nothing."""

    path: str
    before: Kept | None
    after: Kept | None
    why: str = ""


@dataclass(slots=True)
class Snapshot:
    """What the folder held at the last look."""

    root: Path
    contents: Contents
    budget: int
    apart: tuple[Path, ...]  # not looked at: Caddie's own folder, which changes all the time, and what others look at
    seen: dict[str, Seen] = field(default_factory=dict)
    kept_bytes: int = 0
    looked_at: int = 0
    is_stopped: bool = False  # set from another thread when the process ends

    def look(self, *, keep: bool, deadline: float) -> None:
        """Take the folder as it is. Without `keep` no content is read.

        Raises: CannotLook, OSError; nothing that was seen counts then.
        """
        self.looked_at = time.time_ns()
        paths = set(listed(self.root, self.apart))
        for path in self.seen.keys() - paths:
            self._forget(path)
        with self.contents.packed():
            for path in paths:
                self._take(path, keep=keep, deadline=deadline)

    def differences(self, deadline: float) -> Iterator[Difference]:
        """What has changed since the last look; from now on that is the last look. Raises: CannotLook, OSError."""
        began, self.looked_at = self.looked_at, time.time_ns()
        for path in sorted({*listed(self.root, self.apart), *self.seen}):
            old = self.seen.get(path)
            status = _status(path)
            if old is not None and status is not None and old.stamp == _stamp(status):
                continue
            if old is None and (status is None or status.st_ctime_ns < began - _RACY_NS):
                continue  # it was there before, ignored until now
            self._take(path, keep=True, deadline=deadline)
            if (difference := _difference(path, old, self.seen.get(path))) is not None:
                yield difference

    def renew(self, path: str) -> None:
        """Somebody else changed this file: that is not to be a difference. Raises: OSError."""
        self._take(path, keep=True, deadline=reading_deadline())

    def _take(self, path: str, *, keep: bool, deadline: float) -> None:
        if self.is_stopped:
            raise CannotLook("Caddie was closed meanwhile")
        status = _status(path)
        if status is None:
            self._forget(path)
            return
        old = self.seen.get(path)
        if old is not None and old.stamp == _stamp(status) and (old.kept or not keep):
            return
        self._forget(path)
        if not keep:
            self.seen[path] = Seen(_stamp(status), None, "its content was not looked at before")
        elif why := self._too_much(status, deadline):
            self.seen[path] = Seen(_stamp(status), None, why)
        else:
            self.seen[path] = self._read(path, status)

    def _too_much(self, status: os.stat_result, deadline: float) -> str:
        if status.st_size > MAX_FILE_BYTES:
            return f"{status.st_size:,} bytes are more than the {MAX_FILE_BYTES:,} that are kept of a file"
        if self.kept_bytes + status.st_size > self.budget:
            return "the files of this workspace are more than checkpoints.maxMegabytes has room for"
        if time.monotonic() > deadline:
            return f"the files of this workspace took more than {READING_SECONDS:g} seconds to read"
        return ""

    def _read(self, path: str, status: os.stat_result) -> Seen:
        try:
            data = os.fsencode(os.readlink(path)) if stat.S_ISLNK(status.st_mode) else Path(path).read_bytes()
        except OSError:
            return Seen(_stamp(status), None, "it cannot be read")
        self.kept_bytes += len(data)
        is_racy = status.st_mtime_ns > self.looked_at - _RACY_NS
        stamp = None if is_racy else _stamp(status)
        return Seen(stamp, Kept(self.contents.put(data), status.st_mode), size=len(data))

    def _forget(self, path: str) -> None:
        old = self.seen.pop(path, None)
        self.kept_bytes -= old.size if old is not None else 0


def _difference(path: str, old: Seen | None, new: Seen | None) -> Difference | None:
    if old is not None and new is not None and old.kept is not None and old.kept == new.kept:
        return None
    if why := (old.why if old else "") or (new.why if new else ""):
        return Difference(path, None, None, why)
    return Difference(path, old.kept if old else None, new.kept if new else None)


def _status(path: str) -> os.stat_result | None:
    """Of a regular file or a symbolic link; None for what is gone or something else."""
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return None
    return status if stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode) else None


def _stamp(status: os.stat_result) -> Stamp:
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_mode


def listed(root: Path, apart: Iterable[Path]) -> Iterator[str]:
    """Absolute paths of the files and symbolic links that are not ignored, without those in the folders `apart`.

    Raises: CannotLook.
    """
    if not root.is_dir():
        return
    folders, passed = {str(root)}, tuple(f"{folder}{os.sep}" for folder in apart)
    for name in _files(root):
        path = os.path.join(root, name)
        if path.startswith(passed):
            continue
        folders.add(os.path.dirname(path))
        yield path
    for folder in folders:
        yield from _links(folder)  # ripgrep passes over them


def _links(folder: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            yield from [entry.path for entry in entries if entry.is_symlink()]
    except OSError:
        return


def _files(root: Path) -> list[str]:
    options = ("--files", "--hidden", "--no-require-git", "--no-config", "--null", "--glob=!.git", "--", "./")
    try:
        process = subprocess.Popen(
            [find_ripgrep(), *options], cwd=root, env=environment(os.environ), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, ToolFailure):
        raise CannotLook("the list of its files cannot be made") from None
    with process:
        names = _read_names(process)
    return [os.fsdecode(name.removeprefix(b"./")) for name in names if name]


def _read_names(process: subprocess.Popen[bytes]) -> list[bytes]:
    assert process.stdout is not None
    deadline = time.monotonic() + LISTING_SECONDS
    pieces: list[bytes] = []
    count = 0
    try:
        while piece := process.stdout.read1(1_000_000):  # type: ignore[attr-defined]  # a BufferedReader
            pieces.append(piece)
            count += piece.count(b"\0")
            if count > MAX_FILES:
                raise CannotLook(f"it has more than {MAX_FILES:,} files")
            if time.monotonic() > deadline:
                raise CannotLook(f"listing its files takes more than {LISTING_SECONDS:g} seconds")
    finally:
        process.kill()
    return b"".join(pieces).split(b"\0")
