"""What a tool is: a specification, a function that runs it, and what it gives back.

Built-in and MCP tools are the same `Tool` from here on.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from caddie.tools.context import ToolContext

State = Literal["enabled", "deferred", "disabled"]
Arguments = dict[str, Any]


@dataclass(frozen=True, slots=True)
class TextContent:
    text: str


@dataclass(frozen=True, slots=True)
class ImageContent:
    """`data` is base64, as every wire carries it."""

    data: str
    media_type: str


@dataclass(frozen=True, slots=True)
class ResourceContent:
    """A link to, or the text of, something an MCP server holds."""

    uri: str
    text: str = ""
    media_type: str = ""


Content = TextContent | ImageContent | ResourceContent


@dataclass(frozen=True, slots=True)
class ToolResult:
    content: tuple[Content, ...] = ()
    structured: Mapping[str, Any] | None = None
    is_error: bool = False
    found: tuple[ToolSpec, ...] = ()
    """Tools that a search found; `content` describes them too, for models that cannot have them loaded."""
    note: str = ""
    """What a search says beside them."""

    @property
    def text(self) -> str:
        """All text parts, joined by blank lines; images appear as `[image/png]`."""
        return "\n\n".join(as_text(part) for part in self.content)


def text_result(text: str, *, structured: Mapping[str, Any] | None = None) -> ToolResult:
    return ToolResult((TextContent(text),), structured)


def error_result(text: str) -> ToolResult:
    return ToolResult((TextContent(text),), is_error=True)


def as_text(part: Content) -> str:
    match part:
        case TextContent(text):
            return text
        case ImageContent(_, media_type):
            return f"[{media_type}]"
        case ResourceContent(uri, text, _):
            return f"{uri}\n{text}" if text else uri


@dataclass(frozen=True, slots=True)
class DiffPreview:
    """A change to one file, before and after, for the permission prompt."""

    path: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class CommandPreview:
    """`note` says how it would run: in a sandbox, or not."""

    command: str
    cwd: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class TextPreview:
    text: str


Preview = DiffPreview | CommandPreview | TextPreview


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """What is known of a tool without running it.

    `name` is the wire name (`[A-Za-z0-9_-]{1,64}`); `original_name` is what the tool's own source calls it.
    `server` is empty for built-ins. The two `read_only` and `destructive` flags are MCP's annotations of the
    same names: claims of the tool's author, used for defaults and never as a permission. `needs_interaction` says
    that a person must see each call. `identity` tells how the server is started, so that another one under its name
    is another.
    """

    name: str
    description: str
    input_schema: Mapping[str, Any]
    original_name: str = ""
    server: str = ""
    title: str = ""
    search_hint: str = ""
    read_only: bool = False
    destructive: bool = True
    always_load: bool = False
    needs_interaction: bool = False
    identity: str = ""

    @property
    def label(self) -> str:
        """The short name a person reads: `git_log`, not `mcp__git__git_log`."""
        return self.original_name or self.name

    @property
    def definition_hash(self) -> str:
        """SHA-256 over description and schema; key order does not count. Grants are bound to it."""
        text = json.dumps([self.description, self.input_schema], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


Run = Callable[[Arguments, "ToolContext"], Awaitable[ToolResult]]
MakePreview = Callable[[Arguments, "ToolContext"], Awaitable[Preview | None]]


@dataclass(frozen=True, slots=True)
class Tool:
    """`session_only` marks a tool without effect outside the session (todo list, plan mode, a question): it runs
    in plan mode and without a prompt although it is not a plain read. `edits_files` marks those that the
    permission mode `acceptEdits` lets through."""

    spec: ToolSpec
    run: Run
    preview: MakePreview | None = None
    session_only: bool = False
    edits_files: bool = False

    @property
    def name(self) -> str:
        return self.spec.name


class ToolArgs(BaseModel):
    """Base of the argument models of built-in tools; their JSON Schema is what the model sees."""

    model_config = ConfigDict(extra="forbid", defer_build=True)


A = TypeVar("A", bound=ToolArgs)


def builtin(
    name: str,
    description: str,
    args: type[A],
    run: Callable[[A, ToolContext], Awaitable[ToolResult]],
    *,
    preview: Callable[[A, ToolContext], Awaitable[Preview | None]] | None = None,
    search_hint: str = "",
    read_only: bool = False,
    destructive: bool = False,
    session_only: bool = False,
    edits_files: bool = False,
) -> Tool:
    """Join an argument model and a typed function into a `Tool`."""

    async def run_checked(arguments: Arguments, context: ToolContext) -> ToolResult:
        return await run(args.model_validate(arguments), context)

    async def preview_checked(arguments: Arguments, context: ToolContext) -> Preview | None:
        return await preview(args.model_validate(arguments), context) if preview else None

    spec = ToolSpec(
        name=name,
        description=description,
        input_schema=_plain_schema(args),
        search_hint=search_hint,
        read_only=read_only,
        destructive=destructive,
    )
    return Tool(
        spec,
        run_checked,
        preview=preview_checked if preview else None,
        session_only=session_only,
        edits_files=edits_files,
    )


def _plain_schema(args: type[ToolArgs]) -> dict[str, Any]:
    """The model's JSON Schema without pydantic's titles, which only repeat the names."""
    return cast(dict[str, Any], _without_titles(args.model_json_schema()))


def _without_titles(node: Any, *, is_properties: bool = False) -> Any:
    if isinstance(node, dict):
        return {
            key: _without_titles(value, is_properties=key in ("properties", "$defs") and not is_properties)
            for key, value in node.items()
            if is_properties or key != "title" or not isinstance(value, str)
        }
    if isinstance(node, list):
        return [_without_titles(item) for item in node]
    return node
