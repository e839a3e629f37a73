"""Reading and writing small JSON files that several processes share: locked, atomic, and honest about damage."""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from caddie.errors import InvalidInput
from caddie.storage.json_edit import edited
from caddie.storage.jsonc import parse

MAX_BYTES = 64 * 1024 * 1024
LOCK_SECONDS = 10
POLL_SECONDS = 0.005

_SURROGATE = re.compile("[\ud800-\udfff]")

Stamp = tuple[int, int, int]


def read_json(path: Path) -> tuple[dict[str, Any], str]:
    """The file's object and a problem sentence ("" when all is well). JSON with comments is read too."""
    text, problem = read_text(path)
    return ({}, problem) if problem else parse_object(text, path.name)


def read_text(path: Path, most: int = MAX_BYTES) -> tuple[str, str]:
    """The file's text, line ends as they are, and a problem sentence. A file that is not there is empty."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a link to a device, say, that never ends or waits for ever
            return "", f"{path.name} cannot be read: it is no regular file"
        with open(path, "rb") as file:
            data = file.read(most + 1)
        if len(data) > most:
            return "", f"{path.name} is larger than {most:,} bytes and is ignored"
        return data.decode("utf-8"), ""
    except FileNotFoundError:
        return "", ""
    except (OSError, UnicodeDecodeError) as error:
        return "", f"{path.name} cannot be read: {type(error).__name__}"


def parse_object(text: str, name: str) -> tuple[dict[str, Any], str]:
    """The object that a text holds, and a problem sentence."""
    if not text.strip("\ufeff \t\r\n"):
        return {}, ""
    try:
        tree = _parse(text)
    except (ValueError, RecursionError) as error:
        return {}, f"{name} is not valid JSON: {error}"
    if not isinstance(tree, dict):
        return {}, f"{name} must hold one JSON object"
    return tree, ""


def _parse(text: str) -> Any:
    try:
        return json.loads(text)  # many times faster than a reader that keeps places
    except ValueError:
        return parse(text).value


def stamp(path: Path) -> Stamp | None:
    """Changes whenever the file is written; None when it is not there."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def update_json(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Read, change and replace under a lock: of two processes neither loses the other's change.

    Comments, order and line ends stay. Raises: InvalidInput when the file could lose something by it.
    """
    path = path.resolve()  # a link to the real file stays a link
    path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(path):
        text, problem = read_text(path)
        tree: dict[str, Any] = {}
        if not problem:
            tree, problem = parse_object(text, path.name)
        if problem:
            raise InvalidInput(f"{problem}. Mend {path} by hand first; nothing was written.")
        change(tree)
        # JSON can spell what UTF-8 cannot: names of files that are no text, halves of characters that a model wrote.
        new = _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", _edited(path, text, tree))
        if new != text:
            write_atomically(path, new)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    lock = FileLock(path.with_name(path.name + ".lock"), timeout=LOCK_SECONDS, poll_interval=POLL_SECONDS)
    try:
        lock.acquire()
    except Timeout:
        raise InvalidInput(f"{path} is being changed by another program for long; nothing was written.") from None
    try:
        yield
    finally:
        lock.release()


def _edited(path: Path, text: str, tree: dict[str, Any]) -> str:
    try:
        return edited(text, tree)
    except ValueError:
        raise InvalidInput(f"{path} cannot be changed without losing something; change it by hand.") from None


def write_atomically(path: Path, text: str) -> None:
    """Readers see the old file or the new one, never half of it. Its permissions stay."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name + ".")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            os.chmod(temporary, path.stat().st_mode & 0o7777)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
