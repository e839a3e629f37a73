"""What is there to draw after each event of a turn? Pure: events in, things to print for good and things still live.

What is settled is printed once and never touched again; only the end of the turn is live. Order is kept: a call that
ends before an earlier one waits for it, so that nothing moves under the eye.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from caddie.protocol.chat import (
    DoneEvent,
    Event,
    NoticeEvent,
    TextEvent,
    ThinkingEvent,
    Todo,
    TodoEvent,
    ToolCallEvent,
    Usage,
    UsageEvent,
)

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

UNSETTLED = ("pending", "awaitingPermission", "running")


@dataclass(frozen=True, slots=True)
class Answer:
    """Markdown of the model."""

    text: str


@dataclass(frozen=True, slots=True)
class Thought:
    text: str


@dataclass(frozen=True, slots=True)
class Checklist:
    items: tuple[Todo, ...]


Item = Answer | Thought | ToolCallEvent | Checklist | NoticeEvent


@dataclass(frozen=True, slots=True)
class TurnState:
    """`live` is what may still change. `said` tells that text since the last call was printed for good."""

    live: tuple[Item, ...] = ()
    said: bool = False
    over: frozenset[str] = frozenset()
    checklist: Checklist | None = None
    usage: Usage | None = None


def apply(state: TurnState, event: Event) -> tuple[TurnState, tuple[Item, ...]]:
    """The next state, and what is now settled, in order."""
    is_final = False
    match event:
        case TextEvent(text=text):
            state = replace(state, live=_append(state.live, Answer(text)))
        case ThinkingEvent(text=text):
            state = replace(state, live=_append(state.live, Thought(text)))
        case ToolCallEvent():
            state = _with_call(state, event)
        case TodoEvent(items=items):
            state = _with_checklist(state, Checklist(tuple(items)))
        case NoticeEvent():
            state = _with_notice(state, event)
        case UsageEvent(usage=usage):
            state = replace(state, usage=usage)
        case DoneEvent():
            state, is_final = _with_end(state, event), True
    return _settle(state, is_final)


def blocks(text: str) -> list[str]:
    """The Markdown blocks of a text. Further text can change the last one only."""
    if "\n" not in text:
        return [text]
    starts = [token.map[0] for token in _parser().parse(text) if token.level == 0 and token.map and token.nesting >= 0]
    lines = text.splitlines(keepends=True)
    cuts = [0, *starts[1:], len(lines)]
    return ["".join(lines[start:end]) for start, end in pairwise(cuts)]


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # 60 ms that the first prompt need not wait for

    return MarkdownIt().enable("table").enable("strikethrough")


def _append(live: tuple[Item, ...], more: Answer | Thought) -> tuple[Item, ...]:
    if live and type(live[-1]) is type(more):
        return (*live[:-1], type(more)(live[-1].text + more.text))
    return (*live, more)


def _with_call(state: TurnState, call: ToolCallEvent) -> TurnState:
    if call.call_id in state.over:
        return state
    ids = [item.call_id if isinstance(item, ToolCallEvent) else None for item in state.live]
    if call.call_id in ids:
        at = ids.index(call.call_id)
        return replace(state, live=(*state.live[:at], call, *state.live[at + 1 :]))
    return replace(state, live=(*state.live, call), said=False)


def _with_checklist(state: TurnState, checklist: Checklist) -> TurnState:
    if checklist == state.checklist:
        return state
    return replace(state, live=(*state.live, checklist), checklist=checklist)


def _with_notice(state: TurnState, notice: NoticeEvent) -> TurnState:
    if not notice.discard_text:
        return replace(state, live=(*state.live, notice)) if notice.message else state
    live = state.live
    while live and isinstance(live[-1], Answer | Thought):
        live = live[:-1]
    void = (NoticeEvent(level="info", message=_VOID),) if state.said else ()
    return replace(state, live=(*live, *void, notice), said=False)


_VOID = "The text above is void: the answer starts again."


def _with_end(state: TurnState, done: DoneEvent) -> TurnState:
    """Text that was never streamed is shown now. Of other unusual endings the server tells in a notice."""
    live = state.live
    has_answer = state.said or any(isinstance(item, Answer) and item.text.strip() for item in live)
    if done.text.strip() and not has_answer and done.stop_reason not in ("cancelled", "error"):
        live = (*live, Answer(done.text))
    if done.stop_reason == "cancelled":
        live = (*live, NoticeEvent(level="info", message="Stopped."))
    return replace(state, live=live)


def _settle(state: TurnState, is_final: bool) -> tuple[TurnState, tuple[Item, ...]]:
    live, settled = state.live, list[Item]()
    while live and (is_final or _is_settled(live)):
        settled += _blocks_of(live[0])
        live = live[1:]
    if live and isinstance(live[0], Answer):
        *finished, rest = blocks(live[0].text)
        settled += [Answer(block) for block in finished]
        live = (Answer(rest), *live[1:])
    over = {item.call_id for item in settled if isinstance(item, ToolCallEvent)}
    said = _has_said(state.said, settled, live)
    return replace(state, live=live, said=said, over=state.over | over), tuple(settled)


def _blocks_of(item: Item) -> list[Item]:
    return [Answer(block) for block in blocks(item.text)] if isinstance(item, Answer) else [item]


def _is_settled(live: tuple[Item, ...]) -> bool:
    match live[0]:
        case ToolCallEvent(status=status):
            return status not in UNSETTLED
        case Answer() | Thought():
            return len(live) > 1
    return True


def _has_said(before: bool, settled: list[Item], live: tuple[Item, ...]) -> bool:
    """Whether text was printed since the last call."""
    if any(isinstance(item, ToolCallEvent) for item in live):
        return False
    for item in reversed(settled):
        if isinstance(item, ToolCallEvent):
            return False
        if isinstance(item, Answer) and item.text.strip():
            return True
    return before
