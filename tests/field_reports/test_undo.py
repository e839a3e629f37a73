"""What users of such systems ran into, reports E07 and E08: undo."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from caddie.providers.scripted import use
from engine_kit import BOUND, Desk, desk

FREE = {"permissions": {"mode": "auto"}, "sandbox": {"mode": "off"}}
TEXT = "".join(f"line {number}\n" for number in range(1, 11))
SCRIBE = """
from pathlib import Path
from mcp.server.mcpserver import MCPServer
server = MCPServer("scribe")
@server.tool()
def append(name: str, line: str) -> str:
    with Path(name).open("a") as file:
        file.write(line + chr(10))
    return "appended"
server.run()
"""


async def test_e07_undo_leaves_the_persons_own_edits_in_the_same_file(workspace: Path) -> None:
    file = workspace / "a.txt"
    file.write_text(TEXT)
    file.write_text(file.read_text().replace("line 2\n", "line 2, the person's, not committed\n"))
    by_edit = (use("Read", path="a.txt"), use("Edit", path="a.txt", old_string="line 5", new_string="agent"))
    script = (*([item] for item in by_edit), [use("Bash", command="sed -i 's/line 8/agent/' a.txt")], ["Done."])
    async with desk(workspace, answers=script, settings=FREE) as one:
        session, _ = await one.turn("go")
        assert file.read_text().count("agent") == 2
        file.write_text(file.read_text().replace("line 10\n", "line 10, also the person's\n"))
        await one.engine.undo(session)
    mine = {2: ", the person's, not committed", 10: ", also the person's"}
    assert file.read_text() == "".join(f"line {number}{mine.get(number, '')}\n" for number in range(1, 11))


async def test_e07_nothing_of_the_person_goes_while_a_call_runs(workspace: Path) -> None:
    """The turn before can be undone from another conversation while a command runs; the command's own turn is busy."""
    file = workspace / "a.txt"
    file.write_text(TEXT)
    wait = "touch started; until [ -e go ]; do sleep 0.01; done; echo agent >>b.txt"
    script = (
        [use("Bash", command="sed -i 's/line 5/agent/' a.txt")],
        ["Done."],
        [use("Bash", command=wait)],
        ["Done."],
    )
    async with desk(workspace, answers=script, settings=FREE) as one:
        first, _ = await one.turn("change it")
        second = one.engine.sessions.create().id
        running = asyncio.create_task(one.turn("run it", second))
        async with asyncio.timeout(BOUND):
            while not (workspace / "started").exists():  # noqa: ASYNC110 - the command sets no event
                await asyncio.sleep(0.01)
        file.write_text(file.read_text().replace("line 2\n", "line 2, the person's\n"))
        await one.engine.changes.changed_by_others(file)  # what the editor tells when the person saves
        await one.engine.undo(first)
        undone = file.read_text()
        (workspace / "go").touch()
        await running
        await one.engine.undo(second)
    assert undone == TEXT.replace("line 2\n", "line 2, the person's\n")
    assert file.read_text() == undone, "the undo and the person's edit are not taken for the command's"
    assert not (workspace / "b.txt").exists()


async def test_e08_a_file_changed_by_a_bridged_mcp_tool_is_in_the_checkpoint(workspace: Path) -> None:
    (workspace / "notes.txt").write_text("mine\n")
    await _undo_of_scribe(workspace, "notes.txt")
    assert (workspace / "notes.txt").read_text() == "mine\n"


async def test_e08_what_the_checkpoint_does_not_hold_is_said_in_the_turn(workspace: Path) -> None:
    (workspace / "big.log").write_bytes(b"x" * 6_000_000)
    one = await _undo_of_scribe(workspace, "big.log")
    [notice] = [item for item in one.notices if item.code == "not_covered"]
    assert notice.message.startswith("Undo does not cover these changes: big.log (6,000,000 bytes")


async def _undo_of_scribe(workspace: Path, name: str) -> Desk:
    params = {"name": str(workspace / name), "line": "the agent's"}
    call = use("ExecuteTool", tool_name="mcp__scribe__append", params=params)
    server: dict[str, Any] = {"command": sys.executable, "args": ["-c", SCRIBE]}
    settings = {**FREE, "mcp": {"servers": {"scribe": server}}}
    script = ([call], [use("Write", path="other.txt", content="x")], ["Done."])
    async with desk(workspace, answers=script, settings=settings) as one:
        session, _ = await one.turn("go", await_servers=BOUND)
        assert (workspace / name).read_text().endswith("the agent's\n"), one.calls[-1].result
        await one.engine.undo(session)
    return one
