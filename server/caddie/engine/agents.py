"""An agent: a conversation of its own, under the same states, rules, grants and person as its parent."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import uuid4

from caddie.chat.events import TurnEvent
from caddie.chat.session import Session
from caddie.chat.turn import Turn, TurnInput
from caddie.errors import ProviderError, ToolFailure
from caddie.tools.call import CallUpdate
from caddie.tools.context import SessionState, ToolContext

if TYPE_CHECKING:
    from caddie.engine.engine import Engine

_ROLE = """\
You do this task for another assistant, which sees only your last message and not what you read. Work it out with your
tools, then report what was asked for, with paths and line numbers where they matter.

"""


class Subagents:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def run(self, task: str, context: ToolContext) -> str:
        """What it changes counts as its parent's work. Raises: ToolFailure, CancelledError."""
        parent = context.session.session_id
        # The name of the cache is its own, for its tools are not those of the parent.
        session = Session(
            id=f"{parent}-{uuid4().hex[:6]}",
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            state=SessionState(parent, context.session.mode, seen_files=context.session.seen_files),
            parent=parent,
        )
        turn = Turn(
            session,
            TurnInput(uuid4().hex[:12], _ROLE + task),
            choose=lambda: self._engine.deferrals.chosen(parent),
            toolbox=self._engine.tools,
            executor=self._engine.executor,
            context=replace(context, session=session.state, agents=None),
            prefetch=None,
            record=lambda record: None,
            flush=_nothing,
            emit=lambda event: _show(event, context),
            refusals=self._engine.deferrals.refusals,
        )
        try:
            outcome = await turn.run()
        except ProviderError as error:
            raise ToolFailure(f"The agent could not work: {error.message}") from error
        spent = outcome.usage
        context.progress(f"{spent.input:,} tokens read ({spent.cached:,} from the cache), {spent.output:,} written\n")
        return outcome.text or f"The agent ended without a report ({outcome.stop})."


async def _nothing() -> None:
    """Its conversation is not kept; its report is."""


def _show(event: TurnEvent, context: ToolContext) -> None:
    if isinstance(event, CallUpdate) and event.status in ("running", "refused", "failed"):
        context.progress(f"{event.label} {event.status}\n")
