"""How does a hand-written JSON text become another tree, and stay as its author wrote it otherwise?

Comments, order, line ends and indentation survive; what is not changed is not touched.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from caddie.storage.jsonc import Entry, Node, parse

_INDENT = re.compile(r"\n([ \t]+)\S")
_REST_OF_LINE = re.compile(r"[ \t]*(?:/\*[^\n]*?\*/[ \t]*)*(?://[^\n\r]*)?")


@dataclass(frozen=True, slots=True)
class _Edit:
    start: int
    end: int
    text: str


def render(tree: Mapping[str, Any]) -> str:
    """How a file of our own is written."""
    return json.dumps(tree, indent=2, ensure_ascii=False) + "\n"


def edited(text: str, tree: Mapping[str, Any]) -> str:
    """`text` changed so that it says `tree`. Raises: BadJson; ValueError when it cannot be done in place."""
    if not text.strip():
        return render(tree)
    root = parse(text)
    if _same(root.value, tree):
        return text
    if text == render(root.value):
        return render(tree)
    result = text
    edits = sorted(_Editor(text).container(root, tree), key=lambda edit: (edit.start, edit.end))
    for edit in edits[::-1]:  # what is inserted where something goes stays; of two insertions the first comes first
        result = result[: edit.start] + edit.text + result[edit.end :]
    if not _same(parse(result).value, tree):
        raise ValueError("the text cannot be changed in place")
    return result


def _same(one: Any, other: Any) -> bool:
    """Equal, and of the same types (to Python, True is 1)."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


class _Editor:
    def __init__(self, text: str) -> None:
        self._text = text
        self._newline = "\r\n" if "\r\n" in text else "\n"
        found = _INDENT.search(text)
        self._unit = found[1] if found else "  "

    def container(self, node: Node, new: Any) -> Iterator[_Edit]:
        """An object or a list, entry by entry."""
        kept, added = (_list_plan if isinstance(new, list) else _object_plan)(node, new)
        for entry, value in kept:
            if not _same(entry.node.value, value):
                yield from self._replaced(entry.node, value)
        last = kept[-1][0] if kept else None
        gone = [entry for entry in node.entries if all(entry is not other for other, _ in kept)]
        yield from (self._removal(entry) for entry in gone)
        if added:
            yield from self._additions(node, last, added)
        elif gone and last and last.comma is not None and node.entries[-1].comma is None:
            yield _Edit(last.comma, last.comma + 1, "")

    def _replaced(self, node: Node, value: Any) -> Iterable[_Edit]:
        if isinstance(value, dict | list) and isinstance(node.value, type(value)):
            return self.container(node, value)
        return [_Edit(node.start, node.end, self._written(value, self._indent_at(node.start)))]

    def _removal(self, entry: Entry) -> _Edit:
        """With its comma; with its line when nothing else stands there."""
        end = entry.node.end if entry.comma is None else entry.comma + 1
        line = self._text.rfind("\n", 0, entry.start)
        after = re.compile(r"[ \t]*(?=\r?\n)").match(self._text, end)
        if line >= 0 and not self._text[line : entry.start].strip() and after:
            return _Edit(line - (self._text[line - 1 : line] == "\r"), after.end(), "")
        return _Edit(entry.start, end, "")

    def _additions(self, node: Node, last: Entry | None, added: Sequence[tuple[str | None, Any]]) -> Iterator[_Edit]:
        is_spread = "\n" in self._text[node.start : node.end] or node.start == 0 or not node.entries
        outer = self._indent_at(node.start)
        inner = self._indent_at(last.start) if last and is_spread and self._begins_line(last) else outer + self._unit
        lead = self._newline + inner if is_spread else " "
        texts = [f"{json.dumps(key, ensure_ascii=False)}: " if key is not None else "" for key, _ in added]
        texts = [
            head + self._written(value, inner, spread=is_spread) for head, (_, value) in zip(texts, added, strict=True)
        ]
        body = ("," + lead).join(texts)
        if last is None:
            closing = self._newline + outer if is_spread and "\n" not in self._text[node.start + 1 : node.end] else ""
            yield _Edit(node.start + 1, node.start + 1, (lead if is_spread else "") + body + closing)
            return
        at = last.node.end if last.comma is None else last.comma + 1
        had_trailing = node.entries[-1].comma is not None
        comma_after = "," if had_trailing else ""
        if last.comma is None:
            yield _Edit(at, at, ",")
        if is_spread and self._begins_line(last):
            rest = _REST_OF_LINE.match(self._text, at)
            at = rest.end() if rest and self._ends_line(rest.end()) else at
        yield _Edit(at, at, lead + body + comma_after)

    def _begins_line(self, entry: Entry) -> bool:
        line = self._text.rfind("\n", 0, entry.start)
        return line >= 0 and not self._text[line : entry.start].strip()

    def _ends_line(self, offset: int) -> bool:
        return self._text[offset : offset + 2].startswith(("\n", "\r\n"))

    def _indent_at(self, offset: int) -> str:
        line = self._text[self._text.rfind("\n", 0, offset) + 1 : offset]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def _written(self, value: Any, indent: str, *, spread: bool = True) -> str:
        if not spread:
            return json.dumps(value, ensure_ascii=False)
        return json.dumps(value, indent=self._unit, ensure_ascii=False).replace("\n", self._newline + indent)


_Plan = tuple[list[tuple[Entry, Any]], list[tuple[str | None, Any]]]


def _object_plan(node: Node, new: Mapping[str, Any]) -> _Plan:
    """Which members stay, with which values, and which are new. Of a key written twice the last one counts."""
    last = {entry.key: entry for entry in node.entries}
    kept = [
        (entry, new[entry.key] if last[entry.key] is entry else entry.node.value)
        for entry in node.entries
        if entry.key is not None and entry.key in new
    ]
    return kept, [(key, value) for key, value in new.items() if key not in last]


def _list_plan(node: Node, new: Sequence[Any]) -> _Plan:
    """The old items that begin the new list, in order, stay; whatever follows is added."""
    kept: list[tuple[Entry, Any]] = []
    for entry in node.entries:
        if len(kept) < len(new) and _same(entry.node.value, new[len(kept)]):
            kept.append((entry, entry.node.value))
    return kept, [(None, value) for value in new[len(kept) :]]
