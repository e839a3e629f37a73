"""What does a change look like in few lines? A unified diff that costs little for large files too."""

from __future__ import annotations

import difflib

from caddie.tools.builtin.text_files import lines_of

CONTEXT = 3
MAX_LINES = 60
MAX_LINE = 300


def short_diff(before: str, after: str) -> str:
    """Hunks only, without file headers; long ones are cut and say so."""
    old, new = lines_of(before), lines_of(after)
    skipped = _equal_start(old, new)
    old, new = old[skipped:], new[skipped:]
    same_tail = _equal_start(old[::-1], new[::-1])
    old, new = old[: len(old) - same_tail], new[: len(new) - same_tail]
    hunks = list(difflib.unified_diff(old, new, n=CONTEXT, lineterm=""))[2:]
    lines = [_moved(line, skipped) if line.startswith("@@") else line[:MAX_LINE] for line in hunks]
    if len(lines) > MAX_LINES:
        lines = [*lines[:MAX_LINES], f"… {len(lines) - MAX_LINES:,} more lines of this diff"]
    return "\n".join(lines)


def _equal_start(old: list[str], new: list[str]) -> int:
    """How many equal lines at the start need no comparing; the context shown round a change is left over."""
    shorter = min(len(old), len(new))
    return max(0, next((at for at in range(shorter) if old[at] != new[at]), shorter) - CONTEXT)


def _moved(header: str, by: int) -> str:
    """`@@ -1,3 +1,4 @@` with both starts moved down by `by` lines."""
    marks = header.split()
    return " ".join([marks[0], _moved_range(marks[1], by), _moved_range(marks[2], by), marks[3]])


def _moved_range(mark: str, by: int) -> str:
    start, comma, count = mark[1:].partition(",")
    return f"{mark[0]}{int(start) + by}{comma}{count}"
