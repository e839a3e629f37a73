"""What of a long text enters the conversation? Its head and tail; all of it is saved, and the model is told where."""

from __future__ import annotations

import asyncio
from collections import deque

from caddie.tools.context import ToolContext

MAX_CHARACTERS = 30_000
MAX_SAVED_BYTES = 10_000_000
_TAIL_BYTES = MAX_CHARACTERS * 2  # enough for half of the characters in any encoding's four bytes


class Capture:
    """Bytes as they arrive from a process: the first ones and the last ones, however many come."""

    def __init__(self) -> None:
        self.total = 0
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0

    def feed(self, data: bytes) -> None:
        self.total += len(data)
        room = MAX_SAVED_BYTES - len(self._head)
        self._head += data[:room] if room > 0 else b""
        rest = data[room:] if room > 0 else data
        if rest:
            self._keep_last(rest)

    def _keep_last(self, data: bytes) -> None:
        self._tail.append(data)
        self._tail_size += len(data)
        while self._tail_size - len(self._tail[0]) >= _TAIL_BYTES:
            self._tail_size -= len(self._tail.popleft())

    @property
    def dropped(self) -> int:
        """How many bytes between head and tail are lost."""
        return self.total - len(self._head) - self._tail_size

    def last(self, size: int) -> str:
        """About the last `size` bytes, for showing progress."""
        tail = b"".join(self._tail)[-size:]
        missing = size - len(tail)
        return ((bytes(self._head[-missing:]) if missing else b"") + tail).decode("utf-8", "replace")

    @property
    def text(self) -> str:
        """All that was kept."""
        tail = b"".join(self._tail)
        if not self.dropped:
            return (bytes(self._head) + tail).decode("utf-8", "replace")
        mark = f"\n… {self.dropped:,} bytes not kept …\n".encode()
        return (bytes(self._head) + mark + tail).decode("utf-8", "replace")


async def clipped(text: str, context: ToolContext, *, total_bytes: int | None = None) -> str:
    """`text`, or its head and tail with a note between them that says how much is left out and where all of it is."""
    if len(text) <= MAX_CHARACTERS:
        return text
    total = total_bytes if total_bytes is not None else len(text.encode("utf-8", "surrogatepass"))
    path = await asyncio.to_thread(context.spill, text)
    half = MAX_CHARACTERS // 2
    head, tail = text[:half], text[-half:]
    saved = "all of it" if total <= MAX_SAVED_BYTES else f"its first {MAX_SAVED_BYTES:,} bytes and its end"
    left_out = len(text) - len(head) - len(tail)
    note = f"… {left_out:,} characters left out of {total:,} bytes; {saved}: {path} (Read or Grep it) …"
    return f"{head}\n{note}\n{tail}"
