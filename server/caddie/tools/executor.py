"""One tool call, from what the caller sent to a result: look up, validate, permit, run.

A call through `ExecuteTool` is unwrapped first and from then on *is* a call of the target: same rules, same
prompt, same cancel, same result.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Protocol
from uuid import uuid4

from pydantic import ValidationError

from caddie.errors import (
    CaddieError,
    ClientCannotAsk,
    InvalidArguments,
    PermissionRefused,
    ToolNotFound,
    ToolUnavailable,
)
from caddie.tools import reasons
from caddie.tools.arguments import check_arguments
from caddie.tools.call import Call, CallStatus, CallUpdate, Report
from caddie.tools.catalogue import Catalogue
from caddie.tools.context import Choice, PermissionAnswer, PermissionRequest, ToolContext
from caddie.tools.core_tools import BRIDGE, EXECUTE_TOOL
from caddie.tools.exact import resolve
from caddie.tools.limits import capped
from caddie.tools.permissions import Grant, GrantScope, Rule, Verdict, decide, grant_pattern
from caddie.tools.states import Decision
from caddie.tools.tool import Arguments, TextContent, Tool, ToolResult, error_result

logger = logging.getLogger(__name__)

_VENDOR_PREFIXES = ("functions.", "default_api.", "tools.")
RESULT_SHOWN_CHARS = 4_000
_REMEMBERED_FAILURES = 1_000


class Grants(Protocol):
    def held(self, session_id: str) -> tuple[Grant, ...]: ...

    def add(self, session_id: str, grant: Grant) -> None: ...


@dataclass(frozen=True, slots=True)
class Authority:
    """What holds for a session right now; asked anew for each call and again after a prompt."""

    states: Callable[[str], Mapping[str, Decision]]
    rules: Callable[[], tuple[Rule, ...]]
    grants: Grants


class Executor:
    def __init__(
        self,
        catalogue: Catalogue,
        authority: Authority,
        *,
        await_server: Callable[[str], Awaitable[None]],
    ) -> None:
        """`await_server` waits, bounded, for a server that is still connecting."""
        self._catalogue = catalogue
        self._authority = authority
        self._await_server = await_server
        self._failures: dict[tuple[str, str, str], int] = {}

    async def execute(self, call: Call, context: ToolContext, report: Report) -> ToolResult:
        """Run a call and report each of its states. Failures come back as results with the error flag.

        Raises: CancelledError, after the tool was stopped and `cancelled` reported.
        """
        run = _Run(call, report)
        try:
            return await self._execute(call, context, run)
        except asyncio.CancelledError:
            run.report("cancelled")
            raise
        except PermissionRefused as error:
            return run.end("refused", error_result(error.message))
        except ValidationError as error:
            return run.end("failed", error_result(_builtin_complaint(run, error)))
        except InvalidArguments as error:
            return run.end("failed", error_result(self._firmer(context, call, error.message)))
        except CaddieError as error:
            return run.end("failed", error_result(error.message))
        except Exception:
            logger.exception("tool %s failed", run.label)
            return run.end(
                "failed", error_result(f"{run.label} failed because of an internal error; see Caddie's log.")
            )

    async def _execute(self, call: Call, context: ToolContext, run: _Run) -> ToolResult:
        name, params = _unwrap(call)
        run.name(name, params)
        tool = await self._look_up(name, context)
        run.tool(tool)
        self._refuse_unavailable(tool, context)
        checked = check_arguments(tool.spec, params)
        run.params = checked.arguments
        await self._permit(tool, checked.arguments, context, run)
        run.report("running")
        async with context.changes.watching(tool):
            result = await tool.run(checked.arguments, replace(context, progress=run.progress))
        result = capped(_with_notes(result, checked.notes), context.spill)
        return run.end("failed" if result.is_error else "done", result)

    async def _look_up(self, name: str, context: ToolContext) -> Tool:
        """Raises: ToolNotFound, ToolUnavailable, each with the true reason."""
        found = resolve(name, self._catalogue.specs)
        status = None if found else reasons.server_of(name, self._catalogue)
        if status and status.state in ("connecting", "ready"):  # a ready one may be listing its tools anew
            context.progress(f"waiting for {status.name}")
            await self._await_server(status.name)
            found = resolve(name, self._catalogue.specs)
            status = self._catalogue.find_server(status.name)
        if len(found) == 1:
            return self._current(found[0].name)
        if found:
            raise ToolNotFound(reasons.ambiguous(name, found), name=name, suggestions=[spec.name for spec in found])
        if status and status.state != "ready":
            raise ToolUnavailable(
                reasons.server_not_ready(status),
                name=name,
                reason="server_starting" if status.state == "connecting" else "server_down",
            )
        near = reasons.nearest_names(self._catalogue.specs, name)
        raise ToolNotFound(reasons.unknown(name, near), name=name, suggestions=near)

    def _current(self, name: str) -> Tool:
        tool = self._catalogue.find(name)
        if tool is None:
            raise ToolNotFound(f"{name} is gone: its server was disconnected.", name=name)
        return tool

    def _refuse_unavailable(self, tool: Tool, context: ToolContext) -> None:
        decision = self._authority.states(context.session.session_id).get(tool.name)
        if decision and decision.state == "disabled" and tool.name not in BRIDGE:
            raise ToolUnavailable(reasons.disabled(tool.spec, decision.source), name=tool.name, reason="disabled")
        if context.session.mode == "plan" and not (tool.spec.read_only or tool.session_only):
            raise ToolUnavailable(reasons.plan_mode(tool.spec), name=tool.name, reason="plan_mode")

    async def _permit(self, tool: Tool, params: Arguments, context: ToolContext, run: _Run) -> None:
        verdict = self._verdict(tool, params, context)
        if verdict.kind == "deny":
            raise PermissionRefused(reasons.denied(tool.spec, verdict.by), name=tool.name, by=verdict.by)
        if verdict.kind == "allow":
            return
        preview = await tool.preview(params, context) if tool.preview else None
        request = PermissionRequest(
            session_id=context.session.session_id,
            tool=tool.name,
            label=tool.spec.label,
            server=tool.spec.server,
            params=params,
            preview=preview,
            choices=_choices(tool),
            reason=verdict.by,
            definition_changed=_what_changed(verdict.stale, tool),
        )
        run.report("awaitingPermission")
        answer = await self._ask(request, context)
        if answer is not None:
            self._keep_grant(answer, tool, params, context)
        self._recheck(tool, params, context)

    def _verdict(self, tool: Tool, params: Arguments, context: ToolContext) -> Verdict:
        return decide(
            tool,
            params,
            rules=self._authority.rules(),
            grants=self._authority.grants.held(context.session.session_id),
            permissions=context.settings.permissions,
            workspace=context.workspace,
        )

    async def _ask(self, request: PermissionRequest, context: ToolContext) -> PermissionAnswer | None:
        """The person's yes; None when nobody can be asked and the setting says to go on.

        Raises: PermissionRefused.
        """
        try:
            answer = await context.person.ask_permission(request)
        except ClientCannotAsk as error:
            if context.settings.permissions.when_client_cannot_ask == "allow":
                return None
            raise PermissionRefused(
                f"{request.label} needs a permission, and {error.message} It was not run. "
                "Allow it by a rule in permissions.allow, or set permissions.whenClientCannotAsk.",
                name=request.tool,
                by="default",
            ) from None
        kinds = {choice.id: choice.kind for choice in request.choices}
        if kinds.get(answer.choice, "reject") == "reject":
            said = f" and said: {answer.feedback}" if answer.feedback else "."
            raise PermissionRefused(
                f"The person refused {request.label}{said}", name=request.tool, by="person", feedback=answer.feedback
            )
        return answer

    def _keep_grant(self, answer: PermissionAnswer, tool: Tool, params: Arguments, context: ToolContext) -> None:
        scopes: dict[str, GrantScope] = {"session": "session", "always": "always"}
        if scope := scopes.get(answer.choice):
            grant = Grant(
                id=uuid4().hex[:12],
                tool=tool.name,
                server=tool.spec.server,
                scope=scope,
                definition_hash=tool.spec.definition_hash,
                pattern=grant_pattern(tool.spec, params),
                granted=datetime.now(UTC).isoformat(timespec="seconds"),
                description=tool.spec.description,
            )
            self._authority.grants.add(context.session.session_id, grant)

    def _recheck(self, tool: Tool, params: Arguments, context: ToolContext) -> None:
        """The world may have moved while the person was thinking."""
        now = self._current(tool.name)
        if now.spec.definition_hash != tool.spec.definition_hash:
            raise ToolUnavailable(
                f"{tool.spec.label} changed while you were asked; nothing was run. Call it again.",
                name=tool.name,
                reason="server_down",
            )
        self._refuse_unavailable(tool, context)
        if (verdict := self._verdict(tool, params, context)).kind == "deny":
            raise PermissionRefused(reasons.denied(tool.spec, verdict.by), name=tool.name, by=verdict.by)

    def _firmer(self, context: ToolContext, call: Call, message: str) -> str:
        """The same broken call again deserves more than the same answer."""
        key = (context.session.session_id, call.name, repr(call.params or call.raw))
        if len(self._failures) > _REMEMBERED_FAILURES:
            self._failures.clear()
        self._failures[key] = self._failures.get(key, 0) + 1
        if self._failures[key] == 1:
            return message
        return (
            f"This is the same call as before, and it fails the same way ({self._failures[key]} times now). "
            f"Do not repeat it: change the arguments named below, or ask the person.\n\n{message}"
        )


def _unwrap(call: Call) -> tuple[str, object]:
    """The real tool's name and params. Raises: ToolUnavailable for the bridge through the bridge, InvalidArguments."""
    name = call.name.strip()
    for prefix in _VENDOR_PREFIXES:
        name = name.removeprefix(prefix)
    params = call.params if call.params is not None else call.raw
    if name != EXECUTE_TOOL:
        return name, params
    if not isinstance(params, Mapping) or not isinstance(params.get("tool_name"), str):
        raise InvalidArguments(
            'ExecuteTool needs {"tool_name": <name>, "params": {…}}; got ' + repr(params)[:200], name=EXECUTE_TOOL
        )
    target = str(params["tool_name"]).strip()
    if target in BRIDGE:
        raise ToolUnavailable(f"Call {target} directly, not through ExecuteTool.", name=target, reason="bridge")
    return target, params.get("params")


