"""What did a tool say in full, of which events and transcripts show the beginning?"""

from __future__ import annotations

import asyncio
from pathlib import Path

from caddie.chat.messages import ToolAnswer
from caddie.chat.session import Called, Session
from caddie.errors import InvalidInput
from caddie.storage.results import ResultStore
from caddie.tools.tool import TextContent


async def whole_result(session: Session, results: ResultStore, call_id: str) -> str:
    """Raises: InvalidInput when there is no such call, or its result is not kept any more."""
    updates = [record.update for record in session.records if isinstance(record, Called)]
    update = next((update for update in reversed(updates) if update.call_id == call_id), None)
    if update is None:
        raise InvalidInput(f"The session has no call {call_id!r} that is over; wait for its end.")
    if not update.result_chars:
        return update.result
    if update.kept_in:
        text = await asyncio.to_thread(results.read, Path(update.kept_in))
    else:
        text = _in_history(session, call_id)
    if text is None:
        raise InvalidInput(
            f"The whole result of {update.label} is not kept any more, or not yet: long ones are kept for a week, "
            "the others until the conversation is summarized. Have the tool run again."
        )
    return text


def _in_history(session: Session, call_id: str) -> str | None:
    for message in reversed(session.messages):
        for part in message.parts:
            if isinstance(part, ToolAnswer) and part.tool_use_id == call_id:
                return "\n".join(item.text for item in part.content if isinstance(item, TextContent))
    return None
