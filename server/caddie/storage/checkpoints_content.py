"""Where is the content that files had before a turn? Compressed, each once, named by its hash.

What one change needs is a file of its own; what a look at a whole workspace keeps goes into one pack, as thousands of
small files would take long. Bounded: what was not needed for longest goes first, and a reader is told that it is gone
rather than given less. Several processes may use one folder. Everything here blocks: call it off the loop.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

_SPARE = 5  # a fifth of the room is made free at once, so that not every content makes room for itself
_NAME = "%s.pack"


@dataclass(frozen=True, slots=True)
class _Place:
    pack: str
    start: int
    size: int


@dataclass(slots=True)
class _Pack:
    """A pack that is being written; nobody sees it before its index is there."""

    name: str
    file: BinaryIO
    places: dict[str, _Place] = field(default_factory=dict)

    def add(self, digest: str, packed: bytes) -> None:
        self.places[digest] = _Place(self.name, self.file.tell(), len(packed))
        self.file.write(packed)


class Contents:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._packs = folder / "packs"
        self._pack: _Pack | None = None
        self._places: dict[str, _Place] | None = None
        self._used: set[str] = set()
        self.added = 0

    def put(self, data: bytes) -> str:
        """Raises: OSError."""
        digest = _digest(data)
        if not self._is_there(digest):
            packed = zlib.compress(data, 1)
            self.added += len(packed)
            if self._pack is not None:
                self._pack.add(digest, packed)
            else:
                _write(self._path(digest), packed)
        return digest

    @contextlib.contextmanager
    def packed(self) -> Iterator[None]:
        """What is put meanwhile goes into one pack, or nowhere if it fails. Raises: OSError."""
        self._used.clear()
        self._packs.mkdir(parents=True, exist_ok=True, mode=0o700)
        name = secrets.token_hex(8)
        path = self._packs / f"{name}.tmp"
        try:
            with _create(path) as file:
                pack = self._pack = _Pack(name, file)
                yield
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        finally:
            self._pack = None
        if not pack.places:
            path.unlink()
            return
        os.replace(path, self._packs / (_NAME % name))
        index = {digest: [place.start, place.size] for digest, place in pack.places.items()}
        _write(self._packs / f"{name}.json", json.dumps({"version": 1, "contents": index}).encode())
        self._known().update(pack.places)

    def get(self, digest: str) -> bytes | None:
        """None when it was removed to make room, or is damaged."""
        try:
            data = zlib.decompress(self._read(digest))
        except (OSError, zlib.error, LookupError):
            return None
        return data if _digest(data) == digest else None

    def trim(self, limit: int) -> None:
        """Remove the contents used longest ago until the rest fits `limit` bytes with room to spare."""
        self.added = 0
        found = sorted(self._found())
        total = sum(size for _, size, _ in found)
        if total <= limit:
            return
        for _, size, path in found:
            if total <= limit - limit // _SPARE:
                break
            path.unlink(missing_ok=True)
            path.with_suffix(".json").unlink(missing_ok=True)
            total -= size
        self._places = None

    def _is_there(self, digest: str) -> bool:
        """If so it is needed again, and goes later."""
        if self._pack is not None and digest in self._pack.places:
            return True
        place = self._known().get(digest)
        with contextlib.suppress(FileNotFoundError):
            if place is None:
                os.utime(self._path(digest))
            elif self._pack is None or place.pack not in self._used:  # within one pack once is enough
                os.utime(self._packs / (_NAME % place.pack))
                self._used.add(place.pack)
            return True
        if place is not None:
            self._places = None
        return False

    def _read(self, digest: str) -> bytes:
        """Raises: OSError, KeyError."""
        with contextlib.suppress(FileNotFoundError):
            return self._path(digest).read_bytes()
        if digest not in self._known():
            self._places = None  # another process may have packed it since
        place = self._known()[digest]
        with open(self._packs / (_NAME % place.pack), "rb") as file:
            file.seek(place.start)
            return file.read(place.size)

    def _known(self) -> dict[str, _Place]:
        if self._places is None:
            self._places = {}
            for path in self._packs.glob("*.json"):
                self._places.update(_index(path))
        return self._places

    def _path(self, digest: str) -> Path:
        return self._folder / digest[:2] / digest[2:]

    def _found(self) -> Iterator[tuple[float, int, Path]]:
        for folder in _entries(self._folder):
            for entry in _entries(Path(folder.path)):
                if entry.name.endswith(".json"):
                    continue  # goes with its pack
                with contextlib.suppress(FileNotFoundError):  # another process made room too
                    status = entry.stat()
                    yield status.st_mtime, status.st_size, Path(entry.path)


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=20).hexdigest()


def _index(path: Path) -> dict[str, _Place]:
    """What a pack holds; nothing if its index is damaged."""
    try:
        tree = json.loads(path.read_bytes())
        return {digest: _Place(path.stem, start, size) for digest, (start, size) in tree["contents"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _create(path: Path) -> BinaryIO:
    return open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o600), "wb")


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}.tmp")
    with _create(temporary) as file:
        file.write(data)
    os.replace(temporary, path)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except (FileNotFoundError, NotADirectoryError):
        return []
