"""Grep: a regular expression over the contents of files, with ripgrep."""

from __future__ import annotations

import asyncio
import base64
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from caddie.errors import ToolFailure
from caddie.tools.builtin.paths import missing, resolve, searched, shown, where
from caddie.tools.builtin.ripgrep import Records, glob_option, listing, names_hidden, refused, ripgrep
from caddie.tools.context import ToolContext
from caddie.tools.tool import ToolArgs, ToolResult, builtin, text_result

MAX_LINE = 500
MAX_CHARACTERS = 30_000


class GrepArgs(ToolArgs):
    pattern: str = Field(description="Regular expression (Rust syntax: no look-around); escape literal ( ) { } [ ] . ?")
    path: str = Field(
        "",
        description="File or folder to search, relative to the workspace or absolute. Left out: the whole workspace, "
        "with all of its folders.",
    )
    glob: str = Field("", description="Only files that match, for example `*.py` or `src/**/*.{ts,tsx}`.")
    output_mode: Literal["content", "files_with_matches", "count"] = Field(
        "content", description="Matching lines with their numbers, only the paths, or the matching lines per file."
    )
    case_insensitive: bool = Field(False, description="Take a and A as the same.")
    context: int = Field(0, ge=0, le=20, description="Lines to show before and after each match (content only).")
    multiline: bool = Field(False, description="Let a match span lines, and `.` match line ends.")
    limit: int = Field(200, ge=1, le=2_000, description="How many matches (or files) to return at most.")


@dataclass(slots=True)
class Found:
    """What is shown, and how much there was, over all that is searched."""

    limit: int
    lines: list[str] = field(default_factory=list)
    size: int = 0
    total: int = 0
    shown: int = 0
    is_full: bool = False
    files: set[str] = field(default_factory=set)

    def add(self, text: str, *, weight: int = 1) -> None:
        """One match (weight 1), or a line that comes with one (weight 0)."""
        self.total += weight
        self.is_full = self.is_full or self.shown + weight > self.limit or self.size > MAX_CHARACTERS
        if self.is_full:
            return
        self.lines.append(text)
        self.shown += weight
        self.size += len(text) + 1


@dataclass(slots=True)
class Place:
    """One folder's part of a search. `allowed` None takes every file; what is in `done` was searched before."""

    found: Found
    folder: Path
    name: str
    allowed: set[str] | None
    done: Path | None = None

    def takes(self, name: str) -> bool:
        is_new = self.done is None or not (self.folder / name).is_relative_to(self.done)
        return is_new and (self.allowed is None or name in self.allowed)

    def shown(self, name: str) -> str:
        return name if self.name == "." else f"{self.name}/{name}"


async def grep(args: GrepArgs, context: ToolContext) -> ToolResult:
    if "\0" in args.pattern + args.glob:
        raise ToolFailure("The pattern holds a NUL character, which cannot be searched for.")
    path = resolve(context.workspace, args.path or ".")
    further = () if args.path else context.further()
    found, hidden = Found(args.limit), names_hidden(args.glob)
    complaints: list[str] = []
    for cwd, target, done in await asyncio.to_thread(_where, path, further, context):
        allowed = await listing(cwd, hidden=hidden) if args.glob and target == "./" else None
        records = _records(args, Place(found, cwd, shown(context.workspace, cwd), allowed, done))
        complaints.append(await ripgrep([*_options(args, hidden), "--", target], records, cwd=cwd))
    if any(complaints) and not found.total:
        raise refused(next(filter(None, complaints)))
    return text_result(_report(found, args, context))


def _where(path: Path, further: Sequence[Path], context: ToolContext) -> list[tuple[Path, str, Path | None]]:
    """The folders to run in, as globs count from there, what to search from there, and what to leave out as done."""
    if folders := searched(path, further):
        return [(folder, "./", None if folder == path else path) for folder in folders]
    if not os.path.exists(path):
        raise missing(context.workspace, path, context.further())
    return [(path.parent, f"./{path.name}", None)]


def _options(args: GrepArgs, hidden: bool) -> list[str]:
    return [
        "--sort=path",
        *(["--hidden"] if hidden else []),
        *(["--ignore-case"] if args.case_insensitive else []),
        *(["--multiline", "--multiline-dotall"] if args.multiline else []),
        *([glob_option(args.glob)] if args.glob else []),
        *(["--json", f"--context={args.context}"] if args.output_mode == "content" else ["--count", "--with-filename"]),
        f"--regexp={args.pattern}",
    ]


def _records(args: GrepArgs, place: Place) -> Records:
    if args.output_mode == "content":
        return Records(b"\n", ContentReader(place, with_context=args.context > 0).read)
    return Records(b"\n", lambda record: _count(record, place, with_counts=args.output_mode == "count"))


def _count(record: bytes, place: Place, *, with_counts: bool) -> None:
    name, _, count = record.partition(b"\0")
    path = os.fsdecode(name).removeprefix("./")
    if place.takes(path):
        place.found.files.add(place.shown(path))
        place.found.add(place.shown(path) + (f": {int(count):,}" if with_counts else ""))


class ContentReader:
    """rg's JSON messages, turned into lines under a heading per file."""

    def __init__(self, place: Place, *, with_context: bool) -> None:
        self._place = place
        self._found = place.found
        self._with_context = with_context
        self._last_line = 0

    def read(self, record: bytes) -> None:
        message = json.loads(record)
        if message["type"] not in ("match", "context"):
            return
        data = message["data"]
        path = _text(data["path"]).removeprefix("./")
        if self._place.takes(path):
            self._add(self._place.shown(path), data, is_match=message["type"] == "match")

    def _add(self, path: str, data: dict[str, Any], *, is_match: bool) -> None:
        number = data["line_number"]
        lines = _text(data["lines"]).removesuffix("\n").split("\n")
        text = "\n".join(f"{at}{':' if is_match else '-'} {_cut(line)}" for at, line in enumerate(lines, start=number))
        self._found.add(self._heading(path, number) + text, weight=int(is_match))
        self._last_line = number + len(lines) - 1

    def _heading(self, path: str, number: int) -> str:
        if path not in self._found.files:
            self._found.files.add(path)
            return ("\n" if self._found.lines else "") + path + "\n"
        return "--\n" if self._with_context and number > self._last_line + 1 else ""


def _text(value: dict[str, str]) -> str:
    """rg gives text, or base64 of what is not UTF-8."""
    return value["text"] if "text" in value else base64.b64decode(value["bytes"]).decode("utf-8", "replace")


def _cut(line: str) -> str:
    line = line.removesuffix("\r")
    return line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}… ({len(line) - MAX_LINE:,} more characters)"


def _report(found: Found, args: GrepArgs, context: ToolContext) -> str:
    if not found.total:
        place = where(args.path, context)
        return f"No match for {args.pattern!r} in {place} (ignored and hidden files are left out)."
    text = "\n".join(found.lines)
    if found.total == found.shown:
        return text
    what = (
        f"{found.total:,} matching lines in {len(found.files):,} files"
        if args.output_mode == "content"
        else (f"{found.total:,} files")
    )
    return f"{text}\n\n… {found.total - found.shown:,} more of {what} not shown. Narrow with path or glob."


TOOL = builtin(
    "Grep",
    "Searches the contents of files for a regular expression. Leaves out what .gitignore and .ignore name, hidden "
    "files unless glob names them, and binary files. Sorted by path. Unsaved changes in the editor are not seen.",
    GrepArgs,
    grep,
    search_hint="search text in files, regex, find usages, occurrences, code search",
    read_only=True,
)
