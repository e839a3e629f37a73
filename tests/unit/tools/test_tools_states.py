"""Enabled, deferred or disabled, and who decided it."""

from __future__ import annotations

from typing import Any

from caddie.layers import Layer, resolve
from caddie.search.execute_tool import TOOL as EXECUTE
from caddie.tools.builtin import BUILTIN
from caddie.tools.states import Decision, decide_states
from engine_kit import mcp_tool

LOG, ADD = mcp_tool("git", "git_log"), mcp_tool("git", "git_add")
ALWAYS = mcp_tool("git", "pinned", always_load=True)
SPECS = [tool.spec for tool in (*BUILTIN, EXECUTE, LOG, ADD, ALWAYS)]


def states(*layers: tuple[str, dict[str, Any]]) -> dict[str, Decision]:
    return decide_states(SPECS, resolve([Layer(scope, {"tools": tools}) for scope, tools in layers]))  # type: ignore[arg-type]


def named(decisions: dict[str, Decision]) -> dict[str, str]:
    return {name: decision.state for name, decision in decisions.items()}


def test_by_default_core_tools_are_enabled_and_all_others_deferred() -> None:
    found = named(states())
    assert found["Bash"] == found["WebFetch"] == found["ExecuteTool"] == "enabled"
    assert found["Config"] == found["CtxInspect"] == found["mcp__git__git_log"] == "deferred"
    assert found["mcp__git__pinned"] == "enabled", "the tool itself asks to be loaded always"


def test_the_lean_profile_keeps_ten_and_all_enables_everything() -> None:
    lean = named(states(("user", {"profile": "lean"})))
    assert lean["Read"] == "enabled"
    assert lean["WebFetch"] == "deferred"
    everything = named(states(("user", {"profile": "all"})))
    assert everything["Config"] == everything["mcp__git__git_log"] == "enabled"
    assert everything["ExecuteTool"] == "disabled", "nothing is deferred, so there is nothing to execute"


def test_disabled_goes_before_deferred_before_enabled_within_a_scope() -> None:
    lists = {"disabled": ["git_log"], "deferred": ["git_*", "Bash"], "enabled": ["mcp__git__*", "Bash"]}
    found = named(states(("user", lists)))
    assert (found["mcp__git__git_log"], found["mcp__git__git_add"], found["Bash"]) == (
        "disabled",
        "deferred",
        "deferred",
    )


def test_a_nearer_scope_is_looked_at_before_a_farther_one_and_is_named() -> None:
    found = states(("user", {"disabled": ["mcp__git__*"]}), ("workspace", {"enabled": ["mcp__git__git_log"]}))
    decision = found["mcp__git__git_log"]
    assert (decision.state, decision.source.scope, decision.source.setting) == ("enabled", "workspace", "tools.enabled")
    assert found["mcp__git__git_add"].state == "disabled"
    assert "user setting tools.disabled" in found["mcp__git__git_add"].source.words


def test_the_master_switch_sends_no_tools_at_all() -> None:
    assert set(named(states(("user", {"use": False}))).values()) == {"disabled"}


def test_the_bridge_cannot_be_turned_off_while_anything_is_deferred() -> None:
    assert named(states(("user", {"disabled": ["ExecuteTool"]})))["ExecuteTool"] == "enabled"
