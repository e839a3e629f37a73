"""Session records as JSON lines and back. Each line says its type; unknown types and fields are skipped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from caddie.chat.messages import (
    Image,
    Message,
    Part,
    Text,
    Thinking,
    ToolAnswer,
    ToolDefinition,
    ToolsAdded,
    ToolUse,
    Usage,
)
from caddie.chat.session import (
    Called,
    Compacted,
    Prefix,
    Record,
    Requested,
    Rewound,
    Said,
    SettingsChanged,
    StateChanged,
    ThinkingDropped,
    Titled,
    Told,
    TurnEnded,
    TurnStarted,
)
from caddie.tools.call import CallUpdate
from caddie.tools.tool import ImageContent, TextContent

_PARTS: dict[str, type] = {
    "text": Text, "thinking": Thinking, "image": Image, "toolUse": ToolUse, "toolAnswer": ToolAnswer,
    "toolsAdded": ToolsAdded,
}  # fmt: skip
_PART_NAMES = {kind: name for name, kind in _PARTS.items()}
_RECORDS: dict[str, type] = {
    "prefix": Prefix, "turn": TurnStarted, "message": Said, "call": Called, "told": Told,
    "title": Titled, "state": StateChanged, "settings": SettingsChanged, "end": TurnEnded,
    "request": Requested, "compacted": Compacted, "rewound": Rewound, "thinkingDropped": ThinkingDropped,
}  # fmt: skip
_RECORD_NAMES = {kind: name for name, kind in _RECORDS.items()}


def to_line(record: Record) -> str:
    tree = asdict(record)
    if isinstance(record, Said):
        tree["message"] = {
            "role": record.message.role,
            "parts": [{"type": _PART_NAMES[type(part)], **_part_tree(part)} for part in record.message.parts],
        }
    text = json.dumps({"type": _RECORD_NAMES[type(record)], **tree}, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace").decode("utf-8") + "\n"  # a lone surrogate must not make the file unreadable


def from_line(line: str) -> Record | None:
    """None for a newer version's type. Raises: ValueError, KeyError, TypeError, AttributeError for a damaged line."""
    tree = json.loads(line)
    match tree.pop("type"):
        case "prefix":
            return Prefix(
                tree["system"],
                _definitions(tree["tools"]),
                tuple(tree["deferred"]),
                tree.get("model", ""),
                tree.get("deferral", "bridge"),
                _definitions(tree.get("loadable", ())),
                tuple(tree.get("left_out", ())),
                tuple(tree.get("folders", ())),
            )
        case "message":
            message = tree["message"]
            return Said(tree["turn_id"], Message(message["role"], tuple(map(_part, message["parts"]))))
        case "call":
            return Called(tree["turn_id"], CallUpdate(**tree["update"]))
        case "told":
            deferred, enabled, disabled = (tuple(tree[key]) for key in ("deferred", "enabled", "disabled"))
            return Told(deferred, enabled, disabled, tree["mode"], tuple(tree.get("folders", ())))
        case "state":
            return StateChanged(tree["mode"], tuple(tree["todo"]))
        case "settings":
            return SettingsChanged(dict(tree["tree"]))
        case "end":
            return TurnEnded(tree["turn_id"], tree["stop"], Usage(**tree["usage"]))
        case "turn":
            beside = (tuple(map(str, tree.get(key) or ())) for key in ("attached", "picked"))
            return TurnStarted(tree["turn_id"], tree["text"], *beside)
        case "title":
            return Titled(tree["title"])
        case "request":
            return Requested(**{**tree, "usage": Usage(**tree["usage"])})
        case "compacted":
            return Compacted(tree["notes"], tuple(tree["tools_used"]))
        case "rewound":
            return Rewound(tree["turn_id"])
        case "thinkingDropped":
            return ThinkingDropped()
        case _:
            return None


def _part_tree(part: Part) -> dict[str, Any]:
    tree = asdict(part)
    if isinstance(part, ToolAnswer):
        tree["content"] = [
            {"type": "text" if isinstance(item, TextContent) else "image", **asdict(item)} for item in part.content
        ]
    return tree


def _part(tree: Mapping[str, Any]) -> Part:
    fields = dict(tree)
    kind = _PARTS[fields.pop("type")]
    if kind is ToolAnswer:
        fields["content"] = tuple(_content(item) for item in fields["content"])
        fields["found"] = _definitions(fields.get("found", ()))
    elif kind is ToolsAdded:
        fields["tools"] = _definitions(fields["tools"])
    part: Part = kind(**fields)
    return part


def _definitions(trees: Iterable[Mapping[str, Any]]) -> tuple[ToolDefinition, ...]:
    return tuple(ToolDefinition(**tree) for tree in trees)


def _content(tree: Mapping[str, Any]) -> TextContent | ImageContent:
    fields = dict(tree)
    return TextContent(**fields) if fields.pop("type") == "text" else ImageContent(**fields)
