"""Does the parse tree say what the shell will do? Where the grammar is known to mix things up, it is not believed.

Each case was found by running random lines in bash and comparing.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

REDIRECTS = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})
_CALLS = frozenset({"command", "declaration_command", "unset_command", "test_command"})
_ATOMS = frozenset({
    "string", "raw_string", "ansi_c_string", "translated_string", "heredoc_body", "expansion", "regex",
    "extglob_pattern", "arithmetic_expansion", "comment", "heredoc_redirect",
})  # fmt: skip
_QUOTED = frozenset({
    "raw_string", "ansi_c_string", "comment", "heredoc_start", "heredoc_end", "heredoc_body", "heredoc_content",
    "$(", "$((", "<(", ">(",
})  # fmt: skip
_BLANKS = re.compile(rb"(?:[ \t\n]|\\\n|(?<=[ \t])-(?=[ \t\n]))*")  # the grammar leaves out a lone dash
_BEFORE_COMMENT = re.compile(rb"(?:^|^[^\\]?[ \t]|[\n;&|()])$")
_CODE_LEFT = re.compile(rb"(?<!\\)[`$<>]\(|(?<!\\)`.")
_HIDDEN = re.compile(rb"\\[0-7xuUc]")
_ESCAPES = re.compile(rb"['\"\\]")
_MOVES = re.compile(rb"(?:HOME|PWD|OLDPWD|CDPATH)\b")


def doubt_about(node: Any, source: bytes) -> str:
    """Why a node is not to be believed, or nothing."""
    match node.type:
        case "ERROR":
            return "it is not understood as shell language"
        case "``":
            return "it holds substitutions that are not understood"
        case "heredoc_body" if b"`" in node.text and not _is_quoted(node):
            return "it holds a command that cannot be read"
        case "heredoc_redirect" if not _is_whole(node):
            return "a here document does not end"
        case "ansi_c_string" if _HIDDEN.search(node.text):
            return "it holds text that is hidden by escapes"
        case "command_substitution" if node.text.startswith(b"`") and b"\\" in node.text:
            return "it holds a substitution within one in the old form"
        case "comment" if not _BEFORE_COMMENT.search(source[: node.start_byte][-2:]):
            return "a part of a word looks like a comment"
        case "variable_assignment" if _MOVES.match(node.text):
            return "it changes where its paths lead"
    if node.type in _CALLS and _is_glued(node):
        return "a word of it is not understood"
    if not node.children:
        is_unread = node.type not in _QUOTED and _CODE_LEFT.search(node.text)
        return "it holds substitutions that are not understood" if is_unread else ""
    return "" if node.type in _ATOMS or _is_covered(node, source) else "it is not fully understood"


def _is_covered(node: Any, source: bytes) -> bool:
    """Between the parts that the grammar names there is nothing but blanks."""
    at = node.start_byte
    for child in node.children:
        if not _BLANKS.fullmatch(source, at, child.start_byte):
            return False
        at = child.end_byte
    return bool(_BLANKS.fullmatch(source, at, node.end_byte))


def _is_glued(call: Any) -> bool:
    """Words without a blank between them are one word, which the grammar has torn apart."""
    parts = [child for child in call.children if child.type not in REDIRECTS]
    return any(one.end_byte == two.start_byte for one, two in pairwise(parts))


def _is_whole(document: Any) -> bool:
    """Whether a here document ends with the word that it began with, alone on a line."""
    starts = [_ESCAPES.sub(b"", child.text) for child in document.children if child.type == "heredoc_start"]
    ends = [child.text.strip(b"\t") for child in document.children if child.type == "heredoc_end"]
    lines = document.text.split(b"\n")
    return len(starts) == 1 and starts == ends and lines[-1].strip(b"\t") == ends[0]


def _is_quoted(body: Any) -> bool:
    """A here document whose end is quoted stands as it is."""
    starts = [child.text for child in body.parent.children if child.type == "heredoc_start"]
    return any(_ESCAPES.search(start) for start in starts)
