"""One conversation: its history, its fixed prefix, and what the model has been told of the tools.

Append-only. Each change is a `Record`, which the store writes as it happens and replays on opening.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from caddie.chat.messages import Deferral, Message, Part, Text, Thinking, ToolAnswer, ToolDefinition, ToolUse, Usage
from caddie.tools.call import CallUpdate
from caddie.tools.context import SessionState
from caddie.tools.tool import TextContent

INTERRUPTED = "[The person stopped this turn.]"
CUT = "[This turn was interrupted.]"
NO_ANSWER = "[No answer was received.]"


@dataclass(frozen=True, slots=True)
class Prefix:
    """What every request of the session begins with. Built when the first one leaves, and anew for another model,
    whose cache begins anew anyway; `model` is "provider/model". `loadable` holds the deferred tools whole, where the
    provider loads them itself; `left_out` names tools whose definition the provider refused; `folders` are those of the
    workspace beside the first, as `system` names them."""

    system: str
    tools: tuple[ToolDefinition, ...]
    deferred: tuple[str, ...]
    model: str = ""
    deferral: Deferral = "bridge"
    loadable: tuple[ToolDefinition, ...] = ()
    left_out: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """`attached` are names, for those who look at the conversation later."""

    turn_id: str
    text: str
    attached: tuple[str, ...] = ()
    picked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Said:
    """A message joined the history."""

    turn_id: str
    message: Message


@dataclass(frozen=True, slots=True)
class Called:
    """The last state of a tool call, for the transcript."""

    turn_id: str
    update: CallUpdate


@dataclass(frozen=True, slots=True)
class Told:
    """What the model was told of tools: the names now announced as deferred, enabled late, or off; and of the
    workspace's further folders."""

    deferred: tuple[str, ...]
    enabled: tuple[str, ...]
    disabled: tuple[str, ...]
    mode: str = "agent"
    folders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Requested:
    """One request to the model, answered. `cause` says why less of the prompt came from the cache than could have."""

    model: str
    usage: Usage
    at: float
    """Seconds since the epoch."""
    cause: str = ""
    planned: bool = True


@dataclass(frozen=True, slots=True)
class Compacted:
    """The history gave way to notes about it; a new prefix begins with the next request."""

    notes: str
    tools_used: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rewound:
    """The conversation goes on as if this turn and those after it had not been."""

    turn_id: str


@dataclass(frozen=True, slots=True)
class ThinkingDropped:
    """The provider did not take earlier reasoning back, so none of it is sent from here on."""


@dataclass(frozen=True, slots=True)
class Titled:
    title: str


@dataclass(frozen=True, slots=True)
class StateChanged:
    """Mode and todo list after a tool or the person changed them."""

    mode: str
    todo: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class SettingsChanged:
    """What the person set for this session alone: a settings tree."""

    tree: dict[str, Any]


@dataclass(frozen=True, slots=True)
class TurnEnded:
    turn_id: str
    stop: str
    usage: Usage


