"""Does a message order something to be done, or does it ask about it or forbid it?"""

from __future__ import annotations

import re

from caddie.providers.planning.choose import changes

_CORE_CHANGES = frozenset({"Bash", "Write", "Edit"})
_FORBIDS = re.compile(
    r"\b(?:don['’]?t|do not|does not|must not|mustn['’]?t|should not|shouldn['’]?t|never|avoid|without ever)\b"
    r"|不要|不用|不必|请勿|切勿|^请?别",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"^\W*(?:did|has|have|had|was|were|is|are|am|should|shall|may|might|would it|can i|could i|must i|do i"
    r"|why|who|when (?:did|was|do|does)|what (?:would|will|happens?|if|does|did|do)|how (?:do|does|did|would|can|to))\b"
    r"|^(?!.*(?:帮我|给我|替我|麻烦|请)).*(?:吗|么)\s*[?？。]*$|是否|有没有|为什么|会怎么?样|会发生什么",
    re.IGNORECASE,
)


def is_only_spoken_of(tool: str, text: str) -> bool:
    """Whether this tool would change something that the message does not tell anybody to change."""
    is_change = tool in _CORE_CHANGES or changes(tool.rsplit("__", 1)[-1])
    return is_change and bool(_FORBIDS.search(text) or _ASKS.search(text))
