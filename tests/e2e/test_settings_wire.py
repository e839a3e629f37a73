"""Settings over the wire: two servers on one folder, an editor that stores and pushes them, and what it is told."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from caddie.storage.jsonc import parse
from editor_client import ALL, Editor, editor


async def tool_states(one: Editor) -> dict[str, str]:
    listed = await one.request("caddie/tools/list")
    return {tool["name"]: tool["state"] for tool in listed["tools"]}


@pytest.mark.timeout(600)
async def test_two_servers_on_one_workspace_change_states_500_times_and_lose_none(workspace: Path, home: Path) -> None:
    path = workspace / ".caddie" / "settings.json"
    path.parent.mkdir()
    path.write_text('{\n  // ours\n  "tools": { "deferred": ["Bash"] } // not here\n}\n')

    async def change(one: Editor, name: str) -> None:
        for number in range(250):
            changes = [{"tool": f"mcp__{name}__t{number}", "state": "disabled"}]
            await one.request("caddie/tools/setState", {"changes": changes, "scope": "workspace"})

    async with editor(workspace, home) as one, editor(workspace, home) as two:
        await asyncio.gather(change(one, "one"), change(two, "two"))
        await one.request(
            "caddie/tools/setState", {"changes": [{"tool": "Read", "state": "disabled"}], "scope": "workspace"}
        )
        assert (await tool_states(two))["Read"] == "disabled", "the other one is in step"
    text = path.read_text()
    assert "// ours" in text
    assert "// not here" in text
    async with editor(workspace, home) as three:
        assert (await tool_states(three))["Read"] == "disabled"
        explained = await three.request("caddie/tools/explain", {"tool": "mcp__two__t249"})
    assert "kept" in " ".join(explained["sentences"])
    wanted = {f"mcp__{name}__t{number}" for name in ("one", "two") for number in range(250)}
    assert set(parse(text).value["tools"]["disabled"]) == {*wanted, "Read"}


async def test_an_editor_pushes_parts_nothing_and_nonsense_and_is_told_what_is_wrong(
    workspace: Path, home: Path
) -> None:
    def push(settings: Any) -> None:
        one.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=settings))

    async with editor(workspace, home, settings={"tools": {"disabled": ["Bash"]}}) as one:
        assert (await tool_states(one))["Bash"] == "disabled"
        for pushed in (None, {"caddie": None}, {"python": {}}, {"caddie": "off"}, []):
            push(pushed)
            assert (await tool_states(one))["Bash"] == "disabled", pushed
        push({"caddie": {"tools": {"disabled": ["Read", 7], "profle": "lean"}}})
        states = await tool_states(one)
        assert (states["Bash"], states["Read"]) == ("enabled", "disabled")
        push({"caddie": {}})
        assert (await tool_states(one))["Read"] == "enabled"
        said = " ".join(params.message for method, params in one.said if method == types.WINDOW_SHOW_MESSAGE)
    assert "expected the section 'caddie' to be an object, got text" in said


async def test_an_editor_that_keeps_settings_stores_a_state_itself(workspace: Path, home: Path) -> None:
    stored: list[dict[str, Any]] = []

    def prepare(one: Editor) -> None:
        @one.client.feature("caddie/settings/write")
        async def write(params: dict[str, Any]) -> dict[str, Any]:
            stored.append(params)
            return {}

    capabilities = {**ALL, "settingsWrite": True}
    async with editor(workspace, home, capabilities=capabilities, prepare=prepare) as one:
        changes = [{"tool": "Bash", "state": "disabled"}]
        answer = await one.request("caddie/tools/setState", {"changes": changes, "scope": "workspace"})
        assert [tool["name"] for tool in answer["changed"]] == ["Bash"]
        explained = await one.request("caddie/tools/explain", {"tool": "Bash"})
    assert stored == [{"key": "tools.disabled", "value": ["Bash"], "scope": "workspace"}]
    assert "the editor's workspace setting tools.disabled" in explained["sentences"][0]
    assert not (workspace / ".caddie" / "settings.json").exists()


async def test_what_is_wrong_in_a_file_is_shown_at_its_place_until_it_is_mended(workspace: Path, home: Path) -> None:
    path = workspace / ".caddie" / "settings.json"
    path.parent.mkdir()
    path.write_text('{\n  "tols": {},\n  "hints": {"threshold": "auto:"}, // "𝄞"\n  /* 𝄞 */ "model": 5\n}\n')

    async with editor(workspace, home) as one:

        def shown() -> Any:
            published = [params for method, params in one.said if method == types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS]
            return next((params.diagnostics for params in reversed(published) if params.uri == path.as_uri()), None)

        await one.until(lambda: len(shown() or ()) == 3)
        by_line = {item.range.start.line: item for item in shown()}
        assert by_line[1].message == "unknown setting (did you mean 'tools'?)"
        assert (by_line[1].range.start.character, by_line[1].range.end.character) == (2, 12)
        assert "expected a valid number" in by_line[2].message
        assert by_line[3].range.start.character == 11, "counted in the editor's units"
        path.write_text('{"tools": {"disabled": ["Bush", "Bash"], "enabled": ["Bash"]}}')
        changed = types.FileEvent(path.as_uri(), types.FileChangeType.Changed)
        one.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([changed]))
        await one.until(lambda: all(text in str(shown()) for text in ("matches no tool", "has no effect here")))
        path.write_text("{}")
        one.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([changed]))
        await one.until(lambda: not shown())
