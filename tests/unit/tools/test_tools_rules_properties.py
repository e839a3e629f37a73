"""What holds for all rules: deny over ask over allow, whatever is added, however it is spelt, wherever a path leads."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from caddie.layers import Layer, resolve
from caddie.tools.builtin import BUILTIN
from caddie.tools.grants import Grant, grant_of
from caddie.tools.permissions import Verdict, decide, read_rules
from caddie.tools.places import Surroundings
from caddie.tools.tool import Tool
from engine_kit import mcp_tool

BASH, WRITE, READ = (next(tool for tool in BUILTIN if tool.name == name) for name in ("Bash", "Write", "Read"))
LOG, PUSH = mcp_tool("git", "log"), mcp_tool("git-hub", "push", needs_interaction=True)
HOME = Path("/home/ada/shop")

CALLS: list[tuple[Tool, dict[str, Any]]] = [
    (BASH, {"command": "git log"}),
    (BASH, {"command": "git log && rm x"}),
    (BASH, {"command": "$X rm"}),
    (WRITE, {"path": "src/a.py", "content": ""}),
    (WRITE, {"path": "src/../.git/config", "content": ""}),
    (READ, {"path": "secrets/key"}),
    (LOG, {"repo": "shop", "count": 3}),
    (PUSH, {"force": True}),
]
RULES = [
    "Bash", "Bash(git log:*)", "Bash(rm:*)", "Bash(*)", "Write", "Write(src/*)", "Write(*.py)", "Read",
    "Read(secrets/*)", "mcp__git__log", "git/log", "mcp__git", "mcp__*", "git/log(repo=shop)", "git/log(count=3)",
    "git-hub/", "*", "log", "push",
]  # fmt: skip
LISTS = st.lists(st.sampled_from(RULES), max_size=4, unique=True)
MODES = st.sampled_from(["ask", "acceptEdits", "plan", "auto"])
RANK = {"deny": 0, "ask": 1, "allow": 2}


def verdict(call: tuple[Tool, dict[str, Any]], grants: tuple[Grant, ...] = (), **permissions: Any) -> Verdict:
    resolved = resolve([Layer("user", {"permissions": permissions})])
    assert resolved.problems == ()
    return decide(
        *call, rules=read_rules(resolved), grants=grants, permissions=resolved.settings.permissions, around=AROUND
    )


AROUND = Surroundings(HOME, own=(Path("/home/ada/.config/caddie"),))


@given(st.sampled_from(CALLS), LISTS, LISTS, LISTS, MODES, st.sampled_from(RULES))
def test_adding_a_deny_or_ask_rule_only_makes_it_stricter(
    call: Any, allow: list[str], ask: list[str], deny: list[str], mode: str, more: str
) -> None:
    before = RANK[verdict(call, allow=allow, ask=ask, deny=deny, mode=mode).kind]
    assert RANK[verdict(call, allow=allow, ask=ask, deny=[*deny, more], mode=mode).kind] <= before
    assert RANK[verdict(call, allow=allow, ask=[*ask, more], deny=deny, mode=mode).kind] <= before


@given(st.sampled_from(CALLS), LISTS, LISTS, LISTS, MODES, st.permutations(RULES))
def test_no_allow_rule_mode_or_grant_beats_deny_or_what_must_be_seen(
    call: Any, allow: list[str], ask: list[str], deny: list[str], mode: str, everything: list[str]
) -> None:
    found = verdict(call, allow=allow, ask=ask, deny=deny, mode=mode)
    grant = grant_of(call[0].spec, call[1], "always", grant_id="g", granted="")
    widest = verdict(call, (grant,), allow=everything, ask=ask, deny=deny, mode="auto")
    if found.kind == "deny" or found.is_firm:
        assert (widest.kind, widest.is_firm) == (found.kind, found.is_firm)
    else:
        assert widest.kind == "allow"


@given(st.sampled_from(CALLS), st.permutations(["Bash", "mcp__*", "Write(src/*)"]), st.permutations(["rm", "*log"]))
def test_the_order_of_rules_does_not_matter(call: Any, allow: list[str], deny: list[str]) -> None:
    one = verdict(call, allow=allow, deny=deny).kind
    assert one == verdict(call, allow=allow[::-1], deny=deny[::-1]).kind


@given(
    st.text("abcXYZ-_. ", min_size=1, max_size=8).filter(str.strip),
    st.text("abcXYZ-_.", min_size=1, max_size=8).filter(lambda name: "__" not in name and name.strip("_")),
    st.booleans(),
)
def test_every_spelling_of_an_mcp_tool_denies_it(tool: str, server: str, upper: bool) -> None:
    named = mcp_tool(server, tool)
    spellings = [
        f"mcp__{server}__{tool}",
        f"{server}/{tool}",
        f"{server}__{tool}",
        tool,
        f"{server}/",
        f"mcp__{server}",
    ]
    for spelling in spellings:
        rule = spelling.upper() if upper else spelling
        assert verdict((named, {}), deny=[rule], allow=["mcp__*"], mode="auto").kind == "deny", rule


# Paths.


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with folders, and links between them and out of them."""
    root = tmp_path_factory.mktemp("tree") / "shop"
    for folder in ("src/deep", "secrets", "other", ".git/hooks"):
        (root / folder).mkdir(parents=True)
    for link, target in (
        ("src/out", "../secrets"), ("src/up", ".."), ("secrets/back", "../src"), ("other/git", "../.git"),
        ("other/away", "../.."), ("loop", "loop"), ("src/deep/s", "../../secrets/key"),
    ):  # fmt: skip
        (root / link).symlink_to(target)
    return root


