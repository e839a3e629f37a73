"""Which tools does a question name? Whole names only, also several of them, also inside a sentence.

A name that could be a plain word of the language ("read", "time") comes first only when it stands alone, in a list of
names, in quotes, beside "tool" or "call", or when it is rare in the catalogue. Else its tools are found as well, but
not before better ones: every sentence with "search" would be a call of all tools of that name.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum

from caddie.search.stop_words import QUERY_STOP_WORDS, SMALL_TALK
from caddie.tools.exact import normalise, server_name, spellings
from caddie.tools.tool import ToolSpec

MAX_SCANNED_CHARS = 20_000
MAX_NAME_WORDS = 8
MAX_OTHER_USES = 2
MAX_BEARERS = 2
"""A one-word name in a sentence is a plain word when more than `MAX_OTHER_USES` tools use it without bearing it. The
tools that bear such a name are kept within the limit when they are no more than `MAX_BEARERS`, else come after it."""
MAX_UNSPACED_CHARS = 32

AS_WRITTEN = 0
ALIAS_RANK = 3
SERVER_RANK = 4

_WORD = re.compile(r"[^\s,;、，。；]+")
_LIST_ITEM = re.compile(r"[,;\n、，；]+|\s(?:and|or)\s", re.IGNORECASE)
_QUOTED = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"|“([^”\n]+)”|'([^'\n]+)'")
_PUNCTUATION = ".,:;!?()[]{}<>…。，、！？：；（）【】+"
_ASCII_PIECE = re.compile(r"([!-~]+)")
_IDENTIFIER = re.compile(r"[a-z][a-z0-9]*[A-Z]")
_UNSPACED = re.compile("[\u0e01-\u1fff\u2e80-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]")
_CUES_BEFORE = frozenset(("call", "use", "using", "run", "invoke", "execute", "called", "named", "tool"))
_CUES_AFTER = frozenset(("tool", "tools", "function"))
_CUE_BEFORE_UNSPACED = "调用"
_CUE_AFTER_UNSPACED = "工具"


class Place(IntEnum):
    """Where a named tool comes: before all others, where it is ranked but within the limit, or after what is ranked."""

    FIRST = 0
    AMONG = 1
    BESIDE = 2


@dataclass(frozen=True, slots=True)
class Named:
    """`what` is the name as it stands in the question, `by` how it names the tool, `rank` how exactly: 0 is most."""

    what: str
    by: str
    rank: int
    place: Place = Place.FIRST

    @property
    def by_server(self) -> bool:
        return self.rank == SERVER_RANK


Table = defaultdict[str, dict[str, int]]
"""Normalised name -> wire names of the tools that it means, each with its rank."""


class ExactIndex:
    """All spellings of all names, kept by difference."""

    def __init__(self) -> None:
        self._tools: Table = defaultdict(dict)
        self._servers: Table = defaultdict(dict)
        self._first_words: Counter[str] = Counter()
        self._unspaced_lengths: defaultdict[str, Counter[int]] = defaultdict(Counter)

    def add(self, spec: ToolSpec, aliases: Iterable[str] = ()) -> None:
        for table, key, rank in self._keys(spec, aliases):
            if rank < table[key].setdefault(spec.name, rank + 1):
                table[key][spec.name] = rank
                self._count(key, 1)

    def remove(self, spec: ToolSpec, aliases: Iterable[str] = ()) -> None:
        for table, key, _ in self._keys(spec, aliases):
            if key not in table or table[key].pop(spec.name, None) is None:
                continue
            self._count(key, -1)
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
        only_names = bool(words) and all(self._is_name(word) for word in words)
        alone = {normalise(name) for name in _standing_alone(query)}
        alone.update(self._phrases(words), self._phrases(raw), raw if only_names else ())
        alone.update(words if only_names else self._cued(words), _identifiers(written))
        keys = sorted(filter(self._is_name, alone))
        longer = [f" {key} " for key in keys if " " in key]
        for key in keys:
            place = Place.AMONG if _is_part(key, longer) else Place.FIRST
            self._note(found, key, self._tools, "exact name", place)
            self._note(found, key, self._servers, "server", place)
        for word in () if only_names else sorted({*words, *raw, *query.split(), *self._within_unspaced(words)}):
            self._note_word(found, word, uses, _is_part(word, longer))
        for name in {query.strip(), *written, *(word.strip(_PUNCTUATION) for word in written)} & found.keys():
            found[name] = replace(found[name], rank=AS_WRITTEN)
        return found

    def _is_name(self, word: str) -> bool:
        return word in self._tools or word in self._servers

    def _note_word(self, found: dict[str, Named], word: str, uses: Callable[[str], float], is_part: bool) -> None:
        owners = max(len(self._tools.get(word, ())), len(self._servers.get(word, ())))
        if not owners:
            return
        others = uses(word) - owners if word.isalpha() else 0
        is_stop_word = word in QUERY_STOP_WORDS
        place = Place.BESIDE if is_stop_word or owners > MAX_BEARERS else Place.AMONG
        plain = is_stop_word or is_part or word in SMALL_TALK or others > MAX_OTHER_USES
        self._note(found, word, self._tools, "exact name", place if plain else Place.FIRST)
        if others <= 0 and not is_stop_word and not is_part:
            self._note(found, word, self._servers, "server")

    def _note(self, found: dict[str, Named], key: str, table: Table, by: str, place: Place = Place.FIRST) -> None:
        for name, rank in table.get(key, {}).items() if key else ():
            known = found.get(name)
            if known is None or (place, rank, key) < (known.place, known.rank, known.what):
                found[name] = Named(key, by, rank, place)

    def _phrases(self, words: list[str]) -> Iterable[str]:
        """Runs of words, for names that contain blanks."""
        starts = (start for start, word in enumerate(words) if word and self._first_words[word])
        for start in starts:
            for end in range(start + 2, min(start + MAX_NAME_WORDS, len(words)) + 1):
                yield " ".join(words[start:end])

    def _cued(self, words: list[str]) -> Iterable[str]:
        """Names beside a word that says that a name comes, or came: "the search tool", "call list", "调用search"."""
        pieces = [piece for word in words for piece in _pieces(word)]
        for before, piece, after in zip(["", *pieces], pieces, [*pieces[1:], ""], strict=False):
            if piece in self._tools and piece not in QUERY_STOP_WORDS:
                if before in _CUES_BEFORE or before.endswith(_CUE_BEFORE_UNSPACED):
                    yield piece
                elif after in _CUES_AFTER or after.startswith(_CUE_AFTER_UNSPACED):
                    yield piece

    def _within_unspaced(self, words: Iterable[str]) -> Iterable[str]:
        """Names inside text that is written without blanks; of several at one place the longest."""
        for word in filter(_UNSPACED.search, words):
            yield from _pieces(word)
            at = 0
            while at < len(word):
                lengths = sorted(self._unspaced_lengths.get(word[at], ()), reverse=True)
                length = next((n for n in lengths if self._is_name(word[at : at + n])), 0)
                if length:
                    yield word[at : at + length]
                at += max(length, 1)

    def _count(self, key: str, by: int) -> None:
        if " " in key:
            self._first_words[key.partition(" ")[0]] += by
        if not key.isascii() and len(key) <= MAX_UNSPACED_CHARS and _UNSPACED.match(key):
            self._unspaced_lengths[key[0]][len(key)] += by
            if not self._unspaced_lengths[key[0]][len(key)]:
                del self._unspaced_lengths[key[0]][len(key)]

    def _keys(self, spec: ToolSpec, aliases: Iterable[str]) -> Iterable[tuple[Table, str, int]]:
        spelled = [*spellings(spec), *((ALIAS_RANK, normalise(alias)) for alias in aliases)]
        yield from ((self._tools, key, rank) for rank, key in spelled if key)
        if server := normalise(server_name(spec)):
            yield self._servers, server, SERVER_RANK


def _is_part(key: str, longer: list[str]) -> bool:
    """Of a longer name, as "log" is of "git log"."""
    return any(f" {key} " in name and len(key) + 2 < len(name) for name in longer)


def _identifiers(written: list[str]) -> Iterable[str]:
    """camelCase is no plain word; a brand may begin with a capital."""
    return (normalise(word.strip(_PUNCTUATION)) for word in written if _IDENTIFIER.match(word))


def _pieces(word: str) -> list[str]:
    """The ASCII and the other pieces of a word with text in it that is written without blanks."""
    if not _UNSPACED.search(word):
        return [word]
    return [name for piece in _ASCII_PIECE.split(word) if (name := piece.strip(_PUNCTUATION))]


def _standing_alone(query: str) -> Iterable[str]:
    yield query
    yield query.strip().strip(_PUNCTUATION)
    yield from (next(filter(None, match.groups())) for match in _QUOTED.finditer(query))
    if len(items := _LIST_ITEM.split(query)) > 1:
        yield from (item.strip().strip(_PUNCTUATION) for item in items)
