"""Where does each value stand in a JSON text? Comments, trailing commas, single quotes and bare keys are allowed.

The positions serve two ends: problems shown at the right place, and edits that leave all else as it was written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

MAX_DEPTH = 200
_SPACE = re.compile(r"(?:[\s\ufeff]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"' + r"|'(?:[^'\\\n]|\\.)*'", re.DOTALL)
_WORD = re.compile(r"[^\s,:{}\[\]\"'/]+")
_PLAIN = {"true": True, "false": False, "null": None}


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its text's range. `entries` are the members of an object or the items of a list, as written."""

    start: int
    end: int
    value: Any
    entries: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """`key` is None in a list; `start` is where the key, or the item, begins; `comma` is where the one after it is."""

    key: str | None
    start: int
    node: Node
    comma: int | None


class BadJson(ValueError):
    def __init__(self, message: str, text: str, offset: int) -> None:
        line, column = position(text, offset)
        super().__init__(f"{message} at line {line + 1}, column {column + 1}")
        self.offset = offset


def parse(text: str) -> Node:
    """Raises: BadJson."""
    reader = _Reader(text)
    start = reader.space(0)
    node = reader.value(start, 0)
    end = reader.space(node.end)
    if end < len(text):
        raise BadJson(f"expected nothing more, found {text[end]!r}", text, end)
    return node


def position(text: str, offset: int) -> tuple[int, int]:
    """Line and column, both from 0; the column counts characters."""
    before = text[:offset]
    return before.count("\n"), offset - (before.rfind("\n") + 1)


def find(root: Node, location: Sequence[int | str]) -> Entry | None:
    """The deepest entry on the way to `location`; None when not even its first step is there."""
    found: Entry | None = None
    node = root
    for part in location:
        entry = next(
            (entry for index, entry in reversed([*enumerate(node.entries)]) if part in (entry.key, index)), None
        )
        if entry is None:
            break
        found, node = entry, entry.node
    return found


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text

    def space(self, offset: int) -> int:
        match = _SPACE.match(self._text, offset)
        return match.end() if match else offset

    def value(self, offset: int, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise BadJson(f"more than {MAX_DEPTH} levels", self._text, offset)
        match self._text[offset : offset + 1]:
            case "{":
                entries, end = self._entries(offset, "}", depth)
                return Node(offset, end, {str(entry.key): entry.node.value for entry in entries}, entries)
            case "[":
                entries, end = self._entries(offset, "]", depth)
                return Node(offset, end, [entry.node.value for entry in entries], entries)
            case '"' | "'":
                return self._string(offset)
            case _:
                return self._word(offset)

    def _entries(self, offset: int, closing: str, depth: int) -> tuple[tuple[Entry, ...], int]:
        found = list(self._each(offset + 1, closing, depth))
        end = (
            self.space(found[-1].comma + 1 if found and found[-1].comma is not None else found[-1].node.end)
            if found
            else self.space(offset + 1)
        )
        return tuple(found), end + 1

    def _each(self, offset: int, closing: str, depth: int) -> Iterator[Entry]:
        offset = self.space(offset)
        while self._text[offset : offset + 1] != closing:
            key, at = self._key(offset) if closing == "}" else (None, offset)
            node = self.value(at, depth + 1)
            after = self.space(node.end)
            has_comma = self._text[after : after + 1] == ","
            yield Entry(key, offset, node, after if has_comma else None)
            if not has_comma:
                self._expect(after, closing, f"',' or '{closing}'")
            offset = self.space(after + 1) if has_comma else after

    def _key(self, offset: int) -> tuple[str, int]:
        """The key, and where its value begins."""
        is_quoted = self._text[offset : offset + 1] in ("'", '"')
        word = None if is_quoted else _WORD.match(self._text, offset)
        if not is_quoted and word is None:
            raise BadJson(f"expected a key, found {self._found(offset)}", self._text, offset)
        key, end = (word[0], word.end()) if word else ((node := self._string(offset)).value, node.end)
        colon = self.space(end)
        self._expect(colon, ":", "':'")
        return key, self.space(colon + 1)

    def _string(self, offset: int) -> Node:
        match = _STRING.match(self._text, offset)
        if match is None:
            raise BadJson("this text has no end", self._text, offset)
        return Node(offset, match.end(), self._scalar(match[0], offset))

    def _word(self, offset: int) -> Node:
        match = _WORD.match(self._text, offset)
        if match is None:
            raise BadJson(f"expected a value, found {self._found(offset)}", self._text, offset)
        return Node(offset, match.end(), self._scalar(match[0], offset))

    def _scalar(self, written: str, offset: int) -> Any:
        if written in _PLAIN:
            return _PLAIN[written]
        try:
            return json.loads(written)
        except ValueError:
            return self._odd_scalar(written, offset)

    def _odd_scalar(self, written: str, offset: int) -> Any:
        import json5  # building its grammar is slow, and such spellings are rare

        try:
            return json5.loads(written)
        except ValueError:
            raise BadJson(f"expected a value, found {written[:40]!r}", self._text, offset) from None

    def _expect(self, offset: int, wanted: str, words: str) -> None:
        if self._text[offset : offset + 1] != wanted:
            raise BadJson(f"expected {words}, found {self._found(offset)}", self._text, offset)

    def _found(self, offset: int) -> str:
        return repr(self._text[offset]) if offset < len(self._text) else "the end of the file"
