"""Settings: all that a user may configure, one frozen tree. The keys are the same in every editor and file.

`layers.py` joins the scopes; a bad value there keeps the default and is reported with its path.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

Scope = Literal["default", "user", "workspace", "editorUser", "editorWorkspace", "environment", "session"]
Provider = Literal["auto", "anthropic", "openai", "openai-chat", "gemini", "xai", "deepseek", "offline"]
Profile = Literal["standard", "lean", "all"]


class _Group(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, defer_build=True)


class Tools(_Group):
    """Which tools are enabled, deferred or disabled."""

    profile: Profile = Field("standard", description="The named default for tools that no list mentions.")
    enabled: tuple[str, ...] = Field((), description="Names or globs of tools sent with their full schema.")
    deferred: tuple[str, ...] = Field((), description="Names or globs of tools sent by name only.")
    disabled: tuple[str, ...] = Field((), description="Names or globs of tools that are absent and refused.")
    aliases: Mapping[str, tuple[str, ...]] = Field(
        default_factory=dict, description="Your own words for a tool, for ranking only."
    )
    use: bool = Field(True, description="Master switch: off sends no tools at all.")
    deferral: Literal["auto", "native", "bridge", "stub", "off"] = Field(
        "auto", description="How deferred tools reach the model."
    )


class Weights(_Group):
    keyword: float = Field(0.4, ge=0, le=1, description="Weight of the keyword ranker.")
    tfidf: float = Field(0.6, ge=0, le=1, description="Weight of the TF-IDF ranker.")


class Search(_Group):
    """How ToolSearch ranks."""

    weights: Weights = Weights()
    exclude: tuple[str, ...] = Field((), description="Names or globs never found by search.")
    include_force: tuple[str, ...] = Field((), description="Names or globs indexed even when enabled.")
    limit: int = Field(5, ge=1, le=50, description="How many hits ToolSearch returns.")
    semantic: Literal["auto", "off"] = Field(
        "auto", description="Rank by meaning too where the extra `semantic` is installed. Read when the server starts."
    )


class Hints(_Group):
    """Fitting tools shown before the model asks."""

    enabled: bool = Field(True, description="Show hints.")
    threshold: float = Field(0.15, ge=0, le=1, description="Hits with a lower score are not shown.")
    limit: int = Field(3, ge=1, le=10, description="How many hints at most.")
    while_typing: bool = Field(True, description="Also search while a message is being typed.")
    exclude: tuple[str, ...] = Field((), description="Names or globs never shown as a hint; search still finds them.")
    display: Literal["panel", "notification", "both"] = Field("panel", description="Where hints appear.")


class McpOAuth(_Group):
    """How Caddie is known to a server's sign-in where programs are registered by hand."""

    client_id: str = Field("", description="Empty: Caddie registers itself, where the sign-in allows that.")
    client_secret: str = Field("", description="Only if the registration has one.")
    callback_port: int = Field(
        0,
        ge=0,
        le=65_535,
        description="The port of the registered redirect address `http://127.0.0.1:PORT/callback`; 0 takes a free one.",
    )


class McpServer(_Group):
    """One MCP server: a command to start, or a URL to connect to."""

    command: str = Field("", description="Program to start; it speaks MCP over stdio.")
    args: tuple[str, ...] = Field((), description="Arguments of the program.")
    env: Mapping[str, str] = Field(default_factory=dict, description="Added to a minimal environment.")
    cwd: str = Field("", description="Folder to start in; empty is the workspace.")
    url: str = Field("", description="Address of a server that speaks streamable HTTP.")
    headers: Mapping[str, str] = Field(default_factory=dict, description="Sent with every request to `url`.")
    oauth: McpOAuth = Field(default_factory=McpOAuth, description="For a sign-in that registers no programs itself.")
    lazy: bool = Field(
        False, description="Start only when a tool of it is called; the first time once, to learn its tools."
    )
    timeout: float = Field(30, gt=0, le=3600, description="Seconds to wait for an answer.")
    enabled: bool = Field(True, description="Off keeps the entry and starts nothing.")


class Mcp(_Group):
    servers: Mapping[str, McpServer] = Field(default_factory=dict, description="MCP servers by name.")


