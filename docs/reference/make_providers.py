"""Writes docs/reference/providers.md: what each provider's adapter does, found out by having it do it.

    python docs/reference/make_providers.py [--check]

Each adapter is given a recorded answer of its API and a conversation with an image, a tool result and the reasoning of
that answer; the table tells what came out and what went over the wire. Nothing in it is written by hand.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from caddie.chat.messages import (
    Completed,
    Image,
    Message,
    ModelRequest,
    Text,
    TextDelta,
    ThinkingDelta,
    ToolAnswer,
    ToolDefinition,
)
from caddie.chat.provider import Provider
from caddie.errors import ProviderError
from caddie.providers import PROVIDERS, build_provider
from caddie.providers.capabilities import TABLE
from caddie.providers.table import Row
from caddie.settings import MEANINGS, Settings
from caddie.tools.tool import ImageContent, TextContent

PAGE = Path(__file__).with_name("providers.md")
_FOREIGN = "https://your.server.example/v1"
_SEEN, _SHOWN, _THOUGHT = "aW1hZ2Utb2YteW91cnM=", "aW1hZ2Utb2YtYS10b29s", "c2lnbmVkLXRob3VnaHQ="
_READ = ToolDefinition("Read", "Reads.", {"type": "object", "properties": {"path": {"type": "string"}}})


def _sse(*events: Mapping[str, Any]) -> bytes:
    lines = [
        f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" if "type" in e else f"data: {json.dumps(e)}\n\n"
        for e in events
    ]
    return "".join(lines).encode()


def _call(at: int) -> dict[str, Any]:
    return {"id": f"c{at}", "name": "Read", "args": {"path": f"{at}.py"}}


_USED = {"input_tokens": 10, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 0, "output_tokens": 1}
_MESSAGES = _sse(
    {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": [], "usage": _USED}},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "", "signature": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": _THOUGHT}},
    {"type": "content_block_stop", "index": 0},
    {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "Both."}},
    {"type": "content_block_stop", "index": 1},
    *(
        event
        for at in (2, 3)
        for event in (
            {"type": "content_block_start", "index": at,
             "content_block": {"type": "tool_use", "id": f"c{at}", "name": "Read", "input": {}}},
            {"type": "content_block_delta", "index": at,
             "delta": {"type": "input_json_delta", "partial_json": json.dumps(_call(at)["args"])}},
            {"type": "content_block_stop", "index": at},
        )
    ),
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}},
    {"type": "message_stop"},
)  # fmt: skip
_ITEMS = [
    {"type": "reasoning", "id": "rs_1", "encrypted_content": _THOUGHT,
     "summary": [{"type": "summary_text", "text": "hm"}]},
    {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
     "content": [{"type": "output_text", "text": "Both.", "annotations": []}]},
    *({"type": "function_call", "id": f"fc_{at}", "call_id": f"c{at}", "name": "Read", "status": "completed",
       "arguments": json.dumps(_call(at)["args"])} for at in (2, 3)),
]  # fmt: skip
_RESPONSES = _sse(
    {"type": "response.created", "response": {"id": "r", "status": "in_progress"}},
    {"type": "response.output_item.added", "output_index": 0, "item": {**_ITEMS[0], "summary": []}},
    {"type": "response.reasoning_summary_text.delta", "item_id": "rs_1", "output_index": 0, "summary_index": 0,
     "delta": "hm"},
    {"type": "response.output_item.done", "output_index": 0, "item": _ITEMS[0]},
    {"type": "response.output_item.added", "output_index": 1, "item": {**_ITEMS[1], "content": []}},
    {"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 1, "content_index": 0, "delta": "Both."},
    *({"type": "response.output_item.done", "output_index": at, "item": item} for at, item in enumerate(_ITEMS) if at),
    {"type": "response.completed", "response": {
        "id": "r", "status": "completed", "output": _ITEMS,
        "usage": {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 90}, "output_tokens": 9},
    }},
)  # fmt: skip
_CHAT = _sse(
    {"choices": [{"index": 0, "delta": {"reasoning_content": _THOUGHT}, "finish_reason": None}]},
    {"choices": [{"index": 0, "delta": {"content": "Both."}, "finish_reason": None}]},
    *({"choices": [{"index": 0, "finish_reason": None, "delta": {"tool_calls": [
        {"index": at, "id": f"c{at}", "type": "function",
         "function": {"name": "Read", "arguments": json.dumps(_call(at)["args"])}}]}}]} for at in (2, 3)),
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
    {"choices": [], "usage": {
        "prompt_tokens": 100, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 90},
    }},
)  # fmt: skip
_GENERATE = _sse(
    {"candidates": [{"index": 0, "content": {"role": "model", "parts": [
        {"text": "hm", "thought": True}, {"text": "Both."}]}}]},
    {"candidates": [{"index": 0, "content": {"role": "model", "parts": [
        {"functionCall": _call(2), "thoughtSignature": _THOUGHT}, {"functionCall": _call(3)}]}}]},
    {"candidates": [{"index": 0, "content": {"role": "model", "parts": []}, "finishReason": "STOP"}], "usageMetadata": {
        "promptTokenCount": 100, "cachedContentTokenCount": 90, "candidatesTokenCount": 9, "totalTokenCount": 109}},
)  # fmt: skip
# By the end of the path: the API's name, and its recorded answer.
_APIS: Mapping[str, tuple[str, bytes]] = {
    "/messages": ("Anthropic Messages", _MESSAGES),
    "/responses": ("OpenAI Responses", _RESPONSES),
    "/chat/completions": ("Chat Completions", _CHAT),
    ":streamGenerateContent": ("Gemini generateContent", _GENERATE),
}


class _Vendor:
    """Plays every API back, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[httpx.Request] = []
        self.client = httpx.AsyncClient(transport=httpx.MockTransport(self._answer))

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        answer = next((body for end, (_, body) in _APIS.items() if request.url.path.endswith(end)), None)
        if answer is None:
            return httpx.Response(200, json={"data": [], "models": [], "input_tokens": 1, "totalTokens": 1})
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=answer)

    @property
    def last_path(self) -> str:
        return f"`{self.asked[-1].method} {self.asked[-1].url.path}`"