def _choices(tool: Tool) -> tuple[Choice, ...]:
    what = {"Bash": "this command", "WebFetch": "this address"}.get(tool.name, tool.spec.label)
    return (
        Choice("once", "Allow once", "allowOnce"),
        Choice("session", f"Allow {what} in this session", "allowSession"),
        Choice("always", f"Always allow {what}", "allowAlways"),
        Choice("reject", "Reject", "reject"),
    )


def _what_changed(stale: Grant | None, tool: Tool) -> str:
    if stale is None:
        return ""
    if stale.description != tool.spec.description:
        return f"Its description was: {stale.description[:500]!r}; it is now: {tool.spec.description[:500]!r}."
    return "Its arguments' schema is not the one you allowed."


def _with_notes(result: ToolResult, notes: tuple[str, ...]) -> ToolResult:
    if not notes:
        return result
    return replace(result, content=(*result.content, TextContent("Note: " + "; ".join(notes) + ".")))


def _builtin_complaint(run: _Run, error: ValidationError) -> str:
    lines = [f"- $.{'.'.join(map(str, detail['loc']))}: {detail['msg']}" for detail in error.errors()]
    return f"The arguments for {run.label} cannot be used:\n" + "\n".join(lines)


class _Run:
    """The reporting side of one call."""

    def __init__(self, call: Call, report: Report) -> None:
        self._report = report
        self._started = time.monotonic()
        self._update = CallUpdate(call.id, call.name, call.name, "", "pending", {})
        self.params: Mapping[str, Any] = {}

    @property
    def label(self) -> str:
        return self._update.label

    def name(self, name: str, params: object) -> None:
        self._update = replace(self._update, tool=name, label=name)
        self.params = params if isinstance(params, Mapping) else {}

    def tool(self, tool: Tool) -> None:
        self._update = replace(self._update, tool=tool.name, label=tool.spec.label, server=tool.spec.server)

    def report(self, status: CallStatus, **changes: Any) -> None:
        elapsed = int((time.monotonic() - self._started) * 1000)
        self._report(replace(self._update, status=status, params=self.params, elapsed_ms=elapsed, **changes))

    def progress(self, text: str) -> None:
        self.report("running", progress=text[-RESULT_SHOWN_CHARS:])

    def end(self, status: CallStatus, result: ToolResult) -> ToolResult:
        shown = result.text
        if len(shown) > RESULT_SHOWN_CHARS:
            shown = shown[:RESULT_SHOWN_CHARS] + f"\n… {len(shown) - RESULT_SHOWN_CHARS} more characters"
        self.report(status, result=shown, is_error=result.is_error)
        return result
