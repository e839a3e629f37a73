"""The person asks for a shorter conversation: notes take its place, and the next turn begins with a new prefix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from caddie.chat.compaction import compacted
from caddie.engine.tokens import estimate_tokens, family_of
from caddie.errors import InvalidInput, SessionBusy

if TYPE_CHECKING:
    from caddie.engine.engine import Engine


@dataclass(frozen=True, slots=True)
class Compaction:
    """Tokens are estimates."""

    notes: str
    tokens_before: int
    tokens_after: int


async def compact(engine: Engine, session_id: str) -> Compaction:
    """Raises: SessionNotFound, SessionBusy, InvalidInput when nothing was said yet, ProviderAuth, ProviderRejected."""
    session = await engine.sessions.get(session_id)
    if session.is_running:
        raise SessionBusy("A turn is running in this session; compact it when the turn has ended.")
    if not session.messages:
        raise InvalidInput("There is nothing to compact: no message was said since the conversation began.")
    with engine.sessions.running(session):
        chosen = await engine.deferrals.chosen(session_id)
        record = await compacted(session, chosen)
        family = family_of(chosen.provider.name)
        before = sum(estimate_tokens(str(message), family) for message in session.messages)
        session.apply(record)
        engine.sessions.recorder(session_id)(record)
        await engine.sessions.flush()
    return Compaction(record.notes, before, estimate_tokens(record.notes, family))
