"""What must be true of a conversation before any API takes it, whatever cut it short?"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from caddie.chat.messages import Message, Part, Text, ToolAnswer, ToolsAdded, ToolUse
from caddie.tools.tool import ImageContent, TextContent

IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_NOT_RUN = TextContent("This call was not run: the turn ended before it.")
_LOST_BEGINNING = Message("user", (Text("[The beginning of this conversation was lost.]"),))
_NO_OUTPUT = "(no output)"
_WIRE = re.compile(r"[^a-zA-Z0-9_-]")


def fit(messages: Iterable[Message], *, late_tools: bool = False) -> list[Message]:
    """Roles alternate, nothing is empty, every call has its answer in the next message and answers come first.

    A message depends on its neighbours only, so a longer conversation begins with the same bytes. Without `late_tools`,
    tools that were added late are told in words.
    """
    return list(_begun(_answer_all(_joined(messages, late_tools))))


def _joined(messages: Iterable[Message], late_tools: bool) -> list[Message]:
    fitted: list[Message] = []
    for message in messages:
        parts = tuple(
            part for part in _told(message.parts, late_tools) if not (isinstance(part, Text) and part.is_empty)
        )
        if not parts:
            continue
        if fitted and fitted[-1].role == message.role:
            fitted[-1] = Message(message.role, fitted[-1].parts + parts)
        else:
            fitted.append(Message(message.role, parts))
    return fitted


def _begun(messages: Iterable[Message]) -> Iterable[Message]:
    """The person speaks first, also where the beginning was lost."""
    for at, message in enumerate(messages):
        if not at and message.role == "assistant":
            yield _LOST_BEGINNING
        yield message


def _told(parts: Iterable[Part], late_tools: bool) -> Iterable[Part]:
    return parts if late_tools else (Text(part.text) if isinstance(part, ToolsAdded) else part for part in parts)


def _answer_all(messages: list[Message]) -> Iterable[Message]:
    open_calls: tuple[ToolUse, ...] = ()
    for message in messages:
        if message.role == "assistant":
            yield message
            open_calls = message.tool_uses
            continue
        parts = (*_answers(message, open_calls), *(p for p in message.parts if not isinstance(p, ToolAnswer)))
        open_calls = ()
        if parts:
            yield Message("user", parts)
    if open_calls:
        yield Message("user", tuple(_missing(call) for call in open_calls))


def _answers(message: Message, calls: tuple[ToolUse, ...]) -> Iterable[Part]:
    given = {part.tool_use_id: part for part in message.parts if isinstance(part, ToolAnswer)}
    return [given.get(call.id) or _missing(call) for call in calls]


def _missing(call: ToolUse) -> ToolAnswer:
    return ToolAnswer(call.id, call.name, (_NOT_RUN,), is_error=True)


def readable(answer: ToolAnswer) -> tuple[TextContent | ImageContent, ...]:
    """The answer without what APIs refuse: empty texts, unknown kinds of image, and nothing at all."""
    content = tuple(_as_taken(part) for part in answer.content)
    kept = tuple(part for part in content if isinstance(part, ImageContent) or part.text.strip())
    return kept or (TextContent(_NO_OUTPUT),)


def _as_taken(part: TextContent | ImageContent) -> TextContent | ImageContent:
    if isinstance(part, ImageContent) and part.media_type not in IMAGE_TYPES:
        return TextContent(f"[an image of type {part.media_type or 'unknown'}, which the model cannot see]")
    return part


def wire_name(name: str) -> str:
    """A name of a past call that every API takes, however strange the one the model wrote."""
    return _WIRE.sub("_", name)[:64] or "unknown"


def wire_id(call_id: str, limit: int = 64) -> str:
    """Another provider's call id, made to fit this one's rules; the same in for the same out."""
    fitting = _WIRE.sub("_", call_id)
    if fitting == call_id and 0 < len(call_id) <= limit:
        return call_id
    return "call_" + hashlib.sha256(call_id.encode("utf-8", "replace")).hexdigest()[:16]
