"""The reference page of the settings: every key with its type, default, meaning and environment variable."""

from __future__ import annotations

import json
from collections.abc import Iterator

from caddie.layers import environment_names, leaf_settings
from caddie.protocol.export.reference import MARKDOWN, about
from caddie.protocol.export.schema import GENERATED, Schema
from caddie.protocol.export.types import type_of
from caddie.settings import MEANINGS, Settings

_HEAD = f"""\
<!-- {GENERATED} -->

# Settings

One tree, the same keys everywhere. In an editor they stand under `caddie.`; in the two JSON files
(`settings.json` of the user's configuration folder, `.caddie/settings.json` of a workspace) without it.
Later wins: defaults, user file, workspace file, editor user, editor workspace, environment, session.
A wrong value or an unknown key is reported with its path, and the rest stays in force.
The files may have comments, which stay when Caddie writes to them, and a `version` (1);
[settings.schema.json](settings.schema.json) is their JSON Schema.

A tool's state is what the nearest scope says that mentions it; within a scope `tools.disabled` goes before
`tools.deferred`, and that before `tools.enabled`. Then come the tool's own `alwaysLoad` and the profile.
Names and globs match in any case: `mcp__git__git_log`, `git/git_log`, `git__git_log`, `mcp__git` and `git/` for a whole
server; a bare `git_log` means any server's, except in `tools.enabled`, where it means a built-in tool only.
States of tools that are not there now are kept for when they come.
`hints.threshold` 0 shows every hit and 1 only perfect ones; `hints.enabled` false turns hints off.
API keys are never settings: they are read from the environment or the editor's secret store.
"""


def render() -> str:
    tree = Settings.model_json_schema()
    in_environment = {path for path, _ in leaf_settings()}
    parts = [_HEAD.rstrip()]
    for title, description, rows in _groups(tree, tree["$defs"]):
        lines = [_line(key, node, in_environment) for key, node in rows]
        table = "\n".join(["| key | type | default | | environment |", "|---|---|---|---|---|", *lines])
        meanings = [text for key, _ in rows if (text := _meanings(key))]
        parts += [f"## {title}", *([description] if description else []), table, *meanings]
    return "\n\n".join(parts) + "\n"


def _meanings(path: str) -> str:
    """What each choice of a setting means."""
    choices = [f"- `{choice}`: {meaning}" for choice, meaning in MEANINGS.get(path, {}).items()]
    return "\n".join([f"`{path}`:", "", *choices]) if choices else ""


def _groups(tree: Schema, models: dict[str, Schema]) -> Iterator[tuple[str, str, list[tuple[str, Schema]]]]:
    """Heading, sentence and rows: first the plain keys, then each group, then what an entry of a map holds."""
    plain = [(key, node) for key, node in tree["properties"].items() if "$ref" not in node]
    yield "The model", "Which language model is asked, and how.", plain
    for key, node in tree["properties"].items():
        if "$ref" in node:
            group = _target(node, models)
            yield f"`{key}`", group.get("description", ""), list(_leaves(key, group, models))
    for key, node in _leaves("mcp", models["Mcp"], models):
        entry = _target(node["additionalProperties"], models)
        yield f"`{key}.<name>`", entry.get("description", ""), list(_leaves("", entry, models))


def _leaves(prefix: str, group: Schema, models: dict[str, Schema]) -> Iterator[tuple[str, Schema]]:
    for key, node in group["properties"].items():
        path = f"{prefix}.{key}" if prefix else key
        if "$ref" in node:
            yield from _leaves(path, _target(node, models), models)
        else:
            yield path, node


def _target(node: Schema, models: dict[str, Schema]) -> Schema:
    return models[node["$ref"].rpartition("/")[2]]


def _line(path: str, node: Schema, in_environment: set[str]) -> str:
    kind = "object by name" if node.get("type") == "object" else type_of(node, MARKDOWN)
    default = node.get("default", {})
    names = ", ".join(f"`{name}`" for name in environment_names(path)) if path in in_environment else ""
    return f"| `{path}` | {kind} | `{json.dumps(default)}` | {about({**node, 'default': None})} | {names} |"
