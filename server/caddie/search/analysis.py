"""Which terms does a text consist of, in any script?

The same words must come out of `create_event`, `createEvent` and "Create events", of "café" and "cafe". Scripts that
write words apart are stemmed; those that do not (Han, kana, Thai ...) become overlapping pairs of characters.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple, Protocol

MAX_TEXT_CHARS = 2_000
MAX_WORD_CHARS = 64
SINGLE_WEIGHT = 0.25
"""A single Han character beside the pairs: it matches almost anything, so it only tips the balance."""

_MAX_CACHED_STEMS = 100_000

_HAN = "\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HIRAGANA = "\u3041-\u309f"
_KATAKANA = "\u30a1-\u30ff\u31f0-\u31ff"
_HANGUL = "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"
_UNSPACED = "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff"
_INDIC = "\u0900-\u0963\u0966-\u0dff"
_PAIRED = _HAN + _HIRAGANA + _KATAKANA + _HANGUL + _UNSPACED

_TOKEN = re.compile(
    rf"(?P<han>[{_HAN}]+)|(?P<kana>[{_KATAKANA}]+|[{_HIRAGANA}]+)|(?P<paired>[{_HANGUL}]+|[{_UNSPACED}]+)"
    rf"|(?P<word>(?:[^\W_{_PAIRED}]|[{_INDIC}])+)"
)
_ONLY_HAN = re.compile(f"[{_HAN}]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ENDING = re.compile(r"(?<=\w)['’](?:s|re|ll|ve|d|m|t)\b", re.IGNORECASE)
# Only marks of Latin, Greek, Hebrew and Arabic script; the breve of the Cyrillic short i makes another letter.
_MARKS = re.compile("(?<!\u0438)[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f]+")
_CYRILLIC = re.compile("[\u0400-\u04ff]")
_PLAIN_LETTERS = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i", "\u30fc": ""})


class Term(NamedTuple):
    """`word` is the piece of text it came from; `joined` marks two neighbours written as one, and `part_of` names the
    camelCase word that a part was taken from."""

    text: str
    weight: float
    word: str
    joined: bool = False
    part_of: str = ""


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...


_stems: dict[str, str] = {}
_stemmers: dict[str, _Stemmer] = {}
_stemming = threading.Lock()


def stem(word: str) -> str:
    """The stem of a folded word; scripts without a stemmer keep it as it is."""
    found = _stems.get(word)
    return found if found is not None else _stem_anew(word)


def _stem_anew(word: str) -> str:
    language = "english" if word.isascii() else "russian" if _CYRILLIC.search(word) else "english"
    with _stemming:  # a snowball stemmer keeps the word it works on in itself
        if len(_stems) >= _MAX_CACHED_STEMS:
            _stems.clear()
        result = _stemmer(language).stemWord(word) if len(word) > 2 else word
        _stems[word] = result = result or word
    return result


def _stemmer(language: str) -> _Stemmer:
    if language not in _stemmers:
        import snowballstemmer  # 30 ms that a start without a search need not pay

        _stemmers[language] = snowballstemmer.stemmer(language)
    return _stemmers[language]


def fold(text: str) -> str:
    """NFKC, case and accents folded."""
    if text.isascii():
        return text.lower()
    return _without_marks(unicodedata.normalize("NFKC", text).casefold()).translate(_PLAIN_LETTERS)


def _without_marks(text: str) -> str:
    return unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFD", text)))


def terms(text: str, *, join_neighbours: bool = False, stop_words: frozenset[str] = frozenset()) -> Iterator[Term]:
    """The terms of `text` in order. With `join_neighbours` each two adjacent words also appear as one."""
    previous = ""
    for kind, word, whole in _tokens(text):
        if word in stop_words:
            previous = ""
        elif kind == "word":
            yield Term(stem(word), 1.0, word, part_of=whole)
            if join_neighbours and previous:
                joined = previous + word
                yield Term(stem(joined), 1.0, joined, joined=True)
            previous = word
        elif kind == "whole":
            yield Term(stem(word), 1.0, word, joined=True)
        else:
            previous = ""
            yield from _pairs(kind, word, stop_words)


def _tokens(text: str) -> Iterator[tuple[str, str, str]]:
    """(kind, folded token, the camelCase token it is a part of). After its parts such a token comes as a `whole`."""
    text = text[:MAX_TEXT_CHARS]
    if not text.isascii():
        text = _without_marks(unicodedata.normalize("NFKC", text))
    for match in _TOKEN.finditer(_ENDING.sub("", text)):
        token, kind = match[0][:MAX_WORD_CHARS], match.lastgroup or "word"
        if kind != "word" or token.islower():
            yield kind, fold(token), ""
            continue
        parts = _CAMEL.split(token)
        whole = fold(token) if len(parts) > 1 else ""
        for part in parts:
            yield "word", fold(part), whole
        if whole:
            yield "whole", whole, ""


def is_han(text: str) -> bool:
    return _ONLY_HAN.fullmatch(text) is not None


def han_runs(text: str, stop_words: frozenset[str] = frozenset()) -> Iterator[str]:
    """The unbroken pieces of Han script."""
    for kind, run, _ in _tokens(text):
        if kind == "han":
            yield from _without_stop_characters(run, stop_words)


def _pairs(kind: str, run: str, stop_words: frozenset[str]) -> Iterator[Term]:
    if kind == "han":
        for piece in _without_stop_characters(run, stop_words):
            yield from _han(piece)
    elif kind == "kana":
        yield Term(run, 1.0 if len(run) > 1 else SINGLE_WEIGHT, run)
        if len(run) > 2:
            yield from (Term(run[i : i + 2], SINGLE_WEIGHT, run) for i in range(len(run) - 1))
    elif len(run) == 1:
        yield Term(run, 1.0, run)
    else:
        yield from (Term(run[i : i + 2], 1.0, run) for i in range(len(run) - 1))


def _han(run: str) -> Iterator[Term]:
    for position, character in enumerate(run):
        yield Term(character, SINGLE_WEIGHT, character)
        if pair := run[position + 1 : position + 2]:
            yield Term(character + pair, 1.0, character + pair)


def _without_stop_characters(run: str, stop_words: frozenset[str]) -> list[str]:
    if not stop_words:
        return [run]
    return "".join(" " if character in stop_words else character for character in run).split()
