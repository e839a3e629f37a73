"""What does a question ask for: which terms, how heavy each, which of them required?

The words of the query are set against the words of the index here: neighbours joined ("file system" = filesystem),
unknown words taken apart (filesystem = "file system") or replaced by what they nearly are (typos).
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from types import MappingProxyType

from caddie.search.analysis import Term, fold, han_runs, is_han, stem, terms
from caddie.search.stop_words import QUERY_STOP_WORDS, SMALL_TALK

MAX_QUERY_CHARS = 2_000
MAX_QUERY_TERMS = 64
MIN_TYPO_LENGTH = 4
MIN_TYPO_SIMILARITY = 0.5
MAX_TYPO_TERMS = 3
JOINED_WEIGHT = 0.5
SPLIT_WEIGHT = 0.4
KNOWN_SPLIT_WEIGHT = 0.2
MIN_HALF_LENGTH = 4
PART_WEIGHT = 0.3
"""Of "Postgre" and "SQL" in a question about PostgreSQL, when tools know the whole word."""
NUMBER_WEIGHT = 0.5
"""Numbers are arguments more often than they are topics."""

KNOWN_LOSS = 0.7
"""What the English meaning of a Chinese word loses when all tools are Chinese and hold the word itself."""
GLOSS_SINGLE = 0.5
"""A single character means many things."""
GLOSS_DECAY = 0.9
"""From one meaning to the next: the dictionary gives the common ones first."""
GLOSS_LENGTH = 0.5
"""A meaning of several words counts its words divided by their number to this power."""
MAX_GLOSSED_WORDS = 24
MAX_WORD_CHARS = 8
ARGUMENT_WEIGHT = 0.3
"""Of an unknown word that looks like a name or an identifier: "the weather in Oslo" is about the weather."""

EMPTY: Mapping[str, str] = MappingProxyType({})

_ARGUMENT = re.compile(r"(?<=[a-z,:] )[A-Z][^\W\d_]+|\b[^\W_]*\d[^\W_]*\b")
_REQUIRED = re.compile(r"(?<!\S)\+([^\s+]\S*)")

_SOUNDS = str.maketrans(
    dict(zip("абвгдеёзийклмнопрстуфыэіїє", "abvgdeesiiclmnoprstufieiie", strict=True))
    | {"ж": "j", "х": "", "ц": "s", "ч": "c", "ш": "s", "щ": "s", "ъ": "", "ь": "", "ю": "iu", "я": "ia"}
    | {"k": "c", "q": "c", "z": "s", "y": "i", "w": "v", "h": "", "x": "cs"}
)
_DOUBLE = re.compile(r"(.)\1")

Frequency = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """`extra` terms add to a score but are not missed when absent; `unknown` ones are in no tool and only count
    as something the question asked for in vain."""

    text: str
    weight: float
    word: str
    extra: bool = False
    unknown: bool = False


Choices = tuple[tuple[QueryTerm, ...], ...]
"""What one foreign word can mean, in terms that tools hold."""


@dataclass(frozen=True, slots=True)
class Query:
    terms: tuple[QueryTerm, ...]
    required: tuple[tuple[str, tuple[str, ...]], ...]
    """Each `+word` as written, with the terms that a tool must hold."""
    glossed: tuple[Choices, ...] = ()


class Trigrams:
    """Known words by their groups of three sounds, for words that nobody wrote that way: misspelt ones, and those that
    another language writes a little differently."""

    def __init__(self) -> None:
        self._words: defaultdict[str, set[str]] = defaultdict(set)

    def add(self, words: Iterable[str]) -> None:
        for word in filter(_can_be_misspelt, words):
            for gram in _grams(word):
                self._words[gram].add(word)

    def remove(self, words: Iterable[str]) -> None:
        for word in filter(_can_be_misspelt, words):
            for gram in _grams(word):
                self._words[gram].discard(word)

    def nearest(self, word: str) -> list[tuple[float, str]]:
        """(similarity, known word), most similar first."""
        if not _can_be_misspelt(word) or not self._words:
            return []
        grams = _grams(word)
        shared = Counter(chain.from_iterable(self._words.get(gram, ()) for gram in grams))
        least = MIN_TYPO_SIMILARITY * len(grams) / 2
        first = _sound(word)[:1]
        likely = (c for c, n in shared.items() if n >= least and _sound(c)[:1] == first)
        rated = ((2 * shared[c] / (len(grams) + len(_grams(c))), c) for c in likely)
        best = sorted((r for r in rated if r[0] >= MIN_TYPO_SIMILARITY), key=lambda r: (-r[0], r[1]))
        return best[:MAX_TYPO_TERMS]


def _can_be_misspelt(word: str) -> bool:
    return len(word) >= MIN_TYPO_LENGTH and word.isalpha() and ord(word[0]) < 0x530


@functools.lru_cache(50_000)
def _sound(word: str) -> str:
    """Roughly as it is spoken: "konfiguration" as "configuration", "документ" as "document"."""
    return _DOUBLE.sub(r"\1", word.replace("ph", "f").translate(_SOUNDS))


@functools.lru_cache(50_000)
def _grams(word: str) -> frozenset[str]:
    padded = f"^{_sound(word)}$"
    return frozenset(padded[i : i + 3] for i in range(len(padded) - 2))


def parse(
    text: str,
    frequency: Frequency,
    trigrams: Trigrams,
    meanings: Mapping[str, str] = EMPTY,
    chinese_share: float = 0.0,
) -> Query:
    """`chinese_share` of the tools are described in Chinese; the more, the less a Chinese word needs translation."""
    text = text[:MAX_QUERY_CHARS]
    required = tuple(_required(text))
    plain = list(terms(_REQUIRED.sub(r" \1", text), join_neighbours=True, stop_words=QUERY_STOP_WORDS))
    if not required and all(term.word in SMALL_TALK for term in plain if not term.joined):
        return Query((), required)
    arguments = {fold(match[0]) for match in _ARGUMENT.finditer(text)}
    found: dict[str, QueryTerm] = {}
    counts: defaultdict[str, int] = defaultdict(int)
    for term in plain:
        counts[term.text] += 1
    for term in dict.fromkeys(plain):  # the same word again has the same candidates
        if len(found) >= MAX_QUERY_TERMS:
            break
        is_argument = term.word in arguments
        for candidate in _candidates(term, frequency, trigrams, is_argument):
            weight = candidate.weight * (1 + math.log(counts[term.text]))
            known = found.get(candidate.text)
            if known is None or (known.extra, -known.weight) > (candidate.extra, -weight):
                found[candidate.text] = QueryTerm(
                    candidate.text, weight, candidate.word, candidate.extra, candidate.unknown
                )
    glossed = _glossed(text, found, frequency, meanings, chinese_share) if meanings else ()
    return Query(tuple(found[text] for text in sorted(found)), required, glossed)


def _glossed(
    text: str, found: dict[str, QueryTerm], frequency: Frequency, meanings: Mapping[str, str], chinese_share: float
) -> tuple[Choices, ...]:
    """The Chinese words of the question in English. What the dictionary knows and the index does not is not missed
    in its Chinese form."""
    glossed: dict[str, Choices] = {}
    missed: dict[str, QueryTerm] = {}
    for word in dict.fromkeys(_dictionary_words(text, meanings)):
        pairs = [word[i : i + 2] for i in range(max(len(word) - 1, 1))]
        strange = sum(not frequency(pair) for pair in pairs) / len(pairs)
        weight = (1 - KNOWN_LOSS * chinese_share * (1 - strange)) * (1.0 if len(word) > 1 else GLOSS_SINGLE)
        glosses = enumerate(meanings[word].split("\t"))
        found_choices = (_choice(word, gloss, weight * GLOSS_DECAY**rank, frequency) for rank, gloss in glosses)
        choices = tuple(filter(None, found_choices))
        if not choices:
            missed[word] = QueryTerm(word, weight, word, unknown=True)
            continue
        glossed[word] = tuple(dict.fromkeys(choices))
    if glossed:
        for text in [text for text, term in found.items() if term.unknown and is_han(text)]:
            del found[text]
        found.update({word: term for word, term in missed.items() if not frequency(word)})
    return tuple(glossed[word] for word in list(glossed)[:MAX_GLOSSED_WORDS])


def _choice(word: str, gloss: str, weight: float, frequency: Frequency) -> tuple[QueryTerm, ...]:
    texts = _gloss_terms(gloss)
    known = [text for text in texts if frequency(text)]
    weight /= max(len(texts), 1) ** GLOSS_LENGTH
    return tuple(QueryTerm(text, weight, word, extra=True) for text in known)


@functools.lru_cache(20_000)
def _gloss_terms(gloss: str) -> tuple[str, ...]:
    return tuple(sorted({term.text for term in terms(gloss, stop_words=QUERY_STOP_WORDS)}))


def _dictionary_words(text: str, meanings: Mapping[str, str]) -> Iterator[str]:
    """The longest words first: maximal matching from the left."""
    for run in han_runs(text, QUERY_STOP_WORDS):
        at = 0
        while at < len(run):
            lengths = range(min(MAX_WORD_CHARS, len(run) - at), 0, -1)
            length = next((n for n in lengths if run[at : at + n] in meanings), 1)
            if run[at : at + length] in meanings:
                yield run[at : at + length]
            at += length


def _candidates(term: Term, frequency: Frequency, trigrams: Trigrams, is_argument: bool = False) -> Iterator[QueryTerm]:
    known = frequency(term.text) > 0
    weight = term.weight * (NUMBER_WEIGHT if term.text.isdigit() else 1.0)
    if term.joined:
        if known:
            yield QueryTerm(term.text, JOINED_WEIGHT, term.word, extra=True)
        return
    if term.part_of and frequency(whole := stem(term.part_of)):
        yield QueryTerm(whole, weight, term.part_of)
        if known:
            yield QueryTerm(term.text, PART_WEIGHT, term.word, extra=True)
        return
    if known:
        yield QueryTerm(term.text, weight, term.word)
        yield from _apart(term, KNOWN_SPLIT_WEIGHT, frequency)
        return
    yield QueryTerm(term.text, weight * (ARGUMENT_WEIGHT if is_argument else 1.0), term.word, unknown=True)
    apart = tuple(_apart(term, SPLIT_WEIGHT, frequency))
    yield from apart
    for similarity, near in () if apart else trigrams.nearest(term.text):
        yield QueryTerm(near, weight * similarity, term.word, extra=True)


def _apart(term: Term, weight: float, frequency: Frequency) -> Iterator[QueryTerm]:
    for half in _halves(term.word, frequency):
        yield QueryTerm(half, weight, term.word, extra=True)


def _halves(word: str, frequency: Frequency) -> tuple[str, ...]:
    """The two known words that `word` consists of; the split whose rarer half is most common wins."""
    if not _can_be_misspelt(word):
        return ()
    rated = [(min(frequency(left), frequency(right)), (left, right)) for left, right in _splits(word)]
    most, halves = max(rated, default=(0, ()))
    return halves if most else ()


@functools.lru_cache(20_000)
def _splits(word: str) -> tuple[tuple[str, str], ...]:
    places = range(MIN_HALF_LENGTH, len(word) - MIN_HALF_LENGTH + 1)
    return tuple((stem(word[:at]), stem(word[at:])) for at in places)


def _required(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    for match in _REQUIRED.finditer(text):
        wanted = tuple(term.text for term in terms(match[1]) if not term.joined and term.weight == 1.0)
        if wanted:
            yield fold(match[1]), wanted