Record = (
    Prefix | TurnStarted | Said | Called | Told | Requested | Compacted | Rewound | ThinkingDropped | Titled
    | StateChanged | SettingsChanged | TurnEnded
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a session stood when a turn began: how long history and transcript were, and what the model knew."""

    messages: int
    records: int
    told: Told


@dataclass(slots=True)
class Session:
    id: str
    created: str
    state: SessionState
    updated: str = ""
    title: str = ""
    prefix: Prefix | None = None
    messages: list[Message] = field(default_factory=list)
    told: Told = field(default_factory=lambda: Told((), (), ()))
    records: list[Record] = field(default_factory=list)
    requests: list[Requested] = field(default_factory=list)
    compacted: Compacted | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    marks: dict[str, Mark] = field(default_factory=dict)
    turns: int = 0
    parent: str = ""
    """The session whose model started this one as an agent."""
    is_running: bool = False
    went_back: bool = False
    """Since the last request: less is sent than then."""
    foreign: int = 0  # so many messages at the beginning were written for other models

    @property
    def scope(self) -> str:
        """The session whose states and grants hold."""
        return self.parent or self.id

    def apply(self, record: Record) -> None:
        """The one place where a record changes a session, live and on replay."""
        match record:
            case Prefix():
                self.foreign = len(self.messages)
                self.prefix = record
                named = self.told.deferred if self.messages else record.deferred
                self.told = Told(named, (), (), self.told.mode, record.folders)
                for turn_id, mark in self.marks.items():  # the prefix stays when the conversation goes back
                    self.marks[turn_id] = replace(mark, told=replace(mark.told, folders=record.folders))
            case Said():
                self.messages.append(record.message)
            case Requested():
                self.requests.append(record)
                self.went_back = False
            case Compacted():
                self.compacted, self.prefix, self.foreign = record, None, 0
                self.told = Told((), (), ())
                self.messages.clear()
                self.marks.clear()
            case Rewound(turn_id) if turn_id in self.marks:
                self._rewind(turn_id)
            case ThinkingDropped():
                self.foreign = len(self.messages)
            case Told():
                self.told = record
            case Titled(title):
                self.title = title
            case SettingsChanged(tree):
                self.settings = tree
            case TurnStarted(turn_id, text):
                self.marks[turn_id] = Mark(len(self.messages), len(self.records), self.told)
                self.turns += 1
                self.title = self.title or title_of(text)
        if isinstance(record, TurnStarted | Said | Called | Compacted | StateChanged | TurnEnded):
            self.records.append(record)

    def _rewind(self, turn_id: str) -> None:
        mark = self.marks[turn_id]
        gone = list(self.marks)[list(self.marks).index(turn_id) :]
        del self.messages[mark.messages :], self.records[mark.records :]
        self.marks = {name: kept for name, kept in self.marks.items() if name not in gone}
        self.told = mark.told
        self.foreign = min(self.foreign, len(self.messages))
        self.turns -= len(gone)
        self.went_back = True

    @property
    def is_cut(self) -> bool:
        """The last turn came to no end: its process went away, or it runs in another one."""
        for record in reversed(self.records):
            match record:
                case TurnEnded(_, stop):
                    return stop == "interrupted"
                case TurnStarted():
                    return not self.is_running
        return False

    def history(self) -> tuple[Message, ...]:
        """What is sent. Reasoning and marks are bound to the model that made them, so others' stay behind."""
        own = self.messages[self.foreign :]
        return (*map(_without_marks, self.messages[: self.foreign]), *own)

    def repair(self, note: str) -> tuple[Message, ...]:
        """Messages that make the history valid again: every call answered, the assistant's word last."""
        if not self.messages:
            return ()
        last = self.messages[-1]
        fixes: list[Message] = []
        if last.role == "assistant" and last.tool_uses:
            fixes.append(Message("user", tuple(unanswered(last, ()))))
        if fixes or last.role == "user":
            fixes.append(Message("assistant", (Text(note),)))
        return tuple(fixes)


def unanswered(message: Message, answers: Iterable[ToolAnswer]) -> list[Part]:
    """One answer for each call of an assistant message: the given ones, else that the call did not run."""
    by_id = {answer.tool_use_id: answer for answer in answers}
    missing = (TextContent("This call was stopped before it finished; its effect is unknown."),)
    return [by_id.get(call.id) or ToolAnswer(call.id, call.name, missing, is_error=True) for call in message.tool_uses]


def _without_marks(message: Message) -> Message:
    if message.role == "user":
        return message
    return replace(message, parts=tuple(map(_plain, (p for p in message.parts if not isinstance(p, Thinking)))))


def _plain(part: Part) -> Part:
    return replace(part, opaque={}) if isinstance(part, Text | ToolUse) and part.opaque else part


def title_of(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= 60 else line[:59].rstrip() + "…"
