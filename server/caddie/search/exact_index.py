"""Which tools does a question name? Whole names only, also several of them, also inside a sentence.

A name that could be a plain word of the language ("read", "time") counts as named only when it stands alone, in a
list of names, in quotes, or when it is rare in the catalogue; else every sentence with "time" would name the server.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from caddie.search.stop_words import QUERY_STOP_WORDS
from caddie.tools.exact import normalise, server_name, spellings
from caddie.tools.tool import ToolSpec

MAX_SCANNED_CHARS = 20_000
MAX_NAME_WORDS = 8
MAX_OTHER_USES = 2
"""A one-word name in a sentence is a plain word when more tools than this use it without bearing it,
and one that more tools than this bear names none of them."""

AS_WRITTEN = 0
ALIAS_RANK = 3
SERVER_RANK = 4

_WORD = re.compile(r"[^\s,;、，。；]+")
_LIST_ITEM = re.compile(r"[,;\n、，；]+|\s+and\s+|\s+or\s+", re.IGNORECASE)
_QUOTED = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"|“([^”\n]+)”|'([^'\n]+)'")
_PUNCTUATION = ".,:;!?()[]{}<>…。，、！？：；（）【】+"


@dataclass(frozen=True, slots=True)
class Named:
    """`what` is the name as it stands in the question, `by` how it names the tool, `rank` how exactly: lower is more.
    A tool named `in_passing`, by what may be no more than a word, is among the hits but not before better ones."""

    what: str
    by: str
    rank: int
    in_passing: bool = False


Table = defaultdict[str, dict[str, int]]
"""Normalised name -> wire names of the tools that it means, each with its rank."""


class ExactIndex:
    """All spellings of all names, kept by difference."""

    def __init__(self) -> None:
        self._tools: Table = defaultdict(dict)
        self._servers: Table = defaultdict(dict)
        self._first_words: Counter[str] = Counter()

    def add(self, spec: ToolSpec, aliases: Iterable[str] = ()) -> None:
        for table, key, rank in self._keys(spec, aliases):
            if rank < table[key].setdefault(spec.name, rank + 1):
                table[key][spec.name] = rank
                self._first_words[_first_word(key)] += 1

    def remove(self, spec: ToolSpec, aliases: Iterable[str] = ()) -> None:
        for table, key, _ in self._keys(spec, aliases):
            if key not in table or table[key].pop(spec.name, None) is None:
                continue
            self._first_words[_first_word(key)] -= 1
            if not table[key]:
                del table[key]

    def owners(self, key: str) -> Iterable[str]:
        """Wire names of the tools that a normalised name means."""
        return tuple(self._tools.get(key, ()))

    def find(self, query: str, uses: Callable[[str], float]) -> Mapping[str, Named]:
        """The named tools. `uses(word)` is how many tools hold a word at all: one that others use as well is plain."""
        query = query[:MAX_SCANNED_CHARS]
        written = [match[0] for match in _WORD.finditer(query)]
        raw = [normalise(word) for word in written]
        words = [word for word in (normalise(word.strip(_PUNCTUATION)) for word in written) if word]
        found: dict[str, Named] = {}
        only_names = bool(words) and all(word in self._tools or word in self._servers for word in words)
        alone = (
            {normalise(name) for name in _standing_alone(query)} | set(self._phrases(words)) | set(self._phrases(raw))
        )
        for key in sorted(alone.union(words, raw) if only_names else alone):
            self._note(found, key, self._tools, "exact name")
            self._note(found, key, self._servers, "server")
        for word in () if only_names else sorted({*words, *raw}):
            self._note_word(found, word, uses)
        for name in {query.strip(), *written, *(word.strip(_PUNCTUATION) for word in written)} & found.keys():
            found[name] = replace(found[name], rank=AS_WRITTEN)
        return found

    def _note_word(self, found: dict[str, Named], word: str, uses: Callable[[str], float]) -> None:
        owners = max(len(self._tools.get(word, ())), len(self._servers.get(word, ())))
        if not owners or word in QUERY_STOP_WORDS:
            return
        others = uses(word) - owners if word.isalpha() else 0
        if others <= MAX_OTHER_USES or owners <= MAX_OTHER_USES:
            self._note(found, word, self._tools, "exact name", in_passing=others > MAX_OTHER_USES)
        if others <= 0:
            self._note(found, word, self._servers, "server")

    def _note(self, found: dict[str, Named], key: str, table: Table, by: str, in_passing: bool = False) -> None:
        for name, rank in table.get(key, {}).items() if key else ():
            known = found.get(name)
            if known is None or (in_passing, rank, key) < (known.in_passing, known.rank, known.what):
                found[name] = Named(key, by, rank, in_passing)

    def _phrases(self, words: list[str]) -> Iterable[str]:
        """Runs of words, for names that contain blanks."""
        starts = (start for start, word in enumerate(words) if word and self._first_words[word])
        for start in starts:
            for end in range(start + 2, min(start + MAX_NAME_WORDS, len(words)) + 1):
                yield " ".join(words[start:end])

    def _keys(self, spec: ToolSpec, aliases: Iterable[str]) -> Iterable[tuple[Table, str, int]]:
        spelled = [*spellings(spec), *((ALIAS_RANK, normalise(alias)) for alias in aliases)]
        yield from ((self._tools, key, rank) for rank, key in spelled if key)
        if server := normalise(server_name(spec)):
            yield self._servers, server, SERVER_RANK


def _first_word(key: str) -> str:
    """Of a name of several words; empty for the others, which need no search for phrases."""
    first, blank, _ = key.partition(" ")
    return first if blank else ""


def _standing_alone(query: str) -> Iterable[str]:
    yield query
    yield query.strip().strip(_PUNCTUATION)
    yield from (next(filter(None, match.groups())) for match in _QUOTED.finditer(query))
    if len(items := _LIST_ITEM.split(query)) > 1:
        yield from (item.strip().strip(_PUNCTUATION) for item in items)
