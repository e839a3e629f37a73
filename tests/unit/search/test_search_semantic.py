"""The semantic ranker with its real model, and the fusion by itself."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import numpy as np
import pytest

from caddie.search.semantic import SemanticRanker, fuse, texts_of, understands, weight_for
from caddie.tools.tool import ToolSpec


def tool(name: str, description: str, server: str = "") -> ToolSpec:
    return ToolSpec(name, description, {}, original_name=name, server=server)


TOOLS = (
    tool("create_directory", "Create a new directory. Parents are made too."),
    tool("move_file", "Move or rename files and directories."),
    tool("git_commit", "Records changes to the repository."),
    tool("get_current_time", "Get current time in a specific timezone."),
    tool("fetch", "Fetches a URL from the internet and extracts its contents as markdown."),
)
NAMES = tuple(spec.name for spec in TOOLS)


async def loaded(*tools: ToolSpec, cache: Path | None = None) -> SemanticRanker:
    ranker = SemanticRanker(cache)
    ranker.update(added=tools)
    async with asyncio.timeout(60):
        await ranker.load()
    assert ranker.ready
    return ranker


def best(ranker: SemanticRanker, query: str) -> str:
    scores = ranker.scores(query, NAMES)
    assert scores is not None
    return NAMES[int(scores.argmax())]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("créer un nouveau dossier", "create_directory"),
        ("переименовать файл", "move_file"),
        ("今何時ですか", "get_current_time"),
        ("웹 페이지 가져오기", "fetch"),
        ("guardar los cambios en el repositorio", "git_commit"),
        ("eine Datei umbenennen", "move_file"),
        ("抓取网页内容", "fetch"),
    ],
)
async def test_a_question_finds_what_it_means_in_another_language(query: str, wanted: str) -> None:
    assert best(await loaded(*TOOLS), query) == wanted


async def test_it_has_no_opinion_until_it_is_loaded() -> None:
    ranker = SemanticRanker()
    ranker.update(added=TOOLS)

    assert ranker.scores("rename a file", NAMES) is None


async def test_it_has_no_opinion_on_a_script_that_it_never_learnt() -> None:
    ranker = await loaded(*TOOLS)

    assert ranker.scores("नई फ़ाइल बनाएँ", NAMES) is None
    assert ranker.scores("", NAMES) is None


async def test_vectors_do_not_depend_on_order_company_or_cache(tmp_path: Path) -> None:
    first = (await loaded(*TOOLS, cache=tmp_path)).scores("save my work", NAMES)
    shuffled = random.Random(3).sample(TOOLS, len(TOOLS))
    second = (await loaded(*shuffled, cache=tmp_path)).scores("save my work", NAMES)
    alone = (await loaded(TOOLS[2])).scores("save my work", NAMES[2:3])

    assert first is not None
    assert second is not None
    assert alone is not None
    assert first.tolist() == second.tolist()
    assert alone[0] == first[2]


async def test_it_follows_the_catalogue_by_difference() -> None:
    ranker = await loaded(*TOOLS)
    ranker.update(added=[tool("fetch", "Waters the flowers."), tool("brew", "Makes coffee.")], removed=["move_file"])
    async with asyncio.timeout(60):
        await ranker.load()

    names = (*NAMES, "brew")
    flowers, coffee = ranker.scores("Blumen gießen", names), ranker.scores("preparar un café", names)

    assert flowers is not None
    assert coffee is not None
    assert names[int(flowers.argmax())] == "fetch"
    assert names[int(coffee.argmax())] == "brew"
    assert flowers[names.index("move_file")] == 0


async def test_who_stops_waiting_does_not_stop_the_work() -> None:
    ranker = SemanticRanker()
    ranker.update(added=TOOLS)
    waiting = asyncio.create_task(ranker.load())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    async with asyncio.timeout(60):
        await ranker.load()

    assert best(ranker, "eine Datei umbenennen") == "move_file"


async def test_hundreds_of_tools_come_and_go_without_mixing_up_rows() -> None:
    many = [tool(f"tool_{n}", f"Counts to {n}.") for n in range(150)]
    ranker = await loaded(*many)
    ranker.update(removed=[spec.name for spec in many[20:140]], added=TOOLS)
    async with asyncio.timeout(60):
        await ranker.load()

    assert best(ranker, "renommer un fichier") == "move_file"


async def test_a_damaged_cache_is_made_anew(tmp_path: Path) -> None:
    await loaded(*TOOLS, cache=tmp_path)
    (file,) = tmp_path.glob("*.sqlite")
    file.write_bytes(b"this was never a database, whatever its name says" * 50)

    assert best(await loaded(*TOOLS, cache=tmp_path), "rename a file") == "move_file"


async def test_a_cache_folder_that_cannot_be_made_is_done_without(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")

    assert best(await loaded(*TOOLS, cache=blocked), "rename a file") == "move_file"


@pytest.mark.parametrize("query", ["\x00\x1b[31m", "\ud800 rename", "a" * 100_000, "（" * 5_000, "🙂 rename a file 🙂"])
async def test_hostile_questions_are_answered_quickly(query: str) -> None:
    ranker = await loaded(*TOOLS)

    scores = ranker.scores(query, NAMES)

    assert scores is None or np.isfinite(scores).all()


def test_texts_hold_name_server_and_the_first_sentence_by_itself() -> None:
    whole, sentence = texts_of(tool("createIssue", "Opens an issue. Needs a token.", server="git-hub"))

    assert whole == "git hub create Issue: Opens an issue. Needs a token."
    assert sentence == "Opens an issue."
    assert texts_of(tool("x", "")) == ("x", "x")


def test_meaning_counts_the_more_the_fewer_words_are_shared_and_less_in_long_questions() -> None:
    assert weight_for("rename a file", 0.9) < weight_for("rename a file", 0.2) < weight_for("rename a file", 0.0)
    assert weight_for("rename a file " * 10, 0.9) < weight_for("rename a file", 0.9)
    assert weight_for("rename a file " * 100, 0.9) == 0


def test_fusion_keeps_the_order_that_both_agree_on_and_lets_either_find() -> None:
    words = np.array([0.4, 0.2, 0.0, 0.0])
    meaning = np.array([0.6, 0.5, 0.55, 0.1])

    fused = fuse(words, meaning, 0.5)

    assert list(np.argsort(-fused)) == [0, 1, 2, 3]
    assert fused[0] == pytest.approx(0.6)
    assert fused[2] > 0
    assert fused[3] == 0


def test_fusion_of_nothing_is_nothing() -> None:
    nothing = np.zeros(3)

    assert fuse(nothing, nothing, 0.5).tolist() == [0, 0, 0]
    assert fuse(nothing, np.array([-0.2, -0.1, -0.3]), 0.8).max() == 0


@pytest.mark.parametrize(
    ("query", "known"), [("read a file", True), ("読む", True), ("прочитать", True), ("फ़ाइल", False), ("123", False)]
)
def test_scripts_that_it_understands(query: str, known: bool) -> None:
    assert understands(query) is known
