from __future__ import annotations

import asyncio
import random
import subprocess
import sys

import pytest

from caddie.search.engine import ToolIndex
from caddie.tools.tool import ToolSpec


def tool(name: str, description: str = "", *, server: str = "", **properties: str) -> ToolSpec:
    schema = {"type": "object", "properties": {key: {"description": text} for key, text in properties.items()}}
    wire = f"mcp__{server}__{name}" if server else name
    return ToolSpec(wire, description, schema, original_name=name if server else "", server=server)


def index_of(*tools: ToolSpec, **options: object) -> ToolIndex:
    index = ToolIndex(**options)  # type: ignore[arg-type]
    index.update(added=tools)
    return index


def found(index: ToolIndex, query: str, limit: int = 5) -> list[str]:
    return [hit.tool.label for hit in index.search(query, limit).hits]


GIT = (
    tool("git_log", "Show the commits of a branch", server="git", max_count="How many commits"),
    tool("git_diff", "Show changes between commits", server="git"),
    tool("git_commit", "Record changes to the repository", server="git"),
)
CALENDAR = (
    tool("create_event", "Add an appointment to the calendar", server="calendar"),
    tool("list_events", "Upcoming appointments", server="calendar"),
)
FILLER = tuple(
    tool(f"{verb}_{noun}", f"{verb} one {noun} of the shop", server="shop")
    for verb in ("get", "list", "create", "update", "delete")
    for noun in (
        "order",
        "customer",
        "invoice",
        "basket",
        "coupon",
        "refund",
        "parcel",
        "review",
        "voucher",
        "supplier",
    )
)
ALL = GIT + CALENDAR + FILLER


@pytest.fixture(params=["keyword alone", "both rankers"])
async def index(request: pytest.FixtureRequest) -> ToolIndex:
    index = index_of(*ALL)
    if request.param == "both rankers":
        async with asyncio.timeout(60):
            await index.warm()
        assert index.tfidf_ready
    return index


# --- exact names ---


def test_a_server_named_as_required_word_gives_all_its_tools(index: ToolIndex) -> None:
    assert sorted(found(index, "+git")) == ["git_commit", "git_diff", "git_log"]


def test_a_list_of_names_puts_every_named_tool_before_the_limit_cut() -> None:
    names = ["search_graph", "trace_path", "get_code_snippet", "query_graph", "search_code", "index_repository"]
    named = [tool(name, "Graph of the code", server="codebase-memory") for name in names]
    others = [
        tool(f"search_code_graph_{n}", "search graph path code repository index query snippet") for n in range(54)
    ]
    index = index_of(*others, *named)
    assert set(found(index, " ".join(names), 6)) == set(names)
    assert set(found(index, " ".join([*names, "codebase-memory"]), 6)) == set(names)
    assert index.search(" ".join(names), 3).total >= 6


@pytest.mark.parametrize(
    "query",
    [
        "git_diff",
        "GIT_DIFF",
        "mcp__git__git_diff",
        "git/git_diff",
        "please call git_diff on this, then create an order for the customer",
        "create order, create customer, git_diff, create invoice",
        'the tool called "git_diff"?',
    ],
)
def test_an_exact_name_comes_first_wherever_it_stands(index: ToolIndex, query: str) -> None:
    first = index.search(query, 1).hits[0]
    assert (first.tool.name, first.exact, first.reasons[0].split(":")[0]) == ("mcp__git__git_diff", True, "exact name")


def test_an_ambiguous_bare_name_finds_every_candidate_first() -> None:
    twins = [tool("create_issue", "x", server=server) for server in ("linear", "github")]
    ranking = index_of(*ALL, *twins).search("create_issue create order", 5)
    assert [hit.tool.server for hit in ranking.hits if hit.exact] == ["github", "linear"]


def test_a_full_name_comes_before_tools_that_share_only_its_bare_name() -> None:
    index = index_of(tool("search"), *(tool("search", "search", server=f"s{n}") for n in range(9)), tool("Search"))
    assert found(index, "search", 3)[:3] == ["search", "Search", "search"]
    named = index.search("mcp__s7__search and Search", 2).hits
    assert {hit.tool.name for hit in named[:2]} == {"Search", "mcp__s7__search"}


def test_a_bare_name_is_found_like_the_full_one() -> None:
    asked = tool("ask_codex", "Consult another model", server="plugin_oh-my_x")
    assert found(index_of(*ALL, asked), "ask_codex")[0] == "ask_codex"


