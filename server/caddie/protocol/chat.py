"""Turns, what they tell while they run, and stored conversations."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from caddie.protocol.base import Message

MAX_MESSAGE = 1_000_000
Mode = Literal["agent", "plan"]
CallStatus = Literal["pending", "awaitingPermission", "running", "done", "failed", "refused", "cancelled"]
StopReason = Literal["endTurn", "maxTokens", "refusal", "emptyAnswer", "turnLimit"]


class Attachment(Message):
    """A file or a piece of text that the person put beside the message."""

    name: str = Field(description="What the person sees: a file name, `selection`, ...")
    path: str | None = Field(None, description="Path of a file, absolute or relative to the workspace's first folder.")
    text: str | None = Field(None, description="The text itself; without it the file at `path` is read.")
    data: str | None = Field(None, description="A picture itself, as base64; `mediaType` says of which kind.")
    media_type: str | None = Field(None, description="`image/png`, `image/jpeg`, `image/gif` or `image/webp`.")


class TurnParams(Message):
    session_id: str | None = Field(None, description="Absent starts a new session.")
    message: str = Field(description="What the person wrote.", max_length=MAX_MESSAGE)
    attachments: list[Attachment] = Field(default_factory=list)
    picked_tools: list[str] = Field(default_factory=list, description="Tools whose definition joins this message.")
    servers: list[str] = Field(
        default_factory=list,
        description="MCP servers that this message is for (`@server`): hints and ToolSearch look at their tools first.",
    )
    mode: Mode | None = Field(None, description="Switches the session's mode before the turn.")


class Usage(Message):
    """Tokens as the provider counted them; `inputTokens` includes cached ones."""

    input_tokens: int
    cached_tokens: int
    output_tokens: int


class TurnResult(Message):
    session_id: str
    turn_id: str
    stop_reason: StopReason
    text: str = Field(description="The assistant's final words.")
    usage: Usage
    mode: Mode
    model: str = Field("", description="The model that answered.")
    changed_files: list[str] = Field(
        default_factory=list, description="Files that it changed and `caddie/session/undo` can take back."
    )


class TextEvent(Message):
    kind: Literal["text"] = "text"
    text: str


class ThinkingEvent(Message):
    kind: Literal["thinking"] = "thinking"
    text: str


class ToolCallEvent(Message):
    """One state of one call; later events with the same `callId` replace earlier ones."""

    kind: Literal["toolCall"] = "toolCall"
    call_id: str
    tool: str = Field(description="Wire name of the real tool, never of the bridge.")
    label: str = Field(description="Short name to show.")
    server: str | None = None
    status: CallStatus
    params: dict[str, Any]
    progress: str | None = Field(None, description="Newest output or progress while running.")
    result: str | None = Field(None, description="Text of the result, capped for display.")
    is_error: bool = False
    elapsed_ms: int = 0
    result_chars: int | None = Field(
        None, description="How long the whole is, where `result` is its beginning; `caddie/session/result` has it."
    )


class Todo(Message):
    content: str
    status: Literal["pending", "in_progress", "completed"]
    active_form: str | None = None


class TodoEvent(Message):
    kind: Literal["todo"] = "todo"
    items: list[Todo]


class NoticeEvent(Message):
    """A sentence for the person."""

    kind: Literal["notice"] = "notice"
    level: Literal["info", "warning", "error"]
    message: str
    code: str | None = None
    discard_text: bool = Field(
        False, description="The text streamed since the last tool call is void: a retry follows."
    )
    mode: Mode | None = Field(None, description="Set when the session's mode changed.")


class UsageEvent(Message):
    kind: Literal["usage"] = "usage"
    usage: Usage


class DoneEvent(Message):
    """The last event of a turn."""

    kind: Literal["done"] = "done"
    stop_reason: StopReason | Literal["cancelled", "error"]
    text: str


Event = Annotated[
    TextEvent | ThinkingEvent | ToolCallEvent | TodoEvent | NoticeEvent | UsageEvent | DoneEvent,
    Field(discriminator="kind"),
]


class ChatEvent(Message):
    session_id: str
    turn_id: str
    seq: int = Field(description="Counts from 1 in each turn, without gaps.")
    event: Event


class DraftParams(Message):
    """The text being typed. `draftId` comes back in the hints, so that late ones can be told."""

    draft_id: str
    text: str = Field(max_length=100_000)
    session_id: str | None = None
    servers: list[str] = Field(default_factory=list, description="As in `caddie/chat/turn`; unknown ones are ignored.")


class SessionInfo(Message):
    session_id: str
    title: str
    created: str = Field(description="RFC 3339 time.")
    updated: str = Field(description="RFC 3339 time.")
    turns: int
    mode: Mode = "agent"


class SessionListResult(Message):
    """Newest first."""

    sessions: list[SessionInfo]


class SessionParams(Message):
    session_id: str


class CallParams(Message):
    session_id: str
    call_id: str


class WholeResult(Message):
    text: str


class CompactResult(Message):
    notes: str = Field(description="What stands for the conversation from here on.")
    tokens_before: int = Field(description="Estimate for the history as it was.")
    tokens_after: int = Field(description="Estimate for the notes.")


class RewindParams(Message):
    session_id: str
    turn_id: str = Field(description="The first turn to leave out.")


class FileChoice(Message):
    path: str = Field(description="As `caddie/session/changes` has it.")
    hunks: list[str] | None = Field(None, description="Ids of the hunks that are meant. Absent: the whole file.")


class UndoParams(Message):
    session_id: str
    turn_id: str | None = Field(
        None,
        description="A turn, or the `undoId` of an undo. Absent: the newest turn whose changes are in force.",
    )
    files: list[FileChoice] | None = Field(
        None,
        description="Instead of a turn: these files or hunks of what `caddie/session/changes` lists.",
    )


class ChangesParams(Message):
    session_id: str
    path: str | None = Field(None, description="Only this file, with its text `before`.")


class KeepParams(Message):
    session_id: str
    files: list[FileChoice] | None = Field(None, description="Absent: all that is listed.")


class Hunk(Message):
    """Lines that follow one another and were changed. An id stays the same while the lines do, wherever they move."""

    id: str
    old_start: int = Field(description="Counted from 1; where nothing was, the line before.")
    old_lines: int
    new_start: int = Field(description="In the file as it is now, counted from 1; where nothing is, the line before.")
    new_lines: int
    lines: list[str] = Field(description="The old lines, each after a `-`, then the new ones, each after a `+`.")
    cut: int = Field(0, description="So many lines more are not in `lines`.")


class FileChanges(Message):
    """What the model's turns made of a file, is in force and was not accepted yet. What others changed is not in it."""

    path: str = Field(description="Relative to the workspace's first folder where it is inside, else absolute.")
    status: Literal["created", "modified", "deleted"]
    added: int
    removed: int
    turns: list[str] = Field(description="Ids of the turns that changed it, oldest first.")
    hunks: list[Hunk] = Field(description="Of a modified text; empty otherwise.")
    blocked: str | None = Field(None, description="Why nothing of it can be taken back, as a clause after its name.")
    before: str | None = Field(None, description="The text without these changes, when one file was asked for.")


