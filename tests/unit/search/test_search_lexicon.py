from __future__ import annotations

import asyncio
from pathlib import Path

from caddie.search import lexicon
from caddie.search.engine import ToolIndex
from caddie.tools.tool import ToolSpec

ENTRIES = [
    "# a comment",
    "天氣 天气 [tian1 qi4] /weather/",
    "查詢 查询 [cha2 xun2] /to check/to inquire/to consult (a document etc)/inquiry/query/",
    "刪除 删除 [shan1 chu2] /to delete/CL:個|个[ge4]/see also 去除[qu4 chu2]/",
    "A A [A] /(slang) (Tw) to steal/",
    "王 王 [Wang2] /surname Wang/",
    "not an entry",
]

TOOLS = (
    ToolSpec("get_forecast", "Weather for the next days in a city", {}),
    ToolSpec("delete_file", "Delete a file for good", {}),
    ToolSpec("send_mail", "Send an e-mail message", {}),
    ToolSpec("list_orders", "All orders of a customer", {}),
)


def test_entries_keep_short_meanings_under_both_spellings() -> None:
    assert lexicon.prune(ENTRIES) == {
        "天氣": "weather",
        "天气": "weather",
        "查詢": "check\tinquire\tconsult\tinquiry\tquery",
        "查询": "check\tinquire\tconsult\tinquiry\tquery",
        "刪除": "delete",
        "删除": "delete",
    }


def test_the_dictionary_is_pruned_once_and_then_read_from_the_cache(tmp_path: Path) -> None:
    lexicon.read.cache_clear()
    first = lexicon.read(tmp_path)
    (cached,) = tmp_path.iterdir()
    cached.write_text("天气\tsunshine\n", encoding="utf-8")
    lexicon.read.cache_clear()
    assert first["天气"] == "weather"
    assert lexicon.read(tmp_path) == {"天气": "sunshine"}
    lexicon.read.cache_clear()


def test_a_damaged_cache_is_made_anew(tmp_path: Path) -> None:
    lexicon.read.cache_clear()
    lexicon.read(tmp_path)
    (cached,) = tmp_path.iterdir()
    cached.write_text("no tab here\n", encoding="utf-8")
    lexicon.read.cache_clear()
    assert lexicon.read(tmp_path)["删除"].startswith("delete")
    lexicon.read.cache_clear()


def test_a_folder_that_cannot_be_written_costs_only_the_cache(tmp_path: Path) -> None:
    lexicon.read.cache_clear()
    (tmp_path / "file").write_text("")
    assert lexicon.read(tmp_path / "file" / "below")["天气"] == "weather"
    lexicon.read.cache_clear()


async def test_chinese_questions_find_english_tools() -> None:
    index = ToolIndex()
    index.update(added=TOOLS)
    async with asyncio.timeout(60):
        await index.warm()
    for query, name in (
        ("明天的天气怎么样", "get_forecast"),
        ("删除这个文件", "delete_file"),
        ("發送郵件", "send_mail"),
    ):
        hits = index.search(query, 3).hits
        assert hits[0].tool.name == name, query
    assert any("天气" in reason for reason in index.search("天气", 1).hits[0].reasons)


async def test_of_several_meanings_the_best_one_counts_and_not_their_sum() -> None:
    several = ToolSpec("several", "check inquire consult inquiry query", {})
    index = ToolIndex()
    index.update(added=[*TOOLS, ToolSpec("check", "Check", {}), several])
    async with asyncio.timeout(60):
        await index.warm()
    assert index.search("查询", 1).hits[0].tool.name == "check"
