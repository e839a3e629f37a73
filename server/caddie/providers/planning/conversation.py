"""Where does the conversation stand: what did the person ask, what has been called for it, what is known?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from caddie.chat.messages import Message, ModelRequest, Text, ToolAnswer, ToolUse
from caddie.providers.planning.found import FoundTool, parse_search_answer
from caddie.tools.tool import TextContent

Language = Literal["en", "zh"]

# The blocks that the house itself adds stand on lines of their own.
_BLOCK = re.compile(r"^[ \t]*<([a-z]+(?:-[a-z]+)+|mode|attachment)\b[^>]*>(.*?)</\1>[ \t]*$", re.DOTALL | re.MULTILINE)
_STEP = re.compile(
    r"\s{0,4}(?:[,;，；。]\s{0,4})?(?:\band then\b|[,;]\s*then\b|\. then\b|然后再?|接着|之后再)\s*[,，]?\s*",
    re.IGNORECASE,
)
_WORKSPACE = re.compile(r"^\W*Workspace:\s*`?(.+?)`?\s*$", re.MULTILINE)
_HAN, _KANA = re.compile(r"[一-鿿]"), re.compile(r"[぀-ヿ]")


@dataclass(frozen=True, slots=True)
class Exchange:
    use: ToolUse
    answer: ToolAnswer

    @property
    def text(self) -> str:
        parts = self.answer.content
        return "\n\n".join(part.text if isinstance(part, TextContent) else f"[{part.media_type}]" for part in parts)

    @property
    def is_search(self) -> bool:
        return self.use.name == "ToolSearch"

    @property
    def tool(self) -> str:
        """The real tool, also behind the bridge."""
        target = (self.use.arguments or {}).get("tool_name")
        return str(target) if self.use.name == "ExecuteTool" and target else self.use.name


@dataclass(frozen=True, slots=True)
class Turn:
    request: str
    steps: tuple[str, ...]
    exchanges: tuple[Exchange, ...]
    picked: tuple[FoundTool, ...]
    enabled: tuple[FoundTool, ...]  # those that the person enabled after the session began
    deferred: frozenset[str]
    workspace: str
    language: Language
    earlier_uses: tuple[ToolUse, ...]
    earlier_text: str  # all that the assistant has said before
    number: int

    @property
    def done(self) -> tuple[Exchange, ...]:
        return tuple(exchange for exchange in self.exchanges if not exchange.is_search)

    @property
    def step(self) -> str:
        """The part of the request that is next; empty when all are done."""
        return self.steps[len(self.done)] if len(self.done) < len(self.steps) else ""


def read_turn(request: ModelRequest) -> Turn:
    start = _start_of_turn(request.messages)
    before, opening, after = (
        request.messages[:start],
        request.messages[start : start + 1],
        request.messages[start + 1 :],
    )
    text = _with_question(_person_text(opening[0]), before) if opening else ""
    workspace = _WORKSPACE.search(request.system)
    return Turn(
        request=text,
        steps=tuple(part for part in _STEP.split(text) if part.strip()) or (text,),
        exchanges=tuple(_exchanges(after)),
        picked=tuple(tool for body in _blocks(opening, "picked-tools") for tool in parse_search_answer(body)),
        enabled=_enabled_late(request.messages),
        deferred=frozenset(
            name
            for block in ("available-deferred-tools", "deferred-tools-changed")
            for body in _blocks(request.messages, block)
            for name in re.findall(r"[A-Za-z0-9_-]{3,64}(?!:)", body)
        ),
        workspace=workspace[1] if workspace else ".",
        language="zh" if _HAN.search(text) and not _KANA.search(text) else "en",
        earlier_uses=tuple(use for message in before for use in message.tool_uses),
        earlier_text="\n".join(message.text for message in request.messages if message.role == "assistant"),
        number=1 + sum(_opens_turn(message) for message in before),
    )


def _enabled_late(messages: tuple[Message, ...]) -> tuple[FoundTool, ...]:
    tools: dict[str, FoundTool] = {}
    for message in messages:
        for body in _blocks((message,), "enabled-tools"):
            tools |= {tool.name: tool for tool in parse_search_answer(body)}
        for body in _blocks((message,), "disabled-tools"):
            for name in re.findall(r"[A-Za-z0-9_-]+", body):
                tools.pop(name, None)
    return tuple(tools.values())


def _start_of_turn(messages: tuple[Message, ...]) -> int:
    return next((at for at in range(len(messages) - 1, -1, -1) if _opens_turn(messages[at])), len(messages))


def _opens_turn(message: Message) -> bool:
    has_answers = any(isinstance(part, ToolAnswer) for part in message.parts)
    return message.role == "user" and not has_answers and bool(_person_text(message))


def _person_text(message: Message) -> str:
    texts = (_BLOCK.sub("", part.text).strip() for part in message.parts if isinstance(part, Text))
    return "\n".join(text for text in texts if text)


_ANSWER = re.compile(r"\s*(?:--)?[\w-]+\s*[=:](?!//)\s*\S.*|\s*(?:\"[^\"]+\"|`[^`]+`|“[^”]+”|'[^']+')\s*", re.DOTALL)
_ASKED = re.compile(r"but your message does not say|但消息中缺少")


def _with_question(text: str, before: tuple[Message, ...]) -> str:
    """A bare value after "your message does not say" completes the request that lacked it."""
    last = before[-1] if before else None
    if last is None or last.role != "assistant" or not _ASKED.search(last.text) or not _ANSWER.fullmatch(text):
        return text
    opened = next((message for message in reversed(before) if _opens_turn(message)), None)
    return f"{_person_text(opened)} {text}" if opened else text


def _blocks(messages: tuple[Message, ...], name: str) -> Iterator[str]:
    for message in messages:
        for part in message.parts if message.role == "user" else ():
            if isinstance(part, Text):
                yield from (match[2] for match in _BLOCK.finditer(part.text) if match[1] == name)


def _exchanges(messages: tuple[Message, ...]) -> Iterator[Exchange]:
    answers = {part.tool_use_id: part for message in messages for part in message.parts if isinstance(part, ToolAnswer)}
    for message in messages:
        for use in message.tool_uses:
            if use.id in answers:
                yield Exchange(use, answers[use.id])
