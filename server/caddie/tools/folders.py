"""Which folders are the workspace, when the editor's window has several?

The first is where relative paths, settings and sessions are at home, as long as the process lives. The others, called
further ones, are as much inside; nothing is read from them because they are in the window.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def further_folders(first: Path, told: Iterable[Path]) -> tuple[Path, ...]:
    """Where those of the window really lie, in order. One that lies inside another, or is it, adds nothing."""
    real = [Path(os.path.realpath(folder)) for folder in told if folder.is_absolute() and "\0" not in str(folder)]
    found: list[Path] = []
    for folder in dict.fromkeys(real):
        others = [Path(os.path.realpath(first)), *(other for other in real if other != folder)]
        if not any(folder.is_relative_to(other) for other in others):
            found.append(folder)
    return tuple(found)
