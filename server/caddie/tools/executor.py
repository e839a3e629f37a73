"""One tool call, from what the caller sent to a result: look up, validate, permit, run.

A call through `ExecuteTool` is unwrapped first and from then on *is* a call of the target: same rules, same
prompt, same cancel, same result.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol
from uuid import uuid4

from pydantic import ValidationError

from caddie.errors import (
    CaddieError,
    InvalidArguments,
    InvalidInput,
    PermissionRefused,
    ToolNotFound,
    ToolUnavailable,
)
from caddie.settings import Permissions
from caddie.tools import reasons
from caddie.tools.arguments import check_arguments
from caddie.tools.bridge import arguments_for, unwrap
from caddie.tools.call import Call, CallStatus, CallUpdate, Report
from caddie.tools.catalogue import Catalogue
from caddie.tools.context import PermissionAnswer, PermissionRequest, ToolContext
from caddie.tools.core_tools import BRIDGE
from caddie.tools.exact import resolve
from caddie.tools.grants import Grant, GrantScope, grant_of, server_grant, what_changed
from caddie.tools.limits import capped
from caddie.tools.patterns import first_match
from caddie.tools.permissions import Rule, Verdict, decide
from caddie.tools.places import Surroundings
from caddie.tools.prompts import Prompt, Prompts, choices
from caddie.tools.states import Decision
from caddie.tools.tool import Arguments, TextContent, Tool, ToolResult, ToolSpec, error_result

logger = logging.getLogger(__name__)

RESULT_SHOWN_CHARS = 4_000
_REMEMBERED_FAILURES = 1_000
_PATIENCE = 4


class Grants(Protocol):
    def held(self, session_id: str) -> tuple[Grant, ...]: ...

    def add(self, session_id: str, grant: Grant) -> None: ...


@dataclass(frozen=True, slots=True)
class Authority:
    """What holds for a session right now; asked anew for each call and again after a prompt. `own` are the files and
    folders in which settings and permissions are kept."""

    states: Callable[[str], Mapping[str, Decision]]
    rules: Callable[[], tuple[Rule, ...]]
    grants: Grants
    permissions: Callable[[str], Permissions]
    own: tuple[Path, ...] = ()


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
        self._prompts = Prompts()
        self._failures: dict[str, int] = {}

    def look_again(self) -> None:
        """Rules, states or permissions changed: prompts that are open may be settled by it."""
        self._prompts.look_again()

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
        target = unwrap(call)
        run.name(target.name, target.params)
        tool = await self._look_up(target.name, context)
        run.tool(tool)
        self._refuse_unavailable(tool, context)
        params, notes = arguments_for(tool.spec, target)
        checked = check_arguments(tool.spec, params)
        self._failures.pop(_fingerprint(call, context), None)
        run.params = checked.arguments
        kept = await self._permit(tool, checked.arguments, context, run)
        run.report("running")
        async with context.changes.watching(tool):
            spill = run.spilling(context.spill)
            result = await tool.run(checked.arguments, replace(context, progress=run.progress, spill=spill))
        result = await capped(_with_notes(result, (*notes, *checked.notes, *kept)), spill)
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
        near = await asyncio.to_thread(reasons.nearest_names, self._catalogue.specs, name)  # seconds for many tools
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
        permissions = self._authority.permissions(context.session.session_id)
        if _is_plan(context, permissions) and not _only_reads(tool, permissions):
            raise ToolUnavailable(reasons.plan_mode(tool.spec), name=tool.name, reason="plan_mode")

    async def _permit(self, tool: Tool, params: Arguments, context: ToolContext, run: _Run) -> tuple[str, ...]:
        """What is to be noted about the permission. Raises: PermissionRefused."""
        verdict = self._allowed_or_asked(tool, params, context)
        if verdict.kind == "allow":
            return ()
        preview = await tool.preview(params, context) if tool.preview else None
        siblings = [spec for spec in self._catalogue.specs if spec.server == tool.spec.server]
        request = PermissionRequest(
            session_id=context.session.session_id,
            tool=tool.name,
            label=tool.spec.label,
            server=tool.spec.server,
            params=params,
            preview=preview,
            choices=choices(tool.spec, siblings, is_firm=verdict.is_firm),
            reason=verdict.by,
            definition_changed=what_changed(verdict.stale, tool.spec) if verdict.stale else "",
        )
        run.report("awaitingPermission")

        def still() -> Verdict:
            self._recheck(tool, context)
            return self._allowed_or_asked(tool, params, context)

        default = self._authority.permissions(context.session.session_id).when_client_cannot_ask
        may_run = default == "allow" and not verdict.needs_person
        answer = await self._prompts.ask(Prompt(request, may_run), context.person, still)
        still()
        if not isinstance(answer, PermissionAnswer):
            return ()
        try:
            await self._keep_grant(answer, tool, params, context, siblings)
        except InvalidInput as error:
            return (f"this call was allowed, and the permission could not be kept: {error.message}",)
        return ()

    def _allowed_or_asked(self, tool: Tool, params: Arguments, context: ToolContext) -> Verdict:
        """Raises: PermissionRefused for what a rule denies."""
        verdict = decide(
            tool,
            params,
            rules=self._authority.rules(),
            grants=self._authority.grants.held(context.session.session_id),
            permissions=self._authority.permissions(context.session.session_id),
            around=Surroundings(context.workspace, self._authority.own, context.further()),
        )
        if verdict.kind == "deny":
            raise PermissionRefused(reasons.denied(tool.spec, verdict.by), name=tool.name, by=verdict.by)
        return verdict

    async def _keep_grant(
        self,
        answer: PermissionAnswer,
        tool: Tool,
        params: Arguments,
        context: ToolContext,
        siblings: Sequence[ToolSpec],
    ) -> None:
        made = {"grant_id": uuid4().hex[:12], "granted": datetime.now(UTC).isoformat(timespec="seconds")}
        match answer.choice:
            case "session" | "always":
                scope: GrantScope = "always" if answer.choice == "always" else "session"
                grant = grant_of(tool.spec, params, scope, **made)
            case "server":
                grant = server_grant(tool.spec, siblings, **made)
            case _:
                return
        await asyncio.to_thread(self._authority.grants.add, context.session.session_id, grant)  # waits for a lock
        self._prompts.look_again()

    def _recheck(self, tool: Tool, context: ToolContext) -> None:
        """The world may have moved while the person was thinking."""
        now = self._current(tool.name)
        if (now.spec.definition_hash, now.spec.identity) != (tool.spec.definition_hash, tool.spec.identity):
            raise ToolUnavailable(
                f"{tool.spec.label} changed while you were asked; nothing was run. Call it again.",
                name=tool.name,
                reason="server_down",
            )
        self._refuse_unavailable(tool, context)

    def _firmer(self, context: ToolContext, call: Call, message: str) -> str:
        """The same broken call again deserves more than the same answer."""
        key = _fingerprint(call, context)
        if len(self._failures) > _REMEMBERED_FAILURES:
            self._failures.clear()
        times = self._failures[key] = self._failures.get(key, 0) + 1
        if times == 1:
            return message
        if times > _PATIENCE:
            return (
                f"This very call has failed {times} times in the same way and will not be looked at again. "
                "Stop repeating it: tell the person what is missing, or take another tool."
            )
        return (
            f"This is the same call as before, and it fails the same way ({times} times now). "
            f"Do not repeat it: change the arguments named below, or ask the person.\n\n{message}"
        )


def _fingerprint(call: Call, context: ToolContext) -> str:
    sent = repr((context.session.session_id, call.name, call.params or call.raw))
    return hashlib.sha256(sent.encode("utf-8", "surrogatepass")).hexdigest()


def _is_plan(context: ToolContext, permissions: Permissions) -> bool:
    """Outside a session the setting alone decides."""
    has_session = bool(context.session.session_id)
    return context.session.mode == "plan" or (not has_session and permissions.mode == "plan")


def _only_reads(tool: Tool, permissions: Permissions) -> bool:
    """For plan mode a claim is enough; the person's own list goes further."""
    named = first_match(permissions.read_only, tool.spec, widening=True)
    return tool.spec.read_only or tool.session_only or named is not None


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

    def spilling(self, spill: Callable[[str], Path]) -> Callable[[str], Path]:
        def keep(text: str) -> Path:
            path = spill(text)
            if not self._update.kept_in:  # what a tool has cut itself is whole the first time only
                self._update = replace(self._update, kept_in=str(path), result_chars=len(text))
            return path

        return keep

    def end(self, status: CallStatus, result: ToolResult) -> ToolResult:
        shown, whole = result.text, self._update.result_chars or len(result.text)
        if whole > RESULT_SHOWN_CHARS:
            shown = shown[:RESULT_SHOWN_CHARS] + f"\n… {whole - RESULT_SHOWN_CHARS} more characters"
            self._update = replace(self._update, result_chars=whole)
        self.report(status, result=shown, is_error=result.is_error)
        return result
