"""The catalogue, its search, the bridge, and the states the person sets."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from caddie.protocol.base import Message
from caddie.protocol.mcp import ServerInfo

State = Literal["enabled", "deferred", "disabled"]
WriteScope = Literal["user", "workspace", "session"]


class StateSource(Message):
    """Who decided a state: a setting of a scope (with the name or glob that matched), the tool, or the profile."""

    kind: Literal["setting", "bridge", "masterSwitch", "alwaysLoad", "profile"]
    scope: str | None = Field(None, description="Scope of the setting: user, workspace, editorUser, session, ...")
    setting: str | None = Field(None, description="Dotted key, for example `tools.disabled`.")
    pattern: str | None = None
    origin: str | None = Field(None, description="File that holds the setting.")


class ToolInfo(Message):
    name: str = Field(description="Wire name: what a provider sees and every method takes.")
    label: str
    description: str
    server: str | None = None
    state: State
    state_source: StateSource
    read_only: bool
    destructive: bool
    tokens: int = Field(description="Estimated tokens of the full definition.")


class ToolsListParams(Message):
    session_id: str | None = None


class Totals(Message):
    enabled: int
    deferred: int
    disabled: int
    tokens_in_prompt: int = Field(description="Estimated tokens of all enabled definitions.")
    tokens_total: int


class ToolsListResult(Message):
    revision: int
    profile: str
    tools: list[ToolInfo]
    servers: list[ServerInfo]
    totals: Totals


class SearchParams(Message):
    query: str = Field(max_length=1_000_000)
    limit: int | None = Field(None, ge=1, le=50)
    session_id: str | None = None


class Hit(Message):
    tool: str
    label: str
    description: str
    server: str | None = None
    score: float
    keyword_score: float
    tfidf_score: float
    reasons: list[str]
    exact: bool


class ServerTrouble(Message):
    name: str
    status: str
    reason: str | None = None


class SearchResult(Message):
    """Exactly what `ToolSearch` finds for the same query."""

    hits: list[Hit]
    total: int = Field(description="All tools that matched, before the limit.")
    exact: list[str] = Field(description="Wire names of tools that the query names exactly.")
    unknown: list[str] = Field(description="Names of a `select:` that no tool has.")
    pending_servers: list[ServerTrouble]
    failed_servers: list[ServerTrouble]
    nothing_fits: bool


class DiscoverParams(Message):
    task: str = Field(max_length=1_000_000)
    limit: int | None = Field(None, ge=1, le=50)
    session_id: str | None = None


class DiscoveredTool(Message):
    tool: str
    label: str
    description: str
    server: str | None = None
    score: float
    input_schema: dict[str, Any]


class DiscoverResult(Message):
    hits: list[DiscoveredTool]
    nothing_fits: bool


class ExecuteParams(Message):
    tool_name: str
    params: dict[str, Any] = Field(default_factory=dict)
    session_id: str | None = None


class ContentItem(Message):
    type: Literal["text", "image", "resource"]
    text: str | None = None
    data: str | None = Field(None, description="Base64, for images.")
    media_type: str | None = None
    uri: str | None = None


class ExecuteResult(Message):
    content: list[ContentItem]
    structured_content: dict[str, Any] | None = None
    is_error: bool


class StateChange(Message):
    tool: str = Field(description="A name or a glob; `*` is everything.")
    state: State | Literal["default"]


class SetStateParams(Message):
    changes: list[StateChange]
    scope: WriteScope
    session_id: str | None = Field(None, description="Needed for scope `session`.")


class CycleStateParams(Message):
    tool: str
    scope: WriteScope
    session_id: str | None = None


class SetStateResult(Message):
    changed: list[ToolInfo]
    warnings: list[str]


class ExplainParams(Message):
    tool: str
    session_id: str | None = None


class ExplainResult(Message):
    tool: str
    found: bool
    state: State | None = None
    source: StateSource | None = None
    server: ServerInfo | None = None
    indexed: bool = Field(description="Whether ToolSearch can find it now.")
    deferral: str = Field(description="How deferred tools reach the model now.")
    sentences: list[str] = Field(description="The answer in words, most important first.")
    suggestions: list[str] = Field(description="Nearest names when it was not found.")


class ToolsChanged(Message):
    revision: int
    added: list[str]
    removed: list[str]
    changed: list[str]


class HintInfo(Message):
    tool: str
    label: str
    description: str
    score: float
    server: str | None = None
    state: State


class ShowHints(Message):
    """Tools that fit what is being typed or was just sent. An empty list clears."""

    session_id: str | None = None
    turn_id: str | None = None
    draft_id: str | None = None
    hints: list[HintInfo]
    source: Literal["turn", "draft"]
