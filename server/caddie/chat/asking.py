"""One request to the model until it is answered: tried again when it may be, mended when refused, and counted."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Protocol

from caddie.chat.cache import COMPACTED, WENT_BACK, cause_of_drop
from caddie.chat.compaction import compacted
from caddie.chat.events import Emit, Notice, TextChunk, ThinkingChunk, UsageUpdate
from caddie.chat.mending import Mend, Mends
from caddie.chat.messages import Completed, Message, ModelRequest, Text, TextDelta, ThinkingDelta, Usage
from caddie.chat.provider import Chosen, NativeDeferral
from caddie.chat.refusals import Refusals
from caddie.chat.retry import retry_wait
from caddie.chat.session import Prefix, Record, Requested, Session, ThinkingDropped
from caddie.errors import ContextOverflow, ProviderError, ToolRejected

logger = logging.getLogger(__name__)


class PrefixSource(Protocol):
    def prefix(self, session: Session, chosen: Chosen) -> Prefix: ...


class ModelLink:
    """What one turn says to its model. `begin_again` says the turn's words anew after a compaction."""

    def __init__(
        self,
        session: Session,
        *,
        toolbox: PrefixSource,
        refusals: Refusals,
        record: Callable[[Record], None],
        emit: Emit,
        begin_again: Callable[[], None],
    ) -> None:
        self._session = session
        self._toolbox = toolbox
        self._refusals = refusals
        self._record = record
        self._emit = emit
        self._begin_again = begin_again
        self._mends = Mends()
        self._planned = ""
        self.usage = Usage()
        self.partial = ""
        """Text of the answer that is being streamed."""

    def speak_with(self, chosen: Chosen) -> bool:
        """Whether a new prefix begins with it: the first request of a conversation, or another model."""
        self._chosen = chosen
        before = self._session.prefix
        if before is not None and before.model == self._speaks_with:
            return False
        if before is not None:
            self._planned = "the provider or the model changed"
        elif self._session.compacted:
            self._planned = COMPACTED
        self._begin_prefix()
        return True

    @property
    def name(self) -> str:
        return self._chosen.model

    @property
    def api(self) -> NativeDeferral:
        return self._chosen.provider.capabilities(self._chosen.model).api

    @property
    def _speaks_with(self) -> str:
        return f"{self._chosen.provider.name}/{self._chosen.model}"

    def _begin_prefix(self) -> None:
        """Everything the requests begin with, as it is now; caches begin anew."""
        self._record(replace(self._toolbox.prefix(self._session, self._chosen), model=self._speaks_with))

    async def ask(self) -> Completed:
        retries = 0
        while True:
            try:
                return await self._stream()
            except ProviderError as error:
                if mend := self._mends.of(error, self.prefix):
                    await self._mend(mend, error)
                    continue
                wait = retry_wait(error, retries, random.random())
                if wait is None:
                    raise
                retries += 1
                after = f" Trying again in {wait:.0f} s." if wait >= 1 else " Trying again."
                self._notify(f"{error.message}{after}", error.kind)
                await asyncio.sleep(wait)

    def _notify(self, said: str, code: str) -> None:
        """A warning between two requests; what was streamed of the first one is void."""
        discard, self.partial = bool(self.partial), ""
        self._emit(Notice("warning", said, code, discard_text=discard))

    async def _mend(self, mend: Mend, error: ProviderError) -> None:
        """Make the next request one that the provider takes, and say what was done."""
        match mend:
            case "leave native":
                self._refusals.refuse_native(self._chosen.speaker, error.message)
                self._chosen = replace(self._chosen, deferral="bridge")
                self._planned = "deferred tools go over the bridge from here on"
                self._begin_prefix()
                self._notify(f"{error.message} Deferred tools go over ToolSearch and ExecuteTool now.", error.kind)
            case "leave out tool":
                assert isinstance(error, ToolRejected)
                for tool in (*self.prefix.tools, *self.prefix.loadable):
                    if tool.name == error.tool:
                        self._refusals.refuse_tool(self._chosen.speaker, tool)
                self._planned = f"the tool {error.tool} was left out"
                self._begin_prefix()
                self._notify(f"{error.message} The request goes on without {error.tool}.", error.kind)
            case "drop thinking":
                self._planned = "earlier reasoning was left out"
                self._record(ThinkingDropped())
                self._notify(f"{error.message} Trying again without the earlier reasoning.", error.kind)
            case "compact":
                self._notify(f"{error.message} It is being summarized now.", "compacting")
                await self._compact()

    async def _compact(self) -> None:
        """The conversation gives way to notes; this turn's words are said again after them."""
        self._record(await compacted(self._session, self._chosen))
        self._planned = COMPACTED
        self._begin_prefix()
        self._begin_again()
        self._emit(
            Notice("info", "The conversation was too long for the model; it goes on from a summary.", "compacted")
        )

    @property
    def prefix(self) -> Prefix:
        assert self._session.prefix is not None  # _open recorded it
        return self._session.prefix

    async def _stream(self) -> Completed:
        prefix, chosen = self.prefix, self._chosen
        request = ModelRequest(
            chosen.model, prefix.system, prefix.tools, self._session.history(), self._session.id,
            deferral=prefix.deferral, deferred=prefix.loadable,
        )  # fmt: skip
        async with aclosing(chosen.provider.stream(request)) as events:  # type: ignore[type-var]  # an async generator
            async for event in events:
                match event:
                    case TextDelta(text):
                        self.partial += text
                        self._emit(TextChunk(text))
                    case ThinkingDelta(text):
                        self._emit(ThinkingChunk(text))
                    case Completed():
                        self._count(event)
                        if event.stop_reason == "context_overflow":
                            raise ContextOverflow("The conversation is longer than the model reads.")
                        return replace(event, message=_without_empty_parts(event.message))
        raise AssertionError("a provider's stream ended without Completed and without an error")

    def _count(self, completed: Completed) -> None:
        usage, now = completed.usage, time.time()
        last = self._session.requests[-1] if self._session.requests else None
        cause, planned = cause_of_drop(
            usage,
            last.usage if last else None,
            idle=now - last.at if last else 0.0,
            planned=self._planned or (WENT_BACK if self._session.went_back else ""),
            said=completed.cache_miss,
            has_cached=any(one.usage.cached for one in self._session.requests),
        )
        if not planned:
            logger.warning("the prompt cache was missed: %s", cause)
        self._planned = ""
        self._record(Requested(self._speaks_with, usage, now, cause, planned))
        self.usage += usage
        self._emit(UsageUpdate(self.usage))
        if completed.note:
            self._emit(Notice("warning", completed.note, "provider_note"))


def _without_empty_parts(message: Message) -> Message:
    kept = tuple(part for part in message.parts if not (isinstance(part, Text) and part.is_empty))
    return replace(message, parts=kept)
