"""How is a text file read and written so that only what was meant to change changes?

Encoding, byte order mark, line ends and file mode are kept, and a write is seen whole or not at all.
"""

from __future__ import annotations

import codecs
import mimetypes
import os
import secrets
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from caddie.errors import ToolFailure

MAX_BYTES = 50_000_000
_MARKS = (  # the longer mark first: UTF-32's little-endian one begins with UTF-16's
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_TEXT_CONTROLS = frozenset(b"\t\n\v\f\r\b\x1b")


class NotText(Exception):
    """The bytes are no text in any encoding that could be written back unchanged."""


@dataclass(frozen=True, slots=True)
class Encoding:
    name: str = "utf-8"
    mark: bytes = b""

    def encode(self, text: str) -> bytes:
        """Raises: UnicodeEncodeError."""
        return self.mark + text.encode(self.name)


UTF_8 = Encoding()


def decode(data: bytes) -> tuple[str, Encoding]:
    """The text, line ends as they are, and the encoding that gives the same bytes back. Raises: NotText."""
    for mark, name in _MARKS:
        if data.startswith(mark):
            return _strictly(data[len(mark) :], name), Encoding(name, mark)
    if b"\0" in data:
        raise NotText
    try:
        return data.decode("utf-8"), UTF_8
    except UnicodeDecodeError:
        if _has_many_controls(data):
            raise NotText from None
        return data.decode("latin-1"), Encoding("latin-1")  # any byte survives the round trip


def _strictly(data: bytes, name: str) -> str:
    try:
        text = data.decode(name)
    except UnicodeDecodeError:
        raise NotText from None
    return text


def _has_many_controls(data: bytes) -> bool:
    sample = data[:8192]
    return sum(byte < 32 and byte not in _TEXT_CONTROLS for byte in sample) * 100 > len(sample)


def line_end(text: str) -> str:
    """The line end that most lines of `text` have."""
    crlf = text.count("\r\n")
    return "\r\n" if crlf * 2 > text.count("\n") else "\n"


def with_line_end(text: str, end: str) -> str:
    """`text` with all its line ends made `end`."""
    plain = text.replace("\r\n", "\n")
    return plain if end == "\n" else plain.replace("\n", end)


def lines_of(text: str) -> list[str]:
    """The lines without their ends. Only LF and CRLF end a line, as in every editor: not U+2028, not form feed."""
    lines = text.replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def read_bytes(path: Path, name: str) -> bytes:
    """Raises: OSError; ToolFailure for what is no regular file, or far too large."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "a device, pipe or socket"
        raise ToolFailure(f"Expected a file, but {name!r} is {kind}.")
    if status.st_size > MAX_BYTES:
        raise ToolFailure(
            f"{name!r} is {status.st_size:,} bytes, more than the {MAX_BYTES:,} that this tool reads. "
            "Use Grep, or Bash with head, tail or sed."
        )
    return path.read_bytes()


def not_text(path: Path, size: int, name: str) -> ToolFailure:
    kind = mimetypes.guess_type(path.name)[0] or "of unknown type"
    return ToolFailure(f"{name!r} is a binary file ({kind}, {size:,} bytes), not text.")


def write_atomic(path: Path, data: bytes) -> None:
    """Put `data` in the place of `path`; a link stays a link, mode and (where allowed) owner stay. Raises: OSError."""
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{secrets.token_hex(12)}.tmp")  # its own name may be as long as names can be
    try:
        with open(
            os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o666), "wb"
        ) as f:
            f.write(data)
            f.flush()
            _take_over(target, f.fileno())
            os.fsync(f.fileno())
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _take_over(target: Path, descriptor: int) -> None:
    if not hasattr(os, "fchmod") or not target.exists():
        return
    status = target.stat()
    _if_allowed(lambda: os.fchown(descriptor, status.st_uid, status.st_gid))
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode))  # after the owner: a new owner clears the set-id bits


def _if_allowed(change: Callable[[], None]) -> None:
    try:
        change()
    except PermissionError:
        pass
