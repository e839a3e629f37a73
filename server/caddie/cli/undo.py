"""`caddie undo`: take back what a turn did to files, and nothing that anybody else did."""

from __future__ import annotations

import argparse
import json
import os

from caddie.cli.opening import put, run, say
from caddie.engine.door import QuietDoor
from caddie.engine.engine import Engine
from caddie.errors import SessionNotFound
from caddie.rpc import convert_review

IN_CONFLICT = 1


def undo(args: argparse.Namespace) -> int:
    return run(lambda: _undo(args))


async def _undo(args: argparse.Namespace) -> int:
    engine = Engine(args.workspace, QuietDoor(), environ=dict(os.environ))  # not started: no server is needed
    try:
        session = args.session
        if session == "last":
            stored = await engine.sessions.summaries()
            if not stored:
                raise SessionNotFound("There is no stored session in this workspace, so there is nothing to undo.")
            session = stored[0].id
        report = await engine.undo(session, args.turn)
    finally:
        await engine.close()
    if args.json:
        put(json.dumps({"sessionId": session, **convert_review.undone(report).wire()}, indent=2, ensure_ascii=False))
    else:
        put(report.words)
        if report.undo_id:
            say(f"caddie: to take this back: caddie undo --session {session} --turn {report.undo_id}")
    return IN_CONFLICT if any(file.outcome == "conflict" for file in report.files) else 0
