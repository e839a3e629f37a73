"""Rows of the tools panel: which there are, what matches a filter, and what they add up to."""

from __future__ import annotations

from typing import Any

import pytest
from rich.cells import cell_len

from caddie.protocol.mcp import ServerInfo
from caddie.protocol.permissions import GrantInfo, RuleInfo
from caddie.protocol.tools import StateSource, ToolInfo
from caddie.terminal.panel_foot import detail_lines, hints, keys_for
from caddie.terminal.panel_lines import draw, source_words, totals_pieces
from caddie.terminal.panel_rows import (
    Header,
    Note,
    ServerLine,
    ToolLine,
    View,
    permission_rows,
    server_rows,
    tool_rows,
    totals,
)
from caddie.terminal.panel_words import _TABLE, Words, language_of

EN, ZH = Words("en"), Words("zh")


def tool(name: str, state: Any = "enabled", *, server: str = "", tokens: int = 100, **more: Any) -> ToolInfo:
    return ToolInfo(
        name=f"mcp__{server}__{name}" if server else name,
        label=name,
        description=more.pop("description", f"Does {name}"),
        server=server or None,
        state=state,
        state_source=more.pop("source", StateSource(kind="profile")),
        read_only=False,
        destructive=True,
        tokens=tokens,
    )


def server(name: str, status: Any = "ready", reason: str | None = None, tools: int = 0) -> ServerInfo:
    return ServerInfo(name=name, status=status, reason=reason, tools=tools)


VIEW = View(
    tools=(tool("Bash"), tool("WebFetch", "disabled"), tool("git_log", "deferred", server="git", tokens=220)),
    servers=(server("git", tools=1), server("jira", "failed", "JIRA_TOKEN is not set")),
)


def keys(view: View, query: str = "", folded: tuple[str, ...] = ()) -> list[str]:
    return [row.key for row in tool_rows(view, query, folded)]


def line(row: Any, width: int = 80, words: Words = EN, **more: Any) -> str:
    return "".join(piece.text for piece in draw(row, width, words, **more))


def test_built_in_tools_come_first_and_a_server_without_tools_has_its_header() -> None:
    assert keys(VIEW) == [
        "server ", "tool Bash", "tool WebFetch", "server git", "tool mcp__git__git_log", "server jira",
    ]  # fmt: skip


def test_a_folded_group_keeps_its_header_and_its_sums() -> None:
    assert keys(VIEW, folded=("", "git")) == ["server ", "server git", "server jira"]
    header = next(row for row in tool_rows(VIEW, folded=("git",)) if row.key == "server git")
    assert line(header).startswith(" ▸ git  ready · 1 tool")
    assert line(header).rstrip().endswith("0 / 220")


@pytest.mark.parametrize("query", ["log", "GIT LOG", "ＬＯＧ", "does git_", "git"])
def test_a_filter_finds_by_name_description_and_server_in_any_case_and_width(query: str) -> None:
    assert "tool mcp__git__git_log" in keys(VIEW, query)
    assert "tool Bash" not in keys(VIEW, query)


def test_a_filter_opens_folded_groups_and_hides_groups_without_a_match() -> None:
    assert keys(VIEW, "log", folded=("git",)) == ["server git", "tool mcp__git__git_log"]


def test_a_filter_that_nothing_fits_says_so_and_how_to_clear_it() -> None:
    (row,) = tool_rows(VIEW, "no such {tool}")
    assert line(row).strip() == "Nothing matches “no such {tool}”. Esc clears the filter."


def test_a_failed_server_is_found_by_its_name() -> None:
    assert keys(VIEW, "jira") == ["server jira"]


def test_totals_count_states_and_only_enabled_tools_fill_the_prompt() -> None:
    sums = totals(VIEW.tools)
    assert (sums.enabled, sums.deferred, sums.disabled, sums.tokens_now, sums.tokens_all) == (1, 1, 1, 100, 420)
    said = "".join(piece.text for piece in totals_pieces(sums, EN, use=True))
    assert said.strip() == "1 ✓  1 ◐  1 ✗   100 of 420 tokens"


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("words", [EN, ZH])
def test_every_row_has_the_width_of_the_screen(width: int, words: Words) -> None:
    wide = tool("查询发票", "deferred", server="账单", description="按状态和日期查找发票，返回金额、客户和到期日" * 3)
    glob = StateSource(kind="setting", scope="workspace", setting="tools.disabled", pattern="mcp__acme__delete_*")
    view = View(
        tools=(*VIEW.tools, wide, tool("delete_customer", "disabled", server="acme", source=glob)),
        servers=(*VIEW.servers, server("slow", "connecting"), server("账单", "needsAuth", "请登录" * 30)),
    )
    for row in (*tool_rows(view), *server_rows(view)):
        assert cell_len(line(row, width, words, waited={"slow": 3})) == width, row


