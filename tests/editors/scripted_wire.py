"""Messages as a server would send them, for the scripted one."""

from __future__ import annotations

from typing import Any

CHOICES = [
    {"id": "once", "label": "allow once", "kind": "allowOnce"},
    {"id": "session", "label": "this session", "kind": "allowSession"},
    {"id": "always", "label": "always", "kind": "allowAlways"},
    {"id": "reject", "label": "reject…", "kind": "reject"},
]


def text(words: str) -> dict[str, Any]:
    return {"event": {"kind": "text", "text": words}}


def call(call_id: str, status: str, label: str = "git_log", **more: Any) -> dict[str, Any]:
    base = {"kind": "toolCall", "callId": call_id, "tool": f"mcp__git__{label}", "label": label, "server": "git"}
    rest = {"status": status, "params": {"max_count": 10}, "isError": False, "elapsedMs": 0}
    return {"event": {**base, **rest, **more}}


def notice(message: str, level: str = "info", **more: Any) -> dict[str, Any]:
    return {"event": {"kind": "notice", "level": level, "message": message, "discardText": False, **more}}


def done(reason: str = "endTurn", words: str = "") -> dict[str, Any]:
    return {"event": {"kind": "done", "stopReason": reason, "text": words}}


def permission(request_id: str, label: str = "git_log", wait: bool = True, **more: Any) -> dict[str, Any]:
    base = {"requestId": request_id, "sessionId": "s1", "tool": f"mcp__git__{label}", "label": label, "server": "git"}
    rest = {"params": {"max_count": 10}, "choices": CHOICES, "reason": "It is not known to be read-only."}
    params = {**base, **rest, **more}
    return {"request": "caddie/permission/ask", "id": request_id, "params": params, "wait": wait}


def question(request_id: str, questions: list[dict[str, Any]], wait: bool = True) -> dict[str, Any]:
    params = {"requestId": request_id, "title": "Which one?", "questions": questions}
    return {"request": "caddie/question/ask", "id": request_id, "params": params, "wait": wait}


def hint(label: str, score: float = 0.83) -> dict[str, Any]:
    words = {"tool": f"mcp__acme__{label}", "label": label, "description": "Does it for a paid invoice"}
    return {**words, "score": score, "server": "acme", "state": "deferred"}


GO_ON = {"wait": "go"}
UNTIL_CANCELLED = {"wait": "cancel"}
CANCELLED = {"error": {"code": -32800, "message": "Cancelled."}}
