"""What text does a word of a shell line come to, as far as that is known before the line runs?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

CODE = re.compile(r"\$\(|`|\$\{")
_GLOB = re.compile(r"[*?\[]")
_HOME = ("$HOME", "${HOME}")


@dataclass(frozen=True, slots=True)
class Word:
    """`text` up to where it is known; `is_known` says that this is all of it. `is_code`: it holds, as plain text,
    what would be a substitution if it were evaluated."""

    text: str
    is_known: bool = True
    is_code: bool = False


_OPEN = Word("", is_known=False)


def known(words: Iterable[Word]) -> tuple[str, ...]:
    """The words before the first that is not known."""
    found: list[str] = []
    for word in words:
        if not word.is_known:
            break
        found.append(word.text)
    return tuple(found)


def word_of(node: Any) -> Word:
    text = node.text.decode()
    if not node.is_named:
        return Word(text)
    match node.type:
        case "word" | "number" | "variable_name" | "test_operator":
            return _bare_word(text)
        case "raw_string":
            return _literal(text[1:-1])
        case "ansi_c_string" if "\\" not in text:
            return _literal(text[2:-1])
        case "string_content":
            return _literal(re.sub(r'\\([$`"\\])|\\\n', r"\1", text))
        case "simple_expansion" | "expansion" if text in _HOME:
            return Word("~")
        case "command_name" if len(node.children) == 1:
            return word_of(node.children[0])
        case "string" if not any(child.type == '"' for child in node.children[1:-1]):  # else a translated one
            return _joined(_parts(node, node.children[1:-1], 1))
        case "concatenation" if not _is_braced(text):
            return _joined(_parts(node, node.children, 0))
        case _:
            return _OPEN


def _literal(text: str) -> Word:
    return Word(text, is_code=bool(CODE.search(text)))


def _bare_word(text: str) -> Word:
    unescaped = re.sub(r"\\.", "", text, flags=re.DOTALL)
    if _GLOB.search(unescaped) and unescaped not in ("[", "[["):
        at = re.search(r"(?<!\\)[*?\[]", text)
        return Word(text[: at.start()] if at else "", is_known=False)
    return _literal(re.sub(r"\\(?:\n|(.))", lambda match: match[1] or "", text, flags=re.DOTALL))


def _is_braced(text: str) -> bool:
    return "{" in text and ("," in text or ".." in text)


def _parts(node: Any, children: Sequence[Any], quote: int) -> Iterator[Word]:
    """The parts of a word. The grammar leaves out blanks in quotes between two expansions."""
    source, begin = node.text, node.start_byte
    at = begin + quote
    for child in children:
        yield Word(source[at - begin : child.start_byte - begin].decode())
        yield word_of(child)
        at = child.end_byte
    yield Word(source[at - begin : len(source) - quote].decode())


def _joined(parts: Iterator[Word]) -> Word:
    text, is_code = "", False
    for part in parts:
        text += part.text
        is_code = is_code or part.is_code
        if not part.is_known:
            return Word(text, is_known=False, is_code=is_code)
    return Word(text, is_code=is_code)
