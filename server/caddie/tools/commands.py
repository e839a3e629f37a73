"""What does a shell line run and write? Read with a real grammar; what is not understood is said to be unknown.

A rule must vouch for each simple command by itself, so the line is taken apart into them: those in substitutions,
loops and functions too, and those that another command starts (`sudo`, `xargs`, `bash -c`; see `launchers.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

from caddie.tools.launchers import launched
from caddie.tools.shell_doubts import REDIRECTS, doubt_about
from caddie.tools.shell_words import CODE, Word, known, word_of

MAX_CHARACTERS = 200_000
_MAX_DEPTH = 5
_MAX_LAUNCHES = 50
_MAX_PIPES = 2_000  # the grammar's time and memory grow with their square: 70 MB here, gigabytes for 20,000
_MAX_NODES = 20_000  # a quarter of a second; no line that a person could read has as many

_TOO_LONG = "it is too long or too deeply nested"

# What a pattern can vouch for: commands, pipes and lists, plain words. Everything else is more than its commands.
_PLAIN = frozenset({
    "program", "list", "pipeline", "command", "command_name", "word", "string", "raw_string", "string_content",
    "number", "concatenation", "simple_expansion", "variable_name", "special_variable_name", "comment",
    "&&", "||", ";", "|", "|&", "&", "\n", '"', "$", "redirected_statement", "file_redirect", "file_descriptor", ">",
    ">&", "&>", "negated_command", "!", "brace_expression", "..", "{", "}",
})  # fmt: skip
_CALLS = frozenset({"command", "declaration_command", "unset_command", "test_command"})
_WRITES = frozenset({">", ">>", ">|", "&>", "&>>", ">&", "<>"})
_NOWHERE = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr"})
_UNREADABLE = re.compile(r"[^\S \n\t]|[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff]|(?<![\s\\])\\\n")
# These evaluate the text of a variable or subscript, in which a command may hide.
_EVALUATING = frozenset({
    "printf", "test", "[", "[[", "read", "unset", "let", "wait", "declare", "typeset", "local", "export", "readonly",
})  # fmt: skip
_RESERVED = frozenset({
    "!", "{", "}", "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "select",
    "function", "in",
})  # fmt: skip
_EVALUATED = ("arithmetic_expansion", "test_command", "compound_statement", "subscript", "c_style_for")
_EVALUATES_VARIABLE = re.compile(rb"^\$\{!|@\w\}$")
_QUOTED_CODE = re.compile(rb"'[^']*(?:\$\(|`)|\\[$`]")
_STEERING = re.compile(r"(PS[0-4]|PROMPT_COMMAND|BASH_\w+|BASHOPTS|SHELLOPTS|ENV|PATH|IFS|LD_\w+|DYLD_\w+)\b")


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """`text` as written. `words` are those known before it runs, `is_known` says that these are all. `launches` are
    the commands that it starts itself, the first word of which is at `launched_at`."""

    text: str
    words: tuple[str, ...]
    is_known: bool
    launches: tuple[SimpleCommand, ...] = ()
    launched_at: int | None = None

    @property
    def name(self) -> str:
        return self.words[0] if self.words else ""


@dataclass(frozen=True, slots=True)
class CommandLine:
    """`commands` in order. `is_plain`: nothing but these commands with their words. `unknown` says why not all that
    would run can be told, or is empty. `is_read`: the grammar understands it. `writes` are the files of redirections,
    None where not known; `folders` those that it changes into; `spoken` is the text without comments and documents.
    """

    commands: tuple[SimpleCommand, ...] = ()
    is_plain: bool = False
    unknown: str = ""
    is_read: bool = False
    writes: tuple[str | None, ...] = ()
    folders: tuple[str | None, ...] = ()
    spoken: str = ""

    @property
    def all_commands(self) -> Iterator[SimpleCommand]:
        """Those started by others too."""
        pending = list(reversed(self.commands))
        while pending:
            command = pending.pop()
            yield command
            pending.extend(reversed(command.launches))


@lru_cache(256)  # a call is looked at several times: before and after the prompt
def read_command_line(line: str, depth: int = 0) -> CommandLine:
    if len(line) > MAX_CHARACTERS or line.count("|") > _MAX_PIPES or depth > _MAX_DEPTH:
        return CommandLine(unknown=_TOO_LONG)
    if _UNREADABLE.search(line):
        return CommandLine(_inner_commands(line, depth), unknown="it holds characters that hide what it does")
    return _Reader(line, depth).read()


def _inner_commands(line: str, depth: int) -> tuple[SimpleCommand, ...]:
    """What is visible all the same, so that a deny rule still finds it."""
    visible = _UNREADABLE.sub(" ", line)
    return read_command_line(visible, depth + 1).commands if visible != line else ()


class _Reader:
    def __init__(self, line: str, depth: int) -> None:
        self._source = line.encode("utf-8")
        self._depth = depth
        self._commands: list[SimpleCommand] = []
        self._writes: list[str | None] = []
        self._folders: list[str | None] = []
        self._unknown = ""
        self._silent: list[tuple[int, int]] = []
        self._is_read = True
        self._is_plain = True
        self._has_code = False
        self._evaluates = False

    def read(self) -> CommandLine:
        root = _parser().parse(self._source).root_node
        if root.descendant_count > _MAX_NODES:
            return CommandLine(unknown=_TOO_LONG)
        if root.has_error:
            self._give_up("it is not understood as shell language")
        pending = [root]
        while pending:
            node = pending.pop()
            self._visit(node)
            pending.extend(reversed(node.children))
        if self._has_code and self._evaluates:
            self._doubt("it may evaluate text as code")
        is_plain = self._is_plain and not self._unknown and bool(self._commands)
        return CommandLine(
            tuple(self._commands), is_plain, self._unknown, self._is_read, tuple(self._writes), tuple(self._folders),
            self._spoken(),
        )  # fmt: skip

    def _doubt(self, why: str) -> None:
        self._is_plain = False
        self._unknown = self._unknown or why

    def _give_up(self, why: str) -> None:
        self._is_read = False
        self._doubt(why)

    def _spoken(self) -> str:
        """Documents that are handed to another command count as spoken when it takes its words from them."""
        takes_words = any(command.name == "xargs" for command in self._commands)
        at, kept = 0, b""
        for start, end in () if takes_words else sorted(self._silent):
            kept, at = kept + self._source[at:start], max(at, end)
        return (kept + self._source[at:]).decode()

    def _visit(self, node: Any) -> None:
        if doubt := doubt_about(node, self._source):
            self._give_up(doubt)
        if node.type in _CALLS:
            self._call(node)
        elif node.type == "file_redirect":
            self._redirect(node)
        elif node.type == "variable_assignment":
            self._assignment(node)
        elif node.type in _EVALUATED:
            self._evaluates = True
        elif node.type == "expansion" and _EVALUATES_VARIABLE.search(node.text):
            self._doubt("it evaluates the text of a variable")
        elif node.type in ("comment", "heredoc_body"):
            self._silent.append((node.start_byte, node.end_byte))
        if not _is_plain(node):
            self._is_plain = False

    def _call(self, node: Any) -> None:
        words = [word_of(child) for child in _words_of(node)]
        in_test = node.type == "test_command" and bool(_QUOTED_CODE.search(node.text))
        self._has_code = self._has_code or in_test or any(word.is_code for word in words)
        plain = known(words)
        is_known = len(plain) == len(words)
        if node.type == "command" and not plain:
            self._doubt("the name of a command is not known before it runs")
        name = plain[0].rpartition("/")[2] if plain else ""
        self._evaluates = self._evaluates or name in _EVALUATING
        if any(_STEERING.match(word) for word in plain[1:]):
            self._doubt("it changes how the shell works")
        text = self._source[node.start_byte : node.end_byte].decode()
        self._commands.append(self._with_launched(SimpleCommand(text, plain, is_known)))
        if name in ("cd", "pushd"):
            target = next((word for word in plain[1:] if not word.startswith("-")), "~" if is_known else None)
            self._folders.append(target if is_known else None)

    def _with_launched(self, command: SimpleCommand, depth: int = 0) -> SimpleCommand:
        """The commands that this one starts join the line, so that rules see them."""
        if depth > _MAX_LAUNCHES:
            self._give_up(_TOO_LONG)
            return command
        if command.name in _RESERVED:
            self._give_up("a word of the shell's own is taken for a command")
        found = launched(command.words, command.is_known)
        if found.unknown:
            self._doubt(found.unknown)
        inner: list[SimpleCommand] = []
        if found.words:
            started = SimpleCommand(" ".join(found.words), found.words, command.is_known)
            inner.append(self._with_launched(started, depth + 1))
        if found.line is not None:
            line = read_command_line(found.line, self._depth + 1)
            inner += line.commands
            self._writes += line.writes
            self._folders += line.folders
            if line.unknown:
                self._doubt(line.unknown)
            self._is_read = self._is_read and line.is_read
            self._is_plain = self._is_plain and line.is_plain
        if not inner:
            return command
        return replace(command, launches=tuple(inner), launched_at=found.at)

    def _redirect(self, node: Any) -> None:
        operator = next((child.type for child in node.children if not child.is_named), "")
        target = next((child for child in node.children if child.is_named and child.type != "file_descriptor"), None)
        word = word_of(target) if target is not None else Word("", is_known=False)
        is_copy = operator == ">&" and word.is_known and bool(re.fullmatch(r"\d+|-|\d+-", word.text))
        if operator in (">&", "<&") and not is_copy and word.is_code:
            self._doubt("it may evaluate text as code")  # bash expands such a word twice
        if operator not in _WRITES:
            self._is_plain = False
        elif not is_copy and not (word.is_known and word.text in _NOWHERE):
            self._is_plain = False
            self._writes.append(word.text if word.is_known else None)
        if len(node.children) > 2 + (node.children[0].type == "file_descriptor"):
            self._is_plain = False  # words after it belong to the command

    def _assignment(self, node: Any) -> None:
        self._evaluates = self._evaluates or b"[" in node.text.split(b"=")[0]
        text = node.text.decode()
        value = node.children[-1]
        is_code = bool(CODE.search(text)) if value.type == "array" else word_of(value).is_code
        self._has_code = self._has_code or is_code
        if _STEERING.match(text):
            self._doubt("it changes how the shell works")


def _words_of(node: Any) -> Iterator[Any]:
    """The words of a call; the grammar takes words after a redirection for its own."""
    for child in node.children:
        if child.type == "variable_assignment" and node.type == "command":
            continue
        if child.type in REDIRECTS:
            yield from _stray(child)
        else:
            yield child
    parent = node.parent
    if parent is not None and parent.type == "redirected_statement" and parent.children[0] == node:
        for redirect in parent.children[1:]:
            yield from _stray(redirect)


def _stray(redirect: Any) -> Iterator[Any]:
    if redirect.type == "file_redirect":
        named = [child for child in redirect.children if child.is_named and child.type != "file_descriptor"]
        yield from named[1:]
    elif redirect.type == "heredoc_redirect":
        yield from redirect.children_by_field_name("argument")


def _is_plain(node: Any) -> bool:
    if node.type == "redirected_statement":
        return _holds_call(node)
    return node.type in _PLAIN or (node.type in ("expansion", "${") and _is_bare(node))


def _holds_call(node: Any) -> bool:
    return any(child.type not in REDIRECTS for child in node.children)


def _is_bare(node: Any) -> bool:
    """`${NAME}` is `$NAME`."""
    outer = node if node.type == "expansion" else node.parent
    return outer is not None and [child.type for child in outer.children] == ["${", "variable_name", "}"]


@cache
def _parser() -> Any:
    import tree_sitter_bash  # loads a grammar of 1 MB; only calls of Bash need it
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))
