from __future__ import annotations

import pytest

from caddie.search.analysis import MAX_TEXT_CHARS, fold, terms


def words(text: str) -> set[str]:
    return {term.text for term in terms(text) if not term.joined}


@pytest.mark.parametrize(
    "spelling", ["create_event", "createEvent", "CreateEvent", "create-event", "create.event", "Create events!"]
)
def test_all_spellings_of_a_name_are_the_same_words(spelling: str) -> None:
    assert words(spelling) == words("create event")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("move", "moving"),
        ("query", "queries"),
        ("café", "cafe"),
        ("ＡＰＩ", "api"),
        ("STRASSE", "straße"),
        ("search", "searched"),
    ],
)
def test_forms_of_a_word_are_one_term(one: str, other: str) -> None:
    assert words(one) == words(other)


def test_a_capital_run_ends_where_the_next_word_begins() -> None:
    assert words("getHTTPResponse") == {"get", "http", "respons"}


def test_the_short_i_of_cyrillic_stays_a_letter_of_its_own() -> None:
    assert fold("Мой файл") == "мой файл"


def test_decomposed_letters_are_the_composed_ones() -> None:
    assert words("cafe\u0301") == words("café")
    assert words("\u1112\u1161\u11ab국어") == words("한국어")


def test_han_text_becomes_pairs_and_light_single_characters() -> None:
    weights = {term.text: term.weight for term in terms("查询天气")}
    assert weights == {"查": 0.25, "询": 0.25, "天": 0.25, "气": 0.25, "查询": 1.0, "询天": 1.0, "天气": 1.0}


def test_japanese_is_cut_where_the_script_changes() -> None:
    assert {"ファイル", "検索"} <= words("ファイルを検索")


def test_names_also_hold_their_neighbours_as_one_word() -> None:
    assert "filesystem" in {term.text for term in terms("file_system", join_neighbours=True)}


def test_a_text_over_the_cap_is_cut() -> None:
    assert words("a" * 50 + " " + "b " * MAX_TEXT_CHARS + "last") == {"a" * 50, "b"}
