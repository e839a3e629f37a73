"""A provider refused a request: can the next one be made so that it is taken? Each way is tried once in a turn."""

from __future__ import annotations

from typing import Literal

from caddie.chat.session import Prefix
from caddie.errors import ContextOverflow, DeferralRejected, ProviderError, ThinkingRejected, ToolRejected

Mend = Literal["leave native", "leave out tool", "drop thinking", "compact"]
MAX_TOOLS = 10
"""So many bad tools are left out in one turn, one after the other; more of them are no accident."""


class Mends:
    def __init__(self) -> None:
        self._done: set[str] = set()

    def of(self, error: ProviderError, prefix: Prefix) -> Mend | None:
        """What to do about the error; None when it is about something else or that was tried already."""
        mend = _mend(error, prefix)
        key = f"{mend} {error.tool}" if isinstance(error, ToolRejected) else str(mend)
        if mend is None or key in self._done or sum(name.startswith("leave out") for name in self._done) >= MAX_TOOLS:
            return None
        self._done.add(key)
        return mend


def _mend(error: ProviderError, prefix: Prefix) -> Mend | None:
    match error:
        case ContextOverflow():
            return "compact"
        case DeferralRejected() if prefix.deferral == "native":
            return "leave native"
        case ToolRejected() if any(tool.name == error.tool for tool in (*prefix.tools, *prefix.loadable)):
            return "leave out tool"
        case ToolRejected() if prefix.deferral == "native":
            return "leave native"  # a tool that a search loaded into the history
        case ThinkingRejected():
            return "drop thinking"
    return None
