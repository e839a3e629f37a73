"""Which file does the model mean? Turns what it wrote into a path, and says helpfully why that cannot be done."""

from __future__ import annotations

import difflib
import errno
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from caddie.errors import ToolFailure
from caddie.tools.context import ToolContext


def resolve(workspace: Path, path: str) -> Path:
    """The absolute path, `..` removed and symbolic links kept, so that editors recognise it.

    Raises: ToolFailure when `path` cannot be one.
    """
    if not path.strip():
        raise ToolFailure("Expected a path, got an empty text.")
    if "\0" in path:
        raise ToolFailure(f"{path!r} holds a NUL character, which no path can have.")
    return Path(os.path.normpath(workspace / os.path.expanduser(path)))


def shown(workspace: Path, path: Path) -> str:
    """How a path is written in results: relative to the workspace where it is inside."""
    return path.relative_to(workspace).as_posix() if path.is_relative_to(workspace) else str(path)


def searched(path: Path, further: Iterable[Path]) -> list[Path]:
    """The folders to search: `path`, and further ones. Those that are not there are left out."""
    return [folder for folder in (path, *further) if os.path.isdir(folder)]


def where(path: str, context: ToolContext) -> str:
    """What was searched, in words."""
    everywhere = "the folders of the workspace" if context.further() else "the workspace"
    return repr(path) if path else everywhere


def missing(workspace: Path, path: Path, further: Sequence[Path] = ()) -> ToolFailure:
    """The error for a path that does not exist, with the nearest names that do. Editors write paths in a window of
    several folders with the folder's name in front, so people do too."""
    name = shown(workspace, path)
    folders = (workspace, *further) if further else ()
    if meant := next((folder for folder in folders if path.is_relative_to(workspace / folder.name)), None):
        return ToolFailure(f"There is no {name!r}. Paths in the folder {meant.name!r} begin with {str(meant)!r}.")
    folder = next(parent for parent in path.parents if os.path.isdir(parent))
    wanted = path.relative_to(folder).parts[0]
    near = difflib.get_close_matches(wanted, _names(folder), n=3, cutoff=0.5)
    where = "this folder" if folder == path.parent else f"{shown(workspace, folder)!r}, the nearest existing folder,"
    if near:
        return ToolFailure(f"There is no {name!r}. Nearest names in {where}: {', '.join(near)}.")
    return ToolFailure(f"There is no {name!r}, and {where} holds no similar name. Glob finds files by pattern.")


def os_failure(error: OSError, name: str) -> ToolFailure:
    """The system's refusal as one sentence, without the paths that Python puts into it."""
    reason = os.strerror(error.errno) if error.errno else "the system refused"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return ToolFailure(f"No permission to use {name!r} ({reason.lower()}).")
    return ToolFailure(f"{name!r} cannot be used: {reason.lower()}.")


def _names(folder: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in folder.iterdir())
    except OSError:
        return []