def test_the_source_names_the_scope_and_the_pattern_when_it_is_a_glob() -> None:
    glob = StateSource(kind="setting", scope="workspace", setting="tools.disabled", pattern="git_*")
    name = StateSource(kind="setting", scope="user", setting="tools.disabled", pattern="Bash")
    assert source_words(glob, EN) == "workspace · git_*"
    assert source_words(name, EN) == "user"
    assert source_words(StateSource(kind="masterSwitch"), EN) == "tools.use"
    assert source_words(StateSource(kind="profile"), EN) == ""


def test_a_failed_server_says_why_and_which_keys_help() -> None:
    status = server("jira", "failed", "exited with 1 after 0.3 s: JIRA_TOKEN is not set; trying again in a while")
    text = line(Header("jira", status, (), True))
    assert "failed: JIRA_TOKEN is not set" in text
    assert text.rstrip().endswith("r restart  l log")
    assert "exited with 1 after 0.3 s: JIRA_TOKEN" in line(Header("jira", status, (), True), 140)


def test_a_connecting_server_says_for_how_long() -> None:
    assert "connecting 3 s" in line(ServerLine(server("git", "connecting")), waited={"git": 3})


def test_what_strangers_write_is_text_and_stays_on_its_line() -> None:
    evil = tool("[red]x[/red]", server="a\nb", description="\x1b[2J[bold]one[/bold]\u202e\r\ntwo")
    for row in tool_rows(View(tools=(evil,))):
        text = line(row)
        assert text.isprintable()
    assert "[red]x[/red]" in line(ToolLine(evil))
    assert "[bold]one[/bold]" in line(ToolLine(evil))


def test_permissions_show_rules_with_their_scope_and_what_was_granted() -> None:
    grant = GrantInfo(id="g1", tool="Bash", scope="always", pattern="git status", granted="2026-01-02T03:04:05Z")
    view = View(rules=(RuleInfo(rule="Bash(rm *)", kind="deny", scope="user"),), grants=(grant,))
    text = "\n".join(line(row) for row in permission_rows(view))
    assert "deny     Bash(rm *)" in text
    assert "Bash  git status" in text
    assert "always · 2026-01-02" in text


def test_without_servers_the_tab_says_where_to_add_some() -> None:
    assert server_rows(View(notices=("The server x waits.",))) == (Note("no_servers"), Note(text="The server x waits."))


@pytest.mark.parametrize("words", [EN, ZH])
def test_the_way_out_is_shown_at_any_width(words: Words) -> None:
    first, _ = keys_for("tools", ToolLine(tool("Bash")), words, typing=False, asking=False, use=True, detail=False)
    for width in (30, 80, 120):
        text = "".join(piece.text for piece in hints(first, width))
        assert f"Esc {words('k_done')}" in text
        assert cell_len(text.rstrip()) <= width


def test_a_long_answer_is_cut_at_its_end_and_a_long_log_at_its_beginning() -> None:
    text = "\n".join(f"line {number}" for number in range(20))
    assert detail_lines([text], 80, 3) == [" line 0", " line 1", " …"]
    assert detail_lines([text], 80, 3, is_log=True) == [" …", " line 18", " line 19"]
    assert all(cell_len(part) <= 20 for part in detail_lines(["很长的句子没有空格" * 5, "x" * 70], 20, 30))


def test_both_languages_say_everything_with_the_same_blanks() -> None:
    import string

    def blanks(text: str) -> set[str | None]:
        return {field for _, field, _, _ in string.Formatter().parse(text) if field}

    for key, (english, chinese) in _TABLE.items():
        assert english, key
        assert chinese, key
        assert blanks(english) >= blanks(chinese), key


def test_the_language_is_the_environment_s() -> None:
    assert language_of({"LANG": "zh_CN.UTF-8"}) == "zh"
    assert language_of({"LC_ALL": "en_US.UTF-8", "LANG": "zh_CN.UTF-8"}) == "en"
    assert language_of({}) == "en"
