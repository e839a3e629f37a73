"""Results that are too long for the conversation, as files that the model can read in parts."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from uuid import uuid4

from caddie.storage.places import Places

KEEP_SECONDS = 7 * 24 * 3600


class ResultStore:
    def __init__(self, places: Places) -> None:
        self._folder = places.results

    def spill(self, text: str) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{uuid4().hex[:6]}.txt"
        path.touch(mode=0o600)
        path.write_text(text, encoding="utf-8", errors="replace")
        return path

    def read(self, path: Path) -> str | None:
        """None when it is not kept any more, or is none of ours."""
        if path.parent != self._folder:
            return None
        try:
            return path.read_text(encoding="utf-8")
        except OSError:
            return None

    def remove_old(self) -> None:
        """Called once at start, off the loop."""
        if not self._folder.is_dir():
            return
        oldest = time.time() - KEEP_SECONDS
        for path in self._folder.glob("*.txt"):
            with contextlib.suppress(FileNotFoundError):  # another process that starts removes them too
                if path.stat().st_mtime < oldest:
                    path.unlink()
