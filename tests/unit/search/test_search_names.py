"""Names inside sentences: what can be a plain word is found as well, but not before better tools."""

from __future__ import annotations

import time

import pytest

from caddie.search.engine import MAX_BEYOND_LIMIT, ToolIndex
from caddie.search.tool_search import Found, answer, shown
from caddie.tools.tool import ToolSpec


def tool(name: str, description: str = "", *, server: str = "") -> ToolSpec:
    return ToolSpec(f"mcp__{server}__{name}" if server else name, description, {}, original_name=name, server=server)


def index_of(*tools: ToolSpec) -> ToolIndex:
    index = ToolIndex()
    index.update(added=tools)
    return index


MANY = tuple(tool("search", f"Search the records of {n}", server=f"s{n:02}") for n in range(14))
USES = tuple(tool(f"search_{n}", "Search and search again", server="other") for n in range(6))


def test_tools_of_a_plain_name_that_many_bear_come_after_the_limit_and_say_why() -> None:
    hits = index_of(*MANY, *USES).search("search the archive for letters", 3).hits
    assert [hit.named for hit in hits[:3]] == [hit.tool in MANY for hit in hits[:3]]
    assert {hit.tool.name for hit in hits} >= {spec.name for spec in MANY}
    assert not any(hit.exact for hit in hits)
    assert all(hit.reasons[0] == "named in the question: search" for hit in hits[3:])


@pytest.mark.parametrize(
    "query", ["use the search tool on the archive", "please call search for letters", "用 search 工具"]
)
def test_beside_a_word_for_calling_a_plain_word_is_a_name(query: str) -> None:
    hits = index_of(*USES, tool("find", "Search and search"), MANY[0]).search(query, 3).hits
    assert (hits[0].tool, hits[0].exact) == (MANY[0], True)


@pytest.mark.parametrize(
    "query", ["请调用git_diff看看", "git_diff를 실행", "git_diffを使って", "请帮我查询快递单号，谢谢"]
)
def test_names_are_found_in_text_without_blanks(query: str) -> None:
    tools = (tool("git_diff", "Show changes"), tool("查询快递", "Parcels"), *USES)
    first = index_of(*tools).search(query, 2).hits[0]
    assert first.exact
    assert first.tool.name in ("git_diff", "查询快递")


def test_a_name_inside_a_longer_one_comes_after_it() -> None:
    tools = (tool("log", "git log log"), tool("git", "git log git"), tool("git log", "Commits"))
    assert next(hit.tool.name for hit in index_of(*tools).search("what would git log show me", 3).hits) == "git log"


def test_a_stop_word_that_is_a_name_is_found_but_asks_for_nothing() -> None:
    ranking = index_of(tool("go", "Run Go code"), *USES).search("ok go on", 5)
    assert [hit.tool.name for hit in ranking.hits] == ["go"]
    assert ranking.nothing_fits


def test_what_is_named_beyond_any_measure_is_bounded() -> None:
    tools = [tool("search", "Search", server=f"s{n}") for n in range(3 * MAX_BEYOND_LIMIT)]
    ranking = index_of(*tools).search("search", 5)
    assert len(ranking.hits) == 5 + MAX_BEYOND_LIMIT
    assert ranking.total == len(tools)


def test_the_answer_describes_some_and_lists_the_other_named_tools() -> None:
    ranking = index_of(*MANY, *USES).search("search", 5)
    found = Found("words", "search", ranking.hits, ranking.total, (), (), (), False, limit=5)
    text = answer(found)
    assert len(shown(found)) == text.count("## mcp__") == 10
    assert all(spec.name in text for spec in MANY)
    assert "Also named in the query, not described here" in text
    assert len(text) < 5_000


def test_a_question_of_nothing_but_blanks_is_answered_at_once() -> None:
    started = time.process_time()
    assert index_of(*MANY).search(" " * 10_000 + "x", 3).hits == ()
    assert time.process_time() - started < 1


def test_names_joined_by_and_or_or_are_a_list_however_they_are_spaced() -> None:
    hits = (
        index_of(tool("read", "Read"), tool("write", "Write"), tool("erase", "Erase"))
        .search("read  and  write or erase", 5)
        .hits
    )
    assert {hit.tool.name for hit in hits if hit.exact} == {"read", "write", "erase"}
