"""The simple commands that a shell line is made of, so that a rule must allow each of them by itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

_SAFE_NODES = frozenset({
    "program", "list", "pipeline", "command", "command_name", "word", "string", "raw_string", "string_content",
    "number", "concatenation", "simple_expansion", "variable_name", "special_variable_name", "comment",
    "&&", "||", ";", "|", "&", "\n", '"', "'", "$", "{", "}", "expansion", ";;", "extglob_pattern",
    "redirected_statement", "negated_command", "!",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class CommandLine:
    """`simple` are the simple commands in order. `is_plain` is False when the line holds anything a pattern
    cannot vouch for: substitutions, redirections to files, functions, loops, assignments, syntax errors."""

    simple: tuple[str, ...]
    is_plain: bool


def read_command_line(line: str) -> CommandLine:
    source = line.encode("utf-8", "replace")
    root = _parser().parse(source).root_node
    simple: list[str] = []
    is_plain = not root.has_error
    pending = [root]
    while pending:
        node = pending.pop()
        if node.type == "command":
            simple.append(source[node.start_byte : node.end_byte].decode("utf-8", "replace"))
        if node.type == "file_redirect":
            is_plain = is_plain and _goes_nowhere(node, source)
            continue
        if node.type not in _SAFE_NODES:
            is_plain = False
        pending.extend(reversed(node.children))
    return CommandLine(tuple(simple), is_plain and bool(simple))


def _goes_nowhere(node: Any, source: bytes) -> bool:
    """`2>&1` and `>/dev/null` change nothing on disk."""
    text = source[node.start_byte : node.end_byte].replace(b" ", b"")
    return text in (b"2>&1", b">&2", b"1>&2", b">/dev/null", b"2>/dev/null", b"1>/dev/null", b"&>/dev/null")


@cache
def _parser() -> Any:
    import tree_sitter_bash  # loads a grammar of 1 MB; only rules for Bash need it
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))
