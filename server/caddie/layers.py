"""How the scopes of settings become one tree: later wins, bad values are reported and left out.

Pure: the files, the editor and the environment are read elsewhere and come in as `Layer`s.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.alias_generators import to_camel, to_snake

from caddie.settings import Scope, Settings

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong in one layer of settings: `path` is dotted, as the user wrote it; `location` is its parts."""

    scope: Scope
    path: str
    message: str
    location: tuple[int | str, ...] = ()
    severity: Literal["error", "warning", "notice"] = "error"


@dataclass(frozen=True, slots=True)
class Layer:
    """The raw tree of one scope, and where it came from (a file, or the name of the scope)."""

    scope: Scope
    tree: Mapping[str, Any]
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Resolved:
    """The settings in force, the layers they were made from (farthest first), and what was wrong with them."""

    settings: Settings
    layers: tuple[Layer, ...]
    problems: tuple[Problem, ...]


ORDER: tuple[Scope, ...] = (
    "default", "user", "workspace", "editorUser", "editorWorkspace", "environment", "session",
)  # fmt: skip

ENVIRONMENT = {
    "TOOL_SEARCH_WEIGHT_KEYWORD": "search.weights.keyword",
    "TOOL_SEARCH_WEIGHT_TFIDF": "search.weights.tfidf",
    "TOOL_SEARCH_EXCLUDE": "search.exclude",
    "TOOL_SEARCH_INCLUDE_FORCE": "search.includeForce",
}


def resolve(layers: Iterable[Layer]) -> Resolved:
    """Merge layers in `ORDER`. Unknown keys and wrong values are dropped and reported; the rest stays in force."""
    problems: list[Problem] = []
    cleaned = tuple(_clean(layer, problems) for layer in sorted(layers, key=lambda layer: ORDER.index(layer.scope)))
    merged: dict[str, Any] = {}
    for layer in cleaned:
        _merge(merged, layer.tree)
    return Resolved(Settings.model_validate(merged), cleaned, tuple(problems))


def environment_layer(environ: Mapping[str, str]) -> Layer:
    """`CADDIE_SEARCH_LIMIT=7` and S1's four `TOOL_SEARCH_…` names; lists are separated by commas."""
    tree: dict[str, Any] = {}
    leaves = dict(leaf_settings())
    by_name = {name: path for path in leaves for name in reversed(environment_names(path))}
    for name, path in sorted(by_name.items(), key=lambda item: item[0].startswith("CADDIE_")):  # our own word counts
        if value := environ.get(name, ""):
            is_list = get_origin(leaves[path]) is tuple
            _put(tree, path.split("."), _split(value) if is_list else value)
    return Layer("environment", tree, "environment")


def environment_names(path: str) -> list[str]:
    """The variables that set `path`; a list is written with commas."""
    own = "CADDIE_" + to_snake(path.replace(".", "_")).upper()
    return [own, *(name for name, target in ENVIRONMENT.items() if target == path)]


def leaf_settings() -> Iterator[tuple[str, Any]]:
    """Dotted path and type of every setting that is a value or a list of values."""
    yield from _leaves(Settings, "")


