from __future__ import annotations

import asyncio
import re
import time
from pathlib import Path

import psutil
import pytest

from caddie.tools.builtin.bash import TOOL, UPDATE_SECONDS
from caddie.tools.builtin.process import environment
from caddie.tools.tool import CommandPreview


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def words_in(path: Path) -> list[str]:
    return path.read_text().split() if path.exists() else []


def saved_text(result: str) -> str:
    return Path(re.search(r": (\S+) \(Read", result)[1]).read_text()


async def pids_in(world, count):
    """The process ids that a command wrote down in the workspace, as soon as there are `count` of them."""
    path = world.workspace / "pids"
    await world.until(lambda: len(words_in(path)) >= count)
    return [int(word) for word in words_in(path)]


async def test_output_and_errors_come_together_and_the_workspace_is_the_folder(world):
    text = await world.text(TOOL, command="pwd; echo oops >&2; echo done")
    assert text == f"{world.workspace}\noops\ndone"


async def test_a_failing_command_is_an_error_that_names_its_exit_code(world):
    result = await world.run(TOOL, command="echo before; exit 3")
    assert result.is_error
    assert result.text == "before\n\nExit code 3."


async def test_a_command_killed_by_a_signal_says_which(world):
    result = await world.run(TOOL, command="kill -SEGV $$")
    assert result.is_error
    assert "signal 11" in result.text


async def test_silence_is_said(world):
    assert await world.text(TOOL, command="true") == "(The command succeeded and printed nothing.)"


async def test_there_is_no_input_to_wait_for(world):
    assert await world.text(TOOL, command="cat; echo end", timeout_seconds=10) == "end"


async def test_a_background_process_that_holds_the_pipe_hangs_nothing_and_is_stopped(world):
    started = time.monotonic()
    text = await world.text(TOOL, command="sleep 300 & echo $!")
    assert time.monotonic() - started < 60, "the process sleeps for 300"
    assert not any(map(is_alive, [int(text)]))


async def test_a_process_that_left_the_group_and_holds_the_pipe_hangs_nothing(world):
    leave = "setsid sh -c 'echo $$ >pids; exec sleep 300' & until [ -s pids ]; do sleep 0.01; done"
    assert await world.text(TOOL, command=f"{leave}; echo end", timeout_seconds=20) == "end"
    [pid] = await pids_in(world, 1)
    psutil.Process(pid).kill()


async def test_timeout_ends_the_whole_tree_even_what_ignores_term(world):
    command = "trap '' TERM; (trap '' TERM; sleep 300 & echo $! >>pids; wait) & echo $! >>pids; echo $$ >>pids; wait"
    result = await world.run(TOOL, command=f"echo started; {command}; sleep 300", timeout_seconds=3)
    assert result.is_error
    assert result.text.startswith("started\n\nStopped after 3 seconds")
    assert not any(map(is_alive, await pids_in(world, 3)))


async def test_timeout_ends_children_that_made_a_session_of_their_own(world):
    await world.run(TOOL, command="setsid sh -c 'echo $$ >pids; sleep 300' ; true", timeout_seconds=3)
    assert not any(map(is_alive, await pids_in(world, 1)))


async def test_cancel_ends_the_whole_tree_at_once(world):
    command = "trap '' TERM; echo $$ >>pids; sh -c 'echo $$ >>pids; sleep 300'; sleep 300"
    task = asyncio.create_task(world.run(TOOL, command=command))
    pids = await pids_in(world, 2)
    started = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - started < 10, "it would have slept for 300"
    await world.until(lambda: not any(map(is_alive, pids)))


async def test_a_second_cancel_leaves_nothing_running(world):
    task = asyncio.create_task(world.run(TOOL, command="trap '' TERM; echo $$ >>pids; while :; do sleep 1; done"))
    pids = await pids_in(world, 1)
    task.cancel()
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await world.until(lambda: not any(map(is_alive, pids)))


async def test_a_flood_keeps_its_head_and_tail_and_the_loop_stays_responsive(world):
    gaps = []

    async def beat():
        while True:
            before = time.monotonic()
            await asyncio.sleep(0.01)
            gaps.append(time.monotonic() - before)

    heart, started = asyncio.create_task(beat()), time.monotonic()
    result = await world.run(TOOL, command="echo first; yes; echo never", timeout_seconds=3)
    heart.cancel()
    elapsed = time.monotonic() - started
    assert max(gaps) < elapsed / 2
    assert len(result.text) < 31_000
    assert result.text.startswith("first\ny\ny\n")
    assert "Stopped after 3 seconds" in result.text
    assert 10_000_000 <= len(saved_text(result.text)) < 10_200_000
    assert len(world.progress) <= elapsed / UPDATE_SECONDS + 10


async def test_a_long_output_is_saved_whole_and_the_result_says_how_much_and_where(world):
    result = await world.run(TOOL, command="for i in $(seq 20000); do echo line $i; done")
    assert result.text.startswith("line 1\nline 2\n")
    assert result.text.endswith("line 20000")
    whole = "\n".join(f"line {i}" for i in range(1, 20_001))
    assert f"{len(whole) + 1:,} bytes; all of it: " in result.text
    assert saved_text(result.text) == whole


async def test_one_line_of_two_megabytes_is_bounded(world):
    text = await world.text(TOOL, command="head -c 2000000 /dev/zero | tr '\\0' x")
    assert len(text) < 31_000


async def test_progress_shows_the_last_lines_while_the_command_runs(world):
    task = asyncio.create_task(world.run(TOOL, command="for i in $(seq 50); do echo $i; done; touch out; sleep 300"))
    await world.until(lambda: world.progress and world.progress[-1].endswith("\n50"))
    assert "\n30\n" not in world.progress[-1]
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_the_last_output_is_always_shown(world):
    await world.text(TOOL, command="echo one; sleep 0.02; echo two")
    assert world.progress[-1] == "one\ntwo"


async def test_bytes_that_are_no_text_are_replaced(world):
    assert await world.text(TOOL, command="printf 'a\\377b\\303\\244'") == "a\ufffdbä"


async def test_no_key_of_ours_reaches_the_command(world, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    monkeypatch.setenv("GIT_TOKEN", "sk-secret")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Ada")
    text = await world.text(TOOL, command="env")
    assert "sk-secret" not in text
    assert "GIT_AUTHOR_NAME=Ada" in text
    assert "TERM=dumb" in text


def test_the_environment_is_an_allow_list():
    given = {"PATH": "/bin", "LC_ALL": "C", "MY_VAR": "1", "OPENAI_API_KEY": "k", "HOMEBREW": "x", "https_proxy": "p"}
    assert environment(given) == {"PATH": "/bin", "LC_ALL": "C", "https_proxy": "p", "TERM": "dumb"}


async def test_what_cannot_be_a_command_is_refused_in_a_sentence(world):
    assert "empty" in await world.failure(TOOL, command="  ")
    assert "NUL" in await world.failure(TOOL, command="echo \0")
    assert "too long" in await world.failure(TOOL, command="echo " + "x" * 3_000_000)


async def test_the_preview_is_the_command_itself(world):
    assert await world.preview(TOOL, command="rm -rf x") == CommandPreview(
        "rm -rf x", str(world.workspace), "Runs without a sandbox."
    )
