"""The commands where something is missing: a stream, a folder, an alphabet; and words that would act on a terminal."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from llmock.pytest_plugin import LLMock

from command_kit import Result, caddie, double
from editor_client import clean_environment


def in_shell(line: str, folder: Path, home: Path) -> Result:
    """`line` names the program as `$CADDIE`."""
    command = f"CADDIE={shlex.quote(sys.executable)}' -m caddie'; {line}"
    return subprocess.run(
        ["sh", "-c", command], cwd=folder, env=clean_environment(home), capture_output=True, text=True, timeout=240
    )


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_locale_without_our_marks_shows_the_rest(workspace: Path, home: Path, encoding: str) -> None:
    result = caddie(workspace, home, "explain", "WebFetch", "--json", env={"PYTHONIOENCODING": encoding})
    assert result.returncode == 0, result.stderr
    result = caddie(workspace, home, "tools", env={"PYTHONIOENCODING": encoding})
    assert result.returncode == 0, result.stderr
    assert "? Bash" in result.stdout


def test_a_closed_stream_is_an_empty_one(workspace: Path, home: Path) -> None:
    result = in_shell("$CADDIE ask - <&-", workspace, home)
    assert (result.returncode, result.stderr) == (
        2, "caddie: The message is empty; write what you want to know or have done.\n"
    )  # fmt: skip
    result = in_shell("$CADDIE tools >&-", workspace, home)
    assert (result.returncode, result.stderr) == (0, "")
    result = in_shell("$CADDIE chat <&-", workspace, home)
    assert (result.returncode, result.stderr) == (0, "")


def test_a_folder_that_is_not_there_is_named(workspace: Path, home: Path) -> None:
    result = caddie(workspace, home, "ask", "hi", "-C", "typo")
    assert result.returncode == 2
    assert "'typo' is no folder" in result.stderr
    assert not (workspace / "typo").exists()
    gone = "mkdir gone; cd gone; rmdir ../gone; "
    result = in_shell(gone + "$CADDIE tools", workspace, home)
    assert result.returncode == 2
    assert "'.' is no folder; name one that exists with -C DIR" in result.stderr
    assert in_shell(gone + "$CADDIE --version", workspace, home).returncode == 0


def test_arguments_nested_beyond_reason_are_refused_in_a_sentence(workspace: Path, home: Path) -> None:
    result = caddie(workspace, home, "exec", "Read", "[" * 50_000)
    assert result.returncode == 2
    assert result.stderr.startswith("caddie: the arguments are not valid JSON")


def test_what_a_failed_tool_says_does_not_act_on_the_terminal(llmock: LLMock, workspace: Path, home: Path) -> None:
    command = "printf '\\033]0;owned\\007\\033[2J'; exit 3"
    llmock.call_tool("Bash", {"command": command})
    llmock.reply("It failed.")
    asked = caddie(workspace, home, "ask", "Run it", "--yes", env=double(llmock))
    executed = caddie(workspace, home, "exec", "Bash", json.dumps({"command": command}), "--yes")
    for result in (asked, executed):
        assert "]0;owned[2J" in result.stderr
        assert not {"\x1b", "\x07"} & set(result.stderr)


def test_a_piped_conversation_with_bytes_that_are_no_text_goes_on(workspace: Path, home: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "caddie", "chat"],
        cwd=workspace,
        env={**clean_environment(home), "PYTHONIOENCODING": "utf-8:strict"},
        input=b"caf\xe9\n/quit\n",
        capture_output=True,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout
