"""Where is a file's present text, in the editor's buffer or on disk, and has the model seen it?

`seen_files` maps a real path to a fingerprint of the text that the model read, so that neither a person's unsaved
change nor another program's write is ever overwritten blindly, and opening or saving an unchanged file does not count.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import threading
from dataclasses import dataclass
from pathlib import Path

from caddie.errors import ToolFailure
from caddie.tools.builtin.paths import missing, os_failure, shown
from caddie.tools.builtin.text_files import UTF_8, Encoding, NotText, decode, not_text, read_bytes, write_atomic
from caddie.tools.context import ToolContext

_writing = threading.Lock()  # two calls at once may change one file: the last look and the write belong together


@dataclass(frozen=True, slots=True)
class Document:
    """`text` has its line ends as they are. `is_open` says that it is an editor's buffer."""

    path: Path
    name: str
    text: str
    encoding: Encoding = UTF_8
    is_open: bool = False
    is_new: bool = False


async def load(path: Path, context: ToolContext) -> Document:
    """Raises: ToolFailure when there is no such text file."""
    document = await find(path, context)
    if document is None:
        raise await asyncio.to_thread(missing, context.workspace, path, context.further())
    return document


async def find(path: Path, context: ToolContext) -> Document | None:
    """As `load`, and None when nothing is at `path`."""
    name = shown(context.workspace, path)
    buffer = context.editor.read_open_file(path)
    if buffer is not None:
        return Document(path, name, buffer, is_open=True)
    return await asyncio.to_thread(_read, path, name)


def _read(path: Path, name: str) -> Document | None:
    try:
        data = read_bytes(path, name)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise os_failure(error, name) from None
    try:
        text, encoding = decode(data)
    except NotText:
        raise not_text(path, len(data), name) from None
    return Document(path, name, text, encoding)


async def store(document: Document, text: str, context: ToolContext, *, encoding: Encoding | None = None) -> None:
    """Put `text` where the document came from, and count it as seen. Raises: ToolFailure."""
    if document.is_open:
        await _store_in_editor(document, text, context)
    else:
        before = None if document.is_new else document.encoding.encode(document.text)
        data = _encoded(text, encoding or document.encoding, document.name)
        await context.changes.note(document.path, before, data)
        await asyncio.to_thread(_write, document, data)
    mark_seen(document.path, text, context)


async def _store_in_editor(document: Document, text: str, context: ToolContext) -> None:
    before, after = (each.encode("utf-8", "replace") for each in (document.text, text))
    await context.changes.note(document.path, before, after)
    now = context.editor.read_open_file(document.path)
    if now is not None and now != document.text:
        raise ToolFailure(f"{document.name!r} changed at this very moment. Read it again, then repeat the change.")
    if not await context.editor.replace_open_file(document.path, text):
        raise ToolFailure(
            f"{document.name!r} was closed in the editor meanwhile. Read it again, then repeat the change."
        )


def _encoded(text: str, encoding: Encoding, name: str) -> bytes:
    try:
        return encoding.encode(text)
    except UnicodeEncodeError as error:
        character = error.object[error.start]
        raise ToolFailure(f"{name!r} is encoded as {encoding.name}, which has no character {character!r}.") from None


def _write(document: Document, data: bytes) -> None:
    with _writing:
        present = _read(document.path, document.name)
        if (present.text if present else "") != document.text:
            raise ToolFailure(f"{document.name!r} changed at this very moment. Read it again, then repeat the change.")
        try:
            document.path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(document.path, data)
        except OSError as error:
            raise os_failure(error, document.name) from None


def mark_seen(path: Path, text: str, context: ToolContext) -> None:
    context.session.seen_files[_key(path)] = fingerprint(text)


def require_seen(document: Document, context: ToolContext) -> None:
    """Raises: ToolFailure unless the model has read exactly this text."""
    seen = context.session.seen_files.get(_key(document.path))
    if seen is None:
        raise ToolFailure(
            f"{document.name!r} has not been read in this session. Read it first, then repeat the change."
        )
    if seen != fingerprint(document.text):
        raise ToolFailure(f"{document.name!r} has changed since you read it. Read it again, then repeat the change.")


def fingerprint(text: str) -> float:
    """48 bits, which a float holds exactly; line ends do not count, as editors show the same file with either."""
    plain = text.replace("\r\n", "\n").encode("utf-8", "surrogatepass")
    return float(int.from_bytes(hashlib.blake2b(plain, digest_size=6).digest(), "big"))


def _key(path: Path) -> str:
    return os.path.realpath(path)
