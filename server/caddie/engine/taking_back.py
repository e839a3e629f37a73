"""What is in a file once a turn's change to it is taken back? Pure: contents in, contents or the reason why not out."""

from __future__ import annotations

from caddie.tools.builtin.text_files import UTF_8, Encoding, NotText, decode, line_end, with_line_end
from caddie.tools.merge import taken_back

NAMED_CLASHES = 5


class CannotTakeBack(Exception):
    """A clause that follows the file's name."""


class NothingToTakeBack(CannotTakeBack):
    """The change is not there any more."""


def content_before(before: bytes | None, after: bytes | None, now: bytes | None) -> bytes | None:
    """None is no file. Raises: CannotTakeBack."""
    if now == after:
        return before
    if now == before:
        raise NothingToTakeBack("is already as it was before")
    if now is None:
        raise NothingToTakeBack("was deleted since")
    if before is None:
        if after is not None and _is_same_text(after, now):
            return None
        raise CannotTakeBack("was created by it and changed since")
    if after is None:
        raise CannotTakeBack("was deleted by it and is there again with another content")
    return _merged(before, after, now)


def _merged(before: bytes, after: bytes, now: bytes) -> bytes:
    try:
        (old, _), (new, _), (present, encoding) = decode(before), decode(after), decode(now)
    except NotText:
        raise CannotTakeBack("is no text and was changed since") from None
    old, new = _as_shown(old, new, present)
    if present == old:
        raise NothingToTakeBack("is already as it was before")
    result = taken_back(old, new, present)
    if isinstance(result, tuple):
        named = ", ".join(map(str, result[:NAMED_CLASHES]))
        more = f" and {len(result) - NAMED_CLASHES} more places" if len(result) > NAMED_CLASHES else ""
        raise CannotTakeBack(f"was changed since in the same place ({named}{more})")
    return encoded(result, encoding)


def _is_same_text(one: bytes, other: bytes) -> bool:
    try:
        texts = [with_line_end(decode(data)[0], "\n") for data in (one, other)]
    except NotText:
        return False
    return texts[0] == texts[1]


def _as_shown(old: str, new: str, present: str) -> tuple[str, str]:
    """An editor may show a file with other line ends than it has; that is no change of anybody's."""
    ends = line_end(present)
    if _is_uniform(new) and _is_uniform(present) and line_end(old) == line_end(new) != ends:
        return with_line_end(old, ends), with_line_end(new, ends)
    return old, new


def _is_uniform(text: str) -> bool:
    return text.count("\r\n") in (0, text.count("\n"))


def encoded(text: str, encoding: Encoding) -> bytes:
    try:
        return encoding.encode(text)
    except UnicodeEncodeError:
        return UTF_8.encode(text)
