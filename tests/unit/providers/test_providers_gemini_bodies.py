"""Whatever a conversation holds, and whoever wrote it, the body that Gemini gets is one that it takes."""

from __future__ import annotations

import json
from typing import Any

from gemini_kit import check_gemini
from hypothesis import given, settings
from hypothesis import strategies as st
from provider_kit import READ, request

from caddie.chat.messages import Image, Message, Part, Text, Thinking, ToolAnswer, ToolsAdded, ToolUse
from caddie.providers.gemini_body import Manners, body_of, declare
from caddie.tools.tool import ImageContent, TextContent

TEXTS = st.sampled_from(["", " ", "hello", "\u2028", "\ud83c", "</tag>"])
TYPES = st.sampled_from(["image/png", "image/gif", "image/heic", "", "application/pdf"])
IMAGES = st.builds(Image, st.just("iVBORw0KGgo="), TYPES)
IDS = st.sampled_from(["c1", "c2", "toolu_01", "ü", "", "x" * 80])
NAMES = st.sampled_from(["Read", "default_api.Read", "mcp__s__t", "1st", "no such tool", "", "n" * 200])
SIGNED = st.sampled_from([{}, {"type": "gemini", "thoughtSignature": "CiQB"}])
CALLS = st.builds(
    lambda call_id, name, arguments, opaque: ToolUse(call_id, name, arguments, "", opaque),
    IDS,
    NAMES,
    st.none() | st.just({}) | st.just({"path": "a"}),
    SIGNED | st.just({"type": "gemini", "id": "own", "name": "default_api.Read", "args": {"path": "a"}}),
)
CONTENT = st.lists(st.builds(TextContent, TEXTS) | st.builds(ImageContent, st.just("aGk="), TYPES), max_size=3)
ANSWERS = st.builds(
    lambda call_id, content, is_error: ToolAnswer(call_id, "Read", tuple(content), is_error),
    IDS,
    CONTENT,
    st.booleans(),
)
SAID: st.SearchStrategy[Part] = (
    st.builds(Text, TEXTS, SIGNED)
    | CALLS
    | st.builds(Thinking, TEXTS, st.sampled_from([{}, {"type": "thinking", "signature": "x"}, {"type": "gemini"}]))
)
ASKED: st.SearchStrategy[Part] = (
    st.builds(Text, TEXTS) | IMAGES | ANSWERS | st.builds(ToolsAdded, st.just((READ,)), st.just("A tool came."))
)


def distinct(parts: list[Part]) -> tuple[Part, ...]:
    """An answer's calls have ids of their own."""
    ids: dict[str, Part] = {part.id: part for part in parts if isinstance(part, ToolUse)}
    return tuple(part for part in parts if not isinstance(part, ToolUse) or ids[part.id] is part)


HISTORIES = st.lists(
    st.builds(Message, st.just("assistant"), st.lists(SAID, max_size=5).map(distinct))
    | st.builds(Message, st.just("user"), st.lists(ASKED, max_size=4).map(tuple)),
    max_size=7,
)
FIRST, LAST = Message("user", (Text("hi"),)), Message("user", (Text("go on"),))


def rendered(history: list[Message], model: str) -> dict[str, Any]:
    asked = request(*history, model=model)
    return body_of(asked, declare(asked.tools, Manners()), Manners())


@settings(max_examples=100)
@given(HISTORIES)
def test_every_conversation_becomes_a_body_that_gemini_takes(history: list[Message]) -> None:
    for model in ("gemini-3.8-flash", "gemini-2.5-pro"):
        body = rendered([FIRST, *history, LAST], model)
        # As it travels: half an emoji is not sent.
        check_gemini(json.loads(json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")), signed="3" in model)


@settings(max_examples=100)
@given(HISTORIES, HISTORIES)
def test_what_was_said_before_never_changes(history: list[Message], later: list[Message]) -> None:
    model = "gemini-3.8-flash"
    answer = Message("assistant", (Text("answer"),))
    shorter = rendered([FIRST, *history, LAST], model)
    longer = rendered([FIRST, *history, LAST, answer, FIRST, *later, LAST], model)
    kept = len(shorter["contents"])
    assert longer["contents"][:kept] == shorter["contents"]
    assert {**longer, "contents": []} == {**shorter, "contents": []}