class ChangesResult(Message):
    files: list[FileChanges]


class FileUndone(Message):
    """`restored`: as before the turn. `merged`: taken back, and edits of others in the same file stayed. `partly`: the
    hunks that were named. `kept`: nothing was to be taken back. `conflict`: left as it is, because others changed the
    same lines since."""

    path: str = Field(description="Relative to the workspace's first folder where it is inside, else absolute.")
    outcome: Literal["restored", "merged", "partly", "kept", "conflict"]
    detail: str | None = Field(None, description="Why, or where, as a clause for the person.")


class UndoResult(Message):
    turn_id: str = Field(description="What was taken back; empty when files were named.")
    undo_id: str | None = Field(None, description="Undoes this undo. Absent when it changed no file.")
    files: list[FileUndone]
    message: str = Field(description="All of it in words.")
    not_covered: str | None = Field(None, description="What of the turn cannot be taken back, and why.")


class TranscriptItem(Message):
    """One thing in a stored conversation, in the order it happened."""

    turn_id: str
    kind: Literal["user", "assistant", "thinking", "toolCall", "notice"]
    text: str | None = None
    call: ToolCallEvent | None = None
    attachments: list[str] | None = Field(None, description="Names of what the person attached.")
    picks: list[str] | None = Field(None, description="Wire names of the tools that the person picked.")


class SessionOpenResult(Message):
    session: SessionInfo
    transcript: list[TranscriptItem]
    todo: list[Todo]
    notices: list[str] = Field(description="What was damaged in the stored file and how it was mended.")
    interrupted: bool = Field(
        False, description="The last turn came to no end, because its editor window or its server went away."
    )


class SessionRenameParams(Message):
    session_id: str
    title: str = Field(min_length=1, max_length=200)
