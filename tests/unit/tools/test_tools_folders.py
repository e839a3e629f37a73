"""A window of several folders: all of them are inside, nothing else is, and what is guarded stays guarded."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from caddie.layers import Layer, resolve
from caddie.tools.builtin import BUILTIN
from caddie.tools.folders import further_folders
from caddie.tools.permissions import Verdict, decide, read_rules
from caddie.tools.places import Surroundings
from caddie.tools.tool import Tool
from engine_kit import mcp_tool

TOOLS = {tool.name: tool for tool in BUILTIN}
WRITE, BASH, READ = TOOLS["Write"], TOOLS["Bash"], TOOLS["Read"]
AUTO, ACCEPT = {"mode": "auto"}, {"mode": "acceptEdits"}


def judged(tool: Tool, params: dict[str, Any], around: Surroundings, **permissions: Any) -> Verdict:
    resolved = resolve([Layer("user", {"permissions": permissions})])
    assert resolved.problems == ()
    return decide(
        tool, params, rules=read_rules(resolved), grants=(), permissions=resolved.settings.permissions, around=around
    )


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders beside one another, and links between them and out of them."""
    root = tmp_path_factory.mktemp("window")
    for folder in ("shop/src", "shop/.git/hooks", "api/src", "api/.git/hooks", "api/secrets", "apis", "away"):
        (root / folder).mkdir(parents=True)
    for link, target in (
        ("shop/to-api", "../api"), ("shop/to-away", "../away"), ("api/to-shop", "../shop"), ("api/to-away", "../away"),
        ("api/to-git", ".git"), ("shop/hooks", "../api/.git/hooks"), ("linked", "api"),
    ):  # fmt: skip
        (root / link).symlink_to(target)
    return root


@pytest.fixture(scope="module")
def around(root: Path) -> Surroundings:
    return Surroundings(root / "shop", own=(root / "config",), further=further_folders(root / "shop", [root / "api"]))


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("src/a.py", "allow"),
        ("{root}/api/src/a.py", "allow"),
        ("../api/new/a.py", "allow"),
        ("to-api/src/a.py", "allow"),
        ("{root}/linked/src/a.py", "allow"),
        ("{root}/api/to-shop/src/a.py", "allow"),
        ("{root}/apis/a.py", "ask"),
        ("{root}/api/../away/a.py", "ask"),
        ("{root}/api/to-away/a.py", "ask"),
        ("to-api/to-away/a.py", "ask"),
        ("to-away/a.py", "ask"),
        ("{root}/API/src/a.py", "ask"),
        ("{root}/api/.git/hooks/x", "ask"),
        ("{root}/api/to-git/hooks/x", "ask"),
        ("{root}/api/.GIT/config", "ask"),
        ("hooks/x", "ask"),
        ("{root}/api/.vscode/settings.json", "ask"),
        ("{root}/api/.caddie/settings.json", "ask"),
        ("{root}/api/.mcp.json", "ask"),
        ("{root}/api/pkg/.envrc", "ask"),
        ("{root}/api/both.code-workspace", "ask"),
        ("{root}/config/settings.json", "ask"),
    ],
)
@pytest.mark.parametrize("permissions", [ACCEPT, AUTO, {"allow": ["Write"]}])
def test_a_write_is_inside_in_each_folder_and_guarded_as_in_the_first(
    root: Path, around: Surroundings, path: str, kind: str, permissions: dict[str, Any]
) -> None:
    params = {"path": path.format(root=root), "content": ""}
    assert judged(WRITE, params, around, **permissions).kind == kind


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("echo x > {root}/api/src/a", "allow"),
        ("cd {root}/api && echo x > src/a", "allow"),
        ("echo x > {root}/away/a", "ask"),
        ("cd {root}/api && echo x > ../away/a", "ask"),
        ("cp a {root}/api/.git/hooks/post-commit", "ask"),
        ("cd {root}/api && cp a .git/hooks/post-commit", "ask"),
    ],
)
def test_a_command_writes_into_each_folder_and_not_into_what_is_guarded(
    root: Path, around: Surroundings, command: str, kind: str
) -> None:
    assert judged(BASH, {"command": command.format(root=root)}, around, **AUTO).kind == kind


