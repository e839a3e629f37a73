"""`caddie ask`: the same road for scripts; the exit code tells how it ended."""

from __future__ import annotations

import json
from pathlib import Path

import psutil
import pytest
from llmock.pytest_plugin import LLMock

from command_kit import caddie, double, lines

GIT_LOG = "mcp__git__git_log"


@pytest.fixture
def with_git(repository: Path, git_server: dict[str, object]) -> Path:
    (repository / ".mcp.json").write_text(json.dumps({"mcpServers": {"git": git_server}}))
    return repository


def test_the_story_by_ask_with_events_as_json_lines(llmock: LLMock, with_git: Path, home: Path) -> None:
    llmock.call_tool("ToolSearch", {"query": "commit history"})
    llmock.call_tool("ExecuteTool", {"tool_name": GIT_LOG, "params": {"repo_path": str(with_git)}})
    llmock.reply("The last commit fixes the rounding of totals.")
    result = caddie(
        with_git, home, "ask", "What changed last?", "--json", "--trust", "--allow", "mcp__git__*", env=double(llmock)
    )
    assert result.returncode == 0, result.stderr
    events = [line["event"] for line in lines(result) if "event" in line]
    calls = [(event["tool"], event["status"]) for event in events if event["kind"] == "toolCall"]
    assert (GIT_LOG, "done") in calls
    assert "ExecuteTool" not in dict(calls)
    last = lines(result)[-1]["result"]
    assert last["text"] == "The last commit fixes the rounding of totals."
    assert last["exitCode"] == 0


def test_without_permission_the_exit_code_is_3_and_the_reason_is_said(
    llmock: LLMock, with_git: Path, home: Path
) -> None:
    llmock.call_tool("ExecuteTool", {"tool_name": GIT_LOG, "params": {"repo_path": str(with_git)}})
    llmock.reply("I was not allowed to look.")
    result = caddie(with_git, home, "ask", "What changed last?", "--trust", env=double(llmock))
    assert result.returncode == 3
    assert "git_log needs a permission" in result.stderr
    assert result.stdout.strip() == "I was not allowed to look."


def test_an_empty_answer_ends_with_4(llmock: LLMock, workspace: Path, home: Path) -> None:
    llmock.reply("")
    assert caddie(workspace, home, "ask", "hi", env=double(llmock)).returncode == 4


@pytest.mark.parametrize(("status", "said"), [(401, "ANTHROPIC_API_KEY"), (400, "")])
def test_a_provider_that_refuses_ends_with_5_and_never_shows_the_key(
    llmock: LLMock, workspace: Path, home: Path, status: int, said: str
) -> None:
    llmock.fail(status=status)
    result = caddie(workspace, home, "ask", "hi", env=double(llmock))
    assert result.returncode == 5
    assert said in result.stderr
    assert "test-key-7e3a" not in result.stdout + result.stderr
    assert "Traceback" not in result.stderr


def test_a_rate_limit_is_waited_for_and_said(llmock: LLMock, workspace: Path, home: Path) -> None:
    llmock.rate_limit(retry_after=1.0)
    llmock.reply("Now.")
    result = caddie(workspace, home, "ask", "hi", env=double(llmock))
    assert (result.returncode, result.stdout.strip()) == (0, "Now.")
    assert "Trying again" in result.stderr
    llmock.assert_resilient()


@pytest.mark.parametrize("fault", ["truncate", "disconnect", "corrupt"])
def test_a_stream_that_breaks_is_asked_for_again(llmock: LLMock, workspace: Path, home: Path, fault: str) -> None:
    llmock.reply("The whole answer.", times=2)  # the first of the two is cut
    getattr(llmock, fault)(after_chunks=2)
    result = caddie(workspace, home, "ask", "hi", "--json", env=double(llmock))
    assert result.returncode == 0, result.stdout + result.stderr
    assert lines(result)[-1]["result"]["text"] == "The whole answer."
    llmock.assert_resilient()


