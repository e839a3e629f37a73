"""A call of a tool that is always at hand, before its schema is looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class CoreCall:
    """`values` are by role; `arguments.py` gives them the names of the tool's schema."""

    tool: str
    values: dict[str, Any]