def test_a_servers_tool_may_not_name_what_is_guarded_in_a_further_folder(root: Path, around: Surroundings) -> None:
    tool = mcp_tool("files", "put")
    assert judged(tool, {"file": f"{root}/api/.git/config"}, around, **AUTO).kind == "ask"
    assert judged(tool, {"file": f"{root}/api/src/a"}, around, **AUTO).kind == "allow"


def test_a_relative_pattern_forbids_in_each_folder_and_allows_in_the_first(root: Path, around: Surroundings) -> None:
    """The rule may come from the first folder's own settings, which have no say over others."""
    first, further = {"path": "src/a", "content": ""}, {"path": f"{root}/api/src/a", "content": ""}
    assert [judged(WRITE, one, around, **AUTO, deny=["Write(src/*)"]).kind for one in (first, further)] == ["deny"] * 2
    assert [judged(WRITE, one, around, **AUTO, ask=["Write(src/*)"]).kind for one in (first, further)] == ["ask"] * 2
    assert [judged(WRITE, one, around, allow=["Write(src/*)"]).kind for one in (first, further)] == ["allow", "ask"]
    assert judged(WRITE, further, around, allow=[f"Write({root}/linked/src/*)"]).kind == "allow"
    assert judged(READ, {"path": f"{root}/api/secrets/key"}, around, deny=["Read(secrets/*)"]).kind == "deny"


def test_a_folder_that_was_closed_is_outside_again(root: Path, around: Surroundings) -> None:
    alone = Surroundings(around.workspace, around.own)
    verdict = judged(WRITE, {"path": f"{root}/api/src/a", "content": ""}, alone, **AUTO)
    assert (verdict.kind, verdict.by) == ("ask", f"{root}/api/src/a is outside the workspace.")


def test_a_guarded_place_stays_guarded_when_a_folder_in_it_was_opened_too(root: Path) -> None:
    hooks = Surroundings(root / "api/.git/hooks")
    both = Surroundings(hooks.workspace, further=further_folders(hooks.workspace, [root / "api"]))
    params = {"path": "x", "content": ""}
    assert [judged(WRITE, params, around, **AUTO).kind for around in (hooks, both)] == ["allow", "ask"]


@pytest.mark.parametrize(
    ("told", "found"),
    [
        (["shop"], []),
        (["shop", "api"], ["api"]),
        (["api", "shop", "api"], ["api"]),
        (["shop", "shop/src", "api/src", "api"], ["api"]),
        (["shop", "linked", "api"], ["api"]),
        (["shop", "shop/to-away"], ["away"]),
        (["shop", "api", "apis"], ["api", "apis"]),
        (["shop", "."], ["."]),
        (["shop", "gone"], ["gone"]),
        (["a\0b"], []),
    ],
)
def test_a_folder_inside_another_one_adds_nothing(root: Path, told: list[str], found: list[str]) -> None:
    assert further_folders(root / "shop", [root / name for name in told]) == tuple(root / name for name in found)


PARTS = st.sampled_from(["shop", "api", "away", "apis", "src", "to-api", "to-shop", "to-away", "..", ".", ".git", "x"])


@settings(max_examples=300, suppress_health_check=list(HealthCheck))
@given(st.lists(PARTS, min_size=1, max_size=6), st.booleans())
def test_nothing_is_written_unasked_but_where_a_folder_really_is(
    root: Path, around: Surroundings, parts: list[str], is_absolute: bool
) -> None:
    written = "/".join([*([str(root)] if is_absolute else []), *parts])
    real = Path(os.path.realpath(around.workspace / written))
    is_inside = any(real.is_relative_to(root / name) for name in ("shop", "api"))
    is_free = is_inside and ".git" not in real.parts and ".git" not in Path(os.path.normpath(written)).parts
    verdict = judged(WRITE, {"path": written, "content": ""}, around, **AUTO)
    assert verdict.kind == ("allow" if is_free else "ask"), verdict.by
