"""Do the arguments fit the tool's schema, and if not, what exactly is wrong?

JSON Schema 2020-12 by `jsonschema-rs`; remote references are refused. Strings that plainly mean another type
("10", "true", "[1]") are converted when the schema asks for that type and nothing is lost; each conversion is noted.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jsonschema_rs

from caddie.errors import InvalidArguments
from caddie.tools.tool import Arguments, ToolSpec

MAX_SCHEMA_CHARS = 400_000
MAX_ATTACHED_SCHEMA_CHARS = 8_000
MAX_SHOWN_ERRORS = 8


@dataclass(frozen=True, slots=True)
class Checked:
    arguments: Arguments
    notes: tuple[str, ...]


def check_arguments(spec: ToolSpec, given: object) -> Checked:
    """Raises: InvalidArguments with every problem (path, expected, given, allowed values) and the schema."""
    arguments, notes = _as_object(spec, given)
    validator = _validator(spec)
    if validator is None:
        return Checked(arguments, notes)
    for _ in range(3):  # a converted value may hold further strings to convert
        errors = list(validator.iter_errors(arguments))
        converted = [note for error in errors if (note := _convert(spec, arguments, error))]
        notes = (*notes, *converted)
        if not converted:
            break
    if errors:
        raise InvalidArguments(_message(spec, arguments, errors), name=spec.name, paths=[_path(e) for e in errors])
    return Checked(arguments, notes)


def _as_object(spec: ToolSpec, given: object) -> tuple[Arguments, tuple[str, ...]]:
    if isinstance(given, Mapping):
        return json.loads(json.dumps(given)), ()
    if given is None or given == "":
        return {}, ()
    if isinstance(given, str):
        try:
            parsed = json.loads(given)
        except ValueError as error:
            raise InvalidArguments(
                f"The arguments for {spec.label} are not valid JSON ({error}). Send one JSON object.{_schema(spec)}",
                name=spec.name,
                paths=["$"],
            ) from None
        if isinstance(parsed, dict):
            return parsed, ("params was a JSON string and was read as an object",)
        given = parsed
    raise InvalidArguments(
        f"The arguments for {spec.label} must be one JSON object; got {_short(given)}.{_schema(spec)}",
        name=spec.name,
        paths=["$"],
    )


def _validator(spec: ToolSpec) -> jsonschema_rs.Draft202012Validator | None:
    """None when the schema itself is unusable: the tool's own source then judges the arguments."""
    text = json.dumps(spec.input_schema)
    return _compiled(text) if len(text) <= MAX_SCHEMA_CHARS else None


@lru_cache(maxsize=4096)
def _compiled(schema: str) -> jsonschema_rs.Draft202012Validator | None:
    try:
        return jsonschema_rs.Draft202012Validator(json.loads(schema), retriever=_refuse_remote)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError):
        return None


def _refuse_remote(uri: str) -> Any:
    raise ValueError(f"remote references are not followed: {uri}")


def _convert(spec: ToolSpec, arguments: Arguments, error: jsonschema_rs.ValidationError) -> str:
    """Convert the value at the error's place if its type is the only trouble; the note, or nothing."""
    if not isinstance(error.instance, str) or not error.instance_path:
        return ""
    found, value = _meant(error.instance, _expected_types(error) or _branch_types(spec, error))
    if not found:
        return ""
    holder: Any = arguments
    for part in error.instance_path[:-1]:
        holder = holder[part]
    holder[error.instance_path[-1]] = value
    return f"{_path(error)}: the text {_short(error.instance)} was read as {_short(value)}"


_INTEGER = re.compile(r"-?(0|[1-9]\d{0,17})")
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")