async def _facts(name: str, row: Row | None) -> dict[str, str]:
    vendor = _Vendor()
    foreign = {"base_url": _FOREIGN} if name == "openai-chat" else {}
    settings = Settings.model_validate({"provider": name, "baseUrl": foreign.get("base_url", ""), "model": ""})
    provider = build_provider(settings, {row.key_name: "key"} if row else {}, vendor.client)
    model = provider.default_model or "some-model"
    facts = {
        "provider": f"`{name}`",
        "for": MEANINGS["provider"][name].rstrip("."),
        "key": f"`{row.key_name}`" if row else "none",
        "model": "the first that it lists" if not provider.default_model else f"`{model}`" if row else "none",
    }
    return facts | (await _spoken(provider, model, vendor) if row else {"API": "none: rules choose the tool"})


async def _spoken(provider: Provider, model: str, vendor: _Vendor) -> dict[str, str]:
    asked = Message("user", (Text("Read both."), Image(_SEEN, "image/png")))
    events = [event async for event in provider.stream(_request(model, asked))]
    first, last = vendor.asked[0], events[-1]
    assert isinstance(last, Completed)
    results = tuple(
        ToolAnswer(use.id, use.name, (TextContent("x"), ImageContent(_SHOWN, "image/png")))
        for use in last.message.tool_uses
    )
    async for _ in provider.stream(_request(model, asked, last.message, Message("user", results))):
        pass
    sent = vendor.asked[-1].content.decode()
    can = provider.capabilities(model)
    return {
        "API": next(words for end, (words, _) in _APIS.items() if first.url.path.endswith(end)),
        "thinking shown": _yes(any(isinstance(event, ThinkingDelta) for event in events)),
        "thinking sent back": _yes(_THOUGHT in sent),
        "text": _yes(any(isinstance(event, TextDelta) for event in events)),
        "your images": _yes(_SEEN in sent),
        "images of tools": _yes(_SHOWN in sent),
        "parallel calls": _yes(len(last.message.tool_uses) == 2),
        "cached tokens": _yes(last.usage == type(last.usage)(100, 90, last.usage.output)),
        "own deferral": f"`{can.deferral}`" if can.deferral else "no",
        "late tools": f"`{can.late_tools}`" if can.late_tools else "in words",
        "model list": await _listing(provider, vendor),
        "token count": await _count(provider, model, vendor),
    }


