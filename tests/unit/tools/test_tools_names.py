"""Names that every provider takes, for tools that are named as their servers please."""

from __future__ import annotations

import re
import subprocess
import sys
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from caddie.tools.names import assign_names, wire_name

SAFE = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
ODD = st.text(alphabet="ab_.- /查é", max_size=70)


def test_a_name_that_fits_is_kept() -> None:
    assert wire_name("git", "git_log") == "mcp__git__git_log"
    assert wire_name("my-server", "create-Issue") == "mcp__my-server__create-Issue"


def test_dots_slashes_spaces_and_other_scripts_are_replaced_and_told_apart() -> None:
    names = assign_names("s", ["calendar.create", "calendar create", "calendar_create", "admin/tools", "查询", "查问"])
    assert names["calendar_create"] == "mcp__s__calendar_create"
    assert names["calendar.create"].startswith("mcp__s__calendar_create_")
    assert len(set(names.values())) == 6
    assert all(SAFE.fullmatch(name) for name in names.values())


def test_long_names_with_the_same_beginning_stay_apart_and_readable() -> None:
    server, shared = "s" * 40, "t" * 64
    one, two = assign_names(server, [shared + "1", shared + "2"]).values()
    assert one != two
    assert one.startswith(f"mcp__{server}__t")
    assert len(one) == len(two) == 64


def test_servers_and_tools_that_spell_the_same_name_get_different_ones() -> None:
    assert wire_name("a", "b__c") != wire_name("a__b", "c")
    assert wire_name("a_", "b") != wire_name("a", "_b")


def test_a_tool_named_like_anothers_shortened_name_does_not_take_it() -> None:
    mimic = wire_name("s", "a.b").removeprefix("mcp__s__")
    names = assign_names("s", ["a.b", mimic])
    assert len(set(names.values())) == 2
    assert names == assign_names("s", [mimic, "a.b"])


def test_a_name_taken_by_another_server_is_avoided() -> None:
    assert assign_names("s", ["x"], {"mcp__s__x"})["x"] not in {"mcp__s__x", ""}


def test_names_are_the_same_in_another_process() -> None:
    code = "from caddie.tools.names import wire_name; print(wire_name('s', 'a.b'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=240)
    assert done.stdout.strip() == wire_name("s", "a.b")


@given(st.lists(st.tuples(ODD, ODD), unique=True, max_size=8))
def test_every_name_is_safe_and_no_two_tools_share_one(tools: list[tuple[str, str]]) -> None:
    names = [wire_name(server, tool) for server, tool in tools]
    assert all(SAFE.fullmatch(name) for name in names)
    assert len(set(names)) == len(tools)


def mimics(wire: str) -> list[tuple[str, str]]:
    """Every server and tool that could spell this name."""
    bare = wire.removeprefix("mcp__")
    places = [place for place in range(len(bare)) if bare.startswith("__", place)]
    return [(bare[:place], bare[place + 2 :]) for place in places]


@given(st.lists(st.tuples(ODD, ODD), unique=True, max_size=5), st.randoms(use_true_random=False))
def test_who_comes_first_and_who_else_is_there_never_matters(tools: list[tuple[str, str]], random: Random) -> None:
    everyone = list(dict.fromkeys([*tools, *(mimic for tool in tools for mimic in mimics(wire_name(*tool)))]))
    by_server: dict[str, list[str]] = {}
    for server, tool in everyone:
        by_server.setdefault(server, []).append(tool)
    servers = list(by_server)
    random.shuffle(servers)
    taken: dict[str, tuple[str, str]] = {}
    for server in servers:
        for tool, wire in assign_names(server, by_server[server], list(taken)).items():
            taken[wire] = (server, tool)
    assert len(taken) == len(everyone)
    assert all(wire == wire_name(server, tool) for wire, (server, tool) in taken.items())


@given(ODD, ODD)
def test_every_provider_takes_every_name(server: str, tool: str) -> None:
    name = wire_name(server, tool)
    anthropic, openai_chat, gemini = r"[a-zA-Z0-9_-]{1,64}", r"[a-zA-Z0-9_-]{1,64}", r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}"
    assert all(re.fullmatch(rule, name) for rule in (anthropic, openai_chat, gemini))


def test_a_long_list_of_like_names_stays_apart() -> None:
    tools = [f"{'very.long/name of a tool ' * 5}{number}" for number in range(3000)]
    names = assign_names("server", tools)
    assert len(set(names.values())) == 3000
    assert all(name.startswith("mcp__server__very_long_name_of_a_tool") for name in names.values())


@given(st.lists(ODD, unique=True, max_size=8), st.randoms(use_true_random=False))
def test_the_order_of_the_list_never_matters(tools: list[str], random: Random) -> None:
    shuffled = list(tools)
    random.shuffle(shuffled)
    assert assign_names("s", tools) == assign_names("s", shuffled)
