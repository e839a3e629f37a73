"""Does a value fit a schema, and in which form? Nothing is bent further than a reader would bend it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

Schema = Mapping[str, Any]


class _Nothing:
    """No value: different from null, which is one."""

    def __bool__(self) -> bool:
        return False


NOTHING: Final = _Nothing()


def resolved(schema: Any, root: Schema) -> Schema:
    """`$ref` followed (once per step, at most eight), and the null of an optional value dropped."""
    for _ in range(8):
        if not isinstance(schema, Mapping):
            return {}
        reference = schema.get("$ref")
        choices = schema.get("anyOf") or schema.get("oneOf")
        if isinstance(reference, str) and reference.startswith("#/"):
            schema = _at(root, reference[2:].split("/"))
        elif isinstance(choices, list):
            real = [item for item in choices if isinstance(item, Mapping) and item.get("type") != "null"]
            if not real:
                return {}
            schema = {**{key: value for key, value in schema.items() if key not in ("anyOf", "oneOf")}, **real[0]}
        else:
            return schema
    return {}


def _at(root: Any, keys: list[str]) -> Any:
    for key in keys:
        root = root.get(key) if isinstance(root, Mapping) else None
    return root


def types_of(schema: Schema) -> tuple[str, ...]:
    kind = schema.get("type")
    if isinstance(kind, str):
        return (kind,)
    if isinstance(kind, list):
        return tuple(item for item in kind if isinstance(item, str) and item != "null")
    if "properties" in schema:
        return ("object",)
    return ("array",) if "items" in schema else ("string",)


def coerce(value: Any, schema: Schema) -> Any:
    """`value` in the schema's type, or NOTHING; None is no value."""
    for kind in () if value is None else types_of(schema):
        fitted = _as(kind, value, schema)
        if fitted is not NOTHING and _allowed(fitted, schema):
            return _spelled(fitted, schema)
    return NOTHING


def _as(kind: str, value: Any, schema: Schema) -> Any:
    match kind:
        case "string":
            return value if isinstance(value, str) else str(value) if _is_number(value) else NOTHING
        case "integer":
            number = _number(value)
            return int(number) if number is not None and number == int(number) else NOTHING
        case "number":
            number = _number(value)
            return NOTHING if number is None else int(number) if number == int(number) else number
        case "boolean":
            words = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
            return value if isinstance(value, bool) else words.get(str(value).lower(), NOTHING)
        case "array":
            return _as_array(value, schema)
        case "object":
            return value if isinstance(value, dict) else NOTHING
    return NOTHING


def _as_array(value: Any, schema: Schema) -> Any:
    given = list(value) if isinstance(value, list | tuple) else [value]
    items = schema.get("items")
    fitted = [coerce(item, items) if isinstance(items, Mapping) else item for item in given]
    enough = schema.get("minItems", 0) <= len(fitted) <= schema.get("maxItems", len(fitted))
    return fitted if enough and NOTHING not in fitted else NOTHING


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: Any) -> float | None:
    if _is_number(value):
        return float(value)
    try:
        number = float(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return number if number is None or abs(number) < 1e15 else None


def _allowed(value: Any, schema: Schema) -> bool:
    choices = schema.get("enum")
    if isinstance(choices, list) and not any(_same(value, choice) for choice in choices):
        return False
    if _is_number(value):
        low, high = schema.get("minimum"), schema.get("maximum")
        return (low is None or value >= low) and (high is None or value <= high)
    return len(value) >= schema.get("minLength", 0) if isinstance(value, str) else True


def _spelled(value: Any, schema: Schema) -> Any:
    """An enum value as the schema spells it."""
    return next((choice for choice in schema.get("enum") or () if _same(value, choice)), value)


def _same(value: Any, choice: Any) -> bool:
    if isinstance(value, str) and isinstance(choice, str):
        return value.lower() == choice.lower()
    return bool(value == choice)
