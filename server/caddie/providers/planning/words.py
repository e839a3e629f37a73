"""Which words of a message say what is wanted, and what do tool authors call the same thing?"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

import snowballstemmer

from caddie.providers.planning.meanings import meanings
from caddie.providers.planning.values import Values

_STOP_WORDS = """
a an the this that these those my your our its it me i you we us please can could would will shall do does did is
are was were be to of in on at for from with and or by as what which how who whom there here now just want need like
give tell let lets show get make use using into about than then so all any some out up new last latest recent first
next current currently everything anything something tool tools kindly have has
"""
_STOP = frozenset(_STOP_WORDS.split())

_ASCII_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*|[0-9]+(?=[A-Za-z])")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def query_of(values: Values) -> str:
    """The words worth searching: names of things are left out, they say nothing about the tool."""
    loose = [word for word in re.findall(r"[^\W_]+(?:[_-][^\W_]+)*", values.masked) if not word[0].isdigit()]
    kept = [word for word in loose if word.lower() not in _STOP]
    words = dict.fromkeys([*(kept or loose), *meanings(values.text).split()])
    return " ".join(words) or values.text.strip()


def wanted(values: Values) -> tuple[frozenset[str], frozenset[str]]:
    """Stems the message itself uses, and stems it means by other words."""
    return stems(values.masked) - _STOP_STEMS, stems(meanings(values.text))


def stems(text: str) -> frozenset[str]:
    return frozenset(_stem(word.lower()) for word in _ASCII_WORD.findall(_CAMEL.sub(" ", text)))


def words_of(name: str) -> tuple[str, ...]:
    """`max_count`, `max-count` and `maxCount` -> ("max", "count")."""
    return tuple(word.lower() for word in _ASCII_WORD.findall(_CAMEL.sub(" ", name)))


def has_any(stem_set: Iterable[str], words: str) -> bool:
    return not stems(words).isdisjoint(stem_set)


_stemmer = snowballstemmer.stemmer("english")


@lru_cache(maxsize=10_000)
def _stem(word: str) -> str:
    return str(_stemmer.stemWord(word))


_STOP_STEMS = frozenset(_stem(word) for word in _STOP)
