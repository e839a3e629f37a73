"""A stand-in for api.anthropic.com that remembers, and enforces what the real one does of deferred tools, late tools,
bound thinking and caching, with its error texts. It plays a script; it calls no tool that the model could not know."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from caddie.providers.anthropic import Anthropic
from provider_bodies import check_anthropic

Block = Mapping[str, Any]
BETA = "inline-tools-2026-09-15"


def text(words: str) -> Block:
    return {"type": "text", "text": words}


def use(name: str, **arguments: Any) -> Block:
    return {"type": "tool_use", "name": name, "input": arguments}


THINK: Block = {"type": "thinking"}


@dataclass(slots=True)
class FakeAnthropic:
    """Each answer of the script is a list of blocks, an error `(status, body)`, or a stop reason with no content."""

    script: list[Any]
    refuses_native: bool = False
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[httpx.Headers] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    _signed: dict[str, str] = field(default_factory=dict)
    _seen: list[str] = field(default_factory=list)
    _ids: Any = field(default_factory=itertools.count)

    def provider(self, **options: Any) -> Anthropic:
        client = httpx.AsyncClient(transport=httpx.MockTransport(self._answer))
        given = {"base_url": "https://api.anthropic.com", "api_key": "sk-ant-test", "idle_timeout": 5.0, **options}
        return Anthropic(client, **given)

    def prefixes(self) -> list[bytes]:
        """What each request began with, up to its messages."""
        return [json.dumps({**body, "messages": 0, "diagnostics": 0}).encode() for body in self.bodies]

    def _answer(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        check_anthropic(body)
        if complaint := self._complaint(body, request.headers.get("anthropic-beta", "")):
            self.refusals.append(complaint)
            return _error(400, "invalid_request_error", complaint)
        self.bodies.append(body)
        self.headers.append(request.headers)
        assert self.script, "the script has no more answers"
        step = self.script.pop(0)
        if isinstance(step, tuple):
            return httpx.Response(step[0], json=step[1])
        stop, blocks = (step, []) if isinstance(step, str) else ("end_turn", step)
        return httpx.Response(
            200, headers={"content-type": "text/event-stream"}, content=b"".join(self._events(body, blocks, stop))
        )

    # What the API refuses.

    def _complaint(self, body: dict[str, Any], beta: str) -> str:
        return next(iter(self._complaints(body, beta)), "")

    def _complaints(self, body: dict[str, Any], beta: str) -> Iterable[str]:
        tools = body.get("tools", [])
        names = {tool["name"] for tool in tools}
        deferred = [tool for tool in tools if tool.get("defer_loading")]
        if self.refuses_native and deferred:
            yield "tools.0.defer_loading: Extra inputs are not permitted"
        if tools and len(deferred) == len(tools):
            yield "At least one tool must have defer_loading=false"
        for tool in deferred:
            if "cache_control" in tool:
                yield f"Tool '{tool['name']}' cannot have both defer_loading=true and cache_control set"
        defined = set(names)
        for at, message in enumerate(body["messages"]):
            if message["role"] == "system":
                yield from _misplaced(body["messages"], at, beta, defined)
                continue
            for block in message["content"]:
                if block["type"] == "tool_result" and isinstance(block["content"], list):
                    yield from _references(block, names)
                if block["type"] == "thinking":
                    yield from self._bound(body, at, block)
            yield from _unanswered(body["messages"], at)

    def _bound(self, body: dict[str, Any], at: int, block: Block) -> Iterable[str]:
        if self._signed.get(block["signature"]) != _digest(body, body["messages"][:at]):
            yield (
                f"messages.{at}.content.0: Invalid signature in thinking block. "
                "The block is bound to a different conversation."
            )

    # What it answers.

    def _events(self, body: dict[str, Any], blocks: Iterable[Block], stop: str) -> Iterable[bytes]:
        known = _known(body)
        usage = {"input_tokens": 0, "cache_creation_input_tokens": 0, "output_tokens": 7, **self._cached(body)}
        message = {"id": f"msg_{next(self._ids)}", "type": "message", "role": "assistant", "model": body["model"],
                   "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}  # fmt: skip
        yield _event({"type": "message_start", "message": message})
        for index, block in enumerate(blocks):
            start = dict(block)
            delta: Block = {}
            if block["type"] == "tool_use":
                assert block["name"] in known, f"the model cannot know {block['name']}"
                stop = "tool_use"
                start |= {"id": f"toolu_{next(self._ids)}", "input": {}}
                delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            elif block["type"] == "text":
                start["text"] = ""
                delta = {"type": "text_delta", "text": block["text"]}
            elif block["type"] == "thinking":
                signature = f"sig{next(self._ids)}"
                self._signed[signature] = _digest(body, body["messages"])
                start |= {"thinking": "", "signature": ""}
                delta = {"type": "signature_delta", "signature": signature}
            yield _event({"type": "content_block_start", "index": index, "content_block": start})
            yield _event({"type": "content_block_delta", "index": index, "delta": delta})
            yield _event({"type": "content_block_stop", "index": index})
        yield _event({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 7}})
        yield _event({"type": "message_stop"})

    def _cached(self, body: dict[str, Any]) -> dict[str, int]:
        """As many tokens as the request has characters in common with an earlier one, a quarter of each."""
        sent = _digestible(body, body["messages"])
        common = max((_common(sent, one) for one in self._seen), default=0)
        self._seen.append(sent)
        return {"cache_read_input_tokens": common // 4, "input_tokens": (len(sent) - common) // 4}


def _misplaced(messages: list[dict[str, Any]], at: int, beta: str, defined: set[str]) -> Iterable[str]:
    if BETA not in beta:
        yield f"messages.{at}.content.0: Input tag 'tool_addition' does not match any of the expected tags"
    if at == 0 or messages[at - 1]["role"] != "user":
        yield "system messages must follow a user message"
    for block in messages[at]["content"]:
        tool = block["tool"]
        if tool["type"] == "tool_reference" and tool["name"] not in defined:
            yield f"tool_addition: tool reference '{tool['name']}' could not be resolved"
        defined.add(tool["name"] if tool["type"] == "tool_reference" else tool["definition"]["name"])


def _references(block: Block, names: set[str]) -> Iterable[str]:
    kinds = {part["type"] for part in block["content"]}
    if "tool_reference" in kinds and len(kinds) > 1:
        yield "Tool definitions/code execution functions cannot be mixed with other content"
    for part in block["content"]:
        if part["type"] == "tool_reference" and part["tool_name"] not in names:
            yield f"Tool reference '{part['tool_name']}' not found in available tools"


def _unanswered(messages: list[dict[str, Any]], at: int) -> Iterable[str]:
    asked = {block["id"] for block in messages[at]["content"] if block["type"] == "tool_use"}
    if not asked:
        return
    following = messages[at + 1]["content"] if at + 1 < len(messages) else []
    answered = [block["tool_use_id"] for block in following[: len(asked)] if block["type"] == "tool_result"]
    if asked != set(answered):
        yield f"tool_use ids were found without tool_result blocks immediately after: {', '.join(sorted(asked))}"


def _known(body: dict[str, Any]) -> set[str]:
    """The tools whose definition the model has seen."""
    known = {tool["name"] for tool in body.get("tools", []) if not tool.get("defer_loading")}
    for message in body["messages"]:
        for block in message["content"]:
            if block["type"] == "tool_result" and isinstance(block["content"], list):
                known |= {part["tool_name"] for part in block["content"] if part["type"] == "tool_reference"}
            elif block["type"] == "tool_addition":
                tool = block["tool"]
                known.add(tool["name"] if tool["type"] == "tool_reference" else tool["definition"]["name"])
    return known


def _digest(body: dict[str, Any], messages: list[dict[str, Any]]) -> str:
    return hashlib.sha256(_digestible(body, messages).encode()).hexdigest()


def _digestible(body: dict[str, Any], messages: list[dict[str, Any]]) -> str:
    """All that the model reads, in its order; marks for the cache are not read."""
    tools = [tool for tool in body.get("tools", []) if not tool.get("defer_loading")]
    return json.dumps(_unmarked([tools, body.get("system"), messages]))


def _unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _unmarked(inner) for key, inner in value.items() if key != "cache_control"}
    return [_unmarked(inner) for inner in value] if isinstance(value, list) else value


def _common(one: str, other: str) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _event(payload: Block) -> bytes:
    return f"event: {payload['type']}\ndata: {json.dumps(payload)}\n\n".encode()


def _error(status: int, kind: str, message: str) -> httpx.Response:
    return httpx.Response(status, json={"type": "error", "error": {"type": kind, "message": message}})
