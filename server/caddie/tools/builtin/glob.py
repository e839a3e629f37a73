"""Glob: files by name pattern, newest first, without what the ignore files leave out."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path, PurePath

from pydantic import Field

from caddie.errors import ToolFailure
from caddie.tools.builtin.paths import missing, resolve, searched, shown, where
from caddie.tools.builtin.ripgrep import listing, names_hidden
from caddie.tools.context import ToolContext
from caddie.tools.tool import ToolArgs, ToolResult, builtin, text_result


class GlobArgs(ToolArgs):
    pattern: str = Field(
        description="For example `**/*.py`, `src/**/*.{ts,tsx}`, `test_*.py`. Without a slash it matches in any folder."
    )
    path: str = Field(
        "",
        description="Folder to look in, relative to the workspace or absolute. Left out: the whole workspace, with all "
        "of its folders.",
    )
    limit: int = Field(200, ge=1, le=2_000, description="How many paths to return at most.")


async def glob(args: GlobArgs, context: ToolContext) -> ToolResult:
    folder, pattern = _rooted(resolve(context.workspace, args.path or "."), args.pattern)
    is_everywhere = not args.path and not os.path.isabs(args.pattern)
    folders = await asyncio.to_thread(searched, folder, context.further() if is_everywhere else ())
    if not folders:
        raise await asyncio.to_thread(_no_folder, folder, context)
    found = [path for each in folders for path in await _matching(each, pattern)]
    newest = await asyncio.to_thread(_newest_first, found)
    return text_result(_report(newest, args, context))


async def _matching(folder: Path, pattern: str) -> set[Path]:
    """A glob overrides the ignore files in rg; what it lists without one honours them."""
    hidden = names_hidden(pattern)
    matching, allowed = await asyncio.gather(
        listing(folder, pattern=pattern, hidden=hidden), listing(folder, hidden=hidden)
    )
    return {folder / name for name in matching & allowed}


def _rooted(folder: Path, pattern: str) -> tuple[Path, str]:
    """An absolute pattern says itself where to look: its leading parts without wildcards are the folder."""
    if not pattern.strip() or "\0" in pattern:
        raise ToolFailure(f"Expected a pattern such as `**/*.py`, got {pattern!r}.")
    if not os.path.isabs(pattern):
        return folder, pattern
    parts = PurePath(pattern).parts
    literal = next((at for at, part in enumerate(parts) if set("*?[{") & set(part)), len(parts) - 1)
    return Path(*parts[:literal]), "/".join(parts[literal:])


def _no_folder(folder: Path, context: ToolContext) -> ToolFailure:
    if os.path.exists(folder):
        return ToolFailure(f"Expected a folder, but {shown(context.workspace, folder)!r} is a file.")
    return missing(context.workspace, folder, context.further())


def _newest_first(paths: Iterable[Path]) -> list[Path]:
    dated = [(_modified(path), path) for path in dict.fromkeys(paths)]
    return [path for _, path in sorted(dated, key=lambda pair: (-pair[0], pair[1]))]


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _report(found: list[Path], args: GlobArgs, context: ToolContext) -> str:
    if not found:
        place = where(args.path, context)
        return f"No file matches {args.pattern!r} in {place} (ignored and hidden files are left out)."
    lines = [shown(context.workspace, path) for path in found[: args.limit]]
    if len(found) > args.limit:
        lines.append(f"… {len(found) - args.limit:,} more of {len(found):,} files not shown. Narrow the pattern.")
    return "\n".join(lines)


TOOL = builtin(
    "Glob",
    "Finds files by name pattern, newest first. Leaves out what .gitignore and .ignore name, and hidden files unless "
    "the pattern names them (`.github/**`). To search in contents use Grep.",
    GlobArgs,
    glob,
    search_hint="find files by name, wildcard, extension, list paths",
    read_only=True,
)
