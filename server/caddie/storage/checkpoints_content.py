"""Where is the content that files had before a turn? One compressed file per content, named by its hash.

Bounded: what was not needed for longest goes first, and a reader is told that it is gone rather than given less.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import zlib
from collections.abc import Iterator
from pathlib import Path

_SPARE = 5  # a fifth of the room is made free at once, so that not every content makes room for itself


class Contents:
    """Several processes may use one folder. Everything here blocks: call it off the loop."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.added = 0

    def put(self, data: bytes) -> str:
        """Raises: OSError."""
        digest = hashlib.blake2b(data, digest_size=20).hexdigest()
        path = self._path(digest)
        try:
            os.utime(path)  # needed again: it goes later
        except FileNotFoundError:
            self._write(path, zlib.compress(data, 1))
        return digest

    def get(self, digest: str) -> bytes | None:
        """None when it was removed to make room, or is damaged."""
        try:
            data = zlib.decompress(self._path(digest).read_bytes())
        except (OSError, zlib.error):
            return None
        return data if hashlib.blake2b(data, digest_size=20).hexdigest() == digest else None

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
            total -= size

    def _path(self, digest: str) -> Path:
        return self._folder / digest[:2] / digest[2:]

    def _write(self, path: Path, packed: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}.tmp")
        with open(
            os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o600), "wb"
        ) as f:
            f.write(packed)
        os.replace(temporary, path)
        self.added += len(packed)

    def _found(self) -> Iterator[tuple[float, int, Path]]:
        for folder in _entries(self._folder):
            for entry in _entries(Path(folder.path)):
                try:
                    status = entry.stat()
                except FileNotFoundError:  # another process made room too
                    continue
                yield status.st_mtime, status.st_size, Path(entry.path)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except (FileNotFoundError, NotADirectoryError):
        return []