class Permissions(_Group):
    """Who may run what. deny > ask > allow > what the tool itself says."""

    mode: Literal["ask", "acceptEdits", "plan", "auto"] = Field("ask", description="What runs unasked.")
    allow: tuple[str, ...] = Field((), description="Rules: `Tool`, `Tool(pattern)`, `mcp__server__*`.")
    ask: tuple[str, ...] = Field((), description="Rules for what is asked, whatever `allow` says.")
    deny: tuple[str, ...] = Field((), description="Rules for what is refused, whatever else says.")
    read_only: tuple[str, ...] = Field(
        (), description="Names or globs of tools that run in plan mode, whatever they say of themselves."
    )
    when_client_cannot_ask: Literal["deny", "allow"] = Field(
        "deny", description="What happens when nobody can be asked."
    )


class Checkpoints(_Group):
    """What undo needs: the contents of files before each turn."""

    enabled: bool = Field(True, description="Keep what files were before a turn, so that it can be undone.")
    max_megabytes: int = Field(
        300, ge=10, le=100_000, description="Disk space for that, for all workspaces; the oldest goes first."
    )


class Sandbox(_Group):
    """Where commands of the tool Bash run."""

    mode: Literal["auto", "always", "off"] = Field("auto", description="Which commands run in a sandbox (bubblewrap).")
    network: bool = Field(False, description="Commands in the sandbox may use the network.")
    writable: tuple[str, ...] = Field((), description="Folders beside the workspace that the sandbox may write to.")


class Settings(_Group):
    provider: Provider = Field("auto", description="Which API to speak; `auto` takes the first that is there.")
    model: str = Field("", description="Model name; empty takes the provider's default.")
    base_url: str = Field("", description="Address of a compatible server, for example a local one.")
    api_key_env: str = Field("", description="Name of the environment variable that holds the key.")
    request_timeout: float = Field(300, gt=0, le=7200, description="Seconds of silence before giving up.")
    tools: Tools = Tools()
    search: Search = Search()
    hints: Hints = Hints()
    mcp: Mcp = Mcp()
    permissions: Permissions = Permissions()
    checkpoints: Checkpoints = Checkpoints()
    sandbox: Sandbox = Sandbox()


# What a folder's own settings could start, allow or send somewhere: it counts only after the person's trust. An
# editor asks for that itself, by the same list.
NEEDS_TRUST = (
    "mcp", "permissions.allow", "permissions.mode", "permissions.readOnly", "permissions.whenClientCannotAsk",
    "sandbox", "provider", "baseUrl", "apiKeyEnv",
)  # fmt: skip


def needs_trust(path: str) -> bool:
    return any(path == branch or path.startswith(f"{branch}.") for branch in NEEDS_TRUST)


MEANINGS: Mapping[str, Mapping[str, str]] = {
    "provider": {
        "auto": "The first provider whose key is in the environment, else a local server, else `offline`.",
        "anthropic": "Anthropic's Messages API.",
        "openai": "OpenAI's API.",
        "openai-chat": "Any server that speaks OpenAI's chat completions, for example a local one at `baseUrl`.",
        "gemini": "Google's Gemini API.",
        "xai": "xAI's API.",
        "deepseek": "DeepSeek's API.",
        "offline": "No language model: Caddie searches, asks and runs tools by rules.",
    },
    "tools.profile": {
        "standard": "The core tools are enabled, all others deferred.",
        "lean": "Ten tools are enabled, all others deferred.",
        "all": "Every tool is enabled.",
    },
    "tools.deferral": {
        "auto": "The provider's own way where it works, else `bridge`.",
        "native": "The provider's own deferred tools.",
        "bridge": "By name; found with ToolSearch and called with ExecuteTool.",
        "stub": "As entries without arguments.",
        "off": "Nothing is deferred: every tool that is not disabled is sent with its schema.",
    },
    "search.semantic": {
        "auto": "Rank by meaning where the extra `semantic` is installed.",
        "off": "Rank by words only.",
    },
    "hints.display": {
        "panel": "In the chat panel.",
        "notification": "As a notification of the editor.",
        "both": "In the panel and as a notification.",
    },
    "permissions.mode": {
        "ask": "Tools that only read run; everything else asks.",
        "acceptEdits": "Edits of files run too; everything else asks.",
        "plan": "Only reading is allowed.",
        "auto": "Everything runs that no rule denies or asks about.",
    },
    "sandbox.mode": {
        "auto": "In permission mode `auto`, where nobody sees a command before it runs, if this system has bubblewrap.",
        "always": "Every command; without bubblewrap none runs.",
        "off": "None.",
    },
    "permissions.whenClientCannotAsk": {
        "deny": "It is refused.",
        "allow": "It runs.",
    },
}
"""What each choice of a setting means, in a sentence for the settings page of an editor."""
