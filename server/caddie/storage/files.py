"""Reading and writing small JSON files that several processes share: locked, atomic, and honest about damage."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import json5
from filelock import FileLock

from caddie.errors import InvalidInput

LOCK_SECONDS = 10


def read_json(path: Path) -> tuple[dict[str, Any], str]:
    """The file's object and a problem sentence ("" when all is well). JSON with comments is read too."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return {}, ""
    except (OSError, UnicodeDecodeError) as error:
        return {}, f"{path.name} cannot be read: {type(error).__name__}"
    if not text.strip():
        return {}, ""
    try:
        tree = _parse(text)
    except ValueError as error:
        return {}, f"{path.name} is not valid JSON: {error}"
    if not isinstance(tree, dict):
        return {}, f"{path.name} must hold one JSON object"
    return tree, ""


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as strict:
        try:
            return json5.loads(text)
        except ValueError:
            raise strict from None


def update_json(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Read, change and replace under a lock. Raises: InvalidInput when the file could lose something by it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(path.with_name(path.name + ".lock"), timeout=LOCK_SECONDS):
        tree, problem = read_json(path)
        if problem:
            raise InvalidInput(f"{problem}. Mend {path} by hand first; nothing was written.")
        if path.exists() and not _is_plain(path):
            raise InvalidInput(f"{path} has comments that would be lost. Change it by hand; nothing was written.")
        change(tree)
        write_atomically(path, json.dumps(tree, indent=2, ensure_ascii=False) + "\n")


def _is_plain(path: Path) -> bool:
    text = path.read_text(encoding="utf-8-sig")
    try:
        json.loads(text or "{}")
    except ValueError:
        return not text.strip()
    return True


def write_atomically(path: Path, text: str) -> None:
    """Readers see the old file or the new one, never half of it."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name + ".")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
