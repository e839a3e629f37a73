from __future__ import annotations

import pytest

from caddie.tools.exact import resolve
from caddie.tools.tool import ToolSpec


def tool(name: str, *, server: str = "", original: str = "") -> ToolSpec:
    return ToolSpec(name=name, description="", input_schema={}, server=server, original_name=original)


GITHUB = tool("mcp__github__create_issue", server="github", original="create_issue")
LINEAR = tool("mcp__linear__create_issue", server="linear", original="create_issue")
ASK = tool("mcp__plugin_oh-my_x__ask_codex")
DOTTED = tool("mcp__cal__calendar_create", server="cal", original="calendar.create")
TOOLS = (LINEAR, ASK, GITHUB, DOTTED, tool("CronCreate"))


@pytest.mark.parametrize(
    "name",
    ["ask_codex", "ASK_CODEX", " ask_codex ", "`ask_codex`", "plugin_oh-my_x/ask_codex", ASK.name, ASK.name.upper()],
)
def test_each_spelling_of_a_name_means_the_one_tool(name: str) -> None:
    assert resolve(name, TOOLS) == (ASK,)


def test_the_original_name_and_the_wire_name_mean_the_same_tool() -> None:
    assert resolve("calendar.create", TOOLS) == resolve("mcp__cal__calendar_create", TOOLS) == (DOTTED,)


def test_an_ambiguous_bare_name_lists_all_candidates_by_name() -> None:
    assert resolve("create_issue", TOOLS) == (GITHUB, LINEAR)


def test_naming_the_server_makes_a_bare_name_unambiguous() -> None:
    assert resolve("Linear/create_issue", TOOLS) == (LINEAR,)


def test_a_wire_name_as_written_wins_over_the_same_letters_in_another_case() -> None:
    low, high = tool("read"), tool("Read")
    assert resolve("Read", (low, high)) == (high,)
    assert resolve("READ", (low, high)) == (high, low)


@pytest.mark.parametrize("name", ["nope", "", "  ", "create", "github"])
def test_an_unknown_name_means_no_tool(name: str) -> None:
    assert resolve(name, TOOLS) == ()
