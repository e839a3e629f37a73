"""Whatever a conversation holds, whoever wrote it and whatever cut it short: the Responses API takes what is sent."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from provider_kit import READ, Server, collect, streamed
from pydantic import ValidationError
from responses_kit import LOG, OK, SEARCH, asked, responses, xai

from caddie.chat.messages import Image, Message, Part, Text, Thinking, ToolAnswer, ToolDefinition, ToolsAdded, ToolUse
from caddie.tools.tool import ImageContent, TextContent
from fake_responses import call, message, reasoning, search
from responses_rules import check_openai_responses

CATALOGUES = sorted((Path(__file__).parents[2] / "fixtures" / "catalogues").glob("*.json"))
FEW = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
MAKERS = {"openai": (responses, "gpt-5.5"), "xai": (xai, "grok-4.5")}

words = st.text(max_size=12)
ids = st.sampled_from(["call_1", "toolu:1/ü", "", "x" * 90, "a b", "call_2"])
names = st.sampled_from(["Read", "ToolSearch", "mcp.odd name", "", "ü" * 70])
arguments = st.one_of(st.none(), st.dictionaries(words, words, max_size=2))
images = st.builds(ImageContent, st.just("iVBORw0KGgo="), st.sampled_from(["image/png", "image/tiff", ""]))
contents = st.lists(st.one_of(st.builds(TextContent, words), images), max_size=3).map(tuple)
found = st.sampled_from([(), (LOG,), (LOG, READ)])
own = st.sampled_from(
    [
        (Thinking("", reasoning(1)), ToolUse("call_1", "Read", {"path": "a"}, "", call("Read", path="a"))),
        (Thinking("", reasoning(2)), ToolUse("call_1", "ToolSearch", {"query": "a"}, "", search("a"))),
        (Thinking("", reasoning(3)), Text("Hi.", message("Hi."))),
        (ToolUse("call_2", "Read", None, "{", call("Read", 2, arguments="{")),),
    ]
)
foreign = st.lists(
    st.one_of(
        st.builds(Text, words),
        st.just(Thinking("x", {"type": "thinking", "thinking": "x", "signature": "y"})),
        st.just(Thinking("x", {"reasoning_content": "x"})),
        st.builds(ToolUse, ids, names, arguments),
    ),
    max_size=4,
).map(tuple)
answers = st.builds(ToolAnswer, ids, names, contents, st.booleans(), found, words)
others = st.one_of(
    st.builds(Text, words),
    st.builds(Image, st.just("iVBORw0KGgo="), st.sampled_from(["image/png", "x/y"])),
    st.builds(ToolsAdded, st.just((LOG,)), st.just("words")),
)


def _unique(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """No provider gives one id to two calls of one answer."""
    seen: dict[str, Part] = {part.id: part for part in parts if isinstance(part, ToolUse)}
    return tuple(part for part in parts if not isinstance(part, ToolUse) or seen[part.id] is part)


said = st.builds(Message, st.just("assistant"), st.one_of(own, foreign).map(_unique))
asking = st.builds(
    Message,
    st.just("user"),
    st.lists(st.one_of(answers, others), max_size=4).map(lambda parts: (*parts, Text("go on"))),
)
turns = st.lists(st.one_of(st.tuples(said, asking), st.tuples(asking)), max_size=5)
talks = turns.map(lambda talk: (Message("user", (Text("hi"),)), *(one for turn in talk for one in turn)))


@pytest.mark.parametrize("where", sorted(MAKERS))
@FEW
@given(talk=talks, deferral=st.sampled_from(["native", "bridge"]))
def test_every_conversation_becomes_a_body_that_is_taken(where: str, talk: tuple[Message, ...], deferral: str) -> None:
    make, model = MAKERS[where]
    native = deferral if where == "openai" else "bridge"
    server = Server(lambda: streamed(OK))
    asyncio.run(collect(make(server.client), asked(*talk, model=model, tools=(READ, SEARCH), deferral=native)))
    check_openai_responses(server.bodies[0])


@pytest.mark.parametrize("catalogue", CATALOGUES, ids=lambda path: path.stem)
@pytest.mark.parametrize("where", sorted(MAKERS))
async def test_real_tools_are_taken_in_the_request_and_when_a_search_loads_them(where: str, catalogue: Path) -> None:
    make, model = MAKERS[where]
    tools = tuple(
        ToolDefinition(tool["name"], tool.get("description", ""), tool["inputSchema"]) for tool in listed(catalogue)
    )
    use = Message("assistant", (ToolUse("call_1", "ToolSearch", {"query": "x"}, "", search("x")),))
    answer = Message("user", (ToolAnswer("call_1", "ToolSearch", (TextContent("x"),), found=tools),))
    hello = Message("user", (Text("hi"),))
    deferral = "native" if where == "openai" else "bridge"
    for fields in ({"tools": tools}, {"tools": (READ, SEARCH), "deferral": deferral}):
        server = Server(lambda: streamed(OK))
        await collect(make(server.client), asked(hello, use, answer, model=model, **fields))
        check_openai_responses(server.bodies[0])


def listed(catalogue: Path) -> list[dict[str, Any]]:
    read = json.loads(catalogue.read_text())
    return read if isinstance(read, list) else list(read["tools"])


def item(place: int, **changes: Any) -> Any:
    return lambda body: body["input"][place].update(changes)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda body: body["tools"][0].pop("strict"), "strict"),
        (lambda body: body["tools"][0].update(name="a.b"), "does not match pattern"),
        (lambda body: body["tools"][0].update(parameters={"type": "object"}), "object schema missing properties"),
        (lambda body: body["tools"][0].update(parameters={"oneOf": []}), "schema must have type 'object'"),
        (lambda body: body["tools"][1].update(name="ToolSearch"), "name"),
        (lambda body: body["tools"].extend([body["tools"][0]] * 200), "array too long"),
        (lambda body: body["input"].pop(2), "without its required following item"),
        (lambda body: body["input"].pop(3), "No tool output found for tool search call call_1"),
        (item(1, encrypted_content=None), "Items are not persisted"),
        (item(2, arguments="{}"), "expected an object"),
        (item(3, is_error=True), "is_error"),
        (item(0, content=[{"type": "output_text", "text": "x"}]), "output_text"),
        (lambda body: body.update(prompt_cache_key="x" * 65), "string too long"),
        (lambda body: body.update(temperature=0.1), "temperature"),
    ],
)
async def test_the_judge_of_these_tests_refuses_what_the_api_refuses(spoil: Any, said: str) -> None:
    parts = (Thinking("", reasoning(1)), ToolUse("call_1", "ToolSearch", {"query": "a"}, "", search("a")))
    results = (ToolAnswer("call_1", "ToolSearch", (TextContent("x"),), found=(LOG,)),)
    server = Server(lambda: streamed(OK))
    talk = (Message("user", (Text("hi"),)), Message("assistant", parts), Message("user", results))
    await collect(responses(server.client), asked(*talk, tools=(READ, SEARCH), deferral="native"))
    [body] = server.bodies
    check_openai_responses(body)
    spoil(body)
    with pytest.raises((AssertionError, ValidationError), match=said):
        check_openai_responses(body)