def test_a_required_server_that_is_missing_ends_with_6(workspace: Path, home: Path) -> None:
    result = caddie(workspace, home, "ask", "hi", "--require", "jira")
    assert result.returncode == 6
    assert "'jira' is not configured" in result.stderr


def test_a_server_that_will_not_start_is_named_and_the_question_is_answered_all_the_same(
    llmock: LLMock, workspace: Path, home: Path
) -> None:
    (workspace / ".mcp.json").write_text('{"mcpServers": {"ghost": {"command": "no-such-program-7"}}}')
    llmock.reply("Hello.")
    result = caddie(workspace, home, "ask", "hi", "--trust", env=double(llmock))
    assert (result.returncode, result.stdout.strip()) == (0, "Hello.")
    required = caddie(workspace, home, "ask", "hi", "--trust", "--require", "ghost", env=double(llmock))
    assert required.returncode == 6
    assert "no-such-program-7" in required.stderr


def test_resume_goes_on_with_the_stored_session(llmock: LLMock, workspace: Path, home: Path) -> None:
    llmock.reply("Seven.")
    llmock.reply("Eight.")
    caddie(workspace, home, "ask", "Think of seven", env=double(llmock))
    result = caddie(workspace, home, "ask", "-", "--resume", "last", env=double(llmock), stdin="And the next?")
    assert result.stdout.strip() == "Eight."
    assert "Think of seven" in str(llmock.last_request.body["messages"])


def test_without_a_key_it_still_does_its_job_and_says_that_it_is_no_language_model(
    repository: Path, home: Path
) -> None:
    result = caddie(repository, home, "ask", "read totals.py")
    assert result.returncode == 0, result.stderr
    assert "TOTAL = 2" in result.stdout
    assert "No language model is connected" in result.stdout


def test_it_leaves_no_process_behind(with_git: Path, home: Path) -> None:
    result = caddie(with_git, home, "search", "commits", "--trust")
    assert result.returncode == 0, result.stderr
    assert [p for p in psutil.process_iter(["cmdline"]) if str(with_git) in str(p.info)] == []


def test_the_looking_commands_agree_with_each_other(with_git: Path, home: Path) -> None:
    listed = json.loads(caddie(with_git, home, "tools", "--json", "--trust").stdout)
    found = json.loads(caddie(with_git, home, "search", "git_log", "--json", "--trust").stdout)
    told = json.loads(caddie(with_git, home, "explain", "git_log", "--json", "--trust").stdout)
    discovered = caddie(with_git, home, "discover", "show commit logs", "--trust").stdout
    assert GIT_LOG in [tool["name"] for tool in listed["tools"]]
    assert found["hits"][0]["tool"] == GIT_LOG
    assert found["hits"][0]["exact"]
    assert (told["tool"], told["state"]) == (GIT_LOG, "deferred")
    assert f"## {GIT_LOG}" in discovered
    assert '"max_count"' in discovered


def test_exec_runs_one_tool_and_doctor_says_what_is_wrong(with_git: Path, home: Path) -> None:
    ran = caddie(with_git, home, "exec", GIT_LOG, json.dumps({"repo_path": str(with_git)}), "--trust", "--yes")
    assert "Fix the rounding of totals" in ran.stdout
    unknown = caddie(with_git, home, "exec", "git_lgo", "{}", "--trust", "--yes")
    assert unknown.returncode == 7
    assert "git_log" in unknown.stderr
    broken = caddie(with_git, home, "exec", GIT_LOG, "{broken", "--trust")
    assert broken.returncode == 2
    (home / ".config" / "caddie").mkdir(parents=True, exist_ok=True)
    (home / ".config" / "caddie" / "settings.json").write_text('{"tols": {}, "hints": {"threshold": 101}}')
    doctor = caddie(with_git, home, "doctor", "--trust")
    assert doctor.returncode == 1
    assert "tols: unknown setting (did you mean 'tools'?)" in doctor.stdout
    assert "hints.threshold" in doctor.stdout
    assert "MCP server git: ready, 12 tools" in doctor.stdout
