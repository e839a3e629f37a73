"""The conversations of this process: opened once, then kept, each with at most one running turn."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator

from caddie.chat.session import CUT, Record, Rewound, Said, Session, Titled
from caddie.errors import InvalidInput, SessionBusy, SessionNotFound
from caddie.storage.sessions import SessionStore, Summary


class Sessions:
    def __init__(self, store: SessionStore, *, on_open: Callable[[Session], None] = lambda session: None) -> None:
        self._store = store
        self._on_open = on_open
        self._open: dict[str, Session] = {}
        self._notices: dict[str, list[str]] = {}
        self._mended: dict[str, tuple[Record, ...]] = {}

    def create(self) -> Session:
        session = self._store.create()
        self._open[session.id] = session
        return session

    async def get(self, session_id: str) -> Session:
        """Raises: SessionNotFound, InvalidInput."""
        known = self._open.get(session_id)
        if known is None or not (known.is_running or await self._store.is_current(session_id)):
            await self._store.flush()  # another window may have gone on with it
            session, notices = await asyncio.to_thread(self._store.open, session_id)
            if self._open.get(session_id) is known:
                self._open[session_id] = session
                self._notices[session_id] = notices
                self._mend(session)
                self._on_open(session)
        if (found := self._open.get(session_id)) is None:
            raise SessionNotFound(f"The session {session_id!r} was deleted at this moment.", id=session_id)
        return found

    @contextlib.contextmanager
    def running(self, session: Session) -> Iterator[None]:
        """Nobody else changes it meanwhile, in no window. Raises: SessionBusy."""
        with self._store.claimed(session.id):
            session.is_running = True
            try:
                yield
            finally:
                session.is_running = False

    def is_cut(self, session: Session) -> bool:
        """Its last turn came to no end, and does not run in another window either."""
        return session.is_cut and not self._store.is_claimed(session.id)

    def notices(self, session_id: str) -> list[str]:
        return self._notices.get(session_id, [])

    def find(self, session_id: str) -> Session | None:
        return self._open.get(session_id)

    async def summaries(self) -> list[Summary]:
        await self._store.flush()
        return await asyncio.to_thread(self._store.list)

    async def rename(self, session_id: str, title: str) -> Session:
        session = await self.get(session_id)
        record = Titled(title)
        session.apply(record)
        self._store.append(session_id, record)
        await self._store.flush()
        return session

    @contextlib.asynccontextmanager
    async def held(self, session_id: str, to_do: str) -> AsyncIterator[Session]:
        """No turn begins meanwhile. `to_do` ends the sentence of a refusal. Raises: SessionNotFound, SessionBusy."""
        session = await self.get(session_id)
        if session.is_running:
            raise SessionBusy(f"A turn is running in this session; stop it or wait for it, then {to_do}.")
        with self.running(session):
            yield session

    async def rewind(self, session_id: str, turn_id: str) -> Session:
        """Forget a turn and all that followed it; files stay as they are.

        Raises: SessionNotFound, SessionBusy, InvalidInput when there is no such turn.
        """
        async with self.held(session_id, "go back") as session:
            if turn_id not in session.marks:
                why = "was summarized since" if session.compacted else "does not exist in it"
                raise InvalidInput(f"The conversation cannot go back to the turn {turn_id!r}: it {why}.")
            record = Rewound(turn_id)
            session.apply(record)
            self._store.append(session_id, record)
            await self._store.flush()
            return session

    async def delete(self, session_id: str) -> None:
        session = self._open.get(session_id)
        if session and session.is_running:
            raise SessionBusy("A turn is running in this session; stop it before you delete the session.")
        with self._store.claimed(session_id):
            await self._store.flush()
            await asyncio.to_thread(self._store.delete, session_id)
            self._open.pop(session_id, None)
            self._notices.pop(session_id, None)
            self._mended.pop(session_id, None)

    def recorder(self, session_id: str) -> Callable[[Record], None]:
        for record in self._mended.pop(session_id, ()):
            self._store.append(session_id, record)
        return lambda record: self._store.append(session_id, record)

    async def flush(self) -> None:
        await self._store.flush()

    def close(self) -> None:
        self._store.close()

    def _mend(self, session: Session) -> None:
        """A process that died in a turn leaves calls unanswered; the history must be valid before it is sent.

        It is stored when the session goes on: until then the turn may be one that runs in another window."""
        self._mended[session.id] = tuple(Said("", message) for message in session.repair(CUT))
        for record in self._mended[session.id]:
            session.apply(record)
