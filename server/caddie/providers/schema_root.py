"""How does a schema that chooses or combines at its root become one plain object, as every model API wants it?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Schema = dict[str, Any]
_DEPTH = 6
_NOT_AT_ROOT = frozenset(
    {
        "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "enum", "const",
        "dependentRequired", "dependentSchemas", "dependencies",
    }
)  # fmt: skip
_LEADS = {"oneOf": "Exactly one of", "anyOf": "At least one of"}
_NOTE_LIMIT = 300


@dataclass(slots=True)
class _Gathered:
    properties: dict[str, list[Schema]] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    # Closed by `additionalProperties: false` in one branch does not mean closed in the union.
    combined: bool = False


def flatten_root(root: Mapping[str, Any]) -> tuple[Schema, str]:
    """`root` as a plain object, wider where it must be, and a sentence for what it no longer says.

    A property that only one option of a choice names is told as that option tells it.
    """
    gathered = _gather(root, 0)
    flat = {key: value for key, value in root.items() if key not in _NOT_AT_ROOT}
    if gathered.combined:
        flat.pop("additionalProperties", None)
        flat.pop("unevaluatedProperties", None)
    flat["type"] = "object"
    flat["properties"] = {key: _either(schemas) for key, schemas in gathered.properties.items()}
    flat.pop("required", None)
    required = [key for key in dict.fromkeys(gathered.required) if key in flat["properties"]]
    if required:
        flat["required"] = required
    return flat, " ".join(gathered.notes)


def _gather(node: Mapping[str, Any], depth: int) -> _Gathered:
    found = _Gathered()
    _add_properties(found, node.get("properties"))
    found.required += node.get("required", [])
    if depth < _DEPTH:
        for branch in _branches(node, "allOf"):
            _join(found, inner := _gather(branch, depth + 1))
            found.required += inner.required
        for keyword in _LEADS:
            _choose(found, [_gather(branch, depth + 1) for branch in _branches(node, keyword)], keyword)
    return found


def _choose(found: _Gathered, options: list[_Gathered], keyword: str) -> None:
    if not options:
        return
    for option in options:
        _join(found, option)
    in_all = [key for key in options[0].required if all(key in option.required for option in options)]
    found.required += in_all
    if note := _note(_LEADS[keyword], [[k for k in option.required if k not in in_all] for option in options]):
        found.notes.append(note)


def _note(lead: str, groups: list[list[str]]) -> str:
    named = list(dict.fromkeys(", ".join(group) for group in groups if group))
    if not named or len(groups) < 2:
        return ""
    text = f"{lead}: " + " | ".join(f"({names})" for names in named) + "."
    return text if len(text) <= _NOTE_LIMIT else ""


def _join(found: _Gathered, inner: _Gathered) -> None:
    found.combined = True
    for key, schemas in inner.properties.items():
        for schema in schemas:
            _add_properties(found, {key: schema})
    found.notes += inner.notes


def _add_properties(found: _Gathered, properties: object) -> None:
    if not isinstance(properties, Mapping):
        return
    for key, schema in properties.items():
        known = found.properties.setdefault(key, [])
        if schema not in known:
            known.append(schema)


def _either(schemas: list[Schema]) -> Schema:
    """One schema stays; several become a choice, and an empty one already allows everything."""
    if {} in schemas:
        return {}
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _branches(node: Mapping[str, Any], keyword: str) -> Iterator[Mapping[str, Any]]:
    given: Iterable[object] = node.get(keyword) or ()
    return (branch for branch in given if isinstance(branch, Mapping))
