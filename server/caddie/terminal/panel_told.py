"""What came of a change, and what there is to say of a row: sentences for the bottom of the tools panel."""

from __future__ import annotations

from caddie.protocol.mcp import ServerInfo
from caddie.protocol.tools import State, ToolInfo
from caddie.terminal.panel_desk import Scope
from caddie.terminal.panel_lines import MARKS, source_words
from caddie.terminal.panel_words import Words
from caddie.terminal.text import one_line

_ENTRY_TOOLS = ("ToolSearch", "ExecuteTool")


def told(tool: ToolInfo, wanted: State | None, scope: Scope, words: Words) -> str:
    """`wanted` None is the default. A nearer scope or a glob may decide otherwise than what was saved; that is said."""
    label, source = one_line(tool.label), tool.state_source
    state = f"{MARKS[tool.state]} {words(tool.state)}"
    is_overruled = tool.state != wanted if wanted else source.kind == "setting"
    if is_overruled:
        by = source_words(source, words) or source.setting or source.kind
        return words("m_still", tool=label, state=state, source=by)
    if wanted is None:
        return words("m_reset", tool=label, state=state)
    return words("m_state", tool=label, state=state, scope=words.scope(scope))


def told_of_all(tools: tuple[ToolInfo, ...], wanted: State | None, scope: Scope, words: Words) -> str:
    """With the number of tools that did not follow."""
    key = {"enabled": "m_all_on", "disabled": "m_all_off"}.get(wanted or "", "m_reset_all")
    others = sum(tool.state != wanted for tool in tools if tool.name not in _ENTRY_TOOLS) if wanted else 0
    return words(key, scope=words.scope(scope)) + (words("m_stay", n=others) if others else "")


def about_server(status: ServerInfo, words: Words) -> tuple[str, ...]:
    version = f" ({status.version})" if status.version else ""
    reason = f": {status.reason}" if status.reason else ""
    said = f"{status.name}: {words(status.status)}{version}{reason}"
    return (said, words("m_origin", origin=status.origin)) if status.origin else (said,)
