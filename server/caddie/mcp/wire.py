"""What do the bytes that a server writes mean?

Servers print banners, send bytes of another encoding, and publish schemas that are none. What can be read is read;
what cannot is dropped, and when it was an answer, the call that waits for it learns so at once.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp_types import JSONRPCError, JSONRPCMessage

MAX_LINE_BYTES = 32 * 1024 * 1024
_EDGE_BYTES = 512

# Both SDKs' ways to write an answer: the Python one puts the id first, the TypeScript one last.
_ID_FIRST = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+)\s*,\s*"(?:result|error)"')
_ID_LAST = re.compile(rb'\}\s*,\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+)\s*\}\s*\Z')


@dataclass(frozen=True, slots=True)
class LongLine:
    """A line over the cap, of which only the edges are kept."""

    head: bytes
    tail: bytes
    length: int


class LineJoiner:
    """Chunks in, whole lines out. Chunks of an unfinished line are joined once, when its end arrives."""

    def __init__(self, cap: int = MAX_LINE_BYTES) -> None:
        self._cap = cap
        self._parts: list[bytes] = []
        self._length = 0
        self._head = b""

    def feed(self, chunk: bytes) -> list[bytes | LongLine]:
        *ended, rest = chunk.split(b"\n")
        lines: list[bytes | LongLine] = []
        for piece in ended:
            self._keep(piece)
            lines.append(self._take())
        self._keep(rest)
        return lines

    def _keep(self, piece: bytes) -> None:
        self._length += len(piece)
        self._parts.append(piece)
        if self._length > self._cap:
            kept = b"".join(self._parts)
            self._head = self._head or kept[:_EDGE_BYTES]
            self._parts = [kept[-_EDGE_BYTES:]]

    def _take(self) -> bytes | LongLine:
        joined = b"".join(self._parts)
        line = LongLine(self._head, joined, self._length) if self._length > self._cap else joined
        self._parts, self._length, self._head = [], 0, b""
        return line


def read_message(line: bytes) -> JSONRPCMessage | None:
    """The message in `line`, or None when there is none."""
    # Imported here because the MCP SDK is slow to import.
    from mcp_types import JSONRPCResponse, jsonrpc_message_adapter

    text = line.decode("utf-8", "replace").lstrip("\ufeff \t")
    if not text.startswith("{"):
        return None
    try:
        message = jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValueError:
        try:
            message = jsonrpc_message_adapter.validate_json(_tidied(text), by_name=False)
        except (ValueError, RecursionError):
            return None
    if isinstance(message, JSONRPCResponse):
        mend_tool_list(message.result)
    return message


def _tidied(text: str) -> str:
    """The same JSON without raw control characters and lone surrogates, which strict parsers refuse."""
    plain = json.dumps(json.loads(text, strict=False), ensure_ascii=False)
    return plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def write_message(message: JSONRPCMessage) -> bytes:
    """One line. Lone surrogates, which a model can produce, go as JSON escapes, since UTF-8 has none for them."""
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
    except ValueError:
        return json.dumps(message.model_dump(by_alias=True, exclude_unset=True)).encode() + b"\n"


def mend_tool_list(result: dict[str, Any]) -> None:
    """Make each listed tool acceptable to the SDK, which would refuse the whole list for one bad schema.

    Output schemas go: the SDK would check results against them on the event loop, with patterns from strangers.
    """
    tools = result.get("tools")
    if not isinstance(tools, list):
        return
    result["tools"] = [mended for tool in tools if (mended := _mended(tool))]


def _mended(tool: Any) -> dict[str, Any] | None:
    if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
        return None
    kept = {key: tool[key] for key in ("name", "title", "description") if isinstance(tool.get(key), str)}
    kept["inputSchema"] = _object_schema(tool.get("inputSchema"))
    kept["annotations"] = {
        key: value for key, value in _mapping(tool.get("annotations")).items() if _is_hint(key, value)
    }
    if isinstance(tool.get("_meta"), dict):
        kept["_meta"] = tool["_meta"]
    return kept


def _object_schema(schema: Any) -> dict[str, Any]:
    """`schema` as it is; parts that no object schema can have are left out (PHP writes `"properties": []`)."""
    if not isinstance(schema, dict) or schema.get("type", "object") != "object":
        return {"type": "object"}
    broken = [
        key for key, kind in (("properties", dict), ("required", list)) if not isinstance(schema.get(key, kind()), kind)
    ]
    kept = {key: value for key, value in schema.items() if key not in broken}
    return kept if "type" in kept else {"type": "object", **kept}


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _is_hint(key: str, value: Any) -> bool:
    return isinstance(value, str if key == "title" else bool)


def refuse_line(line: bytes | LongLine) -> JSONRPCError | None:
    """An error for the call whose answer cannot be read, when the line shows which call that is."""
    # Imported here because the MCP SDK is slow to import.
    from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError

    if isinstance(line, LongLine):
        head, tail = line.head, line.tail
        why = f"the answer was {line.length:,} bytes on one line; {MAX_LINE_BYTES:,} are read at most"
    else:
        head, tail, why = line[:_EDGE_BYTES], line[-_EDGE_BYTES:], "the answer was not valid JSON"
    found = _ID_FIRST.match(head) or _ID_LAST.search(tail)
    if found is None:
        return None
    return JSONRPCError(jsonrpc="2.0", id=int(found[1]), error=ErrorData(code=PARSE_ERROR, message=why))
