"""What was allowed of a server that rests, and search and hints that know its tools without a process."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from engine_kit import BOUND, Desk, desk

FIXTURES = Path(__file__).parents[2] / "fixtures" / "mcp_servers"
SERVER = """
import sys
from pathlib import Path
sys.path.insert(0, {fixtures!r})
from rpc import serve, text, tool
about = Path({about!r})
with about.with_suffix(".starts").open("a") as log:
    log.write("start\\n")
call = lambda params: text("fed the " + params["arguments"].get("animal", "cat"))
serve({{"tools/list": lambda params: {{"tools": [tool("feed", description=about.read_text())]}}, "tools/call": call}})
"""
FEED = "mcp__zoo__feed"


class Zoo:
    def __init__(self, folder: Path) -> None:
        self.about = folder / "about.txt"
        self.script = folder / "zoo.py"
        self.script.write_text(SERVER.format(fixtures=str(FIXTURES), about=str(self.about)))
        self.about.write_text("Feeds an animal of the zoo")

    @property
    def starts(self) -> int:
        return len(self.about.with_suffix(".starts").read_text().splitlines())

    @property
    def settings(self) -> dict[str, Any]:
        server = {"command": sys.executable, "args": [str(self.script)], "lazy": True}
        return {"mcp": {"servers": {"zoo": server}}}


async def ready(one: Desk) -> None:
    assert await one.engine.mcp.settled(None, BOUND) == ()


async def test_the_tools_of_a_server_that_rests_are_found_hinted_and_run(workspace: Path, tmp_path: Path) -> None:
    zoo = Zoo(tmp_path)
    async with desk(workspace, settings=zoo.settings) as one:
        await ready(one)
    async with desk(workspace, settings=zoo.settings) as one:
        await ready(one)
        found = await one.engine.searcher.search("feed the elephant")
        assert found.hits[0].tool.name == FEED
        await one.engine.hints.draft("d", "feed an animal", "")
        assert [hint.tool for hint in one.hints[-1]] == [FEED]
        assert zoo.starts == 1
        one.person.choice = "once"
        assert (await one.bridge(FEED, {"animal": "owl"})).text == "fed the owl"
        assert zoo.starts == 2


async def test_what_was_allowed_of_a_resting_server_ends_with_the_definition_it_was_given_for(
    workspace: Path, tmp_path: Path
) -> None:
    zoo = Zoo(tmp_path)
    async with desk(workspace, settings=zoo.settings) as one:
        await ready(one)
        one.person.choice = "always"
        assert not (await one.bridge(FEED, {})).is_error
    async with desk(workspace, settings=zoo.settings) as one:
        await ready(one)
        assert not (await one.bridge(FEED, {})).is_error
        assert one.person.asked == [], "the same definition, started for this call"
    zoo.about.write_text("Feeds an animal to another")
    async with desk(workspace, settings=zoo.settings) as one:
        await ready(one)
        refused = await one.bridge(FEED, {})
        assert refused.is_error
        assert "Nothing was called" in refused.text
        assert one.person.asked == []
        await one.bridge(FEED, {})
        assert "to another" in one.person.asked[0].definition_changed


async def test_an_engine_that_closes_checks_no_settings_and_makes_no_hints_for_servers_that_go(
    workspace: Path, tmp_path: Path
) -> None:
    settings = Zoo(tmp_path).settings
    settings["mcp"]["servers"]["zoo"]["lazy"] = False
    settings["tools"] = {"disabled": ["no_such_tool"]}
    checked = asyncio.Event()
    async with desk(workspace, settings=settings) as one:
        await ready(one)
        await one.engine.hints.draft("d", "feed an animal", "")
        one.engine.door.settings_checked = lambda findings: checked.set()  # type: ignore[method-assign]
        before = len(one.hints)
    assert asyncio.all_tasks() == {asyncio.current_task()}
    assert len(one.hints) == before
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await checked.wait()
