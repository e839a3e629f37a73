"""Which programs does this Caddie run, and how are those ended that a killed one left behind?

Who is killed outright can clean up nothing. So each process keeps a file with the process groups that it started, and
holds its lock while it lives; a file that nobody holds names what was left. A number alone proves nothing, for systems
give numbers again: a leftover also carries the file's name in its environment.
"""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from caddie.storage.places import Places

if TYPE_CHECKING:
    import psutil

logger = logging.getLogger(__name__)

VARIABLE = "CADDIE_STARTED_BY"
TERM_GRACE_SECONDS = 1.0
_LOCK = ".lock"


class StartedPrograms:
    """The file is made with the first program and goes with `close`. Without process groups it does nothing."""

    def __init__(self, places: Places) -> None:
        self._path = places.started / secrets.token_hex(8)
        self._lock: FileLock | None = None

    @property
    def environment(self) -> Mapping[str, str]:
        """What a program must be given to be known again."""
        return {VARIABLE: self._path.name}

    def note(self, group: int) -> None:
        """That it cannot be written keeps nothing from running."""
        if os.name != "posix":
            return
        try:
            if self._lock is None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._lock = _lock(self._path)
                self._lock.acquire()
            with self._path.open("a") as file:
                file.write(f"{group}\n")
        except OSError as error:
            logger.warning("cannot keep which programs run: %s", error.strerror)

    def close(self) -> None:
        """They have all ended."""
        if self._lock is not None:
            _forget(self._path)
            self._lock.release()
            self._lock = None

    def end_leftovers(self) -> None:
        """Of processes that are no more. Blocks for a second when there are some."""
        folder = self._path.parent
        for path in [path for path in folder.glob("*") if path.suffix != _LOCK] if folder.is_dir() else ():
            with contextlib.suppress(Timeout, OSError), _lock(path):
                _end(path)
                _forget(path)


def _lock(path: Path) -> FileLock:
    return FileLock(path.with_suffix(_LOCK), timeout=0)


def _forget(path: Path) -> None:
    for one in (path, path.with_suffix(_LOCK)):
        one.unlink(missing_ok=True)


def _end(path: Path) -> None:
    import psutil  # only needed when something was left

    groups = {int(line) for line in path.read_text().split() if line.isdecimal()}
    left = [process for process in psutil.process_iter() if _is_left(process, path.name, groups)]
    for process in left:
        with contextlib.suppress(psutil.Error):
            process.terminate()
    for process in psutil.wait_procs(left, timeout=TERM_GRACE_SECONDS)[1]:
        with contextlib.suppress(psutil.Error):
            process.kill()
    if left:
        logger.warning("ended what an earlier Caddie, which was killed, had left running (%d processes)", len(left))


def _is_left(process: psutil.Process, token: str, groups: set[int]) -> bool:
    """What left the group of its server meant to outlive it."""
    import psutil

    try:
        return os.getpgid(process.pid) in groups and process.environ().get(VARIABLE) == token
    except (psutil.Error, OSError):
        return False
