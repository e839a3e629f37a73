from __future__ import annotations

import asyncio
import random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from caddie.search.engine import ToolIndex
from caddie.tools.tool import ToolSpec

SCRIPTS = ["查询", "天气", "ファイル", "일정", "портфель", "café"]
WORDS = st.sampled_from(["create_event", "getOrder", "list", "time", "the", "mcp__x__y", "42", "{}", "+list", *SCRIPTS])
TEXT = st.one_of(st.text(max_size=40), st.lists(WORDS, max_size=6).map(" ".join))
WIRE_NAMES = st.from_regex(r"[A-Za-z0-9_-]{1,24}", fullmatch=True)
SPECS = st.builds(
    ToolSpec,
    name=WIRE_NAMES,
    description=TEXT,
    input_schema=st.dictionaries(
        st.just("properties"), st.dictionaries(TEXT, st.dictionaries(st.just("description"), TEXT))
    ),
    original_name=TEXT,
    server=st.one_of(st.just(""), WORDS),
    search_hint=TEXT,
)
CATALOGUES = st.lists(SPECS, max_size=8, unique_by=lambda spec: spec.name)
BOUNDED = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])


def index_of(tools: list[ToolSpec], *, warm: bool) -> ToolIndex:
    index = ToolIndex()
    index.update(added=tools)
    if warm:
        asyncio.run(index.warm())
    return index


@BOUNDED
@given(CATALOGUES, TEXT, st.integers(0, 10), st.booleans())
def test_no_question_raises_and_no_answer_breaks_its_bounds(
    tools: list[ToolSpec], query: str, limit: int, warm: bool
) -> None:
    index = index_of(tools, warm=warm)
    ranking = index.search(query, limit)
    names = [hit.tool.name for hit in ranking.hits]
    assert len(names) == len(set(names))
    assert all(hit.named for hit in ranking.hits[limit:])
    assert ranking.total >= len(names)
    assert all(0 <= part <= 1 for hit in ranking.hits for part in (hit.score, hit.keyword, hit.tfidf))
    assert index.search(query, limit) == ranking


@BOUNDED
@given(CATALOGUES.filter(bool), st.data(), st.booleans())
def test_every_tool_is_among_the_first_for_its_own_name(tools: list[ToolSpec], data: st.DataObject, warm: bool) -> None:
    index = index_of(tools, warm=warm)
    wanted = data.draw(st.sampled_from(tools)).name
    ranking = index.search(wanted, len(tools))
    assert wanted in {hit.tool.name for hit in ranking.hits if hit.exact}
    assert ranking.hits[0].exact
    assert not ranking.nothing_fits


@BOUNDED
@given(CATALOGUES, CATALOGUES, TEXT, st.randoms(), st.booleans())
def test_no_history_changes_the_answer(
    tools: list[ToolSpec], passing: list[ToolSpec], query: str, rnd: random.Random, warm: bool
) -> None:
    rebuilt = index_of(tools, warm=warm)
    travelled = index_of(passing, warm=warm)
    travelled.search(query, 3)
    shuffled = list(tools)
    rnd.shuffle(shuffled)
    travelled.update(added=shuffled)
    travelled.update(removed={spec.name for spec in passing} - {spec.name for spec in tools})
    assert travelled.search(query, 10) == rebuilt.search(query, 10)