def test_the_tools_of_a_server_that_the_question_names_lead() -> None:
    servers = {"linear": 20, "jira": 20, "github": 40}
    tools = [
        tool(f"{verb}_issue_{n}", f"{verb} an issue of the tracker", server=server)
        for server, count in servers.items()
        for n, verb in enumerate(["close", "open", "list", "comment"] * (count // 4))
    ]
    assert {hit.tool.server for hit in index_of(*tools).search("use linear to close ABC-1", 5).hits} == {"linear"}


def test_a_tool_named_by_a_plain_word_does_not_push_better_ones_aside() -> None:
    tools = [tool("list", "List the files of a folder"), *FILLER]
    hits = index_of(*tools).search("list all coupons", 5).hits
    assert hits[0].tool.label == "list_coupon"
    assert "list" in [hit.tool.label for hit in hits]


def test_names_with_blanks_are_found_inside_a_sentence() -> None:
    assert found(index_of(*ALL, tool("my tool", server="odd")), "run my tool for the order list")[0] == "my tool"


def test_the_scores_of_two_hundred_tools_of_one_server_depend_on_the_question() -> None:
    things = [f"thing{n}" for n in range(203)]
    index = index_of(*(tool(f"do_{thing}", f"Handles {thing}", server="big") for thing in things))
    for thing in (things[0], things[100], things[202]):
        assert found(index, f"+big {thing}")[0] == f"do_{thing}"


# --- words in every script ---

WORLD = (
    tool("portfolio", "Показать инвестиционный портфель"),
    tool("cron", "创建定时任务"),
    tool("grep", "ファイルの内容を検索します"),
    tool("schedule", "새 일정을 만들기"),
    tool("coffee", "Trouver un cafe pres d'ici"),
    tool("lookup", "查询快递"),
)


@pytest.mark.parametrize(
    ("query", "label"),
    [
        ("покажи мой портфель", "portfolio"),
        ("创建 定时任务", "cron"),
        ("ファイルを検索", "grep"),
        ("일정 만들기", "schedule"),
        ("café", "coffee"),
        ("查", "lookup"),
    ],
)
def test_questions_in_any_script_find_their_tool(query: str, label: str) -> None:
    ranking = index_of(*ALL, *WORLD).search(query, 5)
    assert ranking.hits[0].tool.label == label
    assert not ranking.nothing_fits


@pytest.mark.parametrize(
    ("query", "label"),
    [
        ("create event", "create_event"),
        ("createEvent", "create_event"),
        ("creating events", "create_event"),
        ("calender appointmnt", "create_event"),
        ("createevent", "create_event"),
        ("supplierz", "create_supplier"),
    ],
)
def test_inflected_joined_and_misspelt_words_find_their_tool(index: ToolIndex, query: str, label: str) -> None:
    assert label in found(index, query, 5)


def test_compounds_match_written_as_one_word_or_as_two() -> None:
    index = index_of(tool("a", "Watch the file system"), tool("b", "A filesystem browser"), *FILLER)
    assert set(found(index, "filesystem", 2)) == set(found(index, "file system", 2)) == {"a", "b"}


def test_a_catalogue_of_one_tool_still_answers() -> None:
    ranking = index_of(tool("git_log", "Show commits")).search("show recent commits", 5)
    assert ranking.hits[0].tool.name == "git_log"
    assert ranking.hits[0].score > 0.15


def test_a_word_that_all_tools_share_still_finds_them() -> None:
    index = index_of(tool("alpha", server="acme"), tool("beta", server="acme"))
    assert found(index, "acme") == ["alpha", "beta"]


# --- the same answer ---


async def test_neither_order_nor_history_changes_the_answer() -> None:
    queries = ["list orders", "git", "changes between commits", "create", "appointment calender", "refund a customer"]
    extra = [tool(f"extra_{n}", "Orders, commits and refunds", server="extra") for n in range(7)]
    expected = None
    for seed in range(5):
        tools = list(ALL)
        random.Random(seed).shuffle(tools)
        index = ToolIndex()
        index.update(added=tools[:20] + extra)
        index.update(added=tools[10:], removed=[extra[0].name])
        index.update(removed=[spec.name for spec in extra])
        async with asyncio.timeout(60):
            await index.warm()
        answers = [index.search(query, 10) for query in queries for _ in range(10)]
        expected = expected or answers
        assert answers == expected


def test_equal_scores_are_ordered_by_name() -> None:
    index = index_of(*(tool(name, "Same words") for name in ("c", "a", "b")))
    assert found(index, "same words", 2) == ["a", "b"]


def test_asking_for_an_exact_tool_before_changes_no_later_answer(index: ToolIndex) -> None:
    before = index.search("+git commits", 5)
    index.resolve("git_log")
    assert index.search("+git commits", 5) == before


# --- following the catalogue ---


async def test_an_empty_catalogue_can_be_warmed_and_filled_later() -> None:
    index = ToolIndex()
    async with asyncio.timeout(60):
        await index.warm()
    assert index.search("commits", 5).nothing_fits
    index.update(added=GIT)
    assert index.search("commits branch", 1).hits[0].tfidf > 0


async def test_a_changed_description_is_found_and_the_old_one_is_not(index: ToolIndex) -> None:
    index.update(added=[tool("git_log", "Zebra crossing", server="git", giraffe="long neck")])
    assert found(index, "zebra", 1) == found(index, "giraffe", 1) == ["git_log"]
    assert all(hit.tool.label != "git_log" for hit in index.search("+commits", 10).hits)
    assert len(index) == len(ALL)


def test_a_removed_tool_is_never_a_hit_again(index: ToolIndex) -> None:
    index.update(removed=["mcp__git__git_diff", "unknown"])
    assert "git_diff" not in found(index, "mcp__git__git_diff git_diff changes between commits", 60)


def test_tools_that_came_after_warming_are_ranked_by_both(index: ToolIndex) -> None:
    index.update(added=[tool("sing", "Perform an aria", server="opera")])
    hit = index.search("perform an aria", 1).hits[0]
    assert hit.tool.label == "sing"
    assert (hit.tfidf > 0) == index.tfidf_ready


def test_aliases_rank_first_and_follow_their_setting() -> None:
    spec = tool("web_search_advanced", "Query the web", server="exa")
    index = index_of(
        *ALL, spec, tool("deep_copy", "Search deep structures"), aliases={"exa/web_search_advanced": ["deep search"]}
    )
    assert found(index, "deep search")[0] == "web_search_advanced"
    assert spec == index.search("deep search", 1).hits[0].tool
    index.set_aliases({})
    assert found(index, "deep search")[0] != "web_search_advanced"


# --- required words, nothing fits, reasons ---


def test_required_words_leave_only_tools_that_hold_them(index: ToolIndex) -> None:
    assert set(found(index, "+branch show changes", 10)) == {"git_log"}


def test_a_required_word_that_no_tool_holds_is_named(index: ToolIndex) -> None:
    ranking = index.search("+zebra list orders", 5)
    assert (ranking.hits, ranking.missing, ranking.nothing_fits) == ((), ("zebra",), True)


@pytest.mark.parametrize(
    "query", ["thanks!", "ok go on", "", "  ", "?!", "OK, thank you very much", "好的，谢谢", "yes please"]
)
def test_small_talk_needs_no_tool(index: ToolIndex, query: str) -> None:
    ranking = index.search(query, 5)
    assert ranking.nothing_fits
    assert not ranking.hits


@pytest.mark.parametrize("query", ["translate this poem into Finnish", "what is the boiling point of tungsten"])
def test_a_question_for_another_catalogue_fits_nothing(index: ToolIndex, query: str) -> None:
    assert index.search(query, 5).nothing_fits


@pytest.mark.parametrize(
    "query", ["refund this customer", "show me the latest commits", "what is on my calendar tomorrow"]
)
def test_a_question_that_a_tool_serves_fits(index: ToolIndex, query: str) -> None:
    ranking = index.search(query, 5)
    assert not ranking.nothing_fits
    assert ranking.hits[0].score >= 0.15


def test_reasons_name_the_matched_words_by_field(index: ToolIndex) -> None:
    hit = index.search("git commits log", 1).hits[0]
    assert {"name: git, log", "description: commits", "parameter description: commits"} <= set(hit.reasons)
    assert 0 < hit.keyword <= 1
    assert hit.score <= 1


def test_the_limit_cuts_but_the_total_counts(index: ToolIndex) -> None:
    ranking = index.search("delete", 3)
    assert len(ranking.hits) == 3
    assert ranking.total == 10
    assert index.search("delete", 0).hits == ()


# --- limits ---


@pytest.mark.parametrize(
    "query", ["order " * 200_000, "x" * 1_000_000, ".*[(" * 10_000, "\x00\x1b[2J\ud800 order", "查" * 100_000]
)
def test_a_monstrous_question_is_answered(index: ToolIndex, query: str) -> None:
    index.search(query, 5)


@pytest.mark.parametrize(
    "schema",
    [{}, {"properties": []}, {"properties": {"a": ["x"], "b": None, "c": {"description": 3}}}, {"properties": "x"}],
)
def test_a_broken_schema_is_still_indexed_by_its_name(schema: dict[str, object]) -> None:
    assert found(index_of(ToolSpec("odd_tool", "", schema)), "odd") == ["odd_tool"]


def test_importing_the_engine_loads_neither_sklearn_nor_numpy() -> None:
    heavy = ("sklearn", "scipy", "numpy", "snowballstemmer")
    code = f"import sys, caddie.search.engine; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240, check=True)
    assert done.stdout.strip() == "[]"


def test_until_it_is_warm_the_index_answers_without_sklearn() -> None:
    code = (
        "import sys; from caddie.search.engine import ToolIndex; from caddie.tools.tool import ToolSpec\n"
        "index = ToolIndex(); index.update(added=[ToolSpec('git_log', 'Show commits', {})])\n"
        "print(index.search('commit', 5).hits[0].tool.name, 'sklearn' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240, check=True)
    assert done.stdout.split() == ["git_log", "False"]