PARTS = st.sampled_from(
    ["src", "deep", "secrets", "other", "out", "up", "back", "git", "away", "..", ".", "", "key", "hooks", ".git", "s",
     "SECRETS", "shop", "loop"]
)  # fmt: skip
PATHS = st.builds(lambda parts, is_absolute: ("/ROOT/" if is_absolute else "") + "/".join(parts), st.lists(
    PARTS, min_size=1, max_size=6), st.booleans())  # fmt: skip


def inside(path: str, folder: Path) -> bool:
    return path == str(folder) or path.startswith(f"{folder}/")


@settings(max_examples=400, suppress_health_check=list(HealthCheck))
@given(PATHS)
def test_a_path_is_judged_by_where_it_really_leads(tree: Path, path: str) -> None:
    written = path.replace("/ROOT", str(tree))
    real = os.path.realpath(tree / written)
    params = {"path": written, "content": ""}

    def judged(**permissions: Any) -> str:
        resolved = resolve([Layer("user", {"permissions": permissions})])
        return decide(
            WRITE, params, rules=read_rules(resolved), grants=(), permissions=resolved.settings.permissions,
            around=Surroundings(tree),
        ).kind  # fmt: skip

    if judged(allow=["Write(src/*)"]) == "allow":
        assert inside(real, tree / "src"), "an allow rule is about the real file"
    if judged(deny=["Write(secrets/*)", "Write(secrets)"], allow=["Write"], mode="auto") != "deny":
        assert not inside(real, tree / "secrets"), "a deny rule finds the real file"
    if judged(allow=["Write"], mode="auto") == "allow":
        assert inside(real, tree)
        assert not inside(real, tree / ".git"), "guarded files always ask"


@pytest.mark.parametrize(
    ("rule", "path", "kind"),
    [
        ("~/notes/*", "~/notes/a.md", "deny"),
        ("~/notes/*", "/home/ada/notes/a.md", "deny"),
        ("/home/ada/notes/*", "~/notes/a.md", "deny"),
        ("/home/ada/notes/*", "../notes/a.md", "deny"),
        ("./secrets/*", "secrets/a", "deny"),
        ("secrets/*", "Secrets/A", "deny"),
        ("**/key.pem", "a/b/key.pem", "deny"),
        ("*.pem", "a/b/key.pem", "deny"),
        ("secrets/*", "secret/a", "allow"),
    ],
)
def test_path_rules_know_home_dots_and_case(rule: str, path: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert verdict((READ, {"path": path}), deny=[f"Read({rule})"]).kind == kind


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://docs.python.org/3/", "allow"),
        ("HTTPS://Docs.Python.ORG/3/", "allow"),
        ("https://docs.python.org:443/3/", "allow"),
        ("https://docs.python.org./3/", "allow"),
        ("https://docs.python.org/../3/", "allow"),
        ("https://docs.python.org@evil.example/", "ask"),
        ("https://ada@docs.python.org/", "ask"),
        ("https://docs.python.org.evil.example/", "ask"),
        ("https://docs.python.org\\@evil.example/", "ask"),
        ("http://docs.python.org/", "ask"),
        ("https://DENIED.example/x", "deny"),
        ("https://user@denied.example:443/x", "deny"),
        ("https://denied.example./x", "deny"),
    ],
)
def test_address_rules_mean_the_host_that_is_asked(url: str, kind: str) -> None:
    fetch = next(tool for tool in BUILTIN if tool.name == "WebFetch")
    rules = {"allow": ["WebFetch(https://docs.python.org/*)"], "deny": ["WebFetch(https://denied.example/*)"]}
    assert verdict((fetch, {"url": url}), **rules).kind == kind
