"""What turns changed in files, and what was taken back of it: core values to wire messages."""

from __future__ import annotations

from collections.abc import Iterable

from caddie.engine.review import Choice, OldAndNew, Reviewed
from caddie.engine.undo import UndoReport
from caddie.protocol import chat

MAX_HUNK_LINES = 400


def undone(report: UndoReport) -> chat.UndoResult:
    files = [chat.FileUndone(path=f.path, outcome=f.outcome, detail=f.detail or None) for f in report.files]
    return chat.UndoResult(
        turn_id=report.turn_id,
        undo_id=report.undo_id or None,
        files=files,
        message=report.words,
        not_covered=report.not_covered or None,
    )


def choices(files: Iterable[chat.FileChoice]) -> list[Choice]:
    return [Choice(file.path, None if file.hunks is None else tuple(file.hunks)) for file in files]


def changes(files: Iterable[Reviewed], *, with_text: bool = False) -> chat.ChangesResult:
    return chat.ChangesResult(files=[_file(file, with_text) for file in files])


def _file(file: Reviewed, with_text: bool) -> chat.FileChanges:
    return chat.FileChanges(
        path=file.path,
        status=file.status,
        added=file.added,
        removed=file.removed,
        turns=list(file.turns),
        hunks=[_hunk(part) for part in file.hunks],
        blocked=file.blocked or None,
        before=file.before if with_text else None,
    )


def _hunk(part: OldAndNew) -> chat.Hunk:
    """Line numbers as in a unified diff: where there are no lines, the one before."""
    lines = [f"{sign}{line.rstrip(chr(10))}" for sign, side in (("-", part.old), ("+", part.new)) for line in side]
    return chat.Hunk(
        id=part.id,
        old_start=part.hunk.at + bool(part.old),
        old_lines=len(part.old),
        new_start=part.hunk.start + bool(part.new),
        new_lines=len(part.new),
        lines=lines[:MAX_HUNK_LINES],
        cut=max(len(lines) - MAX_HUNK_LINES, 0),
    )
