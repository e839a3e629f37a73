"""The slash commands: what each asks the server, and how its answer looks."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, takewhile

from rich.console import Group, RenderableType
from rich.text import Text

from caddie.protocol.chat import SessionInfo, SessionListResult, SessionOpenResult, TranscriptItem, UndoResult
from caddie.protocol.mcp import ServersResult
from caddie.protocol.models import ModelInfo, ModelsListResult
from caddie.protocol.tools import ExplainResult, SearchResult, ToolInfo, ToolsListResult
from caddie.terminal.text import amount, fit, one_line
from caddie.terminal.turn import Answer
from caddie.terminal.view import ACCENT, DIM, WAITING, WRONG, columns, item, notice, said

STATES = {"enabled": "✓", "deferred": "◐", "disabled": "✗"}
_SERVER_MARKS = {
    "ready": ("✓", "green"),
    "connecting": ("◐", ACCENT),
    "failed": ("✗", WRONG),
    "needsAuth": ("!", WAITING),
    "stopped": ("◌", DIM),
}
_UNDONE = {
    "restored": ("✓", "green", "as before"),
    "merged": ("✓", "green", "taken back; other edits in it stay"),
    "kept": ("·", DIM, "nothing to take back"),
    "conflict": ("✗", WRONG, "left as it is"),
}
_RESUMED = 12
_PROMPT = re.compile(r"/[^\s/:]+:[^\s:][^\s]*")


@dataclass(frozen=True, slots=True)
class Command:
    name: str
    argument: str
    does: str

    @property
    def usage(self) -> str:
        return f"/{self.name} {self.argument}".rstrip()


COMMANDS = (
    Command("help", "", "this list"),
    Command("tools", "", "every tool: ✓ enabled, ◐ deferred, ✗ disabled"),
    Command("search", "QUERY", "what the model would find"),
    Command("explain", "TOOL", "why a tool is as it is"),
    Command("servers", "", "the MCP servers and their status"),
    Command("prompts", "", "what they offer as /server:prompt name=value"),
    Command("authorize", "SERVER", "sign in to a server that wants to know who asks"),
    Command("signout", "SERVER", "forget that sign-in"),
    Command("model", "[N or NAME]", "the models that may answer, or choose one"),
    Command("sessions", "", "earlier conversations in this folder"),
    Command("resume", "N", "go on with one of them"),
    Command("new", "", "begin a new conversation"),
    Command("undo", "", "take back what the last turn did to files"),
    Command("redo", "", "take the last /undo back"),
    Command("compact", "", "put a summary in the place of a long conversation"),
    Command("plan", "", "read and plan only; nothing is changed"),
    Command("agent", "", "back to doing things"),
    Command("quit", "", "leave (Ctrl-D does too)"),
)
_KEYS = (
    ("Alt-Enter", "a new line"),
    ("↑", "edit the last message"),
    ("Tab", "next hint · Enter takes it · Esc hides them"),
    ("Ctrl-C", "stops the turn; twice in an empty line leaves"),
)


def parse(text: str) -> tuple[str, str] | None:
    """`/search late invoices` → (`search`, `late invoices`); None for a message. A path such as `/etc/hosts` is one.

    `/git:commit style=short` is the prompt of a server.
    """
    first, _, rest = text.strip().partition(" ")
    if _PROMPT.fullmatch(first) and "\n" not in text.strip():
        return "prompt", text.strip()[1:]
    if not first.startswith("/") or "/" in first[1:] or not first[1:].isalpha() or "\n" in text.strip():
        return None
    return first[1:].lower(), rest.strip()


def unknown(name: str) -> Text:
    near = difflib.get_close_matches(name, [command.name for command in COMMANDS], n=1, cutoff=0.6)
    hint = f"; did you mean /{near[0]}?" if near else "; /help lists them"
    return notice("warning", f"There is no command /{name}{hint}")


def complete(text: str) -> tuple[str, list[Command]]:
    """The text as far as it is certain, and the commands it may become."""
    if not text.startswith("/") or " " in text:
        return text, []
    fits = [command for command in COMMANDS if command.name.startswith(text[1:].lower())]
    if not fits:
        return text, []
    certain = "/" + _common([command.name for command in fits])
    return (certain + (" " if fits[0].argument else "") if len(fits) == 1 else certain), fits


def _common(names: list[str]) -> str:
    """The letters all names begin with."""
    same = takewhile(lambda letters: len(set(letters)) == 1, zip(*names, strict=False))
    return "".join(letters[0] for letters in same)


def help_text(width: int) -> RenderableType:
    rows = [("", command.usage, command.does) for command in COMMANDS]
    return columns([*rows, *(("", key, does) for key, does in _KEYS)], width)


def tools(result: ToolsListResult, width: int) -> RenderableType:
    totals = result.totals
    summary = (
        f"{totals.enabled} ✓  {totals.deferred} ◐  {totals.disabled} ✗   "
        f"{amount(totals.tokens_in_prompt)} of {amount(totals.tokens_total)} tokens   profile {result.profile}"
    )
    ordered = sorted(result.tools, key=lambda tool: (tool.server is not None, tool.server or "", tool.label.lower()))
    groups = [_tool_group(server, list(group), width) for server, group in groupby(ordered, lambda tool: tool.server)]
    return Group(*groups, Text(summary, style=DIM))


def _tool_group(server: str | None, group: list[ToolInfo], width: int) -> RenderableType:
    head = Text.assemble((one_line(server or "Built-in"), "bold"), (f"   {len(group)} tools", DIM))
    rows = [(STATES[tool.state], one_line(tool.label), tool.description) for tool in group]
    return Group(head, columns(rows, width), Text(" "))


def search(query: str, result: SearchResult, width: int) -> RenderableType:
    lines: list[RenderableType] = []
    for hit in result.hits:
        head = Text.assemble((f"{hit.score:.2f}  ", DIM), (one_line(hit.label), "bold"))
        head.append(f"  {one_line(hit.server)}" if hit.server else "", DIM)
        head.append("  " + one_line(hit.description))
        head.truncate(width, overflow="ellipsis")
        lines += [head, Text(fit("      " + one_line("; ".join(hit.reasons)), width), style=DIM)]
    if result.nothing_fits or not result.hits:
        lines.append(Text(f"Nothing fits {query!r} well; other words, or a task in a sentence, may."))
    if result.total > len(result.hits):
        lines.append(Text(f"{result.total - len(result.hits)} more matched.", style=DIM))
    if result.unknown:
        lines.append(notice("warning", f"No tool is called {', '.join(result.unknown)}."))
    for trouble in (*result.pending_servers, *result.failed_servers):
        reason = f": {trouble.reason}" if trouble.reason else ""
        lines.append(notice("warning", f"{trouble.name} is {trouble.status}, its tools may be missing{reason}"))
    return Group(*lines)


def explain(result: ExplainResult) -> RenderableType:
    first, *rest = result.sentences or [f"No tool is called {result.tool!r}."]
    lines = [Text(one_line(first), style="bold"), *(Text(one_line(sentence)) for sentence in rest)]
    if result.suggestions and not any(name in " ".join(result.sentences) for name in result.suggestions):
        lines.append(Text("Near: " + ", ".join(map(one_line, result.suggestions)), style=DIM))
    return Group(*lines)


def servers(result: ServersResult) -> RenderableType:
    lines: list[RenderableType] = []
    for server in result.servers:
        mark, style = _SERVER_MARKS[server.status]
        count = f" · {server.tools} tools" if server.tools else ""
        line = Text.assemble((mark, style), " ", (one_line(server.name), "bold"), (f"   {server.status}{count}", DIM))
        lines.append(line.append(f"   {one_line(server.reason)}" if server.reason else ""))
    lines += [notice("warning", words) for words in result.notices]
    return Group(*lines) if lines else Text("No MCP server is configured (setting mcp.servers, or .mcp.json here).")


def models(result: ModelsListResult, width: int) -> RenderableType:
    lines: list[RenderableType] = [Text(one_line(result.why), style=DIM)]
    for at, model in enumerate(result.models, 1):
        is_chosen = model.id == result.model
        line = Text.assemble((str(at).rjust(3), ACCENT), "  ", (one_line(model.id), "bold" if is_chosen else ""))
        line.append("  ← in use" if is_chosen else "", ACCENT)
        line.append("".join(f"   {words}" for words in _about_model(model)), DIM)
        line.truncate(width, overflow="ellipsis")
        lines.append(line)
    if result.problem:
        lines.append(notice("warning", result.problem))
    return Group(*lines, Text("/model N or /model NAME chooses one for this conversation", style=DIM))


def _about_model(model: ModelInfo) -> Iterable[str]:
    if model.label and model.label != model.id:
        yield one_line(model.label)
    if model.context:
        yield f"reads {amount(model.context)} tokens"


def sessions(result: SessionListResult, width: int) -> RenderableType:
    if not result.sessions:
        return Text("No earlier conversation in this folder.")
    rows = [(str(at), _session_line(info)) for at, info in enumerate(result.sessions, 1)]
    lines = [Text.assemble((number.rjust(3), ACCENT), f"  {line}") for number, line in rows]
    for line in lines:
        line.truncate(width, overflow="ellipsis")
    return Group(*lines, Text("/resume N goes on with one", style=DIM))


def _session_line(info: SessionInfo) -> str:
    turns = "1 turn" if info.turns == 1 else f"{info.turns} turns"
    return f"{_local_time(info.updated)}  {one_line(info.title)}  · {turns}"


def _local_time(rfc3339: str) -> str:
    try:
        return datetime.fromisoformat(rfc3339).astimezone().strftime("%Y-%m-%d %H:%M")
    except ValueError:
        return one_line(rfc3339)[:16]


def transcript(result: SessionOpenResult, width: int) -> RenderableType:
    """The end of a conversation, as it looked."""
    lines: list[RenderableType] = [Text(f"Going on with: {one_line(result.session.title)}", style="bold")]
    items = [thing for thing in result.transcript if thing.kind != "thinking"]
    if len(items) > _RESUMED:
        lines.append(Text(f"… {len(items) - _RESUMED} earlier", style=DIM))
    before = ""
    for thing in items[-_RESUMED:]:
        if thing.kind != before or thing.kind != "toolCall":
            lines.append(Text(" "))
        lines.append(item(thing.call, width) if thing.call is not None else _spoken(thing, width))
        before = thing.kind
    if result.interrupted:
        lines.append(notice("info", "The last turn was interrupted. Say “go on” to continue."))
    return Group(*lines, *_damages(result.notices))


def _spoken(thing: TranscriptItem, width: int) -> RenderableType:
    text = thing.text or ""
    match thing.kind:
        case "user":
            return said(text)
        case "notice":
            return notice("info", text)
    return item(Answer(text), width)


def undone(result: UndoResult, width: int) -> RenderableType:
    lines: list[RenderableType] = []
    for file in result.files:
        mark, style, does = _UNDONE[file.outcome]
        line = Text.assemble((mark, style), " ", (one_line(file.path), "bold"), (f"   {does}", DIM))
        line.append(f": {one_line(file.detail)}" if file.detail else "", DIM)
        line.truncate(width, overflow="ellipsis")
        lines.append(line)
    if result.not_covered:
        lines.append(notice("warning", result.not_covered))
    if result.undo_id:
        lines.append(Text("/redo takes this back", style=DIM))
    return Group(*lines)


def _damages(notices: Iterable[str]) -> list[RenderableType]:
    return [notice("warning", words) for words in notices]
