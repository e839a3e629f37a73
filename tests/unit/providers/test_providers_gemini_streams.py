"""The same bytes go to Google's own SDK and to us, cut and padded at random; both must read the same."""

from __future__ import annotations

import asyncio
import base64
import functools
import json
import re
from dataclasses import dataclass, field
from typing import Any

import httpx2
import pytest
from gemini_kit import MODEL, call, chunk, gemini
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from provider_kit import Server, completed, fixture, request, sse, streamed

from caddie.chat.messages import Completed, Text, Thinking, ToolUse

NAMES = ["parallel", "signed_text", "no_ids", "max_tokens", "safety"]
STOPS = {"STOP": "end_turn", "MAX_TOKENS": "max_tokens", "SAFETY": "refusal"}
NOISE = [b": keep-alive\n\n", b"\n", b"retry: 10\n\n", b"event: x\ndata: {}\n\n", b'data: {"somethingNew": [1]}\n\n']
FEW = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@dataclass
class Read:
    """What an answer says, whoever read it."""

    text: str = ""
    thoughts: str = ""
    calls: list[tuple[str, Any]] = field(default_factory=list)
    signatures: list[tuple[str, bytes]] = field(default_factory=list)
    stop: str = ""
    usage: tuple[int, int, int] = (0, 0, 0)


CONTENT = [b""]


@functools.cache
def sdk() -> Any:
    """One client for all tests, for each costs a tenth of a second; it answers with `CONTENT`."""
    from google import genai
    from google.genai import types

    transport = httpx2.MockTransport(
        lambda _: httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=CONTENT[0])
    )
    options = types.HttpOptions(base_url="http://x", httpx_client=httpx2.Client(transport=transport))
    return genai.Client(api_key="k", http_options=options)


def by_sdk(content: bytes) -> Read:
    CONTENT[0], read = content, Read()
    for piece in sdk().models.generate_content_stream(model=MODEL, contents="hi"):
        _add(read, piece)
    if read.stop == "end_turn" and read.calls:
        read.stop = "tool_use"
    return read


def _add(read: Read, piece: Any) -> None:
    candidate = piece.candidates[0]
    for part in (candidate.content and candidate.content.parts) or ():
        if part.function_call:
            read.calls.append((part.function_call.name, part.function_call.args or {}))
        elif part.thought:
            read.thoughts += part.text or ""
        else:
            read.text += part.text or ""
        if part.thought_signature:
            what = part.function_call.name if part.function_call else part.text
            read.signatures.append((what, part.thought_signature))
    read.stop = STOPS[candidate.finish_reason.value] if candidate.finish_reason else read.stop
    if counted := piece.usage_metadata:
        output = (counted.candidates_token_count or 0) + (counted.thoughts_token_count or 0)
        read.usage = (counted.prompt_token_count or 0, counted.cached_content_token_count or 0, output)


def by_us(content: bytes, splits: list[int]) -> Read:
    async def read() -> Completed:
        return await completed(gemini(Server(streamed(content, splits=splits)).client), request(model=MODEL))

    end = asyncio.run(read())
    parts = end.message.parts
    signed = [part for part in parts if isinstance(part, Text | ToolUse) and "thoughtSignature" in part.opaque]
    return Read(
        end.message.text,
        "".join(part.text for part in parts if isinstance(part, Thinking)),
        [(use.name, use.arguments) for use in end.message.tool_uses],
        [
            (part.text if isinstance(part, Text) else part.name, base64.b64decode(part.opaque["thoughtSignature"]))
            for part in signed
        ],
        end.stop_reason,
        (end.usage.input, end.usage.cached, end.usage.output),
    )


@st.composite
def disturbed(draw: st.DrawFn, content: bytes) -> tuple[bytes, list[int]]:
    events = re.findall(rb".*?\n\n", content, re.DOTALL)
    padded = b"".join(draw(st.sampled_from([b"", b"", *NOISE])) + event for event in events)
    if draw(st.booleans()):
        padded = padded.replace(b"data: ", b"data:")
    ending = draw(st.sampled_from([b"\n", b"\r\n", b"\r"]))
    return padded.replace(b"\n", ending), draw(st.lists(st.integers(0, 10_000), max_size=40))


@pytest.mark.parametrize("name", NAMES)
def test_a_gemini_stream_means_what_the_sdk_makes_of_it(name: str) -> None:
    content = fixture(f"gemini_{name}.sse")
    expected = by_sdk(content)

    @FEW
    @given(disturbed(content))
    def agrees(case: tuple[bytes, list[int]]) -> None:
        assert by_us(*case) == expected

    agrees()


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=6,
)
SIGNATURES = st.sampled_from(["", "CiQB", "c2ln"])
PARTS = st.one_of(
    st.builds(lambda text: {"text": text}, TEXTS),
    st.builds(lambda text: {"text": text, "thought": True}, TEXTS),
    st.builds(lambda text: {"text": text, "thoughtSignature": "c2ln"}, TEXTS | st.just("")),
    st.builds(
        lambda args, signature: call("Read", args, signature=signature), st.dictionaries(TEXTS, VALUES), SIGNATURES
    ),
)
CHUNKS = st.lists(st.builds(lambda parts: chunk(*parts), st.lists(PARTS, max_size=3)), max_size=5)


@settings(max_examples=60)
@given(CHUNKS, st.sampled_from(["STOP", "MAX_TOKENS"]), st.integers(0, 99), st.data())
def test_any_stream_means_what_the_sdk_makes_of_it(
    chunks: list[dict[str, Any]], finish: str, tokens: int, data: st.DataObject
) -> None:
    usage = {"promptTokenCount": 9 + tokens, "cachedContentTokenCount": tokens, "candidatesTokenCount": tokens}
    content = sse(*chunks, chunk({"text": ""}, finish=finish, usageMetadata=usage))
    # JSON may stand in the stream as it is, or with all but ASCII escaped.
    plain = re.sub(rb"(?m)^data: (.*)$", lambda found: b"data: " + _unescaped(found[1]), content)
    expected = by_sdk(content)
    assert by_us(*data.draw(disturbed(content))) == expected
    assert by_us(plain, [3, 50, 51]) == expected


def _unescaped(text: bytes) -> bytes:
    return json.dumps(json.loads(text), ensure_ascii=False).encode()


@pytest.mark.parametrize("name", NAMES)
def test_our_gemini_recordings_have_the_types_of_the_api(name: str) -> None:
    from google.genai import types

    for line in fixture(f"gemini_{name}.sse").split(b"\n"):
        if line.startswith(b"data: "):
            types.GenerateContentResponse.model_validate_json(line[6:])
