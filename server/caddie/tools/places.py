"""Which files must nobody change unasked, whatever rules and modes say?

What lies outside the workspace, what other programs run by themselves (git hooks, shell start files, editor tasks),
and Caddie's own settings. Symbolic links are followed; no file is opened.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from caddie.tools.commands import CommandLine, SimpleCommand, read_command_line
from caddie.tools.tool import Tool

_GIT = "belongs to git, which can run commands from it"
_EDITOR = "belongs to the editor, which can run commands from it"
_OWN = "belongs to Caddie's own settings"
_SHELL = "is run by your shell when it starts"
_PROGRAMS = "can start programs"
_FOLDERS = {
    ".git": _GIT, ".husky": _GIT, ".vscode": _EDITOR, ".idea": _EDITOR, ".devcontainer": _EDITOR, ".caddie": _OWN,
    ".ssh": "decides who may log in",
}  # fmt: skip
_SHELL_FILES = (
    ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zshenv",
    ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".logout", ".inputrc",
    ".xinitrc", ".xprofile", ".xsession", ".xsessionrc", ".envrc", ".pam_environment",
)  # fmt: skip
_EDITOR_FILES = (".vimrc", ".gvimrc", ".nvimrc", ".nvim.lua", ".exrc", ".emacs", ".dir-locals.el")
_PROGRAM_FILES = (".mcp.json", ".npmrc", ".yarnrc", ".yarnrc.yml", "sitecustomize.py", "usercustomize.py")
_FILES = {
    **dict.fromkeys(_SHELL_FILES, _SHELL),
    **dict.fromkeys(_EDITOR_FILES, _EDITOR),
    **dict.fromkeys(_PROGRAM_FILES, _PROGRAMS),
    ".gitconfig": _GIT,
    ".gitmodules": _GIT,
}
_CONFIG = {
    "fish": _SHELL, "environment.d": _SHELL, "git": _GIT, "nvim": _EDITOR, "autostart": _PROGRAMS,
    "systemd": _PROGRAMS, "caddie": _OWN,
}  # fmt: skip
RUN_LATER = (
    *_SHELL_FILES, *_EDITOR_FILES, ".mcp.json", ".gitconfig", ".git/hooks", ".git/config", ".husky", ".vscode", ".idea",
    ".devcontainer", ".caddie", ".ssh", *(f".config/{name}" for name in _CONFIG),
)  # fmt: skip
"""What runs, or lets somebody in, long after it was written. Beside a project's files those of a home folder, which may
be a workspace too."""
_READERS = frozenset({
    "cat", "head", "tail", "less", "more", "ls", "stat", "file", "wc", "grep", "egrep", "fgrep", "rg", "diff", "cmp",
    "test", "[", "[[", "echo", "printf", "pwd", "cd", "pushd", "popd", "true", "false", "readlink", "realpath",
    "basename", "dirname", "md5sum", "sha1sum", "sha256sum", "du", "sleep", "date", "whoami", "uname",
    "which", "jq", "cut",
    "tr", "nl",
})  # fmt: skip
_GIT_READERS = frozenset(["diff", "log", "show", "status", "blame", "grep", "ls-files", "rev-parse", "branch"])
_PIECE = re.compile(r"[^\s'\"=:,;()<>|&{}`$]+")
_BRACES = re.compile(r"\{[^{}\s]*\}")
_LETTERS = re.compile(r"-[A-Za-z]+")
_UNSPOKEN = re.compile(r"['\"\\]|(\$\w+)")
_GLOB = re.compile(r"[*?\[]")
_MAX_PIECES = 1_000
_MAX_FOLDERS = 16
_MAX_PATH = 4_096
_TOO_MANY = "It has too many words to look at each for files that run by themselves."
_COMMAND_KEYS = frozenset({"command", "cmd", "commands", "script", "code", "args", "arguments"})
_PATH_KEYS = ("path", "file_path", "notebook_path")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where a call would run. `own` are the files and folders in which Caddie keeps settings and permissions;
    `further` are folders of the workspace beside the first."""

    workspace: Path
    own: tuple[Path, ...] = ()
    further: tuple[Path, ...] = ()

    def spellings(self, path: str, folder: str | None = None) -> tuple[str, str]:
        """As written, made absolute and without `..`; and the real one, links followed."""
        written = os.path.join(folder or self.workspace, os.path.expanduser(path.replace("\0", "")))
        return os.path.normpath(written), os.path.realpath(written)

    def relative(self, absolute: str) -> str | None:
        """Seen from the first folder of the workspace, or None when it is not inside that."""
        return next(self._inside(absolute, self.workspace), None)

    def views(self, absolute: str) -> tuple[str, ...]:
        """Seen from each folder of the workspace that it is inside of; empty when it is outside."""
        folders = (self.workspace, *self.further)
        return tuple(view for folder in folders for view in self._inside(absolute, folder))

    @staticmethod
    def _inside(absolute: str, folder: Path) -> Iterator[str]:
        if _is_in(absolute, folder):
            yield os.path.relpath(absolute, _real(str(folder)))


@lru_cache(64)
def _real(folder: str) -> str:
    """The workspace and our own folders stay where they are while Caddie runs."""
    return os.path.realpath(folder)


