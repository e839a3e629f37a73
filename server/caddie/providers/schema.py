"""What of a stranger's tool schema does each model API accept?

One bad tool fails a whole request, so whatever comes in, a valid JSON Schema of an object comes out. It may allow
more than the original, as little less as can be: the tool itself is called with arguments checked against the original.
"""

from __future__ import annotations

import functools
import json
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from caddie.providers.schema_gemini import gemini_keywords, leveled, to_proto
from caddie.providers.schema_keys import ANTHROPIC_KEYS, GEMINI_KEYS, NO_KEYS, Keys, rename_keys
from caddie.providers.schema_node import Dialect, Schema, clean_node, join_tuple, take_tuple
from caddie.providers.schema_refs import inline
from caddie.providers.schema_root import flatten_root
from caddie.providers.schema_size import shrunk, trimmed

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

logger = logging.getLogger(__name__)

_LOOK_AROUND = re.compile(r"\(\?(?:[=!]|<[=!])")
_MENDS = 4
_KEPT_SIZE = 20_000


@dataclass(frozen=True, slots=True)
class WireSchema:
    """Shared, so not to be changed. `note` belongs at the end of the description. `keys` leads from the keys on the
    wire to the tool's own and back; `renamed` is its first level."""

    schema: Schema
    note: str = ""
    renamed: Mapping[str, str] = field(default_factory=dict)
    keys: Keys = NO_KEYS
    is_lost: bool = False
    """Nothing of the original could be used: the model has to guess the parameters."""


class _Unusable(Exception):
    """The schema is beyond mending."""


def for_anthropic(original: object) -> WireSchema:
    return _cleaned(_anthropic, original)


def for_openai(original: object, *, compatible: bool = False) -> WireSchema:
    """For Responses and Chat Completions. `compatible` servers build grammars out of schemas and fail on formats and
    look-arounds."""
    return _cleaned(_compatible if compatible else _openai, original)


def for_gemini(original: object, *, levels: int | None = None) -> WireSchema:
    """For `parametersJsonSchema`. Below `levels`, where an API does not go deeper, only types and descriptions stay."""
    return _cleaned(_gemini, original, levels)


def for_gemini_proto(original: object, *, levels: int | None = None) -> WireSchema:
    """For `parameters`, which is not JSON Schema: addresses that do not know `parametersJsonSchema` take this."""
    return _cleaned(_gemini_proto, original, levels)


def _cleaned(clean: Callable[..., WireSchema], original: object, *options: object) -> WireSchema:
    """Remembered by the schema's text: a tool is cleaned once, however many sessions and reports ask."""
    try:
        text = json.dumps(original)
    except (TypeError, ValueError, RecursionError):
        text = ""
    return _kept(clean, text, *options) if 0 < len(text) <= _KEPT_SIZE else _guarded(clean, original, *options)


@functools.lru_cache(maxsize=1024)
def _kept(clean: Callable[..., WireSchema], text: str, *options: object) -> WireSchema:
    return _guarded(clean, json.loads(text), *options)


def _guarded(clean: Callable[..., WireSchema], original: object, *options: object) -> WireSchema:
    """A stranger's schema must not fail the request of all other tools, whatever it holds."""
    try:
        return clean(original, *options)
    except Exception:
        logger.exception("the schema of a tool could not be cleaned")
        note = "(The schema of its parameters cannot be shown here; a call that does not fit it is answered with it.)"
        return WireSchema({"type": "object", "properties": {}, "additionalProperties": True}, note, is_lost=True)


def _anthropic(original: object) -> WireSchema:
    schema, note = _clean(original, _anthropic_keywords)
    schema, keys = rename_keys(schema, ANTHROPIC_KEYS)
    return WireSchema(schema, note, keys.own, keys)


def _openai(original: object) -> WireSchema:
    return WireSchema(*_clean(original, join_tuple))


def _compatible(original: object) -> WireSchema:
    return WireSchema(*_clean(original, _compatible_keywords))


def _gemini(original: object, levels: int | None) -> WireSchema:
    schema, note = _clean(original, gemini_keywords)
    schema, keys = rename_keys(leveled(schema, levels), GEMINI_KEYS)
    return WireSchema(schema, note, keys.own, keys)


def _gemini_proto(original: object, levels: int | None) -> WireSchema:
    plain = _gemini(original, levels)
    return WireSchema(to_proto(plain.schema), plain.note, plain.renamed, plain.keys)


def _clean(original: object, dialect: Dialect) -> tuple[Schema, str]:
    """Raises: _Unusable."""
    root = trimmed(inline(original)) if isinstance(original, Mapping) else {}
    flat, note = flatten_root(clean_node(root, dialect) or {})
    cleaned = _mended(shrunk(flat))
    if not (cleaned.get("type") == "object" and isinstance(cleaned.get("properties"), dict)):
        raise _Unusable
    return cleaned, note


def _anthropic_keywords(node: Schema) -> None:
    members, rest = take_tuple(node)
    if members:
        node["prefixItems"], node["items"] = members, rest


def _compatible_keywords(node: Schema) -> None:
    join_tuple(node)
    node.pop("format", None)
    if _LOOK_AROUND.search(str(node.get("pattern", ""))):
        del node["pattern"]
    if any(_LOOK_AROUND.search(pattern) for pattern in node.get("patternProperties", ())):
        del node["patternProperties"]
        node.pop("additionalProperties", None)  # What the patterns allowed are additional properties now.


def _mended(schema: Schema) -> Schema:
    """Without the keywords that JSON Schema 2020-12 itself finds invalid (`minLength: "3"`)."""
    for _ in range(_MENDS):
        # A keyword may be reported more than once, and one wrong keyword may hide another.
        wrong = [list(error.instance_path) for error in _metaschema().iter_errors(schema)]
        if not wrong:
            return schema
        schema = _without(schema, wrong)
    return {}


@functools.cache
def _metaschema() -> Draft202012Validator:
    # A compiled extension that nothing needs before the first request.
    from jsonschema_rs import Draft202012Validator

    return Draft202012Validator({"$ref": "https://json-schema.org/draft/2020-12/schema"})


def _without(schema: Schema, paths: list[list[str | int]]) -> Schema:
    """A copy without the keywords at `paths`; an invalid member of a list goes with its whole keyword."""
    copy: Schema = json.loads(json.dumps(schema))
    for path in paths:
        while path and isinstance(path[-1], int):
            path = path[:-1]
        holder: Any = copy
        for step in path[:-1]:
            holder = holder[step] if isinstance(step, int) else holder.get(step, {})
        if path and isinstance(holder, dict):
            holder.pop(str(path[-1]), None)
    return copy
