"""Something wrong in the settings, with the place where a person can mend it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Place = tuple[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Finding:
    """`path` is None for settings that no file of ours holds. `place` is lines and columns from 0, in characters;
    `line` is the text of its first line."""

    scope: str
    key: str
    message: str
    severity: Literal["error", "warning", "notice"]
    path: Path | None = None
    place: Place = ((0, 0), (0, 0))
    line: str = ""

    @property
    def words(self) -> str:
        where = f"{self.path.name}, line {self.place[0][0] + 1}" if self.path else f"{self.scope} settings"
        return f"{where}: {self.key or 'the file'}: {self.message}"
