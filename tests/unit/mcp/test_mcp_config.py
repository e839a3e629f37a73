"""Servers named by a workspace's own files."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from caddie.mcp.config import WorkspaceServers, read_workspace_servers


def read(workspace: Path, *, mcp: str | None = None, vscode: str | None = None) -> WorkspaceServers:
    if mcp is not None:
        (workspace / ".mcp.json").write_text(mcp)
    if vscode is not None:
        (workspace / ".vscode").mkdir(exist_ok=True)
        (workspace / ".vscode" / "mcp.json").write_text(vscode)
    return read_workspace_servers(workspace)


def test_no_file_is_no_server_no_problem_and_no_fingerprint(tmp_path: Path) -> None:
    assert read(tmp_path) == WorkspaceServers({}, (), "")


def test_both_files_are_read_and_the_nearer_one_wins_a_name(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        mcp='{"mcpServers": {"git": {"command": "near", "args": ["-x"], "env": {"A": "b"}}}}',
        vscode='{"servers": {"git": {"command": "far"}, "web": {"type": "http", "url": "https://x.test/mcp"}}}',
    )
    assert found.problems == ()
    assert sorted(found.servers) == ["git", "web"]
    git = found.servers["git"]
    assert (git.server.command, git.server.args, dict(git.server.env)) == ("near", ("-x",), {"A": "b"})
    assert git.origin == ".mcp.json"
    assert found.servers["web"].server.url == "https://x.test/mcp"
    assert found.servers["web"].origin == ".vscode/mcp.json"


def test_comments_and_trailing_commas_are_read_and_unknown_keys_ignored(tmp_path: Path) -> None:
    text = """{
      // my servers
      "inputs": [],
      "servers": {"a": {"type": "stdio", "command": "a", "gallery": true, "env": {"PORT": 80},},},
    }"""
    found = read(tmp_path, vscode=text)
    assert found.problems == ()
    assert found.servers["a"].server.env["PORT"] == "80"


def test_a_broken_file_is_told_with_line_and_column_and_the_other_stays(tmp_path: Path) -> None:
    found = read(tmp_path, mcp='{"mcpServers":\n  {"a": }\n}', vscode='{"servers": {"b": {"command": "b"}}}')
    assert list(found.servers) == ["b"]
    [problem] = found.problems
    assert problem.startswith(".mcp.json:2:9: ")


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("3", "expected an object"),
        ("{}", "give either 'command' or 'url'"),
        ('{"command": "a", "url": "b"}', "not both"),
        ('{"type": "sse", "command": "a"}', "needs 'url'"),
        ('{"command": ["a"]}', "command"),
        ('{"command": "a", "env": {"K": "${input:token}"}}', "${input:token}"),
        ('{"command": "a", "args": ["${NOT_SET_HERE}"]}', "'NOT_SET_HERE' is not set"),
        ('{"command": "${command:pick}"}', "is not known"),
    ],
)
def test_a_broken_server_is_told_by_name_and_the_others_stay(tmp_path: Path, entry: str, words: str) -> None:
    found = read(tmp_path, mcp=f'{{"mcpServers": {{"bad": {entry}, "good": {{"command": "g"}}}}}}')
    assert list(found.servers) == ["good"]
    [problem] = found.problems
    assert problem.startswith(".mcp.json: mcpServers.bad")
    assert words in problem


@pytest.mark.parametrize("text", ["[]", "{}", '{"mcpServers": []}', '{"servers": {}}'])
def test_a_file_of_another_shape_is_told(tmp_path: Path, text: str) -> None:
    found = read(tmp_path, mcp=text)
    assert found.servers == {}
    assert "mcpServers" in found.problems[0]


def test_an_empty_file_is_no_problem(tmp_path: Path) -> None:
    assert read(tmp_path, mcp="\n").problems == ()


def test_variables_are_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERE", "here")
    monkeypatch.delenv("GONE", raising=False)
    args = '["${workspaceFolder}/x", "${HERE}", "${env:HERE}", "${GONE:-or that}", "${env:GONE}", "$HOME"]'
    found = read(tmp_path, mcp=f'{{"mcpServers": {{"a": {{"command": "a", "args": {args}, "cwd": "sub"}}}}}}')
    assert found.problems == ()
    server = found.servers["a"].server
    assert server.args == (f"{tmp_path}/x", "here", "here", "or that", "", "$HOME")
    assert server.cwd == str(tmp_path / "sub")


def test_the_fingerprint_follows_every_byte_of_either_file(tmp_path: Path) -> None:
    seen = [
        read(tmp_path, mcp='{"mcpServers": {}}').fingerprint,
        read(tmp_path, mcp='{"mcpServers": {} }').fingerprint,
        read(tmp_path, vscode='{"servers": {}}').fingerprint,
    ]
    assert len(set(seen)) == 3
    assert read_workspace_servers(tmp_path).fingerprint == seen[-1]


def test_a_switched_off_server_stays_in_sight(tmp_path: Path) -> None:
    found = read(tmp_path, mcp='{"mcpServers": {"a": {"command": "a", "disabled": true}}}')
    assert not found.servers["a"].server.enabled


def test_a_registration_by_hand_is_read_with_its_secret_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAFE_SECRET", "s-123")
    oauth = '{"clientId": "by-hand", "clientSecret": "${env:SAFE_SECRET}", "callbackPort": 8123}'
    found = read(tmp_path, mcp=f'{{"mcpServers": {{"safe": {{"url": "https://x.test/mcp", "oauth": {oauth}}}}}}}')
    registered = found.servers["safe"].server.oauth
    assert (registered.client_id, registered.client_secret, registered.callback_port) == ("by-hand", "s-123", 8123)


def test_the_home_of_a_user_who_is_not_known_breaks_nothing(tmp_path: Path) -> None:
    found = read(
        tmp_path, mcp='{"mcpServers": {"a": {"command": "x", "cwd": "~nobody-here/y"}, "b": {"command": "x"}}}'
    )
    assert sorted(found.servers) == ["a", "b"]


def test_a_file_that_is_none_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".mcp.json")
    assert read(tmp_path).problems == (".mcp.json: cannot be read: it is no regular file.",)


def test_plain_json_does_not_wait_for_the_slow_reader_of_odd_spellings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "json5", None)  # importing it fails
    assert sorted(read(tmp_path, mcp='{"mcpServers": {"a": {"command": "x"}}}').servers) == ["a"]
