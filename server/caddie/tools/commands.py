"""What does a shell line run and write? Read with a real grammar; what is not understood is said to be unknown.

A rule must vouch for each simple command by itself, so the line is taken apart into them: those in substitutions,
loops and functions too, and those that another command starts (`sudo`, `xargs`, `bash -c`; see `launchers.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

from caddie.tools.launchers import launched

MAX_CHARACTERS = 200_000
_MAX_DEPTH = 5

# What a pattern can vouch for: commands, pipes and lists, plain words. Everything else is more than its commands.
_PLAIN = frozenset({
    "program", "list", "pipeline", "command", "command_name", "word", "string", "raw_string", "string_content",
    "number", "concatenation", "simple_expansion", "variable_name", "special_variable_name", "comment",
    "&&", "||", ";", "|", "|&", "&", "\n", '"', "$", "redirected_statement", "file_redirect", "file_descriptor", ">",
    ">&", "&>", "negated_command", "!", "brace_expression", "..", "{", "}",
})  # fmt: skip
_CALLS = frozenset({"command", "declaration_command", "unset_command", "test_command"})
_REDIRECTS = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})
_WRITES = frozenset({">", ">>", ">|", "&>", "&>>", ">&", "<>"})
_ATOMS = frozenset({
    "string", "raw_string", "ansi_c_string", "translated_string", "heredoc_body", "expansion", "regex",
    "extglob_pattern", "arithmetic_expansion", "comment", "heredoc_redirect",
})  # fmt: skip
_NOWHERE = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr"})
_BLANKS = re.compile(rb"(?:[ \t\n]|\\\n)*")
_UNREADABLE = re.compile(r"[^\S \n\t]|[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff]|(?<![\s\\])\\\n")
_BEFORE_COMMENT = re.compile(rb"(?:^|^[^\\]?[ \t]|[\n;&|()])$")
_CODE_LEFT = re.compile(rb"(?<!\\)[`$<>]\(|(?<!\\)`.")
_QUOTED = frozenset({
    "raw_string", "ansi_c_string", "comment", "heredoc_start", "heredoc_end", "heredoc_body", "heredoc_content",
    "$(", "$((", "<(", ">(",
})  # fmt: skip
_CODE = re.compile(r"\$\(|`|\$\{")
# These evaluate the text of a variable or subscript, in which a command may hide.
_EVALUATING = frozenset({
    "printf", "test", "[", "read", "unset", "let", "wait", "declare", "typeset", "local", "export", "readonly",
})  # fmt: skip
_RESERVED = frozenset({
    "!", "{", "}", "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "select",
    "function", "in",
})  # fmt: skip
_STEERING = re.compile(r"(PS[0-4]|PROMPT_COMMAND|BASH_\w+|BASHOPTS|SHELLOPTS|ENV|PATH|IFS|LD_\w+|DYLD_\w+)\b")


@dataclass(frozen=True, slots=True)
class Word:
    """`text` up to where it is known before the line runs; `is_known` says that this is all of it."""

    text: str
    is_known: bool = True
    is_code: bool = False


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
    if len(line) > MAX_CHARACTERS or depth > _MAX_DEPTH:
        return CommandLine(unknown="it is too long or too deeply nested")
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
        if node.type in _CALLS:
            self._call(node)
        elif node.type == "redirected_statement" and not _holds_call(node):
            self._is_plain = False
        elif node.type == "file_redirect":
            self._redirect(node)
        elif node.type == "variable_assignment":
            self._assignment(node)
        elif node.type in ("arithmetic_expansion", "test_command", "compound_statement", "subscript", "c_style_for"):
            self._evaluates = True
        elif node.type == "heredoc_body" and b"`" in node.text and not _is_quoted(node):
            self._give_up("it holds a command that cannot be read")
        elif node.type == "``" or (not node.children and node.type not in _QUOTED and _CODE_LEFT.search(node.text)):
            self._give_up("it holds substitutions that are not understood")
        elif node.type == "ansi_c_string" and re.search(rb"\\[0-7xuUc]", node.text):
            self._give_up("it holds text that is hidden by escapes")
        elif node.type == "expansion" and re.search(rb"^\$\{!|@\w\}$", node.text):
            self._doubt("it evaluates the text of a variable")
        if node.type == "heredoc_redirect" and not _is_whole(node):
            self._give_up("a here document does not end")
        if node.type == "command_substitution" and node.text.startswith(b"`") and b"\\" in node.text:
            self._give_up("it holds a substitution within one in the old form")
        if node.type == "comment" and not _BEFORE_COMMENT.search(self._source[: node.start_byte][-2:]):
            self._give_up("a part of a word looks like a comment")
        if node.type in ("comment", "heredoc_body"):
            self._silent.append((node.start_byte, node.end_byte))
        if node.type not in _PLAIN and not (node.type in ("expansion", "${") and _is_bare(node)):
            self._is_plain = False
        if node.type not in _ATOMS and node.children and not self._is_covered(node):
            self._give_up("it is not fully understood")

    def _is_covered(self, node: Any) -> bool:
        """Between the parts that the grammar names there is nothing but blanks."""
        at = node.start_byte
        for child in node.children:
            if not _BLANKS.fullmatch(self._source, at, child.start_byte):
                return False
            at = child.end_byte
        return bool(_BLANKS.fullmatch(self._source, at, node.end_byte))

    def _call(self, node: Any) -> None:
        if _is_glued(node):
            self._give_up("a word of it is not understood")
        words = [self._word(child) for child in _words_of(node)]
        self._has_code = self._has_code or any(word.is_code for word in words)
        known = _known(words)
        is_known = len(known) == len(words)
        if node.type == "command" and not known:
            self._doubt("the name of a command is not known before it runs")
        name = known[0].rpartition("/")[2] if known else ""
        self._evaluates = self._evaluates or name in _EVALUATING
        if any(_STEERING.match(word) for word in known[1:]):
            self._doubt("it changes how the shell works")
        text = self._source[node.start_byte : node.end_byte].decode()
        self._commands.append(self._with_launched(SimpleCommand(text, known, is_known)))
        if name in ("cd", "pushd"):
            target = next((word for word in known[1:] if not word.startswith("-")), "~" if is_known else None)
            self._folders.append(target if is_known else None)

    def _with_launched(self, command: SimpleCommand) -> SimpleCommand:
        """The commands that this one starts join the line, so that rules see them."""
        if command.name in _RESERVED:
            self._give_up("a word of the shell's own is taken for a command")
        found = launched(command.words, command.is_known)
        if found.unknown:
            self._doubt(found.unknown)
        inner: list[SimpleCommand] = []
        if found.words:
            started = SimpleCommand(" ".join(found.words), found.words, command.is_known)
            inner.append(self._with_launched(started))
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
        word = self._word(target) if target is not None else Word("", is_known=False)
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
        is_code = bool(_CODE.search(text)) if value.type == "array" else self._word(value).is_code
        self._has_code = self._has_code or is_code
        if _STEERING.match(text):
            self._doubt("it changes how the shell works")

    def _word(self, node: Any) -> Word:
        """The text that the shell would pass on, as far as it is known now."""
        text = node.text.decode()
        if not node.is_named:
            return Word(text)
        match node.type:
            case "word" | "number" | "variable_name" | "test_operator":
                return _bare_word(text)
            case "raw_string":
                return Word(text[1:-1], is_code=bool(_CODE.search(text)))
            case "ansi_c_string" if "\\" not in text:
                return Word(text[2:-1], is_code=bool(_CODE.search(text)))
            case "string_content":
                plain = re.sub(r'\\([$`"\\])|\\\n', r"\1", text)
                return Word(plain, is_code=bool(_CODE.search(plain)))
            case "simple_expansion" | "expansion" if text in ("$HOME", "${HOME}"):
                return Word("~")
            case "command_name" if len(node.children) == 1:
                return self._word(node.children[0])
            case "string" | "concatenation" if node.type == "string" or not _is_braced(text):
                children = node.children[1:-1] if node.type == "string" else node.children
                if node.type == "string" and any(child.type == '"' for child in children):
                    return Word("", is_known=False)  # a translated string
                return _joined(self._gaps(node, children))
            case _:
                return Word("", is_known=False)

    def _gaps(self, node: Any, children: Sequence[Any]) -> Iterator[Word]:
        """The parts of a word. The grammar leaves out blanks in quotes between two expansions."""
        at = children[0].start_byte if children and node.type != "string" else node.start_byte + 1
        for child in children:
            yield Word(self._source[at : child.start_byte].decode())
            yield self._word(child)
            at = child.end_byte
        if node.type == "string":
            yield Word(self._source[at : node.end_byte - 1].decode())


def _bare_word(text: str) -> Word:
    plain = re.sub(r"\\(?:\n|(.))", lambda match: match[1] or "", text, flags=re.DOTALL)
    bare = re.sub(r"\\.", "", text, flags=re.DOTALL)
    if re.search(r"[*?\[]", bare) and bare not in ("[", "[["):
        at = re.search(r"(?<!\\)[*?\[]", text)
        return Word(text[: at.start()] if at else "", is_known=False)
    return Word(plain, is_code=bool(_CODE.search(plain)))


def _is_braced(text: str) -> bool:
    return "{" in text and ("," in text or ".." in text)


def _joined(parts: Iterator[Word]) -> Word:
    text, is_code = "", False
    for part in parts:
        text += part.text
        is_code = is_code or part.is_code
        if not part.is_known:
            return Word(text, is_known=False, is_code=is_code)
    return Word(text, is_code=is_code)


def _known(words: Sequence[Word]) -> tuple[str, ...]:
    """The words before the first that is not known."""
    known: list[str] = []
    for word in words:
        if not word.is_known:
            break
        known.append(word.text)
    return tuple(known)


def _words_of(node: Any) -> Iterator[Any]:
    """The words of a call; the grammar takes words after a redirection for its own."""
    for child in node.children:
        if child.type == "variable_assignment" and node.type == "command":
            continue
        if child.type in _REDIRECTS:
            yield from _stray(child)
        else:
            yield child
    parent = node.parent
    if parent is not None and parent.type == "redirected_statement" and parent.children[0] == node:
        for redirect in parent.children[1:]:
            yield from _stray(redirect)


def _is_glued(call: Any) -> bool:
    """Words without a blank between them are one word, which the grammar has torn apart."""
    parts = [child for child in call.children if child.type not in _REDIRECTS]
    return any(one.end_byte == two.start_byte for one, two in pairwise(parts))


def _stray(redirect: Any) -> Iterator[Any]:
    if redirect.type == "file_redirect":
        named = [child for child in redirect.children if child.is_named and child.type != "file_descriptor"]
        yield from named[1:]
    elif redirect.type == "heredoc_redirect":
        yield from redirect.children_by_field_name("argument")


def _is_whole(document: Any) -> bool:
    """Whether a here document ends with the word that it began with, alone on a line."""
    starts = [re.sub(rb"['\"\\]", b"", child.text) for child in document.children if child.type == "heredoc_start"]
    ends = [child.text.strip(b"\t") for child in document.children if child.type == "heredoc_end"]
    lines = document.text.split(b"\n")
    return len(starts) == 1 and starts == ends and lines[-1].strip(b"\t") == ends[0]


def _is_quoted(body: Any) -> bool:
    """A here document whose end is quoted stands as it is."""
    starts = [child.text for child in body.parent.children if child.type == "heredoc_start"]
    return any(quote in start for start in starts for quote in (b"'", b'"', b"\\"))


def _holds_call(node: Any) -> bool:
    return any(child.type not in _REDIRECTS for child in node.children)


def _is_bare(node: Any) -> bool:
    """`${NAME}` is `$NAME`."""
    outer = node if node.type == "expansion" else node.parent
    return outer is not None and [child.type for child in outer.children] == ["${", "variable_name", "}"]


@cache
def _parser() -> Any:
    import tree_sitter_bash  # loads a grammar of 1 MB; only calls of Bash need it
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))
