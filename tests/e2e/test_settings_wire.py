"""Settings over the wire: two servers on one folder, an editor that stores and pushes them, and what it is told."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from editor_client import Editor, editor


async def tool_states(one: Editor) -> dict[str, str]:
    listed = await one.request("caddie/tools/list")
    return {tool["name"]: tool["state"] for tool in listed["tools"]}


@pytest.mark.timeout(240)
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
    from caddie.storage.jsonc import parse

    assert set(parse(text).value["tools"]["disabled"]) == {*wanted, "Read"}
