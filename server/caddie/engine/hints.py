"""Which tools fit what the person says or is typing? Worked out beside the turn, never before it."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from caddie.search.prefetch import ToolHint, find_hints

if TYPE_CHECKING:
    from caddie.engine.engine import Engine


class Hints:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._draft: tuple[str, str, str, tuple[str, ...]] | None = None

    async def of(self, text: str, servers: Collection[str] = ()) -> tuple[ToolHint, ...]:
        """Tools that fit a message or a draft; empty when hints are off."""
        settings = self._engine.configuration.settings
        if not settings.hints.enabled:
            return ()
        return await find_hints(self._engine.searcher, text, settings.hints, servers)

    async def draft(self, draft_id: str, text: str, session_id: str, servers: tuple[str, ...] = ()) -> None:
        """Hints for what is being typed; given again when the catalogue changes before the next draft or turn."""
        self._draft = (draft_id, text, session_id, servers)
        settings = self._engine.configuration.settings
        hints = await self.of(text, servers) if settings.hints.while_typing else ()
        self._engine.door.show_hints(hints, session_id=session_id, draft_id=draft_id)

    def look_again(self) -> None:
        """The catalogue has changed while something is being typed."""
        if self._draft is not None:
            self._engine.in_background(self.draft(*self._draft))

    def forget(self) -> None:
        """What was being typed was sent."""
        self._draft = None
