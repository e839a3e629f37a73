"""Would the Responses API take this body? The vendor's SDK types judge, then the rules they leave out, in its words."""

from __future__ import annotations

import functools
import json
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from provider_bodies import _drain, _forbid_extra

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_SAFE_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_PATTERN = "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
_OUTPUTS = {"function_call": "function_call_output", "tool_search_call": "tool_search_output"}
_WORDS = {"function_call_output": "function call", "tool_search_output": "tool search call"}
_AFTER_REASONING = ("reasoning", "message", "function_call", "tool_search_call")
_NOT_AT_ROOT = ("oneOf", "anyOf", "allOf", "enum", "not")


@dataclass(frozen=True)
class Refusal:
    """A 400 of the API."""

    message: str
    param: str = ""
    code: str | None = None

    def json(self) -> dict[str, Any]:
        told = {"message": self.message, "type": "invalid_request_error", "param": self.param, "code": self.code}
        return {"error": told}


def check_openai_responses(body: Mapping[str, Any]) -> None:
    """Raises ValidationError or AssertionError when the API would answer 400, or do something else than was meant."""
    _drain(_adapter().validate_python(body))
    refused = refusal(body)
    assert refused is None, refused
    assert body["stream"] is True
    assert body["store"] is False
    unwanted = {"temperature", "top_p", "tool_choice", "previous_response_id", "parallel_tool_calls"} & set(body)
    assert not unwanted, f"some models refuse {unwanted}"
    for tool in _functions(body):
        assert tool["strict"] is False, "left out, the API may rewrite the schema"
        assert _SAFE_NAME.fullmatch(tool["name"])
    assert list(body)[-1] == "input", "all that stays the same comes before"


def check_input_tokens(body: Mapping[str, Any]) -> None:
    _drain(_count_adapter().validate_python(body))


def refusal(body: Mapping[str, Any], *, searches: bool = True) -> Refusal | None:
    """`searches`: this model knows tool_search."""
    return next(_refusals(body, searches), None)


def _refusals(body: Mapping[str, Any], searches: bool) -> Iterator[Refusal]:
    tools = body.get("tools", [])
    if len(tools) > 128:
        text = (
            "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length"
        )
        yield Refusal(f"{text} {len(tools)} instead.", "tools", "array_above_max_length")
    if len(body.get("prompt_cache_key", "")) > 64:
        yield Refusal("Invalid 'prompt_cache_key': string too long.", "prompt_cache_key", "string_above_max_length")
    yield from _bad_tools(tools, "tools", searches)
    yield from _bad_items(body["input"], searches)


def _bad_tools(tools: list[dict[str, Any]], where: str, searches: bool) -> Iterator[Refusal]:
    names = [tool["name"] for tool in tools if tool["type"] == "function"]
    if len(set(names)) < len(names):
        yield Refusal(f"Duplicate tool names in '{where}'.", where)
    kinds = [tool["type"] for tool in tools]
    if "tool_search" in kinds and not searches:
        yield Refusal("Unsupported tool type: 'tool_search' is not supported with this model.", where)
    if "tool_search" in kinds and "ToolSearch" in names:
        yield Refusal("A function beside tool_search does the same.", where)
    for place, tool in enumerate(tools):
        at = f"{where}[{place}]"
        if tool["type"] == "tool_search":
            if set(tool) - {"type", "execution", "description", "parameters"}:
                yield Refusal(f"Unknown parameter: '{at}'.", at, "unknown_parameter")
            continue
        if not _NAME.fullmatch(tool["name"]):
            yield Refusal(f"Invalid '{at}.name': string does not match pattern. {_PATTERN}", f"{at}.name")
        if wrong := _wrong_schema(tool["parameters"]):
            text = f"Invalid schema for function '{tool['name']}': {wrong}"
            yield Refusal(text, f"{at}.parameters", "invalid_function_parameters")


def _wrong_schema(schema: Mapping[str, Any]) -> str:
    if schema.get("type") != "object" or any(key in schema for key in _NOT_AT_ROOT):
        return "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level."
    if "properties" not in schema:
        return "In context=(), object schema missing properties."
    return "array schema missing items." if _lacks_items(schema) else ""


