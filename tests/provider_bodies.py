"""Is a request body one that the real API would take? The vendors' own SDK types judge, then rules they leave out."""

from __future__ import annotations

import functools
import importlib
import pkgutil
import re
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import typing_extensions
from pydantic import ConfigDict, TypeAdapter

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_ANTHROPIC_ID = re.compile(r"[a-zA-Z0-9_-]+")
_KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_EXTENSIONS = ("reasoning_content", "reasoning")


def check_anthropic(body: Mapping[str, Any]) -> None:
    """Raises ValidationError or AssertionError when api.anthropic.com would answer 400."""
    late = any(message["role"] == "system" for message in body["messages"])
    _drain((_anthropic_beta_adapter() if late else _anthropic_adapter()).validate_python(body))
    assert body["stream"] is True
    assert not {"temperature", "top_p", "top_k"} & set(body), "the newest models refuse sampling parameters"
    assert body.get("tool_choice", {"type": "auto"})["type"] in ("auto", "none"), "forced tool use is refused"
    assert _count_cache_controls(body) <= 4
    tools = body.get("tools", [])
    _check_names([tool["name"] for tool in tools])
    for tool in tools:
        _check_root(tool["input_schema"])
        assert all(_KEY.fullmatch(key) for key in tool["input_schema"].get("properties", {}))
        assert not (tool.get("defer_loading") and tool.get("cache_control"))
    _check_anthropic_messages([message for message in body["messages"] if message["role"] != "system"])


def check_openai_chat(body: Mapping[str, Any], *, extensions: bool = False) -> None:
    """As above for Chat Completions; `extensions` allows the reasoning fields of compatible servers."""
    _drain(_openai_adapter().validate_python(_without_extensions(body) if extensions else body))
    assert body["stream"] is True
    assert "tool_choice" not in body
    tools = [tool["function"] for tool in body.get("tools", [])]
    assert len(tools) <= 128
    _check_names([tool["name"] for tool in tools])
    for tool in tools:
        _check_root(tool["parameters"])
        _check_arrays(tool["parameters"])
        assert len(tool.get("description", "")) <= 1024
    _check_chat_messages(body["messages"])


def _check_names(names: list[str]) -> None:
    assert len(set(names)) == len(names), "tool names must be unique"
    assert all(_NAME.fullmatch(name) for name in names)


def _check_root(schema: Mapping[str, Any]) -> None:
    assert schema["type"] == "object"
    assert isinstance(schema["properties"], dict)
    assert not {"oneOf", "anyOf", "allOf", "enum", "not"} & set(schema)


def _check_arrays(schema: object) -> None:
    if isinstance(schema, dict):
        assert schema.get("type") != "array" or "items" in schema
        for inner in schema.values():
            _check_arrays(inner)
    elif isinstance(schema, list):
        for inner in schema:
            _check_arrays(inner)


def _check_anthropic_messages(messages: list[dict[str, Any]]) -> None:
    assert messages
    assert messages[0]["role"] == "user"
    assert messages[-1]["role"] == "user", "a prefilled answer is refused"
    waiting: list[str] = []
    for message in messages:
        blocks = message["content"]
        assert blocks, "empty content"
        for block in blocks:
            assert block["type"] != "text" or block["text"].strip(), "empty text block"
            assert block["type"] != "tool_result" or block["content"], "empty tool result"
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert sorted(results) == sorted(waiting), "each tool_use is answered in the next message, once"
        kinds = [block["type"] == "tool_result" for block in blocks]
        assert kinds == sorted(kinds, reverse=True), "tool results come first"
        waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
        assert all(_ANTHROPIC_ID.fullmatch(call) for call in waiting)
        assert message["role"] == "assistant" or not waiting
        for block in blocks:
            if block["type"] == "tool_use":
                assert isinstance(block["input"], dict)
                assert _NAME.fullmatch(block["name"])
    assert not waiting


def _check_chat_messages(messages: list[dict[str, Any]]) -> None:
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] in waiting, "an answer without a call"
            assert isinstance(message["content"], str)
            waiting.remove(message["tool_call_id"])
            continue
        assert not waiting, "each call is answered before the next message"
        calls = message.get("tool_calls", [])
        assert message.get("content") or calls, "empty message"
        for call in calls:
            assert _NAME.fullmatch(call["function"]["name"])
        waiting = [call["id"] for call in calls]
        assert len(set(waiting)) == len(waiting)
    assert not waiting


def _count_cache_controls(value: object) -> int:
    if isinstance(value, Mapping):
        return ("cache_control" in value) + sum(_count_cache_controls(inner) for inner in value.values())
    if isinstance(value, list):
        return sum(_count_cache_controls(inner) for inner in value)
    return 0


def _without_extensions(body: Mapping[str, Any]) -> dict[str, Any]:
    messages = [{k: v for k, v in message.items() if k not in _EXTENSIONS} for message in body["messages"]]
    for message in messages:
        if "tool_calls" in message:
            message["tool_calls"] = [
                {k: v for k, v in call.items() if k != "extra_content"} for call in message["tool_calls"]
            ]
    return {**body, "messages": messages}


@functools.cache
def _anthropic_adapter() -> TypeAdapter[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _forbid_extra("anthropic.types")
        from anthropic.types.message_create_params import MessageCreateParamsStreaming

        return TypeAdapter(MessageCreateParamsStreaming)


@functools.cache
def _anthropic_beta_adapter() -> TypeAdapter[Any]:
    """Tools that are added in mid-conversation are known to the types of the beta only."""
    _anthropic_adapter()  # forbids unknown keys, those of the beta's types too
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from anthropic.types.beta.message_create_params import MessageCreateParamsStreaming

        return TypeAdapter(MessageCreateParamsStreaming)


@functools.cache
def _openai_adapter() -> TypeAdapter[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for package in ("chat", "responses", "shared_params"):
            _forbid_extra(f"openai.types.{package}")
        from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming

        return TypeAdapter(CompletionCreateParamsStreaming)


def _forbid_extra(package: str) -> None:
    """Typed dicts take any key by default; must run before the first TypeAdapter over them is built."""
    root = importlib.import_module(package)
    for found in pkgutil.walk_packages(root.__path__, package + "."):
        module = importlib.import_module(found.name)
        for member in vars(module).values():
            if (
                isinstance(member, type)
                and typing_extensions.is_typeddict(member)
                and member.__module__ == module.__name__
                and "__pydantic_config__" not in member.__dict__
            ):
                member.__pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[attr-defined]


def _drain(value: Any) -> Any:
    """Fields of type Iterable are checked only when walked."""
    if isinstance(value, Mapping):
        return {key: _drain(inner) for key, inner in value.items()}
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        return value
    return [_drain(inner) for inner in value]
