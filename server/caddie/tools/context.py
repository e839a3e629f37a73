"""What a running tool may ask of the world around it, as ports.

The core opens no editor and draws no prompt: a door (LSP, one-shot, …) implements `Person` and `Editor`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from caddie.settings import Settings
from caddie.tools.changes import Changes, NoChanges
from caddie.tools.tool import Preview

Mode = Literal["agent", "plan"]
ChoiceKind = Literal["allowOnce", "allowSession", "allowAlways", "allowServerSession", "reject"]


@dataclass(frozen=True, slots=True)
class Choice:
    id: str
    label: str
    kind: ChoiceKind


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """All that a person must see to decide: the real tool, every argument, and what it would do."""

    session_id: str
    tool: str
    label: str
    server: str
    params: Mapping[str, Any]
    preview: Preview | None
    choices: tuple[Choice, ...]
    reason: str
    definition_changed: str = ""


@dataclass(frozen=True, slots=True)
class PermissionAnswer:
    """`choice` is the id of one of the choices offered; anything else is a refusal."""

    choice: str
    feedback: str = ""


@dataclass(frozen=True, slots=True)
class Option:
    label: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """`options` empty means free text."""

    id: str
    question: str
    header: str = ""
    options: tuple[Option, ...] = ()
    multiple: bool = False


@dataclass(frozen=True, slots=True)
class QuestionRequest:
    session_id: str
    title: str
    questions: tuple[Question, ...]


class Person(Protocol):
    """Whoever sits at the door. Both calls end when the turn is cancelled."""

    async def ask_permission(self, request: PermissionRequest) -> PermissionAnswer:
        """Raises: ClientCannotAsk when the door has no such prompt, or broke while asking."""
        ...

    async def ask_question(self, request: QuestionRequest) -> Mapping[str, str] | None:
        """Answers by question id, or None when the person declined. Raises: ClientCannotAsk."""
        ...


@dataclass(frozen=True, slots=True)
class Problem:
    """What a language server or linter complains about in the editor; lines count from 1."""

    path: Path
    line: int
    severity: Literal["error", "warning"]
    message: str
    source: str = ""


class Editor(Protocol):
    """What only an editor knows. Doors without one use `NoEditor`."""

    def read_open_file(self, path: Path) -> str | None:
        """The text of an open buffer, unsaved changes included; None when `path` is not open."""
        ...

    async def replace_open_file(self, path: Path, text: str) -> bool:
        """Replace an open buffer's text as one undo step; False when `path` is not open."""
        ...

    async def problems(self, path: Path, settle: float) -> Sequence[Problem] | None:
        """All problems that the editor shows now, those of `path` first; None when it cannot tell. With `settle`, as
        soon as `path` was looked at anew since its last change, but no later than so many seconds."""
        ...


class NoEditor:
    def read_open_file(self, path: Path) -> str | None:
        return None

    async def replace_open_file(self, path: Path, text: str) -> bool:
        return False

    async def problems(self, path: Path, settle: float) -> Sequence[Problem] | None:
        return None


@dataclass(frozen=True, slots=True)
class TodoItem:
    content: str
    status: Literal["pending", "in_progress", "completed"]
    active_form: str = ""


@dataclass(slots=True)
class SessionState:
    """The part of a session that tools may change; the turn stores it after each call."""

    session_id: str
    mode: Mode = "agent"
    todo: tuple[TodoItem, ...] = ()
    seen_files: dict[str, float] = field(default_factory=dict)  # real path -> fingerprint of the text last read


@dataclass(frozen=True, slots=True)
class McpResource:
    server: str
    uri: str
    name: str
    description: str = ""
    media_type: str = ""


class Resources(Protocol):
    """The resources of the connected MCP servers."""

    async def list_resources(self, server: str | None = None) -> Sequence[McpResource]: ...

    async def read_resource(self, server: str, uri: str) -> str: ...


class Inspector(Protocol):
    """What the deferred tools Config and CtxInspect report or change."""

    def describe_context(self, session_id: str) -> str: ...

    async def write_setting(self, key: str, value: Any, scope: Literal["user", "workspace"]) -> str: ...


class Agents(Protocol):
    """Starts agents: conversations of their own, with the same tools, rules and person."""

    async def run(self, task: str, context: ToolContext) -> str:
        """The agent's final words. Raises: ToolFailure, CancelledError."""
        ...


@dataclass(frozen=True, slots=True)
class ToolContext:
    """`progress` shows a short text (or streamed output) beside the running call; it may be called often.
    `spill` stores a text that is too long for the conversation and returns where. `changes` is told what happens to
    files. `agents` is None within an agent, which starts no others. `servers` are those that the person wrote the
    message for; a search looks there first. `further` gives the folders of the workspace beside the first, as they are
    at this moment."""

    workspace: Path
    settings: Settings
    session: SessionState
    person: Person
    editor: Editor
    progress: Callable[[str], None]
    spill: Callable[[str], Path]
    resources: Resources
    inspector: Inspector
    changes: Changes = field(default_factory=NoChanges)
    agents: Agents | None = None
    servers: tuple[str, ...] = ()
    further: Callable[[], tuple[Path, ...]] = tuple

    @property
    def folders(self) -> tuple[Path, ...]:
        return (self.workspace, *self.further())