def _lacks_items(node: object) -> bool:
    if isinstance(node, dict):
        kind = node.get("type")
        is_array = kind == "array" or (isinstance(kind, list) and "array" in kind)
        return (is_array and "items" not in node) or any(map(_lacks_items, node.values()))
    return isinstance(node, list) and any(map(_lacks_items, node))


def _bad_items(items: list[dict[str, Any]], searches: bool) -> Iterator[Refusal]:
    waiting: dict[str, str] = {}
    for place, item in enumerate(items):
        kind, at = item.get("type", "message"), f"input[{place}]"
        following = items[place + 1] if place + 1 < len(items) else {}
        if kind == "reasoning":
            yield from _bad_reasoning(item, following)
        elif kind in _OUTPUTS:
            yield from _bad_call(item, at, searches)
            waiting[item["call_id"]] = _OUTPUTS[kind]
        elif kind in _OUTPUTS.values():
            if waiting.pop(item["call_id"], None) != kind:
                yield Refusal(f"No tool call found for {_WORDS[kind]} output with call_id {item['call_id']}.", at)
            if kind == "tool_search_output":
                yield from _bad_tools(item["tools"], f"{at}.tools", searches)
        elif kind == "additional_tools":
            yield from _bad_tools(item["tools"], f"{at}.tools", searches)
            yield from _unanswered(waiting)
        elif kind == "message":
            yield from _bad_message(item, at)
            yield from _unanswered(waiting) if item["role"] != "assistant" else ()
    yield from _unanswered(waiting)


def _unanswered(waiting: Mapping[str, str]) -> Iterator[Refusal]:
    for call_id, output in waiting.items():
        yield Refusal(f"No tool output found for {_WORDS[output]} {call_id}.", "input")


def _bad_reasoning(item: Mapping[str, Any], following: Mapping[str, Any]) -> Iterator[Refusal]:
    if not item.get("encrypted_content") and not item.get("content"):
        yield Refusal(
            f"Item with id '{item['id']}' not found. Items are not persisted when `store` is set to false. "
            "Try again with `store` set to true, or remove this item from your input.",
            "input",
        )
    is_output = following.get("type") in _AFTER_REASONING and following.get("role", "assistant") == "assistant"
    if not is_output:
        text = f"Item '{item.get('id')}' of type 'reasoning' was provided without its required following item."
        yield Refusal(text, "input")


def _bad_call(item: Mapping[str, Any], at: str, searches: bool) -> Iterator[Refusal]:
    if len(item["call_id"]) > 64:
        yield Refusal(f"Invalid '{at}.call_id': string too long.", f"{at}.call_id", "string_above_max_length")
    if item["type"] == "tool_search_call":
        if not searches:
            yield Refusal(f"Invalid value: 'tool_search_call' at '{at}.type'.", f"{at}.type", "invalid_value")
        if not isinstance(item["arguments"], dict):
            yield Refusal(f"Invalid type for '{at}.arguments': expected an object.", f"{at}.arguments", "invalid_type")
        return
    if not _NAME.fullmatch(item["name"]):
        yield Refusal(f"Invalid '{at}.name': string does not match pattern. {_PATTERN}", f"{at}.name", "invalid_value")
    json.loads(item["arguments"])


def _bad_message(item: Mapping[str, Any], at: str) -> Iterator[Refusal]:
    content = item["content"]
    if not content:
        yield Refusal(f"Invalid '{at}.content': empty.", at)
    allowed = ("output_text", "refusal") if item["role"] == "assistant" else ("input_text", "input_image")
    for block in content if isinstance(content, list) else ():
        if block["type"] not in allowed:
            supported = " and ".join(map(repr, allowed))
            yield Refusal(f"Invalid value: '{block['type']}'. Supported values are: {supported}.", at, "invalid_value")


def _functions(body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for holder in (body, *body["input"]):
        yield from (tool for tool in holder.get("tools", ()) if tool["type"] == "function")


@functools.cache
def _adapter() -> TypeAdapter[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for package in ("chat", "responses", "shared_params"):
            _forbid_extra(f"openai.types.{package}")
        from openai.types.responses.response_create_params import ResponseCreateParamsStreaming

        return TypeAdapter(ResponseCreateParamsStreaming)


@functools.cache
def _count_adapter() -> TypeAdapter[Any]:
    _adapter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from openai.types.responses.input_token_count_params import InputTokenCountParams

        return TypeAdapter(InputTokenCountParams)
