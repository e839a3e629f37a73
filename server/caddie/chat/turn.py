"""One turn: ask the model, run its tools, ask again, until it has said its final word.

Knows no editor, no HTTP and no file. Whatever ends it (the model, the person, an error), the history it leaves
is valid: every call answered, the assistant's word last.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from caddie.chat import prompt
from caddie.chat.asking import ModelLink
from caddie.chat.deferral import definition, loaded
from caddie.chat.events import (
    Done,
    Emit,
    Hinted,
    ModeChanged,
    Notice,
    TodoChanged,
    TurnStop,
)
from caddie.chat.messages import (
    Completed,
    Message,
    Part,
    Text,
    ToolAnswer,
    ToolsAdded,
    ToolUse,
    Usage,
)
from caddie.chat.provider import Chosen
from caddie.chat.refusals import Refusals
from caddie.chat.session import (
    CUT,
    INTERRUPTED,
    NO_ANSWER,
    Called,
    Prefix,
    Record,
    Said,
    Session,
    StateChanged,
    Told,
    TurnEnded,
    TurnStarted,
    unanswered,
)
from caddie.errors import CLOSING, ProviderError
from caddie.search.prefetch import ToolHint
from caddie.tools.call import Call, CallUpdate
from caddie.tools.context import Mode, ToolContext
from caddie.tools.executor import Executor
from caddie.tools.tool import ImageContent, ResourceContent, TextContent, ToolResult, ToolSpec, as_text

logger = logging.getLogger(__name__)

MAX_MODEL_REQUESTS = 100


class Toolbox(Protocol):
    """The tools as this session sees them at this moment."""

    def prefix(self, session: Session, chosen: Chosen) -> Prefix: ...

    def told(self, session: Session) -> Told:
        """What the model should have been told by now; the turn says the difference."""
        ...

    def spec(self, name: str, session_id: str) -> ToolSpec | None: ...

    def can_run_side_by_side(self, call: Call) -> bool: ...


@dataclass(frozen=True, slots=True)
class TurnInput:
    turn_id: str
    text: str
    attachments: tuple[Part, ...] = ()
    attached: tuple[str, ...] = ()
    picked: tuple[str, ...] = ()
    mode: Mode | None = None
    servers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    stop: TurnStop
    text: str
    usage: Usage
    model: str = ""


class Turn:
    """Runs once. `choose` says who answers; `refusals` remembers what a provider would not take; `record` stores what
    happens as it happens; `flush` waits until it is safe on disk."""

    def __init__(
        self,
        session: Session,
        turn: TurnInput,
        *,
        choose: Callable[[], Awaitable[Chosen]],
        toolbox: Toolbox,
        executor: Executor,
        context: ToolContext,
        prefetch: Callable[[str], Awaitable[tuple[ToolHint, ...]]] | None,
        record: Callable[[Record], None],
        flush: Callable[[], Awaitable[None]],
        emit: Emit,
        refusals: Refusals,
    ) -> None:
        self._session = session
        self._turn = turn
        self._choose = choose
        self._toolbox = toolbox
        self._executor = executor
        self._context = context
        self._prefetch = prefetch
        self._store = record
        self._flush = flush
        self._emit = emit
        self._model = ModelLink(
            session, toolbox=toolbox, refusals=refusals, record=self._record, emit=emit, begin_again=self._begin_again
        )
        self._is_said = False

    async def run(self) -> Outcome:
        """Raises: ProviderError when the model cannot be reached or refuses; CancelledError."""
        try:
            await self._open()
            outcome = await self._converse()
        except asyncio.CancelledError as cancelled:
            stop, note = ("interrupted", CUT) if CLOSING in cancelled.args else ("cancelled", INTERRUPTED)
            self._close(stop, self._model.partial or note)
            raise
        except ProviderError:
            self._close("error", self._model.partial or NO_ANSWER)
            raise
        except BaseException:
            self._close("error", NO_ANSWER)
            raise
        self._record(TurnEnded(self._turn.turn_id, outcome.stop, self._model.usage))
        await self._flush()  # nothing is waited for after Done: who sees it may undo, or say more, at once
        self._emit(Done(outcome.stop, outcome.text))
        return outcome

    def _record(self, record: Record) -> None:
        self._session.apply(record)
        self._store(record)

    def _say(self, message: Message) -> None:
        self._record(Said(self._turn.turn_id, message))

    def _close(self, stop: str, note: str) -> None:
        """Leave a valid history that holds the person's words, however early the turn ended."""
        if not self._is_said:
            self._say(Message("user", tuple(self._own_words())))
        for message in self._session.repair(note):
            self._say(message)
        self._record(TurnEnded(self._turn.turn_id, stop, self._model.usage))

    async def _open(self) -> None:
        """The person's message joins the history, with all that changed since the last one."""
        hints = asyncio.create_task(self._find_hints())
        hints.add_done_callback(_note_failure)
        self._hints = hints  # the loop itself keeps only a weak reference
        self._record(TurnStarted(self._turn.turn_id, self._turn.text, self._turn.attached, self._turn.picked))
        if self._turn.mode and self._turn.mode != self._session.state.mode:
            self._session.state.mode = self._turn.mode
            self._record_state()
            self._emit(ModeChanged(self._turn.mode))
        await self._flush()
        is_first = self._model.speak_with(await self._choose())
        ready = hints.result() if hints.done() and not hints.exception() else ()
        self._say(Message("user", (*self._opening(is_first), *self._hint_blocks(ready), *self._own_words())))
        self._is_said = True

    def _opening(self, is_first: bool) -> Iterable[Part]:
        notes = self._session.compacted
        if notes and not self._session.messages:
            yield Text(prompt.summary(notes.notes, notes.tools_used))
        yield from self._news(is_first)

    def _begin_again(self) -> None:
        """After a compaction the notes stand for all that was said; this turn's words follow them."""
        self._say(Message("user", (*self._opening(is_first=True), *self._own_words())))

    def _own_words(self) -> Iterable[Part]:
        specs = [spec for name in self._turn.picked if (spec := self._toolbox.spec(name, self._session.scope))]
        if self._turn.servers:
            yield Text(prompt.servers(self._turn.servers))
        if specs:
            yield Text(prompt.picked(specs))
            yield _added(specs)
        yield from self._turn.attachments
        yield Text(self._turn.text)

    def _hint_blocks(self, hints: Sequence[ToolHint]) -> Iterable[Part]:
        if hints:
            yield Text(prompt.hint(hints))

    async def _find_hints(self) -> tuple[ToolHint, ...]:
        """Never awaited by the request; the person sees the hints even when they come too late for the model."""
        if self._prefetch is None:
            return ()
        hints = await self._prefetch(self._turn.text)
        self._emit(Hinted(hints))
        return hints

    def _news(self, is_first: bool = False) -> Iterable[Part]:
        """What the model has not been told yet. Never by changing what was sent."""
        before, now = self._session.told, self._toolbox.told(self._session)
        if is_first and now.deferred:
            if self._model.prefix.deferral != "stub":  # whose entries stand in the tools
                yield Text(prompt.deferred_tools(now.deferred))
        elif not is_first and before.deferred != now.deferred:
            added = [name for name in now.deferred if name not in set(before.deferred)]
            removed = [name for name in before.deferred if name not in set(now.deferred)]
            if added or removed:
                yield Text(prompt.deferred_changes(added, removed))
        enabled = [
            spec
            for name in now.enabled
            if name not in before.enabled and (spec := self._toolbox.spec(name, self._session.scope))
        ]
        if enabled:
            yield Text(prompt.enabled_tools(spec.name for spec in enabled))
            yield _added(enabled)
        if disabled := [name for name in now.disabled if name not in before.disabled]:
            yield Text(prompt.disabled_tools(disabled))
        if now.mode != before.mode:
            yield Text(prompt.mode_change(now.mode))
        if now.folders != before.folders:
            added = [folder for folder in now.folders if folder not in before.folders]
            removed = [folder for folder in before.folders if folder not in now.folders]
            yield Text(prompt.changed_folders(added, removed))
        if now != before or is_first:
            self._record(now)

    async def _converse(self) -> Outcome:
        for _ in range(MAX_MODEL_REQUESTS):
            completed = await self._model.ask()
            message = completed.message
            if message.parts:
                self._say(message)
            self._model.partial = ""
            if not message.tool_uses:
                return self._finish(completed)
            answers = await self._run_calls(message)
            self._say(Message("user", (*answers, *self._news())))
        self._close("turnLimit", "[The turn was ended after too many steps.]")
        text = f"Stopped after {MAX_MODEL_REQUESTS} steps. Say “go on” to continue."
        self._emit(Notice("warning", text, "turn_limit"))
        return Outcome("turnLimit", text, self._model.usage, self._model.name)

    def _finish(self, completed: Completed) -> Outcome:
        text = completed.message.text
        stops: dict[str, TurnStop] = {"max_tokens": "maxTokens", "refusal": "refusal"}
        stop: TurnStop = stops.get(completed.stop_reason, "endTurn")
        if stop == "maxTokens":
            self._emit(Notice("warning", "The answer reached the model's length limit and is cut.", "max_tokens"))
        if stop == "refusal":
            self._emit(Notice("warning", "The model declined to answer.", "refusal"))
        if stop == "endTurn" and not text.strip():
            stop = "emptyAnswer"
            self._emit(Notice("warning", "The model ended its turn without an answer.", "empty_answer"))
        if not completed.message.parts:
            self._say(Message("assistant", (Text("[Empty answer.]"),)))
        return Outcome(stop, text, self._model.usage, self._model.name)

    async def _run_calls(self, message: Message) -> list[Part]:
        """Reads side by side, everything else in order. On cancel, what finished is kept in the history."""
        done: dict[str, ToolAnswer] = {}
        try:
            for batch in self._batches(message.tool_uses):
                async with asyncio.TaskGroup() as group:
                    for use in batch:
                        group.create_task(self._run_call(use, done))
        except asyncio.CancelledError:
            self._say(Message("user", tuple(unanswered(message, done.values()))))
            raise
        return unanswered(message, done.values())

    def _batches(self, uses: Sequence[ToolUse]) -> Iterable[list[ToolUse]]:
        batch: list[ToolUse] = []
        for use in uses:
            if not self._toolbox.can_run_side_by_side(_call(use)):
                yield from filter(None, (batch, [use]))
                batch = []
            else:
                batch.append(use)
        if batch:
            yield batch

    async def _run_call(self, use: ToolUse, done: dict[str, ToolAnswer]) -> None:
        state_before = (self._session.state.mode, self._session.state.todo)
        result = await self._executor.execute(_call(use), self._context, self._report)
        found, note = loaded(result, self._model.prefix, self._model.api)
        done[use.id] = ToolAnswer(use.id, use.name, _for_model(result), result.is_error, found, note)
        if (self._session.state.mode, self._session.state.todo) != state_before:
            self._tell_state(*state_before)

    def _tell_state(self, mode: Mode, todo: tuple[object, ...]) -> None:
        state = self._session.state
        self._record_state()
        if state.mode != mode:
            self._emit(ModeChanged(state.mode))
        if state.todo != todo:
            self._emit(TodoChanged(state.todo))

    def _record_state(self) -> None:
        state = self._session.state
        todo = tuple(
            {"content": item.content, "status": item.status, "active_form": item.active_form} for item in state.todo
        )
        self._record(StateChanged(state.mode, todo))

    def _report(self, update: CallUpdate) -> None:
        self._emit(update)
        if update.status in ("done", "failed", "refused", "cancelled"):
            self._record(Called(self._turn.turn_id, update))


def _note_failure(task: asyncio.Task[tuple[ToolHint, ...]]) -> None:
    if not task.cancelled() and (error := task.exception()):
        logger.warning("no hints for this turn", exc_info=error)


def _added(specs: Sequence[ToolSpec]) -> ToolsAdded:
    return ToolsAdded(tuple(map(definition, specs)), prompt.added_tools(specs))


def _call(use: ToolUse) -> Call:
    return Call(use.id, use.name, use.arguments, use.raw)


def _for_model(result: ToolResult) -> tuple[TextContent | ImageContent, ...]:
    parts: list[TextContent | ImageContent] = []
    for part in result.content:
        if isinstance(part, ResourceContent):
            parts.append(TextContent(as_text(part)))
        else:
            parts.append(part)
    if not any(isinstance(part, ImageContent) or part.text.strip() for part in parts):
        parts = [TextContent("(the tool gave an empty result)")]
    return tuple(parts)
