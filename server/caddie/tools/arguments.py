"""Do the arguments fit the tool's schema? Strings that plainly mean another type are converted, and each is noted.

"10", "true" or "[1]" become what the schema asks for where nothing is lost and nothing else can be meant.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from caddie.errors import InvalidArguments
from caddie.tools.complaints import (
    attached,
    branch_types,
    complaint,
    expected_types,
    misspelt,
    path_of,
    short,
    unexplained,
)
from caddie.tools.schemas import Judge, Problem
from caddie.tools.tool import Arguments, ToolSpec

_ROUNDS = 3  # a converted value may hold further strings to convert
_MISSING = object()


@dataclass(frozen=True, slots=True)
class Checked:
    arguments: Arguments
    notes: tuple[str, ...]


def check_arguments(spec: ToolSpec, given: object) -> Checked:
    """Raises: InvalidArguments with every problem (path, expected, given, allowed values) and the schema."""
    arguments, notes = _as_object(spec, given)
    judge = Judge(spec.input_schema)
    if not judge.is_able:
        return Checked(arguments, notes)
    errors: list[Problem] | None = []
    for _ in range(_ROUNDS):
        errors = judge.errors(arguments)
        converted = [note for error in errors or () if (note := _convert(arguments, error))]
        notes = (*notes, *converted)
        if not converted:
            break
    else:
        errors = judge.errors(arguments)
    if errors is None:
        raise InvalidArguments(unexplained(spec), name=spec.name, paths=["$"])
    if errors:
        raise InvalidArguments(
            complaint(spec, arguments, errors), name=spec.name, paths=[path_of(error) for error in errors]
        )
    return Checked(arguments, (*notes, *misspelt(spec.input_schema, arguments)))


def _as_object(spec: ToolSpec, given: object) -> tuple[Arguments, tuple[str, ...]]:
    if given is None or given == "":
        return {}, ()
    if isinstance(given, Mapping):
        return _as_json(spec, given), ()
    if isinstance(given, str):
        try:
            parsed = json.loads(given)
        except (ValueError, RecursionError) as error:
            raise _refused(spec, f"are not valid JSON ({error}). Send one JSON object.") from None
        if isinstance(parsed, dict):
            return _as_json(spec, parsed), ("params was a JSON string and was read as an object",)
        given = parsed
    raise _refused(spec, f"must be one JSON object; got {short(given)}.")


def _as_json(spec: ToolSpec, given: Mapping[str, Any]) -> Arguments:
    """A copy that is plain JSON, since a model can also send what JSON does not have."""
    try:
        text = json.dumps(given, allow_nan=False, ensure_ascii=False)
        text.encode("utf-8")
        copy: Arguments = json.loads(text)
    except RecursionError:
        raise _refused(spec, "are nested too deeply.") from None
    except UnicodeEncodeError:
        raise _refused(spec, "hold half of a character (a lone surrogate), which no text can have.") from None
    except (ValueError, TypeError) as error:
        raise _refused(spec, f"hold what JSON does not have ({error}).") from None
    return copy


def _refused(spec: ToolSpec, what: str) -> InvalidArguments:
    return InvalidArguments(f"The arguments for {spec.label} {what}{attached(spec)}", name=spec.name, paths=["$"])


def _convert(arguments: Arguments, error: Problem) -> str:
    """Convert the value at the error's place if its type is the only trouble; the note, or nothing."""
    if not isinstance(error.instance, str) or not error.instance_path:
        return ""
    value = _one_of(error.instance, _options(error))
    if value is _MISSING:
        value = _meant(error.instance, expected_types(error) or branch_types(error))
    if value is _MISSING:
        return ""
    holder: Any = arguments
    for part in error.instance_path[:-1]:
        holder = holder[part]
    holder[error.instance_path[-1]] = value
    return f"{path_of(error)}: the text {short(error.instance)} was read as {short(value)}"


def _options(error: Problem) -> list[Any]:
    kind = error.kind
    if kind.name == "enum":
        return list(getattr(kind, "options", ()))
    return [getattr(kind, "expected_value", None)] if kind.name == "const" else []


def _one_of(text: str, options: list[Any]) -> Any:
    """The allowed value that is written so, when it is no text."""
    for option in options:
        if not isinstance(option, str | float) and json.dumps(option) == text.strip():
            return option
    return _MISSING


_INTEGER = re.compile(r"-?(0|[1-9]\d{0,17})")
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")


def _meant(text: str, types: list[str]) -> Any:
    """What `text` means as one of `types`, only where it can mean nothing else: "010", "1e3" and "yes" do not."""
    trimmed = text.strip()
    if "integer" in types and _INTEGER.fullmatch(trimmed):
        return int(trimmed)
    if "number" in types and _NUMBER.fullmatch(trimmed) and _is_exact(trimmed):
        return int(trimmed) if _INTEGER.fullmatch(trimmed) else float(trimmed)
    if "boolean" in types and trimmed in ("true", "false"):
        return trimmed == "true"
    if "null" in types and trimmed == "null":
        return None
    if trimmed[:1] in ("[", "{"):
        try:
            value = json.loads(trimmed)
            json.dumps(value, allow_nan=False)
        except (ValueError, RecursionError):
            return _MISSING
        return value if ("array" if isinstance(value, list) else "object") in types else _MISSING
    return _MISSING


def _is_exact(text: str) -> bool:
    number = float(text)
    return math.isfinite(number) and Decimal(repr(number)) == Decimal(text)
