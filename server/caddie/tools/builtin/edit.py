"""Edit: exchange one exact piece of text in a file that was read before."""

from __future__ import annotations

import asyncio
import difflib
import re
from bisect import bisect_left
from dataclasses import dataclass

from pydantic import Field

from caddie.errors import ToolFailure
from caddie.tools.builtin.diffs import short_diff
from caddie.tools.builtin.documents import Document, load, require_seen, store
from caddie.tools.builtin.notebooks import is_notebook, parse
from caddie.tools.builtin.paths import resolve
from caddie.tools.builtin.problems import new_problems, problems_now
from caddie.tools.builtin.text_files import line_end, lines_of, with_line_end
from caddie.tools.context import ToolContext
from caddie.tools.tool import DiffPreview, Preview, ToolArgs, ToolResult, builtin, text_result

MAX_COMPARED_CHARS = 600_000
MAX_NAMED = 10
MAX_NEAR = 3
_NUMBERED = re.compile(r"\s*\d+\t")


class EditArgs(ToolArgs):
    path: str = Field(description="File to change, relative to the workspace or absolute.")
    old_string: str = Field(
        description="The exact text to replace, as Read shows it without the line numbers, indentation included. "
        "It must be there once: add lines round it until it is unique, or use replace_all."
    )
    new_string: str = Field(description="The text to put in its place.")
    replace_all: bool = Field(False, description="Replace every occurrence instead of exactly one.")


@dataclass(frozen=True, slots=True)
class Plan:
    document: Document
    after: str
    count: int


async def preview_edit(args: EditArgs, context: ToolContext) -> Preview:
    plan = await _plan(args, context)
    return DiffPreview(str(plan.document.path), plan.document.text, plan.after)


async def edit(args: EditArgs, context: ToolContext) -> ToolResult:
    plan = await _plan(args, context)
    known = await problems_now(plan.document, context)
    await store(plan.document, plan.after, context)
    diff = await asyncio.to_thread(short_diff, plan.document.text, plan.after)
    times = "1 place" if plan.count == 1 else f"{plan.count:,} places"
    where = " (in the editor's buffer)" if plan.document.is_open else ""
    problems = await new_problems(known, plan.document, context)
    return text_result(f"Changed {plan.document.name!r} in {times}{where}.\n{diff}{problems}")


async def _plan(args: EditArgs, context: ToolContext) -> Plan:
    if args.old_string == args.new_string:
        raise ToolFailure("old_string and new_string are the same, so there is nothing to change.")
    if not args.old_string:
        raise ToolFailure("old_string is empty. Give the text to replace, or use Write to write a whole file.")
    path = await asyncio.to_thread(resolve, context.workspace, args.path)
    document = await load(path, context)
    require_seen(document, context)
    if is_notebook(document.name) and await asyncio.to_thread(parse, document.text) is not None:
        raise ToolFailure(f"{document.name!r} is a notebook. NotebookEdit changes its cells and keeps its JSON whole.")
    after, count = await asyncio.to_thread(replaced, document.text, args.old_string, args.new_string)
    if count == 0:
        raise ToolFailure(await asyncio.to_thread(_why_not_found, document, args.old_string))
    if count > 1 and not args.replace_all:
        lines = await asyncio.to_thread(_lines_with, document.text, args.old_string)
        raise ToolFailure(
            f"old_string is in {document.name!r} {count:,} times, {lines}. Add lines round it until it is unique, "
            "or set replace_all to change them all."
        )
    return Plan(document, after, count)


def replaced(text: str, old: str, new: str) -> tuple[str, int]:
    """The new text and how many places were changed. Line ends of `old` match any; `new` gets those of the file."""
    new = with_line_end(new, line_end(text))
    if "\r" not in text:
        plain = with_line_end(old, "\n")
        return text.replace(plain, new), text.count(plain)
    pieces, end = [], 0
    for start, stop in _places(text, with_line_end(old, "\n")):
        pieces += [text[end:start], new]
        end = stop
    return "".join([*pieces, text[end:]]), len(pieces) // 2


