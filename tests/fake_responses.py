"""A Responses API that remembers what it said, and refuses what the real one refuses, in the vendor's words.

It is stateless on its face, as the real one with `store: false`; what it keeps is to catch whoever does not send its
items back as they came.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import httpx

from responses_rules import Refusal, refusal

Item = dict[str, Any]
USAGE = {
    "input_tokens": 900, "input_tokens_details": {"cached_tokens": 512, "cache_write_tokens": 0},
    "output_tokens": 40, "output_tokens_details": {"reasoning_tokens": 20}, "total_tokens": 940,
}  # fmt: skip


def reasoning(number: int = 1, *summary: str) -> Item:
    blocks = [{"type": "summary_text", "text": text} for text in summary]
    return {"id": f"rs_{number}", "type": "reasoning", "summary": blocks, "encrypted_content": f"gAAA{number}=="}


def message(text: str, number: int = 1, **more: Any) -> Item:
    content = [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]
    fields = {"type": "message", "status": "completed", "content": content, "role": "assistant"}
    return {"id": f"msg_{number}", **fields, **more}


def refusing(text: str) -> Item:
    return message("", content=[{"type": "refusal", "refusal": text}])


def call(name: str, number: int = 1, arguments: str | None = None, **given: Any) -> Item:
    raw = json.dumps(given) if arguments is None else arguments
    fields = {"type": "function_call", "status": "completed", "arguments": raw, "call_id": f"call_{number}"}
    return {"id": f"fc_{number}", **fields, "name": name}


def search(query: str, number: int = 1) -> Item:
    fields = {"type": "tool_search_call", "execution": "client", "call_id": f"call_{number}", "status": "completed"}
    return {"id": f"tsc_{number}", **fields, "arguments": {"query": query}}


def stream(*items: Item, incomplete: str = "", listed: bool = True) -> bytes:
    """The events of a whole answer. `listed`: the last one repeats all items, as the vendors do."""
    numbers = itertools.count()
    events = [{**event, "sequence_number": next(numbers)} for event in _events(items, incomplete, listed)]
    told = ((event["type"], json.dumps(event, ensure_ascii=False)) for event in events)
    return b"".join(f"event: {kind}\ndata: {data}\n\n".encode() for kind, data in told)


def response(output: Sequence[Item], status: str = "completed", **more: Any) -> dict[str, Any]:
    return {
        "id": "resp_1", "object": "response", "created_at": 1_790_000_000, "status": status, "model": "gpt-5.5",
        "output": list(output), "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "error": None,
        "incomplete_details": None, "instructions": None, "metadata": {}, "temperature": None, "top_p": None, **more,
    }  # fmt: skip


def _events(items: Sequence[Item], incomplete: str, listed: bool) -> Iterator[dict[str, Any]]:
    pending = response([], "in_progress")
    yield {"type": "response.created", "response": pending}
    yield {"type": "response.in_progress", "response": pending}
    for index, item in enumerate(items):
        for event in _item_events(item):
            yield {**event, "output_index": index}
    status = "incomplete" if incomplete else "completed"
    details = {"reason": incomplete} if incomplete else None
    final = response(items if listed else [], status, incomplete_details=details, usage=USAGE)
    yield {"type": f"response.{status}", "response": final}


def _item_events(item: Item) -> Iterator[dict[str, Any]]:
    at = {"item_id": item["id"]}
    empty = {key: [] if key in ("content", "summary") else item[key] for key in item if key != "encrypted_content"}
    if item["type"] == "function_call":
        empty["arguments"] = ""
    if "status" in item:
        empty["status"] = "in_progress"
    yield {"type": "response.output_item.added", "item": empty}
    match item["type"]:
        case "message":
            for place, block in enumerate(item["content"]):
                yield from _block_events(block, {**at, "content_index": place})
        case "function_call":
            for piece in _pieces(str(item["arguments"])):
                yield {"type": "response.function_call_arguments.delta", **at, "delta": piece}
            if item["status"] == "completed":
                done = {"name": item["name"], "arguments": item["arguments"]}
                yield {"type": "response.function_call_arguments.done", **at, **done}
        case "reasoning":
            for place, block in enumerate(item["summary"]):
                yield from _summary_events(block, {**at, "summary_index": place})
    yield {"type": "response.output_item.done", "item": item}


def _block_events(block: Item, at: dict[str, Any]) -> Iterator[dict[str, Any]]:
    key = "refusal" if block["type"] == "refusal" else "text"
    kind, logprobs = ("refusal", {}) if key == "refusal" else ("output_text", {"logprobs": []})
    yield {"type": "response.content_part.added", **at, "part": {**block, key: ""}}
    for piece in _pieces(block[key]):
        yield {"type": f"response.{kind}.delta", **at, "delta": piece, **logprobs}
    yield {"type": f"response.{kind}.done", **at, key: block[key], **logprobs}
    yield {"type": "response.content_part.done", **at, "part": block}


def _summary_events(block: Item, at: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"type": "response.reasoning_summary_part.added", **at, "part": {"type": "summary_text", "text": ""}}
    for piece in _pieces(block["text"]):
        yield {"type": "response.reasoning_summary_text.delta", **at, "delta": piece}
    yield {"type": "response.reasoning_summary_text.done", **at, "text": block["text"]}
    yield {"type": "response.reasoning_summary_part.done", **at, "part": block}


def _pieces(text: str) -> list[str]:
    return [text[start : start + 7] for start in range(0, len(text), 7)]


class FakeResponses:
    """Each answer is a list of items; `bodies` keeps what was taken. `searches`: which models know tool_search."""

    def __init__(self, *answers: Sequence[Item], searches: str = "gpt-5.5") -> None:
        self._answers = list(answers)
        self._searches = searches
        self._numbers = itertools.count(1)
        self._forgot = False
        self._said: dict[str, tuple[list[Item], int]] = {}
        self.bodies: list[dict[str, Any]] = []
        self.refused: list[Refusal] = []
        self.client = httpx.AsyncClient(transport=httpx.MockTransport(self._answer))

    def _answer(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        searches = body["model"] == self._searches
        refused = refusal(body, searches=searches) or self._forgotten(body["input"]) or self._moved(body)
        if refused:
            self.refused.append(refused)
            return httpx.Response(400, json=refused.json())
        self.bodies.append(body)
        self._forgot = False
        items = [self._numbered(item) for item in self._answers.pop(0)]
        self._check_calls(items, body)
        for place, item in enumerate(items):
            self._said[item["id"]] = (items, place)
        cut = "max_output_tokens" if any(item.get("status") == "incomplete" for item in items) else ""
        content = stream(*items, incomplete=cut)
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=content)

    def forget(self) -> None:
        """As when the key is now one of another organisation: no reasoning can be decrypted any more."""
        self._said.clear()
        self._forgot = True

    def _numbered(self, item: Item) -> Item:
        """No id is given twice."""
        number = next(self._numbers)
        fresh = {"id": f"{item['id'].partition('_')[0]}_{number}"}
        if "call_id" in item:
            fresh["call_id"] = f"call_{number}"
        if "encrypted_content" in item:
            fresh["encrypted_content"] = f"gAAA{number}=="
        return {**item, **fresh}

    def _forgotten(self, sent: list[Item]) -> Refusal | None:
        """Every item that was said comes back as it was, together with the reasoning it came out of."""
        present = {item["id"] for item in sent if item.get("id")}
        for item in sent:
            known = self._said.get(item.get("id", ""))
            if known is None:
                if item.get("encrypted_content"):
                    text = f"The encrypted content {item['encrypted_content'][:6]} could not be verified."
                    return Refusal(text, "input", "invalid_encrypted_content")
                continue
            items, place = known
            if item != items[place] and items[place].get("status") != "incomplete":
                return Refusal(f"Item '{item['id']}' was changed.", "input")
            missing = [before for before in items[:place] if before["id"] not in present]
            thought = next((before for before in missing if before["type"] == "reasoning"), None)
            if thought:
                what = (
                    f"Item '{item['id']}' of type '{item['type']}' was provided without its required 'reasoning' item"
                )
                return Refusal(f"{what}: '{thought['id']}'.", "input")
        return None

    def _moved(self, body: Mapping[str, Any]) -> Refusal | None:
        """What was sent before in this conversation is sent again, byte for byte: else its cache is lost."""
        for before in self.bodies[-1:]:
            if self._forgot or any(before.get(key) != body.get(key) for key in ("prompt_cache_key", "model")):
                continue
            for key in ("tools", "instructions"):
                if json.dumps(before.get(key)) != json.dumps(body.get(key)):
                    return Refusal(f"The prefix moved: {key}.", key)
            for old, new in zip(before["input"], body["input"], strict=False):
                if json.dumps(old) != json.dumps(new):
                    return Refusal(f"The prefix moved: {json.dumps(new)[:200]}", "input")
        return None

    def _check_calls(self, items: Sequence[Item], body: Mapping[str, Any]) -> None:
        """The model calls only what it can see: what the request holds, and what searches and late tools loaded."""
        held = [*body.get("tools", ()), *(tool for item in body["input"] for tool in item.get("tools", ()))]
        names = {tool["name"] for tool in held if tool["type"] == "function"}
        for item in items:
            assert item["type"] != "function_call" or item["name"] in names, f"{item['name']} was never loaded"
            can_search = any(tool["type"] == "tool_search" for tool in held)
            assert item["type"] != "tool_search_call" or can_search, "no tool_search in this request"