def must_ask(tool: Tool, params: Mapping[str, Any], around: Surroundings) -> str:
    """Why this call always asks, as a sentence for the prompt; or nothing."""
    if tool.spec.name == "Bash":
        return _of_command(read_command_line(str(params.get("command", ""))), around)
    if tool.spec.server:
        paths = list(_texts_in(params))
        if len(paths) > _MAX_PIECES:
            return _TOO_MANY
        return next((why for path in paths if (why := _why(path, around))), "")
    if tool.spec.read_only or tool.session_only:
        return ""
    paths = [value for key in _PATH_KEYS if isinstance(value := params.get(key), str)]
    return next((why for path in paths if (why := _why(path, around) or _outside(path, around))), "")


def _of_command(line: CommandLine, around: Surroundings) -> str:
    if not line.is_read:
        return f"What it would change cannot be told: {line.unknown}."
    folders = _folders(line, around)
    for target in line.writes:
        if target is None or (folders is None and not target.startswith(("/", "~"))):
            return "It writes to a file that is only known when it runs."
        for folder in folders or [None]:
            if why := _why(target, around, folder) or _outside(target, around, folder):
                return why
    if all(_only_reads(command) for command in line.all_commands):
        return ""
    pieces = _pieces(_UNSPOKEN.sub(lambda found: " " if found[1] else "", line.spoken))
    if len(pieces) > _MAX_PIECES:
        return _TOO_MANY
    places = [(piece, folder) for piece in pieces for folder in folders or [None]]
    return next((why for piece, folder in places if (why := _why(piece, around, folder))), "")


def _pieces(spoken: str) -> list[str]:
    """What may be a path: each word, what stands behind an option's letters (`-C.git`), and what braces may mean."""
    words = [*_PIECE.findall(spoken), *_PIECE.findall(_BRACES.sub("*", spoken))]
    attached = [word[found.end() :] for word in words if (found := _LETTERS.match(word))]
    return [word for word in dict.fromkeys((*words, *attached)) if word]


def _folders(line: CommandLine, around: Surroundings) -> list[str | None] | None:
    """Where relative paths of the line may start; None when that is not known."""
    found: list[str | None] = [None]
    for folder in line.folders:
        if folder is None or folder == "-":
            return None
        found += [around.spellings(folder, base)[0] for base in list(found)]
        if len(found) > _MAX_FOLDERS:
            return None
    return found


def _only_reads(command: SimpleCommand) -> bool:
    if command.name == "git":
        is_reader = len(command.words) > 1 and command.words[1] in _GIT_READERS
        return is_reader and command.is_known and not any(word.startswith(("--out", "-o")) for word in command.words)
    return command.name in _READERS


def _why(path: str, around: Surroundings, folder: str | None = None) -> str:
    """Why a file is guarded. Of folders that lie in one another, each has its word."""
    for absolute in dict.fromkeys(around.spellings(path[:_MAX_PATH], folder)):
        inside = around.relative(absolute)
        name = inside if inside is not None else absolute
        if any(_is_in(absolute, own) for own in around.own):
            return f"{name} {_OWN}."
        for view in around.views(absolute) or (absolute,):
            if what := _guarded([_plain(part) for part in Path(view).parts]):
                return f"{name} {what}."
    return ""


def _guarded(parts: Sequence[str]) -> str:
    for part, after in zip(parts, (*parts[1:], ""), strict=False):
        if part.startswith(".") and _GLOB.search(part) and any(fnmatchcase(name, part) for name in _NAMES):
            return "may mean a file that runs by itself"
        if what := _FOLDERS.get(part) or _FILES.get(part) or (_CONFIG.get(after) if part == ".config" else None):
            return what
    return _EDITOR if parts and parts[-1].endswith(".code-workspace") else ""


def _outside(path: str, around: Surroundings, folder: str | None = None) -> str:
    _, real = around.spellings(path, folder)
    return "" if around.views(real) else f"{real} is outside the workspace."


def _is_in(absolute: str, folder: Path) -> bool:
    root = _real(str(folder))
    return absolute == root or absolute.startswith(root.rstrip(os.sep) + os.sep)


def _plain(part: str) -> str:
    """As file systems may compare it: without case, invisible characters, and dots or blanks at its end."""
    visible = "".join(c for c in unicodedata.normalize("NFKC", part) if unicodedata.category(c) != "Cf")
    return visible.casefold().rstrip(". ")


_NAMES = frozenset((*_FOLDERS, *_FILES))


def _texts_in(params: Any) -> Iterator[str]:
    """Every text of an MCP tool's arguments that may be a path: which of them it writes to, nobody knows."""
    pending: list[tuple[str, Any]] = [("", params)]
    while pending:
        key, node = pending.pop()
        if isinstance(node, Mapping):
            pending.extend((str(name), value) for name, value in node.items())
        elif isinstance(node, list | tuple):
            pending.extend((key, value) for value in node)
        elif isinstance(node, str) and key.casefold() in _COMMAND_KEYS:
            yield from _PIECE.findall(node[: _MAX_PATH * 4])
        elif isinstance(node, str) and _may_be_path(node):
            yield unquote(urlsplit(node).path) if node.startswith("file:") else node


def _may_be_path(text: str) -> bool:
    return 0 < len(text) <= _MAX_PATH and "\n" not in text and ("/" in text or "." in text or " " not in text)