def nearest(word: str, known: Iterable[str]) -> str:
    """` (did you mean 'x'?)`, or nothing."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _leaves(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, Any]]:
    for name, info in model.model_fields.items():
        path = prefix + to_camel(name)
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel):
            yield from _leaves(info.annotation, path + ".")
        elif get_origin(info.annotation) is not Mapping:
            yield path, info.annotation


def _clean(layer: Layer, problems: list[Problem]) -> Layer:
    if not isinstance(layer.tree, dict):
        problems.append(Problem(layer.scope, "", f"expected an object, got {_name(layer.tree)}"))
        return Layer(layer.scope, {}, layer.origin)
    try:
        tree = _copy(layer.tree)
    except RecursionError:
        return _too_deep(layer, problems)
    original = layer.tree
    for _ in range(_MAX_PASSES):
        try:
            _validate(tree, is_text=layer.scope == "environment")
            break
        except ValidationError as error:
            details = error.errors(include_url=False)
            if details[0]["type"] == "json_invalid":
                return _too_deep(layer, problems)
            problems.extend(_problem(layer.scope, detail, original) for detail in details)
            for detail in reversed(details):  # last list item first: indexes stay true
                _drop(tree, detail["loc"])
    else:
        tree = {}
    return Layer(layer.scope, tree, layer.origin)


def _too_deep(layer: Layer, problems: list[Problem]) -> Layer:
    problems.append(
        Problem(layer.scope, "", "expected settings, got something nested too deep to read; all is ignored")
    )
    return Layer(layer.scope, {}, layer.origin)


def _validate(tree: dict[str, Any], *, is_text: bool) -> None:
    """Variables of the environment are texts and mean numbers; in a file "5" is not 5, nor is "off" false."""
    if is_text:
        Settings.model_validate(tree)
    else:
        Settings.model_validate_json(json.dumps(tree, ensure_ascii=True), strict=True)


_MAX_PASSES = 20


def _problem(scope: Scope, detail: ErrorDetails, tree: Mapping[str, Any]) -> Problem:
    location = _existing(tree, detail["loc"])
    path = ".".join(map(str, location))
    if detail["type"] == "extra_forbidden":
        key = str(detail["loc"][-1])
        known = nearest(key, _sibling_keys(detail["loc"][:-1]))
        return Problem(scope, path, f"unknown setting{known}", location, "warning")
    given = json.dumps(detail["input"], ensure_ascii=False, default=repr)
    return Problem(scope, path, f"expected {_expected(detail)}; got {given[:80]}; the value is ignored", location)


def _expected(detail: ErrorDetails) -> str:
    limits = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
    for name, words in limits.items():
        if name in detail.get("ctx", {}):
            return f"a number of {words} {detail['ctx'][name]:g}"
    return detail["msg"].removeprefix("Input should be ").partition(", ")[0]


def _existing(tree: Any, location: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """As far as the user's own tree goes: branches of a union are not in it."""
    found: list[int | str] = []
    for part in location:
        if isinstance(tree, dict) and part in tree:
            tree = tree[part]
        elif isinstance(tree, list | tuple) and isinstance(part, int):
            tree = tree[part] if part < len(tree) else None
        else:
            break
        found.append(part)
    return tuple(found)


def _sibling_keys(location: tuple[int | str, ...]) -> list[str]:
    model: type[BaseModel] = Settings
    for part in location:
        info = next((i for n, i in model.model_fields.items() if to_camel(n) == part), None)
        inner = [info.annotation, *get_args(info.annotation)] if info else []
        model = next((t for t in inner if isinstance(t, type) and issubclass(t, BaseModel)), model)
    return [to_camel(name) for name in model.model_fields]


def _drop(tree: Any, location: tuple[int | str, ...]) -> None:
    """Remove the deepest part of `location` that is really there (union branches add parts that are not)."""
    steps: list[tuple[Any, int | str]] = []
    node = tree
    for part in location:
        if isinstance(node, dict) and part in node:
            steps.append((node, part))
            node = node[part]
        elif isinstance(node, list) and isinstance(part, int) and part < len(node):
            steps.append((node, part))
            node = node[part]
        else:
            break
    if steps:
        holder, key = steps[-1]
        del holder[key]


def _merge(into: dict[str, Any], tree: Mapping[str, Any]) -> None:
    for key, value in tree.items():
        if isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = _copy(value)


def _copy(node: Any) -> Any:
    """Null means unset. A whole number stays one, however a client writes it (5.0). Half a surrogate pair becomes ?."""
    if isinstance(node, dict):
        return {_whole(str(key)): _copy(value) for key, value in node.items() if value is not None}
    if isinstance(node, str):
        return _whole(node)
    if isinstance(node, float) and node.is_integer():
        return int(node)
    return [_copy(item) for item in node] if isinstance(node, list | tuple) else node


def _whole(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _put(tree: dict[str, Any], path: list[str], value: Any) -> None:
    for part in path[:-1]:
        tree = tree.setdefault(part, {})
    tree[path[-1]] = value


def _split(value: str) -> list[str]:
    return [part.strip() for part in value.split(",") if part.strip()]


def _name(value: object) -> str:
    return {"list": "a list", "str": "text", "NoneType": "nothing"}.get(type(value).__name__, type(value).__name__)
