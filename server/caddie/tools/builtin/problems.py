"""Which problems appeared in the editor with an edit? Compared by what they say, as lines move."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from caddie.tools.builtin.documents import Document
from caddie.tools.builtin.paths import shown
from caddie.tools.context import Problem, ToolContext

SETTLE_SECONDS = 1.5
"""How long a language server has to look at the change; the editor answers as soon as it has."""
MAX_NAMED = 20
MAX_MESSAGE = 300


async def problems_now(document: Document, context: ToolContext) -> Sequence[Problem] | None:
    """Before an edit. None when nobody can tell: the file is not open, or the editor does not say."""
    return await context.editor.problems(document.path, 0) if document.is_open else None


async def new_problems(before: Sequence[Problem] | None, document: Document, context: ToolContext) -> str:
    """After it: a paragraph for the model, empty when there are none."""
    if before is None:
        return ""
    known = Counter(map(_key, before))
    new = []
    for problem in await context.editor.problems(document.path, SETTLE_SECONDS) or ():
        known[_key(problem)] -= 1
        if known[_key(problem)] < 0:
            new.append(problem)
    if not new:
        return ""
    lines = [_line(problem, context) for problem in new[:MAX_NAMED]]
    more = [f"  … and {len(new) - MAX_NAMED:,} more"] if len(new) > MAX_NAMED else []
    return "\n".join(["\n\nSince this change the editor reports:", *lines, *more])


def _key(problem: Problem) -> tuple[str, str, str, str]:
    return str(problem.path), problem.severity, problem.source, problem.message


def _line(problem: Problem, context: ToolContext) -> str:
    message = " ".join(problem.message.split())[:MAX_MESSAGE]
    source = f" ({problem.source})" if problem.source else ""
    return f"  {shown(context.workspace, problem.path)}:{problem.line}: {problem.severity}: {message}{source}"