def _places(text: str, old: str) -> list[tuple[int, int]]:
    """Where `old` (LF only) is in `text` (any line ends), so that nothing outside these places is touched."""
    plain = text.replace("\r\n", "\n")
    widened = [match.start() - nth for nth, match in enumerate(re.finditer("\r\n", text))]  # their LFs in `plain`

    def in_text(at: int) -> int:
        return at + bisect_left(widened, at)

    return [(in_text(match.start()), in_text(match.end())) for match in re.finditer(re.escape(old), plain)]


def _lines_with(text: str, old: str) -> str:
    """`at lines 3, 10 and 25`: where each match begins."""
    plain, old = with_line_end(text, "\n"), with_line_end(old, "\n")
    places = [match.start() for match in re.finditer(re.escape(old), plain)]
    numbers = [plain.count("\n", 0, at) + 1 for at in places[:MAX_NAMED]]
    if len(places) > MAX_NAMED:
        return f"first at lines {', '.join(map(str, numbers))}"
    *first, last = dict.fromkeys(numbers)
    return f"at lines {', '.join(map(str, first))} and {last}" if first else f"all in line {last}"


def _why_not_found(document: Document, old: str) -> str:
    lines, wanted = lines_of(document.text), lines_of(old)
    start = _start_ignoring_whitespace(lines, wanted)
    if start is not None:
        end = start + len(wanted)
        return (
            f"old_string is not in {document.name!r}: only whitespace differs from lines {start + 1}-{end}. "
            f"They are exactly:\n{_quoted(lines, start, end)}"
        )
    if wanted and all(_NUMBERED.match(line) for line in wanted):
        return "old_string holds the line numbers that Read shows before each line. Leave out number and tab."
    starts = _nearest(lines, wanted)
    if not starts:
        return f"old_string is not in {document.name!r}, nor anything like it. Read the file again."
    shown = _quoted(lines, max(0, starts[0] - 1), min(len(lines), starts[0] + len(wanted) + 1))
    others = f"\nAlso near: {', '.join(f'line {start + 1}' for start in starts[1:])}." if starts[1:] else ""
    return f"old_string is not in {document.name!r}. The nearest lines are:\n{shown}{others}"


def _start_ignoring_whitespace(lines: list[str], wanted: list[str]) -> int | None:
    have, want = ["".join(line.split()) for line in lines], ["".join(line.split()) for line in wanted]
    if not any(want):
        return None
    return next((at for at in range(len(have) - len(want) + 1) if have[at : at + len(want)] == want), None)


def _nearest(lines: list[str], wanted: list[str]) -> list[int]:
    """Where the blocks begin whose most telling line is nearest to that of `wanted`, best first."""
    if not wanted:
        return []
    anchor = max(range(len(wanted)), key=lambda at: len(wanted[at].strip()))
    pool: dict[str, int] = {}
    left = MAX_COMPARED_CHARS
    for at, line in enumerate(lines):
        if len(line) < 500 and pool.setdefault(line.strip(), at) == at:
            left -= len(line)
        if left < 0:
            break
    near = difflib.get_close_matches(wanted[anchor].strip()[:500], pool, n=MAX_NEAR, cutoff=0.5)
    return [max(0, pool[line] - anchor) for line in near]


def _quoted(lines: list[str], start: int, end: int) -> str:
    return "\n".join(f"{number + 1:6}\t{lines[number][:500]}" for number in range(start, min(end, start + 30)))


TOOL = builtin(
    "Edit",
    "Replaces an exact piece of text in a file. The file must have been read with Read before. old_string must match "
    "exactly, whitespace included, and be unique unless replace_all is set. Shows the change as a diff.",
    EditArgs,
    edit,
    preview=preview_edit,
    search_hint="change modify replace text in file, patch, refactor, rename",
    edits_files=True,
)
