"""How do Glob and Grep use ripgrep? Found beside Python or on the PATH, never configured by files, always bounded."""

from __future__ import annotations

import functools
import os
import shutil
import sysconfig
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from caddie.errors import ToolFailure
from caddie.tools.builtin.process import environment, run

TIMEOUT = 60.0
MAX_ERROR_BYTES = 20_000
_COMMON = ("--no-config", "--no-require-git", "--color=never", "--null")


@functools.cache
def find_ripgrep() -> str:
    found = shutil.which("rg", path=sysconfig.get_path("scripts")) or shutil.which("rg")
    if found is None:
        raise ToolFailure("ripgrep (rg) is missing. It comes with Caddie; installing Caddie again brings it back.")
    return found


class Records:
    """Calls `on_record` for each piece of the output that ends with `separator`, however it is cut into chunks."""

    def __init__(self, separator: bytes, on_record: Callable[[bytes], None]) -> None:
        self._separator = separator
        self._on_record = on_record
        self._rest = bytearray()

    def feed(self, data: bytes) -> None:
        self._rest += data
        if self._separator in data:
            *complete, rest = bytes(self._rest).split(self._separator)
            self._rest = bytearray(rest)
            for record in complete:
                self._on_record(record)


async def ripgrep(options: Sequence[str], records: Records, *, cwd: Path) -> str:
    """Run rg in `cwd`; returns what it complained about while it went on.

    Raises: ToolFailure when it refused the arguments or took too long.
    """
    errors = bytearray()
    ending = await run(
        [find_ripgrep(), *_COMMON, *options],
        cwd=cwd,
        env=environment(os.environ),
        timeout=TIMEOUT,
        on_output=records.feed,
        on_error=lambda data: errors.extend(data[: MAX_ERROR_BYTES - len(errors)]),
    )
    complaint = errors.decode("utf-8", "replace").strip()
    if ending.timed_out:
        raise ToolFailure(f"The search took longer than {TIMEOUT:g} seconds. Narrow it with path or glob.")
    if ending.exit_code not in (0, 1, 2):
        raise ToolFailure(f"The search broke off: {_first_line(complaint)}")
    return complaint if ending.exit_code == 2 else ""


def refused(complaint: str) -> ToolFailure:
    """rg's first line, and the line with the cause where it drew a picture of the pattern in between."""
    lines = [line for line in complaint.splitlines() if line.strip()]
    cause = next((line for line in lines[1:] if line.startswith("error:")), "")
    return ToolFailure(f"The search was refused: {' '.join(filter(None, [_first_line(complaint), cause]))}")


def _first_line(complaint: str) -> str:
    return (complaint.splitlines() or ["ripgrep gave no reason"])[0].removeprefix("rg: ")


def glob_option(pattern: str) -> str:
    """`pattern` so that rg takes it as a plain include: relative, and `!` as a character."""
    pattern = pattern.removeprefix("./")
    return f"--glob={pattern.replace('!', chr(92) + '!', 1) if pattern.startswith('!') else pattern}"


def names_hidden(pattern: str) -> bool:
    """Whether the pattern itself speaks of hidden files: `.env`, `.github/**`, `src/{.a,.b}`."""
    return any(part.startswith((".", "{.")) and part != ".." for part in PurePosixPath(pattern).parts)


async def listing(cwd: Path, *, pattern: str = "", hidden: bool = False) -> set[str]:
    """The files under `cwd`, as rg sees them, relative to it. With `pattern`, also ignored ones that match it."""
    found: set[str] = set()
    options = ["--files", *(["--hidden"] if hidden else []), *([glob_option(pattern)] if pattern else []), "--", "./"]
    records = Records(b"\0", lambda record: found.add(os.fsdecode(record).removeprefix("./")))
    complaint = await ripgrep(options, records, cwd=cwd)
    if complaint and not found:
        raise refused(complaint)
    return found
