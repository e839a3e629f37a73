"""Every exception that Caddie raises on purpose.

    CaddieError                     kind, a sentence for the person, data for machines
    ├── InvalidInput                what the caller gave cannot be used
    ├── ToolFailure                 a tool call that did not run; becomes a result the model can read
    │   ├── ToolNotFound            unknown name; carries the nearest names
    │   ├── ToolUnavailable         known, but not now: disabled, plan mode, server down
    │   ├── InvalidArguments        the arguments break the tool's schema
    │   └── PermissionRefused       the person, a rule or a default said no
    ├── ProviderError               the language model's side
    │   ├── ProviderAuth            missing or refused key
    │   ├── ProviderRejected        a 4xx that trying again does not mend
    │   │   ├── DeferralRejected    the provider does not know its own deferred tools here
    │   │   ├── ToolRejected        one tool's definition is at fault; `tool` names it
    │   │   └── ThinkingRejected    earlier reasoning is not taken back
    │   ├── ProviderBusy            rate limit, overload, 5xx: may be tried again
    │   ├── ProviderUnreachable     no connection, or silence
    │   ├── ContextOverflow         the conversation is longer than the model reads
    │   └── StreamTruncated         the answer broke off before its end
    ├── ServerFailed                an MCP server did not start, answer or stay
    ├── SessionNotFound
    ├── SessionBusy                 one turn at a time in a session
    ├── NothingToUndo               no change to a file is there to be taken back
    └── ClientCannotAsk             the editor has no way to put this question to the person

Core raises; `rpc/errors.py` alone knows JSON-RPC numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

CLOSING = "the process is closing"
"""What tasks are cancelled with when it is not the person who stops them."""

Unavailable = Literal["disabled", "plan_mode", "server_down", "server_starting", "bridge"]


class CaddieError(Exception):
    """`message` is one sentence a person can act on; it never holds a key, a traceback or our own paths."""

    kind: ClassVar[str] = "internal"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, **data: object) -> None:
        super().__init__(message)
        self.message = message
        self.data = data


class InvalidInput(CaddieError):
    kind = "invalid_params"


class ToolFailure(CaddieError):
    kind = "tool_failed"


class ToolNotFound(ToolFailure):
    kind = "tool_not_found"

    def __init__(self, message: str, *, name: str, suggestions: Sequence[str] = ()) -> None:
        super().__init__(message, name=name, suggestions=list(suggestions))


class ToolUnavailable(ToolFailure):
    kind = "tool_unavailable"

    def __init__(self, message: str, *, name: str, reason: Unavailable) -> None:
        super().__init__(message, name=name, reason=reason)


class InvalidArguments(ToolFailure):
    kind = "invalid_arguments"


class PermissionRefused(ToolFailure):
    """`by` says who refused: the person, a rule, or the default for clients that cannot ask."""

    kind = "permission_refused"

    def __init__(self, message: str, *, name: str, by: str, feedback: str = "") -> None:
        super().__init__(message, name=name, by=by, feedback=feedback)


class ProviderError(CaddieError):
    kind = "provider_error"

    def __init__(
        self, message: str, *, status: int | None = None, retry_after: float | None = None, **data: object
    ) -> None:
        super().__init__(message, status=status, **data)
        self.status = status
        self.retry_after = retry_after


class ProviderAuth(ProviderError):
    kind = "provider_auth"


class ProviderRejected(ProviderError):
    kind = "provider_rejected"


class DeferralRejected(ProviderRejected):
    pass


class ToolRejected(ProviderRejected):
    """`tool` is its name on the wire."""

    def __init__(
        self, message: str, *, tool: str, status: int | None = None, retry_after: float | None = None, **data: object
    ) -> None:
        super().__init__(message, status=status, retry_after=retry_after, tool=tool, **data)
        self.tool = tool


class ThinkingRejected(ProviderRejected):
    pass


class ProviderBusy(ProviderError):
    kind = "provider_busy"
    retryable = True


class ProviderUnreachable(ProviderError):
    kind = "provider_unreachable"
    retryable = True


class ContextOverflow(ProviderError):
    kind = "context_overflow"


class StreamTruncated(ProviderError):
    kind = "stream_truncated"
    retryable = True


class ServerFailed(CaddieError):
    kind = "server_failed"
    retryable = True


class SessionNotFound(CaddieError):
    kind = "session_not_found"


class SessionBusy(CaddieError):
    kind = "session_busy"
    retryable = True


class NothingToUndo(CaddieError):
    kind = "nothing_to_undo"


class ClientCannotAsk(CaddieError):
    kind = "client_cannot_ask"
