"""What tools did a search answer, or a block of picked tools, name?"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from caddie.chat.messages import ToolDefinition

_HEADING = re.compile(r"^##\s+`?([A-Za-z0-9_-]{1,64})`?(?:\s.*)?$")
_FENCE = re.compile(r"^\s*(`{3,}|~{3,})\s*(\w*)\s*$")


@dataclass(frozen=True, slots=True)
class FoundTool:
    name: str
    description: str
    schema: Mapping[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """`git_log` of `mcp__git__git_log`."""
        return self.name.rsplit("__", 1)[-1] or self.name


def from_definition(tool: ToolDefinition) -> FoundTool:
    return FoundTool(tool.name, tool.description, tool.input_schema)


def parse_search_answer(text: str) -> list[FoundTool]:
    """Tools in the order of the answer; a heading without a readable schema is left out."""
    found: list[FoundTool] = []
    name, about, fenced, fence = "", list[str](), list[str](), ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2]:
                fence = ""
                schema = _schema(fenced)
                if name and schema is not None:
                    found.append(FoundTool(name, "\n".join(about).strip(), schema))
                    name = ""
            else:
                fenced.append(line)
        elif mark:
            fence, fenced = mark[1], []
        elif heading := _HEADING.match(line):
            name, about = heading[1], []
        else:
            about.append(line)
    return found


def _schema(lines: list[str]) -> Mapping[str, Any] | None:
    try:
        schema = json.loads("\n".join(lines))
    except ValueError:
        return None
    return schema if isinstance(schema, dict) else None
