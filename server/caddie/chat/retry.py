"""When a request to the provider failed: again, after how long, or not at all?

The waits are those of the vendors' own SDKs.
"""

from __future__ import annotations

from caddie.errors import ProviderError

MAX_RETRIES = 3
LONGEST_WAIT = 60.0
_FIRST_WAIT = 0.5
_LONGEST_OWN_WAIT = 8.0


def retry_wait(error: ProviderError, retries_done: int, jitter: float) -> float | None:
    """Seconds to wait, or None to give up. `jitter` is in 0..1 and shortens our own waits by up to a quarter."""
    if not error.retryable or retries_done >= MAX_RETRIES:
        return None
    if error.retry_after is not None:
        return error.retry_after if error.retry_after <= LONGEST_WAIT else None
    wait: float = min(_FIRST_WAIT * 2**retries_done, _LONGEST_OWN_WAIT)
    return wait * (1 - 0.25 * jitter)
