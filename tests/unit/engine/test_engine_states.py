"""Setting states: in files that others write too, in editors that keep their own settings, and while a turn runs."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from caddie.providers.scripted import use
from caddie.tools.tool import text_result
from engine_kit import BOUND, Desk, desk, mcp_tool

GIT = tuple(mcp_tool("git", name) for name in ("git_log", "git_add", "git_push"))
TOOLS = {"git": GIT, "a": (mcp_tool("a", "x"),)}
LOG = "mcp__git__git_log"
HAND_WRITTEN = """\
{
  // slow here
  "tools": {
    "disabled": [
      "WebFetch" // no network
    ]
  },
  "model": "m", // the team's
}
"""


def stored(workspace: Path, scope: str = "workspace") -> Any:
    folder = workspace / ".caddie" if scope == "workspace" else workspace.parent / "config"
    return json.loads((folder / "settings.json").read_text())


def states(one: Desk) -> dict[str, str]:
    return {item.spec.name: item.decision.state for item in one.engine.admin.listing()}


async def test_a_change_by_another_process_holds_at_the_next_use_and_is_not_overwritten(workspace: Path) -> None:
    async with desk(workspace, tools=TOOLS) as one, desk(workspace, tools=TOOLS) as two:
        await one.engine.admin.set_state([(LOG, "disabled")], "workspace")
        assert states(two)[LOG] == "disabled"
        await two.engine.admin.set_state([("mcp__a__x", "disabled")], "workspace")
        assert stored(workspace)["tools"]["disabled"] == [LOG, "mcp__a__x"]
        assert states(one)["mcp__a__x"] == "disabled"
        assert "disabled by the workspace setting" in (await one.bridge("mcp__a__x", {})).text


async def test_many_changes_at_once_from_two_engines_lose_nothing(workspace: Path) -> None:
    names = [f"mcp__later__t{number}" for number in range(40)]
    async with desk(workspace) as one, desk(workspace) as two:
        changes = [
            (one if number % 2 else two).engine.admin.set_state([(name, "disabled")], "user")
            for number, name in enumerate(names)
        ]
        async with asyncio.timeout(BOUND):
            await asyncio.gather(*changes)
    assert sorted(stored(workspace, "user")["tools"]["disabled"]) == sorted(names)


async def test_a_hand_written_file_keeps_its_comments_and_order(workspace: Path) -> None:
    path = workspace / ".caddie" / "settings.json"
    path.parent.mkdir()
    text = HAND_WRITTEN
    path.write_text(text)
    async with desk(workspace, tools=TOOLS) as one:
        await one.engine.admin.set_state([(LOG, "disabled")], "workspace")
        assert states(one)["WebFetch"] == states(one)[LOG] == "disabled"
    assert path.read_text() == text.replace('WebFetch" // no network\n', f'WebFetch", // no network\n      "{LOG}"\n')


async def test_a_broken_file_is_left_alone_and_the_reason_is_said(workspace: Path) -> None:
    path = workspace / ".caddie" / "settings.json"
    path.parent.mkdir()
    path.write_text('{"tools": ')
    async with desk(workspace, tools=TOOLS) as one:
        with pytest.raises(Exception, match="line 1, column 11"):
            await one.engine.admin.set_state([(LOG, "disabled")], "workspace")
    assert path.read_text() == '{"tools": '


async def test_everything_enabled_clears_the_lists_and_default_takes_it_back(workspace: Path) -> None:
    async with desk(workspace, tools=TOOLS) as one:
        before = states(one)
        await one.engine.admin.set_state([(LOG, "disabled"), ("Bash", "deferred")], "user")
        changed, _ = await one.engine.admin.set_state([("*", "enabled")], "user")
        assert stored(workspace, "user")["tools"] == {"enabled": ["*"]}
        assert {state for name, state in states(one).items() if name not in ("ToolSearch", "ExecuteTool")} == {
            "enabled"
        }
        assert LOG in {item.spec.name for item in changed}
        await one.engine.admin.set_state([("*", "default")], "user")
        assert states(one) == before
        assert stored(workspace, "user")["tools"] == {}


@pytest.mark.parametrize("scope", ["user", "workspace", "session"])
async def test_all_off_warns_of_the_entry_tools_and_a_reset_brings_all_back_in_one_act(
    workspace: Path, scope: Any
) -> None:
    async with desk(workspace, tools=TOOLS) as one:
        session = one.engine.sessions.create().id
        before = one.engine.tools.states(session)
        _, warnings = await one.engine.admin.set_state([("*", "disabled")], scope, session)
        assert any("ToolSearch and ExecuteTool stay while any tool is deferred" in text for text in warnings)
        assert {decision.state for decision in one.engine.tools.states(session).values()} == {"disabled"}
        await one.engine.admin.set_state([("*", "default")], scope, session)
        assert one.engine.tools.states(session) == before


async def test_one_tool_of_a_disabled_server_can_be_enabled_by_itself(workspace: Path) -> None:
    async with desk(workspace, tools=TOOLS) as one:
        await one.engine.admin.set_state([("mcp__git__*", "disabled")], "user")
        await one.engine.admin.set_state([("git_log", "enabled")], "user")
        assert states(one)[LOG] == "enabled"
        assert states(one)["mcp__git__git_push"] == "disabled"
        await one.engine.admin.set_state([("mcp__git__*", "deferred")], "user")
        assert stored(workspace, "user")["tools"] == {"deferred": ["mcp__git__*"]}


async def test_a_state_that_a_nearer_scope_decides_otherwise_is_said(workspace: Path) -> None:
    async with desk(workspace, tools=TOOLS, settings={"tools": {"disabled": [LOG]}}) as one:
        _, warnings = await one.engine.admin.set_state([(LOG, "enabled")], "workspace")
    assert warnings == (f'git_log stays disabled: decided by the editor\'s user setting tools.disabled ("{LOG}").',)


async def test_states_of_absent_tools_are_kept_and_meet_them_in_any_case(workspace: Path) -> None:
    async with desk(workspace) as one:
        _, warnings = await one.engine.admin.set_state([("mcp__GIT__git_log", "disabled")], "workspace")
        assert "kept for when one comes" in warnings[0]
        await one.engine.admin.set_state([("Bash", "deferred")], "workspace")
        assert "will be disabled" in " ".join(one.engine.admin.explain("mcp__GIT__git_log").sentences)
    async with desk(workspace) as two:
        two.engine.catalogue.replace_source("git", GIT)
        assert states(two)[LOG] == "disabled"
        assert states(two)["mcp__git__git_add"] == "deferred"
        two.engine.catalogue.replace_source("git", ())
        two.engine.catalogue.replace_source("Git", (mcp_tool("Git", "git_log"),))
        assert states(two)["mcp__Git__git_log"] == "disabled"


async def test_an_editor_that_keeps_settings_is_asked_to_store_and_no_file_is_written(workspace: Path) -> None:
    async with desk(workspace, tools=TOOLS, settings={"tools": {"disabled": ["Bash"]}}) as one:
        written: list[tuple[str, Any, str]] = []

        async def write(key: str, value: Any, scope: Any) -> bool:
            written.append((key, value, scope))
            return True

        one.engine.door.write_setting = write  # type: ignore[method-assign]
        changed, _ = await one.engine.admin.set_state([(LOG, "disabled")], "user")
        assert written == [("tools.disabled", ["Bash", LOG], "user")]
        assert [item.spec.name for item in changed] == [LOG], "it holds before the editor tells its settings again"
        await one.engine.admin.set_state([("*", "default")], "user")
        assert written[1:] == [("tools.disabled", None, "user")]
    assert not (workspace.parent / "config" / "settings.json").exists()


async def test_a_state_set_during_a_turn_reaches_the_next_request_and_moves_no_prefix(workspace: Path) -> None:
    """From another process: by the file alone."""
    path = workspace / ".caddie" / "settings.json"
    path.parent.mkdir()

    async def change(arguments: dict[str, Any], context: Any) -> Any:
        path.write_text(json.dumps({"tools": {"disabled": ["mcp__a__x"], "enabled": [LOG]}}))
        return text_result("changed")

    tools = {**TOOLS, "b": (mcp_tool("b", "change", run=change),)}
    script = ([use("mcp__b__change", "c1")], [use("mcp__a__x", "c2")], ["Done."])
    settings = {"permissions": {"allow": ["mcp__*"]}}
    async with desk(workspace, answers=script, tools=tools, settings=settings) as one:
        await one.turn("go")
        first, second, third = one.provider.requests
    assert (first.system, first.tools) == (second.system, second.tools) == (third.system, third.tools)
    assert second.messages[: len(first.messages)] == first.messages, "what was sent is only appended to"
    assert third.messages[: len(second.messages)] == second.messages
    news = str(second.messages[-1])
    assert "<disabled-tools>" in news
    assert "mcp__a__x" in news
    assert "<enabled-tools>" in news
    assert LOG in news
    assert "disabled by the workspace setting" in one.calls[-1].result


async def test_a_state_of_one_session_holds_for_it_alone_and_again_when_it_is_resumed(workspace: Path) -> None:
    async with desk(workspace, answers=(["Hi."],), tools=TOOLS) as one:
        session, _ = await one.turn("hi")
        await one.engine.admin.set_state([("Bash", "disabled")], "session", session)
        assert states(one)["Bash"] == "enabled"
    async with desk(workspace, tools=TOOLS) as two:
        refused = await two.execute("Bash", {"command": "true"}, session)
        assert "disabled by the session setting tools.disabled" in refused.text
        await two.engine.admin.set_state([("*", "default")], "session", session)
    async with desk(workspace, tools=TOOLS) as three:
        await three.engine.sessions.get(session)
        assert three.engine.tools.states(session)["Bash"].state == "enabled"


async def test_a_file_that_is_broken_while_it_is_edited_keeps_what_it_said_before(workspace: Path) -> None:
    path = workspace / ".caddie" / "settings.json"
    path.parent.mkdir()
    path.write_text('{"tools": {"disabled": ["Bash"]}}')
    async with desk(workspace, tools=TOOLS) as one:
        assert states(one)["Bash"] == "disabled"
        path.write_text('{"tools": {"disabled": ["Bash", ')
        assert states(one)["Bash"] == "disabled"
        [finding] = one.engine.check.findings()
        assert "not valid JSON" in finding.message
        path.write_text("{}")
        assert states(one)["Bash"] == "enabled"


async def test_a_variable_that_does_not_fit_is_reported_and_the_default_holds(workspace: Path) -> None:
    environ = {"CADDIE_HINTS_THRESHOLD": "auto:", "TOOL_SEARCH_WEIGHT_TFIDF": "0.5", "CADDIE_SEARCH_LIMIT": "7"}
    async with desk(workspace, environ=environ) as one:
        [finding] = one.engine.check.findings()
        settings = one.engine.configuration.settings
    assert finding.words == (
        'environment settings: hints.threshold: expected a valid number; got "auto:"; the value is ignored'
    )
    assert (settings.hints.threshold, settings.search.weights.tfidf, settings.search.limit) == (0.15, 0.5, 7)


async def test_a_link_to_the_real_file_stays_a_link_and_keeps_its_permissions(workspace: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text('{\r\n\t"model": "m"\r\n}\r\n', newline="")
    real.chmod(0o640)
    link = workspace / ".caddie" / "settings.json"
    link.parent.mkdir()
    link.symlink_to(real)
    async with desk(workspace) as one:
        await one.engine.admin.set_state([("Bash", "disabled")], "workspace")
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert real.read_bytes().startswith(b'{\r\n\t"model": "m",\r\n\t"tools": {\r\n')
