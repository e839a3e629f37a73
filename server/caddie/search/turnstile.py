"""A lock that whoever waits for gets: a loop of searches in threads must not keep a difference out for seconds."""

from __future__ import annotations

import threading
from types import TracebackType


class Turnstile:
    """Reentrant. Only one thread at a time may wait for the lock itself; the others queue before it, so that the one
    that has just let go cannot take it again first, as it could with `threading.RLock` alone."""

    def __init__(self) -> None:
        self._entrance = threading.Lock()
        self._lock = threading.Lock()
        self._owner = 0
        self._depth = 0

    def __enter__(self) -> None:
        if self._owner != threading.get_ident():
            with self._entrance:
                self._lock.acquire()
            self._owner = threading.get_ident()
        self._depth += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._depth -= 1
        if not self._depth:
            self._owner = 0
            self._lock.release()
