"""Files and texts that the person put beside a message, as parts of it."""

from __future__ import annotations

import asyncio
import base64
import errno
import stat
from collections.abc import Iterable
from pathlib import Path

from caddie.chat import prompt
from caddie.chat.messages import Image, Part, Text
from caddie.errors import InvalidInput
from caddie.tools.context import Editor

MAX_TEXT_CHARS = 200_000
MAX_IMAGE_BYTES = 5_000_000
_IMAGES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp"}


def read_picture(name: str, data: str, media_type: str | None) -> Part:
    """Raises: InvalidInput."""
    if media_type is None or media_type not in _IMAGES.values():
        kinds = ", ".join(sorted(set(_IMAGES.values())))
        raise InvalidInput(f"The attachment {name!r} has the media type {media_type!r}; a picture is one of {kinds}.")
    try:
        size = len(base64.b64decode(data, validate=True))
    except ValueError:
        raise InvalidInput(f"The picture {name!r} is not valid base64.") from None
    if size > MAX_IMAGE_BYTES:
        raise InvalidInput(f"The picture {name!r} has {size} bytes; {MAX_IMAGE_BYTES} is the most.")
    return Image(data, media_type)


async def read_attachments(
    workspace: Path, editor: Editor, items: Iterable[tuple[str, str | None, str | None]]
) -> tuple[Part, ...]:
    """`items` are (name, path, text). Raises: InvalidInput for a file that cannot be read."""
    return tuple([await _read(workspace, editor, *item) for item in items])


async def _read(workspace: Path, editor: Editor, name: str, path: str | None, text: str | None) -> Part:
    if text is not None:
        return Text(prompt.attachment(name, text[:MAX_TEXT_CHARS]))
    if path is None:
        raise InvalidInput(f"The attachment {name!r} has neither a text nor a path.")
    file = workspace / path
    elsewhere = "" if workspace / name == file else path
    if (open_text := editor.read_open_file(file)) is not None:
        return Text(prompt.attachment(name, open_text[:MAX_TEXT_CHARS], elsewhere))
    try:
        data, size = await asyncio.to_thread(_read_begin, file)
    except OSError as error:
        raise InvalidInput(f"The attachment {path!r} cannot be read: {error.strerror}.") from None
    if media_type := _IMAGES.get(file.suffix.lower()):
        if size > MAX_IMAGE_BYTES:
            raise InvalidInput(f"The image {path!r} has {size} bytes; {MAX_IMAGE_BYTES} is the most.")
        return Image(base64.b64encode(data).decode(), media_type)
    return Text(prompt.attachment(name, data.decode("utf-8", "replace")[:MAX_TEXT_CHARS], elsewhere))


def _read_begin(file: Path) -> tuple[bytes, int]:
    """As much as can be sent, and the whole size. Raises: OSError."""
    status = file.stat()
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file")
    with open(file, "rb") as stream:
        return stream.read(MAX_IMAGE_BYTES), status.st_size
