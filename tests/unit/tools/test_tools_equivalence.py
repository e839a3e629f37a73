"""The bridge is a call: whatever holds for a tool called directly holds through ExecuteTool, built-in or MCP."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from caddie.tools.call import CallUpdate
from caddie.tools.context import ToolContext
from caddie.tools.tool import ToolArgs, ToolResult, builtin, text_result
from engine_kit import BOUND
from targets_kit import Targets, targets

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
WRITE = {"path": "a.txt", "mode": "new", "lines": ["1", "2"]}
ECHO = {"command": "echo hi"}
QUESTIONS = {"questions": [{"question": "Which?", "header": "Pick", "options": [{"label": "A"}, {"label": "B"}]}]}


@dataclass(frozen=True)
class Seen:
    """All that a caller, a person and a server notice of a call."""

    text: str
    is_error: bool
    kinds: tuple[str, ...]
    structured: Mapping[str, Any] | None
    asked: tuple[Any, ...]
    questions: tuple[Any, ...]
    updates: tuple[Any, ...]
    progress: tuple[str, ...]
    heard: tuple[Any, ...]


@dataclass(frozen=True)
class Property:
    """A built-in and an MCP tool that have it, and what must be seen of either."""

    name: str
    builtin: tuple[str, dict[str, Any]]
    mcp: tuple[str, dict[str, Any]]
    must: Callable[[Seen, str], bool]
    settings: Mapping[str, Any] = field(default_factory=dict)
    choice: str = "once"
    plan: bool = False
    timeout: float = 30
    cancelled: bool = False


def permissions(**rules: Any) -> dict[str, Any]:
    return {"permissions": rules}


def last(seen: Seen) -> str:
    return str(seen.updates[-1][3])


def refused(seen: Seen) -> bool:
    return last(seen) == "refused" and seen.is_error and not seen.heard


def ran(seen: Seen) -> bool:
    return last(seen) == "done" and not seen.is_error


def choices(seen: Seen) -> list[str]:
    return [choice.kind for choice in seen.asked[0].choices]


MCP_ALL = permissions(allow=["mcp__acme__*", "Bash", "Shape"])
PROPERTIES = [
    Property(
        "deny rule", ("Bash", ECHO), ("mcp__acme__write", WRITE),
        lambda seen, kind: refused(seen) and not seen.asked and "was refused by" in seen.text,
        permissions(mode="auto", allow=["Bash", "mcp__*"], deny=["Bash(echo:*)", "acme/write"]),
    ),
    Property(
        "ask rule", ("Read", {"path": "a.txt"}), ("mcp__acme__look", {}),
        lambda seen, kind: ran(seen) and choices(seen) == ["allowOnce", "reject"],
        permissions(mode="auto", allow=["Read", "mcp__*"], ask=["Read", "look"]),
    ),
    Property(
        "rejected", ("Bash", ECHO), ("mcp__acme__write", WRITE),
        lambda seen, kind: refused(seen) and "The person refused" in seen.text, choice="reject",
    ),
    Property(
        "answer that is no choice", ("Bash", ECHO), ("mcp__acme__write", WRITE),
        lambda seen, kind: refused(seen) and "none of the choices" in seen.text, choice="yes please",
    ),
    Property(
        "session grant", ("Bash", ECHO), ("mcp__acme__write", WRITE),
        lambda seen, kind: ran(seen) and len(seen.asked) == 1, choice="session",
    ),
    Property(
        "needs interaction", ("AskUserQuestion", QUESTIONS), ("mcp__acme__confirm", {}),
        lambda seen, kind: (
            len(seen.questions) == 1 if kind == "builtin" else choices(seen) == ["allowOnce", "reject"]
        ),
        permissions(mode="auto", allow=["AskUserQuestion", "mcp__*"]),
    ),
    Property(
        "read-only", ("Read", {"path": "a.txt"}), ("mcp__acme__look", {}),
        lambda seen, kind: ran(seen) and len(seen.asked) == (0 if kind == "builtin" else 1),
    ),
    Property(
        "destructive", ("Bash", {"command": "rm a.txt"}), ("mcp__acme__drop", {}),
        lambda seen, kind: ran(seen) and len(seen.asked) == 1,
    ),
    Property(
        "guarded file", ("Write", {"path": ".vscode/tasks.json", "content": "{}"}),
        ("mcp__acme__write", {"path": ".vscode/tasks.json"}),
        lambda seen, kind: choices(seen) == ["allowOnce", "reject"] and "editor" in seen.asked[0].reason,
        permissions(mode="auto", allow=["Write", "mcp__*"]),
    ),
    Property(
        "plan mode", ("Write", {"path": "b.txt", "content": ""}), ("mcp__acme__get_and_delete", {}),
        lambda seen, kind: last(seen) == "failed" and "plan mode" in seen.text and not (seen.asked or seen.heard),
        permissions(mode="auto"), plan=True,
    ),
    Property(
        "read-only in plan mode", ("Read", {"path": "a.txt"}), ("mcp__acme__look", {}),
        lambda seen, kind: ran(seen), plan=True,
    ),
    Property(
        "cancel", ("Bash", {"command": "sleep 60"}), ("mcp__acme__slow", {}),
        lambda seen, kind: last(seen) == "cancelled" and (
            kind == "builtin" or [entry[0] for entry in seen.heard] == ["call", "waits", "cancelled"]
        ),
        MCP_ALL, cancelled=True,
    ),
    Property(
        "progress", ("Bash", {"command": "echo step 1; sleep 0.3; echo step 2"}), ("mcp__acme__steps", {}),
        lambda seen, kind: ran(seen) and any("step 1" in text for text in seen.progress), MCP_ALL,
    ),
    Property(
        "timeout", ("Bash", {"command": "sleep 60", "timeout_seconds": 0.3}), ("mcp__acme__slow", {}),
        lambda seen, kind: (
            last(seen) == "failed" and seen.is_error and "timeout" in seen.text
            and (kind == "builtin" or seen.heard[-1][0] == "cancelled")
        ),
        MCP_ALL, timeout=3,  # the server has to start within it too
    ),
    Property(
        "error flag", ("Bash", {"command": "echo the disk is full; exit 3"}), ("mcp__acme__fail", {}),
        lambda seen, kind: last(seen) == "failed" and seen.is_error and "the disk is full" in seen.text, MCP_ALL,
    ),
    Property(
        "structured content", ("Shape", {}), ("mcp__acme__shape", {}),
        lambda seen, kind: ran(seen) and seen.structured == {"sides": 3}, MCP_ALL,
    ),
    Property(
        "images", ("Read", {"path": "dot.png"}), ("mcp__acme__picture", {}),
        lambda seen, kind: (
            ran(seen) and seen.kinds.count("ImageContent") == 1 and base64.b64encode(PIXEL).decode() not in seen.text
        ),
        MCP_ALL,
    ),
    Property(
        "output cap", ("Bash", {"command": "head -c 300000 /dev/zero | tr '\\0' x"}), ("mcp__acme__flood", {}),
        lambda seen, kind: ran(seen) and len(seen.text) < 60_000 and "left out" in seen.text, MCP_ALL,
    ),
]  # fmt: skip


async def shape(args: ToolArgs, context: ToolContext) -> ToolResult:
    return text_result('{"sides": 3}', structured={"sides": 3})


SHAPE = builtin("Shape", "Has a structured result.", ToolArgs, shape)


async def see(one: Targets, case: Property, name: str, params: dict[str, Any], *, bridged: bool) -> Seen:
    """In a session of its own, so that one way leaves the other nothing."""
    desk = one.desk
    session = desk.engine.sessions.create()
    session.state.mode = "plan" if case.plan else "agent"
    heard, asked, questions, events = (
        len(one.heard), len(desk.person.asked), len(desk.person.questions), len(desk.events)
    )  # fmt: skip
    desk.person.choice = case.choice

    async def call() -> ToolResult | None:
        if not case.cancelled:
            return await (desk.bridge if bridged else desk.execute)(name, params, session.id)
        running = asyncio.create_task((desk.bridge if bridged else desk.execute)(name, params, session.id))
        await one.until(lambda: any(update.status == "running" for update in desk.calls[events:]))
        if name.startswith("mcp__"):
            await one.until(lambda: len(one.heard) > heard + 1)
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running
        return None

    result = await call()
    if name == "mcp__acme__slow":  # the server is told to stop
        await one.until(lambda: len(one.heard) > heard + 2)
    if case.name == "session grant":
        result = await call()
    updates = [event for event in desk.events[events:] if isinstance(event, CallUpdate)]
    return Seen(
        text=plain(result.text if result else ""),
        is_error=result.is_error if result else True,
        kinds=tuple(type(part).__name__ for part in result.content) if result else (),
        structured=result.structured if result else None,
        asked=tuple(without_session(request) for request in desk.person.asked[asked:]),
        questions=tuple(request.questions for request in desk.person.questions[questions:]),
        updates=tuple(
            (item.tool, item.label, item.server, item.status, dict(item.params), plain(item.result), item.is_error)
            for item in updates
            if not item.progress
        ),
        progress=tuple(dict.fromkeys(item.progress for item in updates if item.progress)),
        heard=tuple(tuple(entry) for entry in one.heard[heard:]),
    )


def plain(text: str) -> str:
    """Without what differs from call to call: where a long result was stored."""
    return re.sub(r"/[\w./-]{1,300}\.txt(?=[ ;])", "<file>", text)


def without_session(request: Any) -> Any:
    return replace(request, session_id="")


def same(one: Seen, other: Seen) -> None:
    for name in Seen.__dataclass_fields__:
        mine, yours = getattr(one, name), getattr(other, name)
        if name == "heard":  # ids of requests go on counting
            mine, yours = [entry[:1] for entry in mine], [entry[:1] for entry in yours]
        if name == "progress":  # how output is cut into updates depends on the time
            mine, yours = bool(mine), bool(yours)
        assert mine == yours, f"{name} differs between a direct and a bridged call"


@pytest.mark.parametrize("kind", ["builtin", "mcp"])
@pytest.mark.parametrize("case", PROPERTIES, ids=lambda case: case.name)
async def test_a_direct_and_a_bridged_call_are_the_same(case: Property, kind: str, workspace: Path) -> None:
    (workspace / "dot.png").write_bytes(PIXEL)
    name, params = case.builtin if kind == "builtin" else case.mcp
    async with targets(workspace, settings=case.settings, timeout=case.timeout) as one:
        catalogue = one.desk.engine.catalogue
        catalogue.replace_source("", (*(tool for tool in catalogue.tools if not tool.spec.server), SHAPE))
        one.desk.person.answers = {"q1": "A"}
        found = []
        for bridged in (False, True):
            (workspace / "a.txt").write_text("text\n")
            (workspace / ".vscode" / "tasks.json").unlink(missing_ok=True)
            found.append(await see(one, case, name, params, bridged=bridged))
    direct, bridged_call = found
    assert case.must(direct, kind), direct
    same(direct, bridged_call)


OBJECT = {"path": "a.txt", "mode": "append", "lines": ["x"], "options": {"depth": 2}}
FORMS: dict[str, Callable[[str, dict[str, Any]], Any]] = {
    "an object": lambda name, given: {"tool_name": name, "params": given},
    "JSON text": lambda name, given: {"tool_name": name, "params": json.dumps(given)},
    "JSON text of JSON text": lambda name, given: {"tool_name": name, "params": json.dumps({"params": given})},
    "wrapped twice": lambda name, given: {"tool_name": name, "params": {"params": given}},
    "wrapped twice as text": lambda name, given: {"tool_name": name, "params": {"params": json.dumps(given)}},
    "a bridge in the bridge's params": lambda name, given: {
        "tool_name": name, "params": {"tool_name": name, "params": given},
    },
    "beside tool_name": lambda name, given: {"tool_name": name, **given},
    "beside empty params": lambda name, given: {"tool_name": name, "params": {}, **given},
    "partly beside params": lambda name, given: {
        "tool_name": name, "params": dict(list(given.items())[:1]), **dict(list(given.items())[1:]),
    },
    "under arguments": lambda name, given: {"tool_name": name, "arguments": given},
    "all as JSON text": lambda name, given: json.dumps({"tool_name": name, "params": given}),
}  # fmt: skip
TARGETS = {"mcp": ("mcp__acme__write", OBJECT), "builtin": ("Bash", {"command": "echo hi", "timeout_seconds": 5})}


@pytest.mark.parametrize("kind", TARGETS)
async def test_the_arguments_arrive_however_the_model_puts_them(kind: str, workspace: Path) -> None:
    name, given = TARGETS[kind]
    async with targets(workspace) as one:
        one.desk.person.choice = "once"
        plain_result = await one.desk.execute(name, given)
        for form, make in FORMS.items():
            result = await one.desk.execute("ExecuteTool", make(name, given))
            assert not result.is_error, f"{form}: {result.text}"
            assert result.content[0] == plain_result.content[0], form
            assert one.desk.person.asked[-1].params == given, form
            assert one.desk.calls[-1].params == given, form
        count = len(FORMS) + 1
        assert one.arguments("write") == ([given] * count if kind == "mcp" else [])


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"tool_name": "mcp__acme__write", "params": {"path": "a"}, "path": "b"}, "with another value, in params"),
        ({"tool_name": "mcp__acme__write", "params": {"tool_name": "Bash", "params": {}}}, "runs one tool"),
        ({"params": {"path": "a"}}, "ExecuteTool needs"),
        ("not JSON", "ExecuteTool needs"),
        ({"tool_name": "ExecuteTool", "params": {}}, "Call ExecuteTool directly"),
        ({"tool_name": " toolsearch ", "params": {"query": "x"}}, "Call toolsearch directly"),
        ({"tool_name": "mcp__acme__write", "mode": "no such", "path": "b"}, '$.mode: expected one of ["new"'),
    ],
)
async def test_what_may_mean_two_things_is_refused(workspace: Path, params: Any, said: str) -> None:
    async with targets(workspace, settings=permissions(mode="auto")) as one:
        async with asyncio.timeout(BOUND):
            result = await one.desk.execute("ExecuteTool", params)
        assert result.is_error
        assert said in result.text
        assert one.heard == []
