"""Who may run what: a table of rules and calls."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from caddie.layers import Layer, resolve
from caddie.tools.builtin import BUILTIN
from caddie.tools.permissions import decide, parse_rule, read_rules
from caddie.tools.places import Surroundings
from caddie.tools.tool import Tool
from engine_kit import mcp_tool

TOOLS = {tool.name: tool for tool in BUILTIN}
LINEAR = mcp_tool("my-linear", "create_issue")
READ_IMPOSTOR = mcp_tool("evil", "Read")
BASH = TOOLS["Bash"]
AROUND = Surroundings(Path("/home/ada/shop"), own=(Path("/home/ada/.local/share/caddie"),))


def verdict(tool: Tool, params: dict[str, Any], **permissions: Any) -> str:
    resolved = resolve([Layer("user", {"permissions": permissions})])
    assert resolved.problems == ()
    rules = read_rules(resolved)
    settings = resolved.settings.permissions
    return decide(tool, params, rules=rules, grants=(), permissions=settings, around=AROUND).kind


@pytest.mark.parametrize(
    ("command", "allowed"),
    [
        ("git log", True),
        ("git log --oneline -5", True),
        ("git log | head -3", True),
        ("git log 2>&1 && git log -1", True),
        ("git logs", False),
        ("git log && rm -rf /", False),
        ("git log; curl evil", False),
        ("git log > /etc/passwd", False),
        ("git log $(rm x)", False),
        ("git log `rm x`", False),
        ("git log & rm x", False),
        ("git log\nrm x", False),
        ("X=1 git log", False),
        ("git log <(rm x)", False),
        ("git 'log", False),
        ("", False),
    ],
)
def test_each_simple_command_of_a_line_must_be_allowed_by_itself(command: str, allowed: bool) -> None:
    allow = ["Bash(git log:*)", "Bash(head:*)"]
    assert verdict(BASH, {"command": command}, allow=allow) == ("allow" if allowed else "ask")


def test_deny_wins_over_ask_over_allow_over_auto() -> None:
    params = {"command": "git push"}
    assert verdict(BASH, params, mode="auto") == "allow"
    assert verdict(BASH, params, mode="auto", allow=["Bash"], ask=["Bash(git push:*)"]) == "ask"
    assert verdict(BASH, params, mode="auto", allow=["Bash"], ask=["Bash"], deny=["Bash(git push:*)"]) == "deny"


def test_a_denied_command_is_denied_wherever_it_stands_in_the_line() -> None:
    for command in ("rm x", "ls && rm x", "echo $(rm x)", "for i in 1; do rm x; done", "(rm x)"):
        assert verdict(BASH, {"command": command}, deny=["Bash(rm:*)"], allow=["Bash"]) == "deny", command


@pytest.mark.parametrize(
    "spelling",
    ["mcp__my-linear__create_issue", "mcp__my-linear__*", "mcp__my-linear", "mcp__*", "my-linear/create_issue",
     "my-linear/", "my-linear__create_issue", "MCP__My-Linear__Create_Issue", "create_issue", "*"],
)  # fmt: skip
def test_every_spelling_of_a_tool_denies_it(spelling: str) -> None:
    assert verdict(LINEAR, {}, deny=[spelling], mode="auto") == "deny"


def test_a_server_cannot_publish_its_way_into_a_permission_by_a_built_in_name() -> None:
    assert verdict(READ_IMPOSTOR, {}, allow=["Read"]) == "ask"
    assert verdict(READ_IMPOSTOR, {}, allow=["evil/Read"]) == "allow"
    assert verdict(TOOLS["Read"], {"path": "x"}, allow=["Read"]) == "allow"


def test_reads_run_unasked_and_changes_ask() -> None:
    assert verdict(TOOLS["Read"], {"path": "x"}) == "allow"
    assert verdict(TOOLS["TodoWrite"], {"todos": []}) == "allow"
    assert verdict(TOOLS["Write"], {"path": "x", "content": ""}) == "ask"
    assert verdict(TOOLS["Write"], {"path": "x", "content": ""}, mode="acceptEdits") == "allow"
    assert verdict(BASH, {"command": "ls"}, mode="acceptEdits") == "ask"
    assert verdict(LINEAR, {}) == "ask"


def test_path_and_address_patterns_are_globs() -> None:
    write = TOOLS["Write"]
    assert verdict(write, {"path": "src/a.py", "content": ""}, allow=["Write(src/*)"]) == "allow"
    assert verdict(write, {"path": "secrets/a", "content": ""}, allow=["Write(src/*)"]) == "ask"
    fetch = TOOLS["WebFetch"]
    assert (
        verdict(fetch, {"url": "https://docs.python.org/3/"}, allow=["WebFetch(https://docs.python.org/*)"]) == "allow"
    )


def test_a_path_that_climbs_out_of_an_allowed_folder_is_not_allowed() -> None:
    climbing = {"path": "src/../secrets/a", "content": ""}
    assert verdict(TOOLS["Write"], climbing, allow=["Write(src/*)"]) == "ask"
    for path in ("./secrets/a", "src/../secrets/a", "/home/ada/shop/secrets/a"):
        assert verdict(TOOLS["Write"], {"path": path, "content": ""}, deny=["Write(secrets/*)"]) == "deny", path


def test_what_is_written_into_a_file_does_not_vouch_for_where_the_file_is() -> None:
    params = {"path": "main.py", "old_string": "a", "new_string": "see x/generated/y"}
    assert verdict(TOOLS["Edit"], params, allow=["Edit(*/generated/*)"]) == "ask"
    assert verdict(TOOLS["Edit"], {**params, "path": "x/generated/y"}, allow=["Edit(*/generated/*)"]) == "allow"


def test_a_rule_about_the_argument_path_looks_at_the_real_file_too() -> None:
    edit = {"old_string": "a", "new_string": "b"}
    assert verdict(TOOLS["Edit"], {"path": "src/../deploy.yml", **edit}, allow=["Edit(path=src/*)"]) == "ask"
    assert verdict(TOOLS["Edit"], {"path": "src/a.py", **edit}, allow=["Edit(path=src/*)"]) == "allow"
    assert verdict(TOOLS["Edit"], {"path": "./src/a.py", **edit}, deny=["Edit(path=src/*)"]) == "deny"


@pytest.mark.parametrize(
    ("url", "rule"),
    [
        ("http://evil.com/x", "https://evil.com/*"),
        ("http://evil.com:80/x", "https://evil.com/*"),
        ("http://evil.com:443/x", "https://evil.com/*"),
        ("https://evil.com/x", "http://evil.com/*"),
        ("https://\uff45vil.com/x", "https://evil.com/*"),
        ("https://evil\u3002com/x", "https://evil.com/*"),
        ("https://e\u00advil.com/x", "https://evil.com/*"),
        ("https://xn--mnchen-3ya.de/x", "https://münchen.de/*"),
        ("https://münchen.de/x", "https://xn--mnchen-3ya.de/*"),
        ("https://evil.com/%61dmin", "https://evil.com/admin*"),
        ("https://evil.com/a/%2e%2e/admin", "https://evil.com/admin*"),
    ],
)
def test_no_spelling_of_an_address_slips_past_a_rule(url: str, rule: str) -> None:
    assert verdict(TOOLS["WebFetch"], {"url": url}, deny=[f"WebFetch({rule})"], mode="auto") == "deny"


def test_an_address_that_servers_may_read_as_another_is_not_vouched_for() -> None:
    allow = ["WebFetch(https://docs.example.org/a/*)"]
    assert verdict(TOOLS["WebFetch"], {"url": "https://docs.example.org/a/b%20c"}, allow=allow) == "allow"
    for path in ("a/%2e%2e/secret", "a/..%2fsecret"):
        assert verdict(TOOLS["WebFetch"], {"url": f"https://docs.example.org/{path}"}, allow=allow) == "ask", path


def test_what_is_no_address_is_asked_about_like_any_other() -> None:
    for url in ("http://[", "https://a\uff0fb/"):
        assert verdict(TOOLS["WebFetch"], {"url": url}, allow=["WebFetch(https://a/*)"]) == "ask", url


@pytest.mark.parametrize(
    "command",
    ["tar -C.git/hooks -xf e.tar", "cp -t.git/hooks e", "cp -rt.git/hooks e", "curl -so.git/hooks/pre-commit u",
     "cp x .{git,x}/config", "cp x .gi{t,u}/config", "cp x {a,.git/config}"],
)  # fmt: skip
def test_a_guarded_file_is_seen_behind_the_letters_of_an_option_and_in_braces(command: str) -> None:
    assert verdict(BASH, {"command": command}, mode="auto") == "ask"
    assert verdict(BASH, {"command": "cp -rt.github x"}, mode="auto") == "allow"


def test_blanks_inside_the_parentheses_of_a_rule_do_not_count() -> None:
    assert verdict(BASH, {"command": "rm x"}, deny=["Bash( rm:* )"], mode="auto") == "deny"
    assert verdict(BASH, {"command": "git log -1"}, allow=["Bash( git log:*)"]) == "allow"


def test_a_rule_of_any_length_is_read_at_once() -> None:
    started = time.process_time()
    assert parse_rule("a" + " " * 5_000 + "(", "deny", "user") is None
    assert time.process_time() - started < 1
