"""Provider-neutral messages, and the events a provider streams. Each provider maps both ways."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from caddie.tools.tool import ImageContent, TextContent

StopReason = Literal["end_turn", "tool_use", "max_tokens", "refusal", "context_overflow", "other"]


Deferral = Literal["off", "bridge", "stub", "native"]
"""How deferred tools reach the model: all sent whole; by name over ToolSearch and ExecuteTool; as stub entries; by the
provider's own mechanism."""


@dataclass(frozen=True, slots=True)
class Text:
    """`opaque` is what the provider put beside the text (a signature, an item id), sent back exactly as it came."""

    text: str
    opaque: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Nothing to say and nothing to send back; APIs refuse such a part."""
        return not (self.text.strip() or self.opaque)


@dataclass(frozen=True, slots=True)
class Thinking:
    """`opaque` is the provider's own block (signature, encrypted item), sent back exactly as it came."""

    text: str
    opaque: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Image:
    data: str
    media_type: str


@dataclass(frozen=True, slots=True)
class ToolUse:
    """`arguments` is None when the model's JSON did not parse; `raw` then holds what it sent. `opaque` as in Text."""

    id: str
    name: str
    arguments: dict[str, Any] | None
    raw: str = ""
    opaque: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as it stands in a request."""

    name: str
    description: str
    input_schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """`found` holds the tools that a search found, for providers that load tools themselves; `note` is then what the
    search said beside them. `content` says all of it in words, for every other provider."""

    tool_use_id: str
    name: str
    content: tuple[TextContent | ImageContent, ...]
    is_error: bool = False
    found: tuple[ToolDefinition, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class ToolsAdded:
    """Tools that became callable after the prefix was built; `text` says so to providers without late tools."""

    tools: tuple[ToolDefinition, ...]
    text: str


Part = Text | Thinking | Image | ToolUse | ToolAnswer | ToolsAdded


@dataclass(frozen=True, slots=True)
class Message:
    """A user message holds Text, Image, ToolsAdded and ToolAnswer (answers first); an assistant message the others."""

    role: Literal["user", "assistant"]
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def tool_uses(self) -> tuple[ToolUse, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolUse))


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request. `input` counts cached ones too; `cached` is the part read from the prompt cache."""

    input: int = 0
    cached: int = 0
    output: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(self.input + other.input, self.cached + other.cached, self.output + other.output)


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """`system`, `tools` and `deferred` are the session's prefix: the same objects in every request of a session.

    `deferred` is filled when `deferral` is `native`: the deferred tools as they were when the session began, whole.
    """

    model: str
    system: str
    tools: tuple[ToolDefinition, ...]
    messages: tuple[Message, ...]
    session_id: str
    max_output_tokens: int = 16_000
    deferral: Deferral = "bridge"
    deferred: tuple[ToolDefinition, ...] = ()


@dataclass(frozen=True, slots=True)
class TextDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta:
    text: str


@dataclass(frozen=True, slots=True)
class ToolUseStarted:
    """The model began to write a call; its arguments are not complete yet."""

    id: str
    name: str


@dataclass(frozen=True, slots=True)
class Completed:
    """The last event of every stream that ended well."""

    message: Message
    stop_reason: StopReason
    usage: Usage
    cache_miss: str = ""
    """Why the provider says it could not read the prompt from its cache; empty where it says nothing."""
    note: str = ""
    """What the person should know about this answer, as that the server cut the prompt; an adapter says it once."""


StreamEvent = TextDelta | ThinkingDelta | ToolUseStarted | Completed
