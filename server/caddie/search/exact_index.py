"""Which tools does a question name? Whole names only, also several of them, also inside a sentence.

A name that could be a plain word of the language ("read", "time") counts as named only when it stands alone, in a
list of names, in quotes, or when it is rare in the catalogue; else every sentence with "time" would name the server.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from caddie.search.exact import normalise, server_name, spellings
from caddie.search.stop_words import QUERY_STOP_WORDS
from caddie.tools.tool import ToolSpec

MAX_SCANNED_CHARS = 20_000
MAX_NAME_WORDS = 8
MAX_OTHER_USES = 2
"""A one-word name in a sentence is a plain word when more tools than this use it without bearing it,
and one that more tools than this bear names none of them."""

_WORD = re.compile(r"[^\s,;、，。；]+")
_LIST_ITEM = re.compile(r"[,;\n、，；]+|\s+and\s+|\s+or\s+", re.IGNORECASE)
_QUOTED = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"|“([^”\n]+)”|'([^'\n]+)'")
_PUNCTUATION = ".,:;!?()[]{}<>…。，、！？：；（）【】+"


@dataclass(frozen=True, slots=True)
class Named:
    """`what` is the name as it stands in the question, `by` how it names the tool. One named `in_passing`, by what may
    be no more than a word, is among the hits but not before better ones."""

    what: str
    by: str
    in_passing: bool = False


class ExactIndex:
    """All spellings of all names, kept by difference."""

    def __init__(self) -> None:
        self._tools: defaultdict[str, set[str]] = defaultdict(set)
        self._servers: defaultdict[str, set[str]] = defaultdict(set)
        self._first_words: Counter[str] = Counter()

    def add(self, spec: ToolSpec, aliases: Iterable[str] = ()) -> None:
        for table, key in self._keys(spec, aliases):
            table[key].add(spec.name)
            first, *more = key.split(" ")
            if more:
                self._first_words[first] += 1

    def remove(self, spec: ToolSpec, aliases: Iterable[str] = ()) -> None:
        for table, key in self._keys(spec, aliases):
            table[key].discard(spec.name)
            first, *more = key.split(" ")
            if more:
                self._first_words[first] -= 1
                if not self._first_words[first]:
                    del self._first_words[first]
            if not table[key]:
                del table[key]

    def find(self, query: str, uses: Callable[[str], float]) -> Mapping[str, Named]:
        """The named tools. `uses(word)` is how many tools hold a word at all: one that others use as well is plain."""
        query = query[:MAX_SCANNED_CHARS]
        words = [word for match in _WORD.finditer(query) if (word := normalise(match[0].strip(_PUNCTUATION)))]
        found: dict[str, Named] = {}
        only_names = bool(words) and all(word in self._tools or word in self._servers for word in words)
        alone = {normalise(name) for name in _standing_alone(query)} | set(self._phrases(words))
        for key in sorted(alone | set(words) if only_names else alone):
            self._note(found, key, self._tools, "exact name")
            self._note(found, key, self._servers, "server")
        for word in () if only_names else words:
            self._note_word(found, word, uses)
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

    def _note(
        self, found: dict[str, Named], key: str, table: Mapping[str, set[str]], by: str, in_passing: bool = False
    ) -> None:
        for name in table.get(key, ()) if key else ():
            if name not in found or found[name].in_passing:
                found[name] = Named(key, by, in_passing)

    def _phrases(self, words: list[str]) -> Iterable[str]:
        """Runs of words, for names that contain blanks."""
        starts = (start for start, word in enumerate(words) if word in self._first_words)
        for start in starts:
            for end in range(start + 2, min(start + MAX_NAME_WORDS, len(words)) + 1):
                yield " ".join(words[start:end])

    def _keys(self, spec: ToolSpec, aliases: Iterable[str]) -> Iterable[tuple[defaultdict[str, set[str]], str]]:
        keys = {key for _, key in spellings(spec)} | {normalise(alias) for alias in aliases}
        yield from ((self._tools, key) for key in sorted(keys - {""}))
        if server := normalise(server_name(spec)):
            yield self._servers, server


def _standing_alone(query: str) -> Iterable[str]:
    yield query
    yield query.strip().strip(_PUNCTUATION)
    yield from (next(filter(None, match.groups())) for match in _QUOTED.finditer(query))
    if len(items := _LIST_ITEM.split(query)) > 1:
        yield from (item.strip().strip(_PUNCTUATION) for item in items)
