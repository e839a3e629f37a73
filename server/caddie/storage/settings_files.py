"""The user's and the workspace's settings files, as layers, and writing one key of them."""

from __future__ import annotations

from typing import Any, Literal

from caddie.layers import Layer, Problem
from caddie.storage.files import read_json, update_json
from caddie.storage.places import Places

FileScope = Literal["user", "workspace"]


def read_settings_files(places: Places) -> tuple[list[Layer], list[Problem]]:
    layers: list[Layer] = []
    problems: list[Problem] = []
    scopes: tuple[FileScope, ...] = ("user", "workspace")
    for scope in scopes:
        path = _path(places, scope)
        tree, problem = read_json(path)
        layers.append(Layer(scope, tree, str(path) if tree else ""))
        if problem:
            problems.append(Problem(scope, "", problem))
    return layers, problems


def write_setting(places: Places, scope: FileScope, key: str, value: Any) -> str:
    """Set a dotted key (None removes it); the file's path. Raises: InvalidInput."""
    path = _path(places, scope)

    def change(tree: dict[str, Any]) -> None:
        *parents, last = key.split(".")
        node = tree
        for part in parents:
            child = node.get(part)
            node[part] = node = child if isinstance(child, dict) else {}
        if value is None:
            node.pop(last, None)
        else:
            node[last] = value

    update_json(path, change)
    return str(path)


def _path(places: Places, scope: FileScope) -> Any:
    return places.user_settings if scope == "user" else places.workspace_settings