def _meant(text: str, types: list[str]) -> tuple[bool, Any]:
    """What `text` means as one of `types`, only where it can mean nothing else: "010", "1e3" and "yes" do not."""
    trimmed = text.strip()
    if "integer" in types and _INTEGER.fullmatch(trimmed):
        return True, int(trimmed)
    if "number" in types and _NUMBER.fullmatch(trimmed) and math.isfinite(float(trimmed)):
        return True, int(trimmed) if _INTEGER.fullmatch(trimmed) else float(trimmed)
    if "boolean" in types and trimmed in ("true", "false"):
        return True, trimmed == "true"
    if "null" in types and trimmed == "null":
        return True, None
    if trimmed[:1] in ("[", "{"):
        try:
            value = json.loads(trimmed)
        except ValueError:
            return False, None
        return ("array" if isinstance(value, list) else "object") in types, value
    return False, None


def _expected_types(error: jsonschema_rs.ValidationError) -> list[str]:
    types = getattr(error.kind, "types", ())
    return [str(name) for name in types]


def _branch_types(spec: ToolSpec, error: jsonschema_rs.ValidationError) -> list[str]:
    """The types of an `anyOf` or `oneOf` (how Python servers publish optional arguments)."""
    if error.kind.name not in ("anyOf", "oneOfNotValid"):
        return []
    node: Any = spec.input_schema
    for part in error.schema_path:
        if isinstance(node, Mapping) and part in node:
            node = node[part]
        elif isinstance(node, list) and isinstance(part, int) and part < len(node):
            node = node[part]
        else:
            return []
    branches = node if isinstance(node, list) else []
    return [
        branch["type"] for branch in branches if isinstance(branch, Mapping) and isinstance(branch.get("type"), str)
    ]


def _path(error: jsonschema_rs.ValidationError) -> str:
    return "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.instance_path)


def _message(spec: ToolSpec, arguments: Arguments, errors: list[jsonschema_rs.ValidationError]) -> str:
    lines = [f"- {_path(error)}: {_explain(error)}" for error in errors[:MAX_SHOWN_ERRORS]]
    if len(errors) > MAX_SHOWN_ERRORS:
        lines.append(f"- and {len(errors) - MAX_SHOWN_ERRORS} more")
    lines += [f"- {hint}" for hint in _misspelt(spec, arguments)]
    listing = "\n".join(lines)
    return f"The arguments for {spec.label} do not fit its schema; nothing was run:\n{listing}{_schema(spec)}"


def _explain(error: jsonschema_rs.ValidationError) -> str:
    kind = error.kind
    match kind.name:
        case "required":
            return f"the required property {getattr(kind, 'property', '?')!r} is missing"
        case "enum":
            return f"expected one of {_short(getattr(kind, 'options', []), 400)}; got {_short(error.instance)}"
        case "type":
            return f"expected {' or '.join(_expected_types(error))}; got {_kind_of(error.instance)}"
        case "additionalProperties":
            unexpected = getattr(kind, "unexpected", [])
            return f"unknown property {', '.join(map(repr, unexpected))}"
        case _:
            return f"{error.message[:300]}"


def _kind_of(value: object) -> str:
    names = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}
    return "null" if value is None else f"the {names.get(type(value), 'value')} {_short(value)}"


def _misspelt(spec: ToolSpec, arguments: Arguments) -> Iterator[str]:
    """Optional keys that no schema forbids but that look like a known one misspelt."""
    properties = spec.input_schema.get("properties")
    if not isinstance(properties, Mapping):
        return
    for key in arguments:
        if key not in properties and (close := difflib.get_close_matches(key, list(properties), n=1)):
            yield f"$.{key}: unknown; did you mean {close[0]!r}?"


def _schema(spec: ToolSpec) -> str:
    text = json.dumps(spec.input_schema, ensure_ascii=False)
    if len(text) > MAX_ATTACHED_SCHEMA_CHARS:
        text = text[:MAX_ATTACHED_SCHEMA_CHARS] + " …"
    return f"\n\nSchema of {spec.name}:\n{text}"


def _short(value: object, limit: int = 120) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= limit else text[:limit] + " …"
