"""Did a compatible server quietly do something else than was asked? What its answer gives away, for the person.

Each suspicion is said once by an adapter: the cause is in the server's configuration and stays.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from caddie.chat.messages import Completed, Message, ModelRequest, Text, ToolAnswer, ToolUse
from caddie.tools.tool import TextContent

# How local models write calls that their server does not read: at the start of a line, so that prose is left alone.
_WRITTEN_CALL = re.compile(
    r"^[ \t]*(?:<tool_call>|<\|tool_call|<function=|<function_call>|\[TOOL_CALLS\]|<\|python_tag\|>"
    r"|<｜tool▁calls?▁begin｜>)",
    re.MULTILINE,
)
_WORD = re.compile(r"\w+")
# Servers that leave cached tokens out of their count report little; one that cuts still reads this much.
_CUT_READS_AT_LEAST = 1000
_FAR_BELOW = 0.7


class Suspicions:
    """`server` names it in a person's words."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._said: set[str] = set()

    def about(self, request: ModelRequest, answer: Completed) -> str:
        """What to tell the person about this answer; empty when nothing is odd or all was said before."""
        return " ".join(text for text in (self._cut(request, answer), self._written_call(request, answer)) if text)

    def too_many(self, request: ModelRequest, limit: int | None) -> str:
        """Said when tools were left out because the server takes no more."""
        if limit is None or len(request.tools) <= limit or "tools" in self._said:
            return ""
        self._said.add("tools")
        return (
            f"{self._server} takes at most {limit} tools in a request, so the last {len(request.tools) - limit} were "
            "left out; defer or disable some in the tools panel."
        )

    def _cut(self, request: ModelRequest, answer: Completed) -> str:
        read = answer.usage.input
        if read < _CUT_READS_AT_LEAST or "cut" in self._said:
            return ""
        least = fewest_tokens(request)
        if read >= least * _FAR_BELOW:
            return ""
        self._said.add("cut")
        return (
            f"{self._server} read only {read:,} tokens of a prompt of at least {least:,}: it cut the prompt, so the "
            "model did not see all of it. Raise the context length there (Ollama: OLLAMA_CONTEXT_LENGTH or num_ctx)."
        )

    def _written_call(self, request: ModelRequest, answer: Completed) -> str:
        names = [tool.name for tool in request.tools]
        if not names or answer.message.tool_uses or "call" in self._said:
            return ""
        if not is_written_call(answer.message.text, names):
            return ""
        self._said.add("call")
        return (
            f"The model wrote a tool call as plain text and {self._server} did not read it as one, so nothing was run. "
            "Start the server with a tool-aware chat template (llama.cpp: --jinja; vLLM: --enable-auto-tool-choice "
            "and --tool-call-parser), or choose a model that supports tools."
        )


def is_written_call(text: str, tools: Sequence[str]) -> bool:
    if _WRITTEN_CALL.search(text):
        return True
    bare = text.strip().removeprefix("```json").removeprefix("```").removesuffix("```").strip()
    if not (bare.startswith("{") and bare.endswith("}") and len(bare) < 100_000):
        return False
    try:
        value = json.loads(bare)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.get("name") in tools and bool({"arguments", "parameters"} & value.keys())


def fewest_tokens(request: ModelRequest) -> int:
    """A floor, not a guess: tokens of known vocabularies end where words end, so there are at least as many."""
    return sum(len(_WORD.findall(text)) for text in _texts(request))


def _texts(request: ModelRequest) -> Iterable[str]:
    yield request.system
    for tool in request.tools:
        yield tool.description
    for message in request.messages:
        yield from _said(message)


def _said(message: Message) -> Iterable[str]:
    for part in message.parts:
        match part:
            case Text(text):
                yield text
            case ToolAnswer():
                yield from (content.text for content in part.content if isinstance(content, TextContent))
            case ToolUse():
                yield part.raw
            case _:
                pass
