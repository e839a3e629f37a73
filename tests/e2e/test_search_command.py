"""`caddie search` as a person runs it: the ranking with its reasons, and a word about servers that take long."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from editor_client import clean_environment
from terminal_screen import Screen

SERVERS = Path(__file__).parents[1] / "fixtures" / "mcp_servers"


@pytest.fixture
def with_git(repository: Path, git_server: dict[str, object]) -> Path:
    (repository / ".mcp.json").write_text(json.dumps({"mcpServers": {"git": git_server}}))
    return repository


def caddie(workspace: Path, home: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "caddie", *args],
        cwd=workspace,
        env=clean_environment(home),
        capture_output=True,
        text=True,
        timeout=90,
    )


def test_explain_prints_the_scores_and_reasons_of_each_hit_in_order(with_git: Path, home: Path) -> None:
    asked = ("search", "show the log of commits", "--trust", "--limit", "3")
    told = caddie(with_git, home, *asked, "--explain")
    listed = json.loads(caddie(with_git, home, *asked, "--json").stdout)

    assert told.returncode == 0, told.stderr
    heads = re.findall(r"^(\d\.\d{3})  (\S+)   keyword (\d\.\d{3}) · TF-IDF (\d\.\d{3})$", told.stdout, re.MULTILINE)
    assert [name for _, name, *_ in heads] == [hit["tool"] for hit in listed["hits"]]
    assert heads[0][1] == "mcp__git__git_log"
    assert [float(score) for score, *_ in heads] == pytest.approx([hit["score"] for hit in listed["hits"]], abs=0.001)
    assert re.search(r"^       name: (show, )?log", told.stdout, re.MULTILINE)
    assert "description: " in told.stdout


def test_explain_says_that_a_name_put_a_tool_first(with_git: Path, home: Path) -> None:
    told = caddie(with_git, home, "search", "which files would git_add take?", "--trust", "--explain")
    first, reasons = told.stdout.splitlines()[:2]
    assert "mcp__git__git_add " in first
    assert reasons.strip().startswith("exact name: git_add")


def test_explain_of_a_question_that_nothing_fits_says_so(with_git: Path, home: Path) -> None:
    told = caddie(with_git, home, "search", "xylophone", "--trust", "--explain")
    assert told.returncode == 1
    assert "No tool fits 'xylophone'" in told.stdout
    assert "Traceback" not in told.stderr


@pytest.mark.parametrize("command", [("search", "letters"), ("exec", "Glob", '{"pattern": "*"}')])
def test_at_a_terminal_a_command_that_waits_for_servers_says_for_which(
    workspace: Path, home: Path, command: tuple[str, ...]
) -> None:
    silent = {"command": sys.executable, "args": ["-c", "import time; time.sleep(60)"]}
    (workspace / ".mcp.json").write_text(json.dumps({"mcpServers": {"slow": silent, "idle": silent}}))
    argv = [sys.executable, "-m", "caddie", *command, "--trust", "--wait", "3"]
    screen = Screen.spawn(argv, env=clean_environment(home), cwd=workspace)
    try:
        screen.wait_for("waiting for 2 servers: idle, slow …")
    finally:
        screen.close()
