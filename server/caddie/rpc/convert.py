"""Core values to wire messages and back. The core knows nothing of the wire, so each pair meets here, once."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from caddie.chat import events
from caddie.chat.messages import Thinking, Usage
from caddie.chat.session import CUT, Called, Compacted, Said, Session, TurnStarted
from caddie.engine.explain import Explanation
from caddie.engine.listed import Listed
from caddie.protocol import chat, editor, mcp, permissions, tools
from caddie.search.index import Hit
from caddie.search.prefetch import ToolHint
from caddie.search.tool_search import Found
from caddie.storage.sessions import Summary
from caddie.tools.call import CallUpdate
from caddie.tools.context import PermissionRequest, Problem, QuestionRequest, TodoItem
from caddie.tools.grants import Grant
from caddie.tools.permissions import Rule
from caddie.tools.servers import ServerStatus
from caddie.tools.states import Source
from caddie.tools.tool import (
    CommandPreview,
    Content,
    DiffPreview,
    ImageContent,
    Preview,
    ResourceContent,
    TextContent,
    TextPreview,
    ToolResult,
)

MAX_DIFF_LINES = 2_000


def event(item: events.TurnEvent) -> chat.Event | None:
    match item:
        case events.TextChunk(text):
            return chat.TextEvent(text=text)
        case events.ThinkingChunk(text):
            return chat.ThinkingEvent(text=text)
        case CallUpdate():
            return call(item)
        case events.TodoChanged(items):
            return chat.TodoEvent(items=todo(items))
        case events.Notice(level, message, code, discard):
            return chat.NoticeEvent(level=level, message=message, code=code or None, discard_text=discard)
        case events.ModeChanged(mode):
            said = "Plan mode: reading only." if mode == "plan" else "Plan mode is off."
            return chat.NoticeEvent(level="info", message=said, code="mode", mode=mode)
        case events.UsageUpdate(amount):
            return chat.UsageEvent(usage=usage(amount))
        case events.Done(stop, text):
            return chat.DoneEvent(stop_reason=stop, text=text)
        case _:
            return None


def call(update: CallUpdate) -> chat.ToolCallEvent:
    return chat.ToolCallEvent(
        call_id=update.call_id,
        tool=update.tool,
        label=update.label,
        server=update.server or None,
        status=update.status,
        params=dict(update.params),
        progress=update.progress or None,
        result=update.result or None,
        is_error=update.is_error,
        elapsed_ms=update.elapsed_ms,
        result_chars=update.result_chars or None,
    )


def todo(items: Iterable[TodoItem]) -> list[chat.Todo]:
    return [chat.Todo(content=i.content, status=i.status, active_form=i.active_form or None) for i in items]


def usage(amount: Usage) -> chat.Usage:
    return chat.Usage(input_tokens=amount.input, cached_tokens=amount.cached, output_tokens=amount.output)


def summary(item: Summary) -> chat.SessionInfo:
    mode: chat.Mode = "plan" if item.mode == "plan" else "agent"
    return chat.SessionInfo(
        session_id=item.id, title=item.title, created=item.created, updated=item.updated, turns=item.turns, mode=mode
    )


def session(item: Session) -> chat.SessionInfo:
    return chat.SessionInfo(
        session_id=item.id,
        title=item.title,
        created=item.created,
        updated=item.updated or item.created,
        turns=item.turns,
        mode=item.state.mode,
    )


def transcript(session: Session) -> list[chat.TranscriptItem]:
    found: list[chat.TranscriptItem] = []
    for record in session.records:
        match record:
            case TurnStarted(turn_id, text, attached, picked):
                beside = {"attachments": list(attached) or None, "picks": list(picked) or None}
                found.append(chat.TranscriptItem(turn_id=turn_id, kind="user", text=text, **beside))
            case Said(_, message) if message.text == CUT:
                pass  # it stands in place of an answer; the person is told by `interrupted`
            case Said(turn_id, message) if message.role == "assistant":
                thought = "\n\n".join(part.text for part in message.parts if isinstance(part, Thinking) and part.text)
                if thought.strip():
                    found.append(chat.TranscriptItem(turn_id=turn_id, kind="thinking", text=thought))
                if message.text.strip():
                    found.append(chat.TranscriptItem(turn_id=turn_id, kind="assistant", text=message.text))
            case Compacted():
                words = "The conversation was too long; it goes on from a summary."
                found.append(chat.TranscriptItem(turn_id="", kind="notice", text=words))
            case Called(turn_id, update):
                found.append(chat.TranscriptItem(turn_id=turn_id, kind="toolCall", call=call(update)))
            case _:
                pass
    return found


def source(item: Source) -> tools.StateSource:
    return tools.StateSource(
        kind=item.kind,
        scope=item.scope or None,
        setting=item.setting or None,
        pattern=item.pattern or None,
        origin=item.origin or None,
    )


def tool(item: Listed) -> tools.ToolInfo:
    return tools.ToolInfo(
        name=item.spec.name,
        label=item.spec.label,
        description=item.spec.description,
        server=item.spec.server or None,
        state=item.decision.state,
        state_source=source(item.decision.source),
        read_only=item.spec.read_only,
        destructive=item.spec.destructive,
        tokens=item.tokens,
    )


def totals(items: Iterable[Listed]) -> tools.Totals:
    listed = list(items)
    counts = {state: sum(i.decision.state == state for i in listed) for state in ("enabled", "deferred", "disabled")}
    return tools.Totals(
        **counts,
        tokens_in_prompt=sum(item.tokens for item in listed if item.decision.state == "enabled"),
        tokens_total=sum(item.tokens for item in listed),
    )


def server(status: ServerStatus) -> mcp.ServerInfo:
    return mcp.ServerInfo(
        name=status.name,
        status=status.state,
        reason=status.reason or None,
        tools=status.tools,
        origin=status.origin or None,
        version=status.version or None,
        signed_in=status.signed_in or None,
    )


def hit(item: Hit) -> tools.Hit:
    return tools.Hit(
        tool=item.tool.name,
        label=item.tool.label,
        description=item.tool.description,
        server=item.tool.server or None,
        score=round(item.score, 4),
        keyword_score=round(item.keyword, 4),
        tfidf_score=round(item.tfidf, 4),
        reasons=list(item.reasons),
        exact=item.exact,
    )


def search(found: Found) -> tools.SearchResult:
    return tools.SearchResult(
        hits=[hit(item) for item in found.hits],
        total=found.total,
        exact=[item.tool.name for item in found.hits if item.exact or item.named],
        unknown=[item.name for item in found.unknown],
        pending_servers=[_trouble(status) for status in found.pending],
        failed_servers=[_trouble(status) for status in found.failed],
        nothing_fits=found.nothing_fits,
    )


def _trouble(status: ServerStatus) -> tools.ServerTrouble:
    return tools.ServerTrouble(name=status.name, status=status.state, reason=status.reason or None)


def discovered(found: Found) -> tools.DiscoverResult:
    hits = [
        tools.DiscoveredTool(
            tool=item.tool.name,
            label=item.tool.label,
            description=item.tool.description,
            server=item.tool.server or None,
            score=round(item.score, 4),
            input_schema=dict(item.tool.input_schema),
        )
        for item in found.hits
    ]
    return tools.DiscoverResult(hits=hits, nothing_fits=found.nothing_fits)


def hint(item: ToolHint) -> tools.HintInfo:
    state: tools.State = "enabled" if item.state == "enabled" else "deferred"
    return tools.HintInfo(
        tool=item.tool,
        label=item.label,
        description=item.description,
        score=item.score,
        server=item.server or None,
        state=state,
    )


def result(item: ToolResult) -> tools.ExecuteResult:
    structured = dict(item.structured) if item.structured is not None else None
    return tools.ExecuteResult(
        content=[_content(part) for part in item.content], structured_content=structured, is_error=item.is_error
    )


def _content(part: Content) -> tools.ContentItem:
    match part:
        case TextContent(text):
            return tools.ContentItem(type="text", text=text)
        case ImageContent(data, media_type):
            return tools.ContentItem(type="image", data=data, media_type=media_type)
        case ResourceContent(uri, text, media_type):
            return tools.ContentItem(type="resource", uri=uri, text=text or None, media_type=media_type or None)


def explanation(item: Explanation) -> tools.ExplainResult:
    decision = item.listed.decision if item.listed else None
    return tools.ExplainResult(
        tool=item.name,
        found=item.listed is not None,
        state=decision.state if decision else None,
        source=source(decision.source) if decision else None,
        server=server(item.server) if item.server else None,
        indexed=item.is_indexed,
        deferral=item.deferral,
        sentences=list(item.sentences),
        suggestions=list(item.suggestions),
    )


def permission(request: PermissionRequest, request_id: str) -> permissions.PermissionAsk:
    return permissions.PermissionAsk(
        request_id=request_id,
        session_id=request.session_id,
        tool=request.tool,
        label=request.label,
        server=request.server or None,
        params=dict(request.params),
        preview=preview(request.preview) if request.preview else None,
        choices=[permissions.Choice(id=c.id, label=c.label, kind=c.kind) for c in request.choices],
        reason=request.reason,
        definition_changed=request.definition_changed or None,
    )


def preview(item: Preview) -> permissions.Preview:
    match item:
        case DiffPreview(path, before, after):
            return permissions.DiffPreview(path=path, before=before, after=after, unified=unified(path, before, after))
        case CommandPreview(command, cwd, note):
            return permissions.CommandPreview(command=command, cwd=cwd, note=note or None)
        case TextPreview(text):
            return permissions.TextPreview(text=text)


def unified(path: str, before: str, after: str) -> str:
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), f"a/{path}", f"b/{path}", lineterm=""))
    if len(lines) > MAX_DIFF_LINES:
        lines = [*lines[:MAX_DIFF_LINES], f"… {len(lines) - MAX_DIFF_LINES} more lines"]
    return "\n".join(lines)


def question(request: QuestionRequest, request_id: str) -> permissions.QuestionAsk:
    return permissions.QuestionAsk(
        request_id=request_id,
        session_id=request.session_id or None,
        title=request.title,
        questions=[
            permissions.Question(
                id=item.id,
                question=item.question,
                header=item.header or None,
                options=[
                    permissions.QuestionOption(label=option.label, description=option.description or None)
                    for option in item.options
                ],
                multiple=item.multiple,
            )
            for item in request.questions
        ],
    )


def problem(item: editor.Diagnostic) -> Problem:
    severity: Literal["error", "warning"] = "error" if item.severity == "error" else "warning"
    return Problem(Path(item.place.path), item.place.line, severity, item.message, item.source or "")


def rule(item: Rule) -> permissions.RuleInfo:
    return permissions.RuleInfo(rule=item.text, kind=item.kind, scope=item.scope)


def grant(item: Grant) -> permissions.GrantInfo:
    return permissions.GrantInfo(
        id=item.id,
        tool=item.tool,
        server=item.server or None,
        scope=item.scope,
        pattern=item.pattern,
        granted=item.granted,
    )
