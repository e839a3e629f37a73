"""How is a stranger's JSON Schema judged, correctly and in bounded time?

By `jsonschema-rs`, in the draft that the schema names. Nothing is ever fetched. What a schema can do to time is
bounded: its size, the backtracking of its patterns, and the number of ways to explain one failure.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

import jsonschema_rs

MAX_SCHEMA_CHARS = 2_000_000
_BACKTRACK_LIMIT = 20_000
_MAX_VISITS = 20_000
_BRANCHES = ("allOf", "anyOf", "oneOf")
_DRAFTS = (jsonschema_rs.Draft202012Validator, jsonschema_rs.Draft7Validator)
_PATTERNS = jsonschema_rs.FancyRegexOptions(backtrack_limit=_BACKTRACK_LIMIT)

Problem = jsonschema_rs.ValidationError


class Judge:
    """`errors` is None when it would take too long to say what is wrong."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema: Any = schema
        self._validator: Any = None
        if schema:
            self._schema, self._validator = _compiled(_text(schema))

    @property
    def is_able(self) -> bool:
        """False when the schema is unusable: the tool's own source then judges the arguments."""
        return self._validator is not None

    def errors(self, value: Any) -> list[Problem] | None:
        if self._validator is None or self._validator.is_valid(value):
            return []
        if _visits(self._schema, value) > _MAX_VISITS:
            return None
        found = list(self._validator.iter_errors(value))
        return [error for error in found if not _is_unjudged(error)]


def _text(schema: Mapping[str, Any]) -> str:
    try:
        return json.dumps(schema)
    except (ValueError, RecursionError):
        return ""


@lru_cache(maxsize=1024)
def _compiled(text: str) -> tuple[Any, Any]:
    """The schema as it is read, and its validator."""
    if not text or len(text) > MAX_SCHEMA_CHARS:
        return None, None
    schema = _without_loops(json.loads(text))
    for candidate in (schema, _without_foreign_refs(schema)):
        for make in (_by_its_word, *(_as(draft) for draft in _DRAFTS)):
            try:
                return candidate, make(candidate)
            except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError):
                continue
    return schema, None


def _by_its_word(schema: Any) -> Any:
    return jsonschema_rs.validator_for(schema, retriever=_refuse, pattern_options=_PATTERNS)


def _as(draft: Any) -> Any:
    """For a schema that names a dialect nobody knows, or uses an older one without saying so."""

    def make(schema: Any) -> Any:
        plain = {key: value for key, value in schema.items() if key != "$schema"}
        return draft(plain, retriever=_refuse, pattern_options=_PATTERNS)

    return make


def _refuse(uri: str) -> Any:
    raise ValueError(f"remote references are not followed: {uri}")


def _without_foreign_refs(node: Any) -> Any:
    """What stands elsewhere may be anything; the rest of the schema still holds."""
    if isinstance(node, dict):
        return {
            key: _without_foreign_refs(value)
            for key, value in node.items()
            if key not in ("$ref", "$dynamicRef") or not isinstance(value, str) or value.startswith("#")
        }
    return [_without_foreign_refs(item) for item in node] if isinstance(node, list) else node


def _without_loops(schema: Any) -> Any:
    """`A: anyOf [A, string]` means a string; taken at its word it would mean anything."""
    for group in ("$defs", "definitions"):
        named = schema.get(group) if isinstance(schema, dict) else None
        for name, part in named.items() if isinstance(named, dict) else ():
            for key in _BRANCHES if isinstance(part, dict) else ():
                branches = part.get(key)
                if isinstance(branches, list):
                    itself = {"$ref": f"#/{group}/{name}"}
                    part[key] = [branch for branch in branches if branch != itself] or branches
    return schema


def _is_unjudged(error: Problem) -> bool:
    return error.kind.name in ("backtrackLimitExceeded", "regexEngineFailure")


def _visits(schema: Any, value: Any) -> int:
    """How many parts of the schema bear on the value, up to the limit: explaining looks at each of them."""
    count = 0
    pending = [(schema, value)]
    while pending and count <= _MAX_VISITS:
        node, part = pending.pop()
        count += 1
        pending.extend(_bearing(resolve_ref(schema, node), part))
    return count


def _bearing(node: Any, part: Any) -> Iterator[tuple[Any, Any]]:
    if not isinstance(node, Mapping):
        return
    for key in _BRANCHES:
        yield from ((branch, part) for branch in node.get(key) or ())
    for key in ("not", "if", "then", "else"):
        if key in node:
            yield node[key], part
    if isinstance(part, Mapping):
        known = node.get("properties")
        for name, value in part.items():
            if isinstance(known, Mapping) and name in known:
                yield known[name], value
            elif isinstance(node.get("additionalProperties"), Mapping):
                yield node["additionalProperties"], value
    elif isinstance(part, list) and isinstance(node.get("items"), Mapping):
        yield from ((node["items"], value) for value in part)


def resolve_ref(root: Any, node: Any) -> Any:
    """The part that a reference within the schema means; the node itself when there is none to follow."""
    for _ in range(20):
        if not isinstance(node, Mapping) or not isinstance(ref := node.get("$ref"), str) or not ref.startswith("#"):
            return node
        node = at_pointer(root, ref[1:])
    return node


def at_pointer(root: Any, pointer: str) -> Any:
    for part in pointer.split("/")[1:]:
        key = unquote(part).replace("~1", "/").replace("~0", "~")
        if isinstance(root, Mapping):
            root = root.get(key)
        elif isinstance(root, list) and key.isdigit() and int(key) < len(root):
            root = root[int(key)]
        else:
            return None
    return root
