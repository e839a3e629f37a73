"""Servers that start, die, hang, change and go, seen through the manager."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
from mcp_bench import PATIENCE, SERVERS, fixture_server, until_true

from caddie.errors import ServerFailed, ToolUnavailable
from caddie.mcp import supervisor
from caddie.mcp.manager import ConfiguredServer
from caddie.settings import McpServer

if TYPE_CHECKING:
    from mcp_bench import Bench


@pytest.fixture
def count(tmp_path: Path) -> Path:
    path = tmp_path / "count"
    offer(path, 5)
    return path


def offer(count: Path, tools: int) -> None:
    count.write_text(str(tools))


def lists_asked(count: Path) -> int:
    return Path(f"{count}.lists").read_text().count("list")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    path = tmp_path / "repo"
    subprocess.run(["git", "init", "-q", str(path)], check=True)
    return path


async def test_configuring_does_not_wait_and_settled_does(bench: Bench, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    await bench.manager.configure({"slow": fixture_server("holds_list.py", gate)})
    assert bench.status("slow").state == "connecting"
    assert await bench.manager.settled(["slow"], 0.05) == ("slow",)
    assert await bench.manager.settled(["other"], 0.05) == ()
    gate.touch()
    assert await bench.manager.settled(["slow"], PATIENCE) == ()
    assert bench.names("slow") == ["slow"]


async def test_a_ready_server_tells_version_origin_and_number_of_tools(bench: Bench, count: Path) -> None:
    await bench.connect(many=fixture_server("counted.py", count))
    status = bench.status("many")
    assert (status.state, status.version, status.origin, status.tools) == ("ready", "1.2.3", "test", 9)


async def test_b07_a_list_that_never_comes_is_a_failure_in_time(bench: Bench, tmp_path: Path) -> None:
    await bench.connect(mute=fixture_server("holds_list.py", tmp_path / "never", timeout=4))
    assert bench.status("mute").state == "failed"
    assert bench.status("mute").reason.startswith("connected, but its tool list failed: no answer within 4 s")


async def test_a_failing_list_is_told_and_tried_again(bench: Bench, tmp_path: Path) -> None:
    await bench.connect(down=fixture_server("fails_to_list.py", tmp_path / "up"))
    reason = bench.status("down").reason
    assert reason.startswith("connected, but its tool list failed:")
    assert "database is down" in reason
    (tmp_path / "up").touch()
    await bench.until(lambda: bench.status("down").state == "ready")
    assert bench.names("down") == ["late"]


async def test_a_server_that_exits_tells_code_time_and_last_words_without_secrets(bench: Bench) -> None:
    await bench.connect(jira=fixture_server("exits.py", env={"JIRA_TOKEN": "s3cret"}))
    status = bench.status("jira")
    assert status.state == "failed"
    assert status.reason.startswith("exited with 1 after ")
    assert "fatal: JIRA_TOKEN *** is not valid" in status.reason
    assert "s3cret" not in status.reason


async def test_the_log_of_a_server_outlives_it_and_tells_no_secret(bench: Bench) -> None:
    await bench.connect(jira=fixture_server("exits.py", env={"JIRA_TOKEN": "s3cret"}))
    assert bench.manager.log("jira") == "fatal: JIRA_TOKEN *** is not valid"
    await bench.manager.restart("jira")
    await bench.manager.stop("jira")
    assert bench.manager.log("jira") == "fatal: JIRA_TOKEN *** is not valid"
    with pytest.raises(ServerFailed):
        bench.manager.log("other")


async def test_a_server_that_dies_again_and_again_is_given_up(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "FIRST_BACKOFF_SECONDS", 0.01)
    await bench.connect(jira=fixture_server("exits.py"))
    await bench.until(lambda: bench.status("jira").reason.endswith("(given up after 5 tries)"))
    assert bench.status("jira").state == "failed"
    assert bench.told == []
    await bench.manager.start("jira")
    assert bench.status("jira").state == "connecting"


async def test_a_missing_command_says_what_to_do_and_is_not_tried_again(bench: Bench) -> None:
    await bench.connect(foo=ConfiguredServer(McpServer(command="no-such-program"), "test"))
    assert bench.status("foo").state == "failed"
    assert bench.status("foo").reason == (
        "command 'no-such-program' was not found; install it or correct mcp.servers.foo.command"
    )


async def test_a_server_without_command_and_address_says_what_is_missing(bench: Bench) -> None:
    await bench.connect(foo=ConfiguredServer(McpServer(), "test"))
    assert bench.status("foo").reason == "has neither a command nor a url; set one in mcp.servers.foo"


async def test_a_missing_working_directory_is_named(bench: Bench, count: Path) -> None:
    await bench.connect(foo=fixture_server("counted.py", count, cwd="nowhere"))
    assert "nowhere does not exist" in bench.status("foo").reason


async def test_b02_a_changed_list_is_followed_over_all_pages(bench: Bench) -> None:
    await bench.connect(grows=fixture_server("grows.py"))
    assert bench.names("grows") == ["start"]
    await bench.call("grows", "start")
    assert await bench.manager.settled(["grows"], PATIENCE) == ()
    assert len(bench.tools["grows"]) == 89
    assert "start" not in bench.names("grows")
    assert (await bench.call("grows", "grown_88")).text == "did grown_88"


async def test_a_changed_list_is_followed_in_the_newest_protocol_too(bench: Bench) -> None:
    await bench.connect(modern=fixture_server("modern.py"))
    assert (await bench.call("modern", "grow")).text == "grown"
    assert await bench.manager.settled(["modern"], PATIENCE) == ()
    assert bench.names("modern") == ["grow", "late"]
    assert (await bench.call("modern", "late")).text == "late but here"


async def test_b06_tools_are_told_once_while_nothing_changes(bench: Bench, count: Path) -> None:
    await bench.connect(many=fixture_server("counted.py", count))
    for _ in range(3):
        await bench.call("many", "t1")
    assert bench.told == [("many", 9)]
    assert lists_asked(count) == 1


async def test_b04_a_restart_shows_the_new_tools_and_never_none(bench: Bench, count: Path) -> None:
    await bench.connect(many=fixture_server("counted.py", count))
    offer(count, 15)
    await bench.manager.restart("many")
    assert await bench.manager.settled(["many"], PATIENCE) == ()
    assert bench.told == [("many", 9), ("many", 19)]


async def test_stopping_takes_the_tools_away_and_starting_brings_them_back(bench: Bench, count: Path) -> None:
    await bench.connect(many=fixture_server("counted.py", count))
    old = bench.tools["many"][0]
    await bench.manager.stop("many")
    assert bench.tools["many"] == []
    assert bench.status("many").state == "stopped"
    with pytest.raises(ToolUnavailable, match="stopped"):
        await old.run({}, bench.context())
    await bench.manager.start("many")
    assert await bench.manager.settled(["many"], PATIENCE) == ()
    assert len(bench.tools["many"]) == 9


async def test_a_server_that_dies_during_a_call_fails_it_with_the_reason_and_comes_back(
    bench: Bench, count: Path
) -> None:
    await bench.connect(many=fixture_server("counted.py", count))
    with pytest.raises(ToolUnavailable, match=r"exited with 3 after .* s: out of memory"):
        await bench.call("many", "die")
    assert len(bench.tools["many"]) == 9
    # This call waits for the restart.
    assert "did t1" in (await bench.call("many", "t1")).text


async def test_an_idle_death_is_noticed_and_mended(bench: Bench, count: Path) -> None:
    await bench.connect(many=fixture_server("counted.py", count))
    first = int((await bench.call("many", "pid")).text)
    os.kill(first, 9)
    await bench.until(lambda: bench.status("many").state == "connecting")
    assert "was killed by SIGKILL" in bench.status("many").reason
    await bench.until(lambda: bench.status("many").state == "ready")
    assert int((await bench.call("many", "pid")).text) != first


async def test_b08_nothing_survives_a_close_even_what_the_server_started(bench: Bench, count: Path) -> None:
    script = f"sleep 999 & exec {sys.executable} {SERVERS / 'counted.py'} {count}"
    await bench.connect(sh=ConfiguredServer(McpServer(command="sh", args=("-c", script)), "test"))
    group = int((await bench.call("sh", "pid")).text)
    assert len(_group(group)) == 2
    await bench.manager.close()
    await until_true(lambda: not _group(group))


async def test_closing_while_connecting_is_bounded_and_leaves_nothing(bench: Bench, tmp_path: Path) -> None:
    mine = psutil.Process()
    before = {child.pid for child in mine.children(recursive=True)}
    await bench.manager.configure({"mute": fixture_server("holds_list.py", tmp_path / "never")})
    await until_true(lambda: bool({child.pid for child in mine.children(recursive=True)} - before))
    async with asyncio.timeout(PATIENCE):
        await bench.manager.close()
    assert {child.pid for child in mine.children(recursive=True)} <= before


async def test_configuring_again_touches_only_what_changed(bench: Bench, count: Path) -> None:
    same, gone = fixture_server("counted.py", count), fixture_server("noisy.py")
    await bench.connect(same=same, gone=gone, changed=fixture_server("grows.py"))
    pid = (await bench.call("same", "pid")).text
    await bench.manager.configure({"same": same, "changed": fixture_server("patient.py", count)})
    assert bench.tools["gone"] == []
    await bench.until(lambda: bench.names("changed") == ["steps", "wait"])
    assert (await bench.call("same", "pid")).text == pid
    assert [status.name for status in bench.manager.statuses()] == ["changed", "same"]


async def test_servers_that_are_switched_off_rest_until_asked_for(bench: Bench, count: Path) -> None:
    await bench.connect(off=fixture_server("counted.py", count, enabled=False))
    assert bench.status("off").state == "stopped"
    assert "mcp.servers.off.enabled" in bench.status("off").reason
    await bench.manager.start("off")
    assert await bench.manager.settled(["off"], PATIENCE) == ()
    assert len(bench.tools["off"]) == 9


async def test_a_changed_configuration_is_pending_at_once(bench: Bench, count: Path, tmp_path: Path) -> None:
    await bench.connect(one=fixture_server("counted.py", count))
    await bench.manager.configure({"one": fixture_server("holds_list.py", tmp_path / "never")})
    assert await bench.manager.settled(None, 0.05) == ("one",)
    assert bench.told == [("one", 9), ("one", 9)], "its tools stay, as those of another program"


async def test_the_last_order_counts_when_orders_cross(bench: Bench, count: Path) -> None:
    await bench.connect(one=fixture_server("counted.py", count))
    again = asyncio.create_task(bench.manager.restart("one"))
    await asyncio.sleep(0)
    await bench.manager.stop("one")
    await again
    assert bench.status("one").state == "stopped"
    assert bench.tools["one"] == []


async def test_an_unknown_name_is_answered_with_the_nearest(bench: Bench, count: Path) -> None:
    await bench.connect(linear=fixture_server("counted.py", count, enabled=False))
    with pytest.raises(ServerFailed, match="did you mean 'linear'"):
        await bench.manager.start("liner")


async def test_the_same_tool_name_on_two_servers_makes_two_tools(bench: Bench) -> None:
    await bench.connect(github=fixture_server("noisy.py"), linear=fixture_server("noisy.py"))
    assert [tool.name for tools in bench.tools.values() for tool in tools] in (
        ["mcp__github__quiet", "mcp__linear__quiet"],
        ["mcp__linear__quiet", "mcp__github__quiet"],
    )


async def test_our_environment_does_not_reach_a_server_but_its_own_does(
    bench: Bench, count: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "ours")
    await bench.connect(many=fixture_server("counted.py", count, env={"OWN": "yes"}))
    lines = (await bench.call("many", "env")).text
    assert "OPENAI_API_KEY" not in lines
    assert "OWN" in lines
    assert "PATH" in lines
    assert (await bench.call("many", "cwd")).text == str(bench.workspace.resolve())


async def test_real_servers_of_the_newest_protocol_work(bench: Bench, repository: Path) -> None:
    programs = Path(sys.executable).parent
    time = McpServer(command=str(programs / "mcp-server-time"), args=("--local-timezone", "UTC"))
    git = McpServer(command=str(programs / "mcp-server-git"), args=("--repository", str(repository)))
    await bench.connect(time=ConfiguredServer(time, "test"), git=ConfiguredServer(git, "test"))
    assert bench.names("time") == ["convert_time", "get_current_time"]
    assert len(bench.names("git")) == 12
    assert "UTC" in (await bench.call("time", "get_current_time", timezone="UTC")).text
    assert "nothing to commit" in (await bench.call("git", "git_status", repo_path=str(repository))).text
    assert (await bench.call("time", "get_current_time", timezone="Mars/Base")).is_error


def test_importing_the_manager_does_not_import_the_sdk() -> None:
    slow = ("mcp", "mcp_types", "anyio", "httpx2", "json5")
    code = f"import sys, caddie.mcp.manager, caddie.mcp.config; print([m for m in {slow} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=240)
    assert done.stdout.strip() == "[]"


def _group(number: int) -> list[int]:
    alive = []
    for process in psutil.process_iter(["pid", "status"]):
        try:
            if os.getpgid(process.pid) == number and process.info["status"] != psutil.STATUS_ZOMBIE:
                alive.append(process.pid)
        except ProcessLookupError:
            continue
    return alive


async def test_a_server_ordered_to_start_twice_begins_when_its_last_run_has_ended(bench: Bench, tmp_path: Path) -> None:
    await bench.connect(db=fixture_server("only_one.py", tmp_path / "running"))
    await asyncio.gather(bench.manager.restart("db"), bench.manager.restart("db"))
    assert await bench.manager.settled(None, PATIENCE) == ()
    stopping = asyncio.create_task(bench.manager.stop("db"))
    await asyncio.sleep(0)
    await bench.manager.start("db")
    await stopping
    assert await bench.manager.settled(None, PATIENCE) == ()
    assert bench.status("db").state == "ready"
    assert [status.reason for status in bench.statuses if "another one" in status.reason] == []