def _request(model: str, *messages: Message) -> ModelRequest:
    return ModelRequest(model, "Be brief.", (_READ,), messages, "s1")


async def _listing(provider: Provider, vendor: _Vendor) -> str:
    before = len(vendor.asked)
    await provider.list_models()
    return vendor.last_path if len(vendor.asked) > before else "no"


async def _count(provider: Provider, model: str, vendor: _Vendor) -> str:
    before = len(vendor.asked)
    try:
        counted = await provider.count_tokens(_request(model, Message("user", (Text("hi"),))))
    except ProviderError:
        counted = None
    return vendor.last_path.replace(model, "…") if counted and len(vendor.asked) > before else "no"


def _yes(claim: bool) -> str:
    return "yes" if claim else "no"


async def render() -> str:
    rows = [await _facts(name, row) for name, row in PROVIDERS.items()] + [await _facts("offline", None)]
    return "\n".join(
        (
            "<!-- Generated: python docs/reference/make_providers.py -->",
            "",
            "# Providers",
            "",
            "Set the variable and Caddie uses that provider; with several keys the first of this list answers, and",
            "`caddie doctor` says which and why. `CADDIE_PROVIDER` and `CADDIE_MODEL` choose otherwise.",
            "",
            *_table(rows, ("provider", "for", "key", "model", "API")),
            "",
            "What each adapter carries, found out by having it do so with the model above; a model may still lack it:",
            "",
            *_table(rows, ("provider", "text", "thinking shown", "thinking sent back", "your images", "images of tools",
                           "parallel calls", "cached tokens")),
            "",
            *_table(rows, ("provider", "own deferral", "late tools", "model list", "token count")),
            "",
            "Models that load deferred tools by themselves; all others are given them over ToolSearch and ExecuteTool,",
            "and `caddie explain TOOL` says which way is in effect and why:",
            "",
            *_table(
                [{"at": f"`{one.host}`", "models": f"`{_plain(one.model)}`", "how": f"`{one.deferral}`",
                  "late tools": f"`{one.late_tools}`" if one.late_tools else "in words"}
                 for one in TABLE if one.deferral],
                ("at", "models", "how", "late tools"),
            ),
            "",
        )
    )  # fmt: skip


def _plain(pattern: str) -> str:
    """A pattern as people read it."""
    text = pattern.replace(r"(?:-\d{8})?", "").replace("(?:", "(").replace("\\", "")
    return re.sub(r"d\{1,2\}|dd", "N", text).replace("|", " or ")


def _table(rows: list[dict[str, str]], columns: tuple[str, ...]) -> list[str]:
    kept = [row for row in rows if any(row.get(column) for column in columns[1:])]
    lines = [" | ".join(row.get(column, "").replace("|", "\\|") for column in columns) for row in kept]
    return [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}", *(f"| {line} |" for line in lines)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when the page is stale")
    options = parser.parse_args()
    page = asyncio.run(render())
    if not options.check:
        PAGE.write_text(page, "utf-8")
    elif not PAGE.is_file() or PAGE.read_text("utf-8") != page:
        sys.stderr.write("docs/reference/providers.md is stale: run `make gen`\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
