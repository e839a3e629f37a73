"""Servers that start when a tool of theirs is called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mcp_bench import Bench, fixture_server, until_true

from caddie.mcp import supervisor
from caddie.mcp.manager import ConfiguredServer, McpManager
from caddie.storage.manifests import ManifestFiles
from caddie.storage.places import Places


@pytest.fixture
def count(tmp_path: Path) -> Path:
    path = tmp_path / "count"
    path.write_text("5")
    return path


def starts(count: Path) -> int:
    """How often the server ran: it notes each list that it gave."""
    log = count.with_name("count.lists")
    return len(log.read_text().splitlines()) if log.exists() else 0


def lazy(count: Path, **more: Any) -> ConfiguredServer:
    return fixture_server("counted.py", count, lazy=True, **more)


async def learned(bench: Bench, count: Path) -> None:
    """As in the process before: the server ran once and rests."""
    await bench.connect(one=lazy(count))
    await bench.until(lambda: bench.status("one").state == "stopped")
    assert starts(count) == 1


async def next_process(bench: Bench, **servers: ConfiguredServer) -> None:
    """Only what is on disk is known."""
    await bench.manager.close()
    places = Places(bench.workspace, bench.workspace / "data", bench.workspace)
    bench.tools.clear()
    bench.manager = McpManager(
        bench.workspace, on_tools=bench._on_tools, on_status=bench._on_status, manifests=ManifestFiles(places)
    )
    await bench.connect(**servers)


async def test_the_first_time_it_runs_once_to_learn_its_tools_and_rests(bench: Bench, count: Path) -> None:
    await learned(bench, count)
    assert bench.status("one").tools == 9
    assert "when a tool of it is called" in bench.status("one").reason
    assert len(bench.tools["one"]) == 9


async def test_afterwards_its_tools_are_known_without_a_process(bench: Bench, count: Path) -> None:
    await learned(bench, count)
    before = [tool.spec for tool in bench.tools["one"]]
    await next_process(bench, one=lazy(count))
    assert bench.status("one").state == "stopped"
    assert [tool.spec for tool in bench.tools["one"]] == before
    assert starts(count) == 1


async def test_the_first_call_starts_it_and_it_stays(bench: Bench, count: Path) -> None:
    await learned(bench, count)
    await next_process(bench, one=lazy(count))
    pid = (await bench.call("one", "pid")).text
    assert bench.status("one").state == "ready"
    assert (await bench.call("one", "pid")).text == pid
    assert len(bench.tools["one"]) == 9


async def test_a_definition_that_changed_meanwhile_is_not_called_and_the_new_list_holds(
    bench: Bench, count: Path
) -> None:
    await learned(bench, count)
    await next_process(bench, one=lazy(count))
    count.write_text("2")
    result = await bench.call("one", "t4")
    assert result.is_error
    assert "Nothing was called" in result.text
    assert bench.names("one") == ["cwd", "die", "env", "pid", "t0", "t1"]
    assert not (await bench.call("one", "t1")).is_error
    await next_process(bench, one=lazy(count))
    assert bench.names("one") == ["cwd", "die", "env", "pid", "t0", "t1"], "the new list is what is kept"


async def test_another_program_of_the_same_name_is_learned_anew(bench: Bench, count: Path, tmp_path: Path) -> None:
    await learned(bench, count)
    other = tmp_path / "other"
    other.write_text("1")
    await next_process(bench, one=lazy(other))
    await bench.until(lambda: bench.status("one").state == "stopped" and len(bench.tools["one"]) == 5)
    assert starts(count) == 1


async def test_a_damaged_manifest_is_learned_anew(bench: Bench, count: Path) -> None:
    await learned(bench, count)
    await bench.manager.close()
    (file,) = (bench.workspace / "data" / "manifests").glob("*.json")
    file.write_text('{"version": 1, "tools": [{"name": 7}]}')
    await next_process(bench, one=lazy(count))
    await bench.until(lambda: bench.status("one").state == "stopped")
    assert len(bench.tools["one"]) == 9
    assert starts(count) == 2


async def test_without_a_place_to_keep_it_the_tools_are_known_in_this_process(bench: Bench, count: Path) -> None:
    (bench.workspace / "data").write_text("in the way")
    await learned(bench, count)
    assert len(bench.tools["one"]) == 9
    assert (await bench.call("one", "t1")).text.startswith("did t1")


async def test_one_that_does_not_start_when_called_says_why(
    bench: Bench, count: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "FIRST_BACKOFF_SECONDS", 0.01)
    await learned(bench, count)
    await next_process(bench, one=lazy(count))
    count.unlink()
    with pytest.raises(Exception, match="MCP server 'one' is "):
        await bench.call("one", "pid")


async def test_a_person_may_start_and_stop_it(bench: Bench, count: Path) -> None:
    await learned(bench, count)
    await bench.manager.start("one")
    await bench.until(lambda: bench.status("one").state == "ready")
    await bench.manager.stop("one")
    assert bench.tools["one"] == []
    assert bench.status("one").reason == "stopped by you"


async def test_closing_while_it_learns_leaves_nothing(bench: Bench, count: Path) -> None:
    await bench.manager.configure({"one": lazy(count)})
    await bench.manager.close()
    await until_true(lambda: bench.manager.statuses() == ())
