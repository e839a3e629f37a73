"""`caddie ask`: one turn on the same road as in the editors, for scripts. The exit code tells how it ended."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from caddie.chat.events import Notice, TextChunk, TurnEvent
from caddie.cli.opening import opened, put, run, say
from caddie.engine.engine import Engine
from caddie.errors import ProviderError, SessionNotFound
from caddie.rpc import convert
from caddie.tools.call import CallUpdate

DONE, REFUSED, EMPTY, PROVIDER, MISSING_SERVER = 0, 3, 4, 5, 6


def ask(args: argparse.Namespace) -> int:
    return run(lambda: _ask(args))


def rules_of(args: argparse.Namespace) -> dict[str, Any]:
    """The command line's permissions as a settings tree of this run."""
    mode = {"mode": "auto"} if args.yes else {}
    return {"permissions": {**mode, "allow": list(args.allow)}}


async def _ask(args: argparse.Namespace) -> int:
    message = sys.stdin.read() if args.message == "-" else args.message
    async with opened(args.workspace, trust=args.trust, wait=args.wait, session=rules_of(args), warm=True) as engine:
        report = _Report(
            args.json, [status.name for status in engine.catalogue.servers if status.state == "connecting"]
        )
        if missing := _missing_servers(engine, args.require):
            return report.end(MISSING_SERVER, missing)
        for notice in engine.configuration.notices():
            report.notice(notice)
        for name in report.pending:
            report.notice(f"The MCP server {name} is still connecting.")
        resumed = await _session(engine, args.resume)
        if resumed:
            await engine.sessions.get(resumed)
            for notice in engine.sessions.notices(resumed):
                report.notice(notice)
        try:
            session, _, outcome = await engine.turns.run(
                resumed,
                message,
                report.event,
                mode="plan" if args.plan else None,
                await_servers=0,
            )
        except ProviderError as error:
            return report.end(PROVIDER, error.message)
        code = EMPTY if outcome.stop == "emptyAnswer" else REFUSED if report.was_refused else DONE
        return report.end(code, outcome.text, session_id=session.id, stop=outcome.stop)


async def _session(engine: Engine, resume: str | None) -> str | None:
    if resume != "last":
        return resume
    stored = await engine.sessions.summaries()
    if not stored:
        raise SessionNotFound("There is no stored session in this workspace to resume.")
    return stored[0].id


def _missing_servers(engine: Engine, required: list[str]) -> str:
    by_name = {status.name: status for status in engine.catalogue.servers}
    for name in required:
        status = by_name.get(name)
        if status is None:
            known = ", ".join(by_name) or "none"
            waiting = " ".join(engine.configuration.notices())
            return f"The required MCP server {name!r} is not configured here (known: {known}). {waiting}".strip()
        if status.state != "ready":
            return f"The required MCP server {name!r} is {status.state}: {status.reason or 'no reason given'}"
    return ""


class _Report:
    """Text: the answer on stdout, the rest on stderr. JSON: everything as lines on stdout, in order."""

    def __init__(self, as_json: bool, pending: list[str]) -> None:
        self.pending = pending
        self._as_json = as_json
        self._wrote_text = False
        self.was_refused = False

    def event(self, session_id: str, turn_id: str, event: TurnEvent) -> None:
        if isinstance(event, CallUpdate) and event.status == "refused":
            self.was_refused = True
        if self._as_json:
            if (message := convert.event(event)) is not None:
                _line({"sessionId": session_id, "turnId": turn_id, "event": message.wire()})
        elif isinstance(event, TextChunk):
            put(event.text, end="")
            self._wrote_text = True
        elif isinstance(event, Notice):
            say(f"caddie: {event.message}")
        elif isinstance(event, CallUpdate) and event.status in ("done", "failed", "refused"):
            mark = "✓" if event.status == "done" else "✗"
            where = f"  {event.server}" if event.server else ""
            why = f"  {event.result.splitlines()[0][:200]}" if event.status != "done" and event.result else ""
            say(f"{mark} {event.label}{where}  {event.elapsed_ms / 1000:.1f} s{why}")

    def notice(self, text: str) -> None:
        if self._as_json:
            _line({"event": {"kind": "notice", "level": "warning", "message": text}})
        else:
            say(f"caddie: {text}")

    def end(self, code: int, text: str, *, session_id: str = "", stop: str = "error") -> int:
        if self._as_json:
            result = {"sessionId": session_id, "stopReason": stop, "text": text, "exitCode": code}
            _line({"result": {**result, "pendingServers": self.pending}})
        elif code in (DONE, REFUSED):
            put("" if self._wrote_text else text)
        elif code != EMPTY:
            say(f"caddie: {text}")
        return code


def _line(tree: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(tree, ensure_ascii=True) + "\n")
    sys.stdout.flush()
