"""The index with the semantic ranker: what it adds, and what it must leave alone."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest

from caddie.search.engine import ToolIndex
from caddie.search.semantic import SemanticRanker
from caddie.tools.tool import ToolSpec
from engine_kit import desk

DESCRIPTIONS = {
    "create_directory": "Create a new directory. Parents are made too.",
    "move_file": "Move or rename files and directories.",
    "read_text_file": "Read the complete contents of a file as text.",
    "git_commit": "Records changes to the repository.",
    "git_checkout": "Switches branches.",
    "get_current_time": "Get current time in a specific timezone.",
    "fetch": "Fetches a URL from the internet and extracts its contents as markdown.",
}
TOOLS = [ToolSpec(name, description, {}, original_name=name) for name, description in DESCRIPTIONS.items()]


async def warmed(tools: list[ToolSpec]) -> ToolIndex:
    index = ToolIndex(semantic=SemanticRanker())
    index.update(added=tools)
    async with asyncio.timeout(60):
        await index.warm()
    return index


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("renommer des fichiers et des dossiers", "move_file"),
        ("сменить ветку", "git_checkout"),
        ("디렉터리 만들기", "create_directory"),
        ("que horas são?", "get_current_time"),
    ],
)
async def test_a_question_without_a_word_in_common_finds_its_tool_and_fits(query: str, wanted: str) -> None:
    found = (await warmed(TOOLS)).search(query, 3)

    assert found.hits[0].tool.name == wanted
    assert not found.nothing_fits
    assert "meaning 0." in found.hits[0].reasons[-1]
    assert found.total < len(TOOLS)


@pytest.mark.parametrize(
    "query", ["thanks!", "quel est le sens de la vie ?", "よくできました", "who won the election?"]
)
async def test_what_no_tool_serves_still_fits_none(query: str) -> None:
    assert (await warmed(TOOLS)).search(query, 3).nothing_fits


async def test_an_exact_name_is_still_first() -> None:
    index = await warmed(TOOLS)

    for spec in TOOLS:
        found = index.search(f"s'il te plaît, lance {spec.name} pour moi", 3)
        assert found.hits[0].tool is spec
        assert found.hits[0].exact


async def test_required_words_and_hidden_tools_stay_what_they_are() -> None:
    index = await warmed(TOOLS)

    assert {hit.tool.name for hit in index.search("ouvrir le texte +file", 5).hits} == {"move_file", "read_text_file"}
    assert "move_file" not in {hit.tool.name for hit in index.search("renommer", 7, without={"move_file"}).hits}


async def test_neither_order_nor_history_changes_an_answer() -> None:
    wanted = (await warmed(TOOLS)).search("sauvegarder les modifications", 7)
    shuffled = random.Random(5).sample(TOOLS, len(TOOLS))
    index = await warmed([*shuffled[:3], ToolSpec("gone", "Saves modifications.", {})])
    index.update(added=shuffled[3:], removed=["gone"])
    async with asyncio.timeout(60):
        await index.warm()

    assert index.search("sauvegarder les modifications", 7) == wanted


async def test_until_the_vectors_are_there_words_rank_alone() -> None:
    index = ToolIndex(semantic=SemanticRanker())
    index.update(added=TOOLS)

    assert index.search("renommer un fichier", 3).hits == ()
    assert index.search("rename a file", 3).hits[0].tool.name == "move_file"


async def test_the_setting_turns_it_off(workspace: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for semantic in ("auto", "off"):
        async with desk(workspace, environ={"CADDIE_SEARCH_SEMANTIC": semantic}) as at, asyncio.timeout(60):
            await at.engine.index.warm()
            reasons = at.engine.index.search("schedule a prompt", 1).hits[0].reasons[-1]
        assert ("meaning" in reasons) is (semantic == "auto")
    assert list((tmp_path / "cache" / "caddie").glob("vectors-*.sqlite"))
