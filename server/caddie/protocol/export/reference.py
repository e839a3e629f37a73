"""The reference page of the wire: every method with its tables, errors, and one real exchange."""

from __future__ import annotations

import json
from typing import Any

from caddie.protocol.export.schema import GENERATED, Schema, Wire
from caddie.protocol.export.types import Dialect, fields, type_of
from caddie.protocol.methods import Method

MARKDOWN = Dialect(
    words={"string": "text", "integer": "integer", "number": "number", "boolean": "true/false", "null": ""},
    anything="any",
    reference=lambda name: f"[{name}](#{name.lower()})",
    record=lambda value: f"object of {value}",
    union=", ",
)
_ARROWS = {"toServer": "editor → server", "toClient": "server → editor"}
_LIMITS = {
    "maxLength": "at most {} characters",
    "minLength": "at least {} characters",
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
}

_HEAD = f"""\
<!-- {GENERATED} -->

# The wire

JSON-RPC 2.0 with `Content-Length` framing, over stdio (`caddie serve`) or TCP on loopback. Standard LSP methods are
used where LSP has a word for the thing; what is Caddie's own is here. Fields are camelCase, absent optional fields are
left out, and unknown fields in a request are refused. The same contract as JSON Schema: [schema.json](schema.json).

Settings travel by LSP's own words. `initializationOptions` holds `settings` and, where the editor keeps them apart,
`workspaceSettings`; without `settings` the server asks with `workspace/configuration` for the section `caddie`.
`workspace/didChangeConfiguration` pushes `{{"caddie": section, "workspaceSettings"?: section}}` or the bare section;
what is null or another tool's says nothing (then the server asks), and what is wrong is shown and changes nothing.
What does not fit in a settings file is published as `textDocument/publishDiagnostics` on it. Where the client can
register them, the server has it watch the settings files; otherwise it looks at them when it uses them.

Every request to the server may be cancelled with `$/cancelRequest` and is always answered. Errors of every request:

| code | `data.kind` | what it means | what a client does |
|---|---|---|---|
| -32700 | | not JSON | a bug: log it |
| -32600 | | not a request, or not now (second `initialize`, after `shutdown`) | a bug: log it |
| -32601 | | unknown method | a bug, or an older server: log it |
| -32602 | `invalid_params` | wrong parameters; `data.errors` lists `{{path, message}}` | a bug: log it |
| -32002 | | sent before `initialize` | a bug: log it |
| -32603 | `internal` | a fault of the server; its log has the details | show the message |
| -32800 | | cancelled | nothing |
| -32050 | a kind named below | `message` is a sentence for the person | by `kind`; again if `data.retryable` |
"""


def render(contents: Wire, examples: dict[str, Any]) -> str:
    index = [
        f"| [`{method.name}`](#{_anchor(method.name)}) | {_ARROWS[method.direction]} | {_kind(method)} |"
        for method in contents.constants.values()
    ]
    sections = [_section(method, contents, examples.get(method.name)) for method in contents.constants.values()]
    tops = {
        model.__name__ for method in contents.constants.values() for model in (method.params, method.result) if model
    }
    shared = [
        f"### {name}\n\n{_described(model)}"
        for name, model in contents.models.items()
        if name not in tops or _reused(name, contents)
    ]
    table = "| method | direction | kind |\n|---|---|---|\n" + "\n".join(index)
    return "\n\n".join([_HEAD.rstrip(), table, *sections, "## Types", *shared]) + "\n"


def _section(method: Method, contents: Wire, example: dict[str, Any] | None) -> str:
    parts = [f"## {method.name}", f"{_ARROWS[method.direction]} · {_kind(method)}", method.doc]
    parts.append(f"**Parameters** ({method.params.__name__})\n\n{_described(contents.models[method.params.__name__])}")
    if method.result is not None:
        parts.append(f"**Result** ({method.result.__name__})\n\n{_described(contents.models[method.result.__name__])}")
    if method.errors:
        parts.append("**Errors** " + ", ".join(f"`{kind}`" for kind in method.errors))
    if method.cancel:
        parts.append(f"**Cancellation** {method.cancel}")
    if example is not None:
        parts.append(_exchange(example))
    return "\n\n".join(parts)


def _described(model: Schema) -> str:
    parts = [model["description"]] if model.get("description") else []
    rows = [
        f"| `{name}` | {type_of(node, MARKDOWN).replace('|', '/')} | {'yes' if required else ''} | {about(node)} |"
        for name, node, required in fields(model)
    ]
    if rows:
        parts.append("\n".join(["| field | type | always there | |", "|---|---|---|---|", *rows]))
    return "\n\n".join(parts) or "Nothing."


def about(node: Schema) -> str:
    inner = [node, *node.get("anyOf", [])]
    limits = [text.format(part[key]) for part in inner for key, text in _LIMITS.items() if key in part]
    default = node.get("default")
    if default is not None:
        limits.append(f"default `{json.dumps(default)}`")
    parts = [node.get("description", ""), f"({', '.join(limits)})" if limits else ""]
    return " ".join(" ".join(parts).split())


def _exchange(example: dict[str, Any]) -> str:
    blocks = [
        f"```json\n{json.dumps(example[key], indent=2, ensure_ascii=False)}\n```"
        for key in ("params", "result")
        if key in example
    ]
    return "**Example**\n\n" + "\n\nis answered with\n\n".join(blocks)


def _kind(method: Method) -> str:
    return "notification" if method.result is None else "request"


def _anchor(heading: str) -> str:
    return heading.lower().replace("/", "")


def _reused(name: str, contents: Wire) -> bool:
    return f'"#/$defs/{name}"' in json.dumps(contents.models)
