"""METHODS: every custom message between editor and server, one row each. Everything else is generated from here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from caddie.protocol import chat, editor, mcp, models, permissions, prompts, tools, usage
from caddie.protocol.base import Empty, Message

Direction = Literal["toServer", "toClient"]


@dataclass(frozen=True, slots=True)
class Method:
    """`result` is None for a notification. `doc` says what it does, `cancel` what cancels it.

    `errors` are the `data.kind`s it may answer with, beside those that every request may.
    """

    name: str
    direction: Direction
    params: type[Message]
    result: type[Message] | None
    doc: str
    cancel: str = ""
    errors: tuple[str, ...] = ()


def _request(
    name: str, params: type[Message], result: type[Message], doc: str, cancel: str = "", errors: tuple[str, ...] = ()
) -> Method:
    return Method(name, "toServer", params, result, doc, cancel, errors)


_SESSION = ("session_not_found", "session_busy")
_PROVIDER = (
    "provider_auth", "provider_rejected", "provider_busy", "provider_unreachable",
    "context_overflow", "stream_truncated",
)  # fmt: skip


CHAT_TURN = _request(
    "caddie/chat/turn", chat.TurnParams, chat.TurnResult,
    "Runs one turn to the assistant's final word; streams `caddie/chat/event` meanwhile.",
    "`$/cancelRequest`, at any point: answers -32800 within a second, the session stays usable.",
    errors=(*_SESSION, *_PROVIDER),
)  # fmt: skip
CHAT_DRAFT = Method(
    "caddie/chat/draft", "toServer", chat.DraftParams, None,
    "The text being typed (the client debounces). The server may answer with `caddie/hints/show`.",
)  # fmt: skip
SESSION_LIST = _request("caddie/session/list", Empty, chat.SessionListResult, "Stored conversations of this workspace.")
SESSION_OPEN = _request(
    "caddie/session/open", chat.SessionParams, chat.SessionOpenResult,
    "The transcript of a stored conversation; the next turn may go on with its id.",
    errors=("session_not_found",),
)  # fmt: skip
SESSION_RESULT = _request(
    "caddie/session/result", chat.CallParams, chat.WholeResult,
    "The whole result of a tool call, of which events and transcripts have the beginning.",
    errors=("session_not_found",),
)  # fmt: skip
SESSION_RENAME = _request(
    "caddie/session/rename", chat.SessionRenameParams, chat.SessionInfo, "Gives a new title.",
    errors=("session_not_found",),
)  # fmt: skip
SESSION_DELETE = _request(
    "caddie/session/delete", chat.SessionParams, Empty, "Deletes a stored conversation.", errors=_SESSION
)
SESSION_COMPACT = _request(
    "caddie/session/compact", chat.SessionParams, chat.CompactResult,
    "Puts notes by the model in the place of a long conversation. The transcript stays; the next turn begins a new "
    "prefix, with the tools as they are set now.",
    "`$/cancelRequest`: the conversation stays as it was.",
    errors=(*_SESSION, *_PROVIDER),
)  # fmt: skip
SESSION_REWIND = _request(
    "caddie/session/rewind", chat.RewindParams, chat.SessionOpenResult,
    "Goes back to before a turn, to say something else: that turn and all after it leave the conversation. Files stay "
    "as they are; `caddie/session/undo` takes those back.",
    errors=_SESSION,
)  # fmt: skip
SESSION_UNDO = _request(
    "caddie/session/undo", chat.UndoParams, chat.UndoResult,
    "Takes back what a turn did to files, or single files and hunks, and nothing that anybody else did. Open files are "
    "changed through `workspace/applyEdit`. An undo can be undone.",
    errors=(*_SESSION, "nothing_to_undo"),
)  # fmt: skip
SESSION_CHANGES = _request(
    "caddie/session/changes", chat.ChangesParams, chat.ChangesResult,
    "What the model's turns changed in files, to be reviewed: by file and by hunk, against the files as they are now, "
    "unsaved text included.",
    errors=("session_not_found",),
)  # fmt: skip
SESSION_KEEP = _request(
    "caddie/session/keep", chat.KeepParams, chat.ChangesResult,
    "Accepts changes: they are not listed any more. Answers with what is left.",
    errors=("session_not_found", "nothing_to_undo"),
)  # fmt: skip
TOOLS_LIST = _request(
    "caddie/tools/list", tools.ToolsListParams, tools.ToolsListResult,
    "The catalogue with states, who decided them, servers, token costs and totals.",
)  # fmt: skip
TOOLS_SEARCH = _request(
    "caddie/tools/search", tools.SearchParams, tools.SearchResult, "Exactly what ToolSearch would find."
)
TOOLS_DISCOVER = _request(
    "caddie/tools/discover", tools.DiscoverParams, tools.DiscoverResult,
    "Fitting tools with their input schemas; loads nothing.",
)  # fmt: skip
TOOLS_EXECUTE = _request(
    "caddie/tools/execute", tools.ExecuteParams, tools.ExecuteResult,
    "The bridge itself: look up, validate, permit (with the prompt), run.",
    "`$/cancelRequest`: the tool is stopped.",
)  # fmt: skip
TOOLS_SET_STATE = _request(
    "caddie/tools/setState", tools.SetStateParams, tools.SetStateResult,
    "Enables, defers, disables or resets tools by name or glob, in a scope.",
    errors=("session_not_found",),
)  # fmt: skip
TOOLS_CYCLE_STATE = _request(
    "caddie/tools/cycleState", tools.CycleStateParams, tools.SetStateResult,
    "Next state of a tool: enabled, disabled, deferred, enabled.",
    errors=("session_not_found", "tool_not_found"),
)  # fmt: skip
TOOLS_EXPLAIN = _request(
    "caddie/tools/explain", tools.ExplainParams, tools.ExplainResult,
    "Why a tool is as it is, and what would change it; also for names that no tool has.",
)  # fmt: skip
MCP_LIST = _request("caddie/mcp/list", Empty, mcp.ServersResult, "The MCP servers and their status.")
MCP_START = _request(
    "caddie/mcp/start", mcp.ServerParams, mcp.ServerInfo, "Starts a stopped or failed server.",
    errors=("server_failed",),
)  # fmt: skip
MCP_STOP = _request("caddie/mcp/stop", mcp.ServerParams, mcp.ServerInfo, "Stops a server for this process.")
MCP_RESTART = _request(
    "caddie/mcp/restart", mcp.ServerParams, mcp.ServerInfo, "Stops and starts a server.", errors=("server_failed",)
)
MCP_AUTHORIZE = _request(
    "caddie/mcp/authorize", mcp.ServerParams, mcp.AuthorizeResult,
    "Begins a sign-in to a server reached over HTTP and opens its page with `window/showDocument`. How it goes on is "
    "told by `caddie/mcp/status`: `ready`, or `needsAuth` with the reason. It ends by itself after five minutes.",
    "`$/cancelRequest` until it is answered, `caddie/mcp/cancelAuthorize` from then on.",
    errors=("server_failed",),
)  # fmt: skip
MCP_CANCEL_AUTHORIZE = _request(
    "caddie/mcp/cancelAuthorize", mcp.ServerParams, mcp.ServerInfo, "Ends a sign-in that is under way.",
    errors=("server_failed",),
)  # fmt: skip
MCP_SIGN_OUT = _request(
    "caddie/mcp/signOut", mcp.ServerParams, mcp.ServerInfo, "Forgets what a server gave after a sign-in.",
    errors=("server_failed",),
)  # fmt: skip
MCP_LOG = _request(
    "caddie/mcp/log", mcp.ServerParams, mcp.ServerLogResult, "What a server wrote to its stderr, the last of it.",
    errors=("server_failed",),
)  # fmt: skip
MCP_RESOURCES = _request(
    "caddie/mcp/resources", mcp.ServerParams, mcp.ResourcesResult, "The resources that a server offers.",
    errors=("server_failed",),
)  # fmt: skip
MCP_READ_RESOURCE = _request(
    "caddie/mcp/readResource", mcp.ResourceParams, mcp.ResourceResult, "A resource as text.",
    errors=("server_failed",),
)  # fmt: skip
PROMPTS_LIST = _request(
    "caddie/prompts/list", Empty, prompts.PromptsResult,
    "The prompts that the MCP servers offer, which a chat has as `/server:prompt`.",
)  # fmt: skip
PROMPTS_GET = _request(
    "caddie/prompts/get", prompts.PromptParams, prompts.PromptResult,
    "Fills in a prompt. What comes back is for the next turn; a missing or unknown argument is an error that names it.",
    "`$/cancelRequest`.",
    errors=("server_failed",),
)  # fmt: skip
PERMISSIONS_LIST = _request(
    "caddie/permissions/list", permissions.PermissionsListParams, permissions.PermissionsListResult,
    "Rules and grants in force.",
)  # fmt: skip
PERMISSIONS_REVOKE = _request("caddie/permissions/revoke", permissions.RevokeParams, Empty, "Takes a grant back.")
MODELS_LIST = _request(
    "caddie/models/list", models.ModelsListParams, models.ModelsListResult,
    "The models of the provider in use with what they read, which of them answers, and why. "
    "To choose another one, set `model`.",
    "`$/cancelRequest`; without it the answer comes within about ten seconds.",
    errors=("provider_auth", "provider_rejected"),
)  # fmt: skip
USAGE_REPORT = _request(
    "caddie/usage/report", usage.UsageParams, usage.UsageResult,
    "Tokens of each tool and server, saved by deferral, spent on searching; and states that would suit better.",
    errors=("session_not_found",),
)  # fmt: skip

CHAT_EVENT = Method("caddie/chat/event", "toClient", chat.ChatEvent, None, "What happens in a running turn.")
HINTS_SHOW = Method("caddie/hints/show", "toClient", tools.ShowHints, None, "Fitting tools; an empty list clears.")
TOOLS_CHANGED = Method("caddie/tools/changed", "toClient", tools.ToolsChanged, None, "The catalogue changed.")
MCP_STATUS = Method("caddie/mcp/status", "toClient", mcp.ServerInfo, None, "A server's new status.")
PROMPTS_CHANGED = Method(
    "caddie/prompts/changed", "toClient", prompts.PromptsChanged, None, "An MCP server's prompts changed."
)
PERMISSION_ASK = Method(
    "caddie/permission/ask", "toClient", permissions.PermissionAsk, permissions.PermissionAnswer,
    "May this tool run with these arguments? Needs the capability `permission`.",
    "The server sends `$/cancelRequest` when the turn is cancelled.",
)  # fmt: skip
QUESTION_ASK = Method(
    "caddie/question/ask", "toClient", permissions.QuestionAsk, permissions.QuestionAnswer,
    "Questions for the person. Needs the capability `question`.",
    "The server sends `$/cancelRequest` when the turn is cancelled.",
)  # fmt: skip
EDITOR_QUERY = Method(
    "caddie/editor/query", "toClient", editor.EditorQuery, editor.EditorAnswer,
    "What only the editor knows. Needs the capability `editorQuery`.",
)  # fmt: skip
SETTINGS_WRITE = Method(
    "caddie/settings/write", "toClient", permissions.SettingsWrite, Empty,
    "Store this in the editor's own settings. Needs the capability `settingsWrite`.",
)  # fmt: skip

METHODS: tuple[Method, ...] = (
    CHAT_TURN, CHAT_DRAFT, CHAT_EVENT, HINTS_SHOW,
    SESSION_LIST, SESSION_OPEN, SESSION_RESULT, SESSION_RENAME, SESSION_DELETE, SESSION_COMPACT, SESSION_REWIND,
    SESSION_UNDO,
    SESSION_CHANGES, SESSION_KEEP,
    TOOLS_LIST, TOOLS_SEARCH, TOOLS_DISCOVER, TOOLS_EXECUTE, TOOLS_SET_STATE, TOOLS_CYCLE_STATE, TOOLS_EXPLAIN,
    TOOLS_CHANGED,
    MCP_LIST, MCP_START, MCP_STOP, MCP_RESTART, MCP_AUTHORIZE, MCP_CANCEL_AUTHORIZE, MCP_SIGN_OUT,
    MCP_LOG, MCP_RESOURCES, MCP_READ_RESOURCE, MCP_STATUS,
    PROMPTS_LIST, PROMPTS_GET, PROMPTS_CHANGED,
    PERMISSION_ASK, PERMISSIONS_LIST, PERMISSIONS_REVOKE, QUESTION_ASK, SETTINGS_WRITE,
    EDITOR_QUERY,
    MODELS_LIST, USAGE_REPORT,
)  # fmt: skip
