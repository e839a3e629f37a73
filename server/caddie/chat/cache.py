"""Was the prompt read from the provider's cache, and if not, why?"""

from __future__ import annotations

from caddie.chat.messages import Usage

# Providers keep a prompt for about five minutes after its last use.
KEPT_SECONDS = 300.0
# Shorter prompts are not cached by any of them, and less than this share is a drop.
_LEAST_TOKENS, _LEAST_SHARE = 1024, 0.5

FIRST = "the first request of the conversation"
COMPACTED = "the conversation was compacted"
WENT_BACK = "the conversation went back to an earlier turn"


def cause_of_drop(
    usage: Usage, before: Usage | None, *, idle: float, planned: str, said: str, has_cached: bool
) -> tuple[str, bool]:
    """Why less was read from the cache than the last request had sent, and whether that was to be expected.

    `idle` is the time between the two in seconds, `planned` names what Caddie itself changed, `said` is the
    provider's own reason, `has_cached` whether it ever reported a cached token. An empty cause: there was no drop.
    """
    if before is None:
        return planned or FIRST, True
    if before.input < _LEAST_TOKENS or usage.cached >= _LEAST_SHARE * before.input:
        return "", True
    if planned:
        return planned, True
    if idle > KEPT_SECONDS:
        return f"{idle / 60:.0f} minutes had gone by since the last request", True
    if not has_cached:
        return "the provider reports no cached tokens", True
    return said or "the provider gives no reason", False
