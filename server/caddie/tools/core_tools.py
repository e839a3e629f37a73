"""The tables of the profiles: which built-in tools are enabled when no list mentions them (S1, sections 1 and 3)."""

from __future__ import annotations

from caddie.settings import Profile

TOOL_SEARCH = "ToolSearch"
EXECUTE_TOOL = "ExecuteTool"
AGENT = "Agent"
BRIDGE = frozenset({TOOL_SEARCH, EXECUTE_TOOL})

STANDARD = frozenset({
    "Bash", "Read", "Edit", "Write", "Glob", "Grep",
    AGENT, "AskUserQuestion", "SendMessage", "ListPeers", "TeamCreate", "TeamDelete",
    "TaskOutput", "TaskStop", "TaskCreate", "TaskGet", "TaskUpdate", "TaskList", "TodoWrite",
    "EnterPlanMode", "ExitPlanMode", "VerifyPlanExecution",
    "WebFetch", "WebSearch", "NotebookEdit", "LSP", "Skill", "Sleep", "Monitor",
    TOOL_SEARCH, EXECUTE_TOOL,
})  # fmt: skip

LEAN = frozenset({
    "Bash", "Read", "Edit", "Write", "Glob", "Grep", AGENT, "AskUserQuestion", TOOL_SEARCH, EXECUTE_TOOL,
})  # fmt: skip


def is_core(name: str, profile: Profile) -> bool:
    if profile == "all":
        return True
    return name in (STANDARD if profile == "standard" else LEAN)
