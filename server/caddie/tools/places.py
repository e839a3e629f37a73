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
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from caddie.tools.commands import CommandLine, SimpleCommand, Word, read_command_line
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
_READERS = frozenset({
    "cat", "head", "tail", "less", "more", "ls", "stat", "file", "wc", "grep", "egrep", "fgrep", "rg", "diff", "cmp",
    "test", "[", "[[", "echo", "printf", "pwd", "cd", "pushd", "popd", "true", "false", "readlink", "realpath",
    "basename", "dirname", "md5sum", "sha1sum", "sha256sum", "du", "tree", "sleep", "date", "whoami", "uname",
    "which",
})  # fmt: skip
_GIT_READERS = frozenset(["diff", "log", "show", "status", "blame", "grep", "ls-files", "rev-parse", "branch"])
_PIECE = re.compile(r"[^\s'\"=:,;()<>|&]+")
_MAX_PIECES = 400
_MAX_PATH = 4_096
_PATH_KEYS = ("path", "file_path", "notebook_path")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where a call would run. `own` are the folders in which Caddie keeps settings and permissions."""

    workspace: Path
    own: tuple[Path, ...] = ()

    def spellings(self, path: str, folder: str | None = None) -> tuple[str, str]:
        """As written, made absolute and without `..`; and the real one, links followed."""
        written = os.path.join(folder or self.workspace, os.path.expanduser(path))
        return os.path.normpath(written), os.path.realpath(written)

    def relative(self, absolute: str) -> str | None:
        """Seen from the workspace, or None when it is outside."""
        root = os.path.realpath(self.workspace)
        if absolute == root or absolute.startswith(root.rstrip(os.sep) + os.sep):
            return os.path.relpath(absolute, root)
        return None


def must_ask(tool: Tool, params: Mapping[str, Any], around: Surroundings) -> str:
    """Why this call always asks, as a sentence for the prompt; or nothing."""
    if tool.spec.name == "Bash":
        return _of_command(read_command_line(str(params.get("command", ""))), around)
    if tool.spec.server:
        return next((why for path in _paths_in(params) if (why := _why(path, around))), "")
    if tool.spec.read_only or tool.session_only:
        return ""
    paths = [value for key in _PATH_KEYS if isinstance(value := params.get(key), str)]
    return next((why for path in paths if (why := _why(path, around) or _outside(path, around))), "")


def _of_command(line: CommandLine, around: Surroundings) -> str:
    folders = _folders(line, around)
    for target in line.writes:
        if target is None or (folders is None and not target.startswith(("/", "~"))):
            return "It writes to a file that is only known when it runs."
        for folder in folders or [None]:
            if why := _why(target, around, folder) or _outside(target, around, folder):
                return why
    pieces = 0
    for command in line.all_commands:
        for word in () if _only_reads(command) else command.arguments:
            for piece in _PIECE.findall(word.text):
                pieces += 1
                if pieces > _MAX_PIECES:
                    return ""
                for folder in folders or [None]:
                    if why := _why(piece, around, folder) or _perhaps(piece, word):
                        return why
    return ""


def _folders(line: CommandLine, around: Surroundings) -> list[str | None] | None:
    """Where relative paths of the line may start; None when that is not known."""
    found: list[str | None] = [None]
    for folder in line.folders:
        if folder is None or folder == "-":
            return None
        found += [around.spellings(folder, base)[0] for base in list(found)][:8]
    return found


def _only_reads(command: SimpleCommand) -> bool:
    if command.name == "git":
        return len(command.words) > 1 and command.words[1] in _GIT_READERS
    return command.name in _READERS


def _perhaps(piece: str, word: Word) -> str:
    """A word such as `.g*` that may come to mean a guarded name."""
    last = piece.rpartition("/")[2]
    is_end = not word.is_known and word.text.endswith(piece) and last.startswith(".")
    return "It may mean a file that runs by itself." if is_end and any(n.startswith(last) for n in _NAMES) else ""


def _why(path: str, around: Surroundings, folder: str | None = None) -> str:
    """Why a file is guarded."""
    for absolute in dict.fromkeys(around.spellings(path[:_MAX_PATH].replace("\0", ""), folder)):
        inside = around.relative(absolute)
        name = inside if inside is not None else absolute
        if any(_is_in(absolute, own) for own in around.own):
            return f"{name} {_OWN}."
        if what := _guarded([_plain(part) for part in Path(name).parts]):
            return f"{name} {what}."
    return ""


def _guarded(parts: Sequence[str]) -> str:
    for part, after in zip(parts, (*parts[1:], ""), strict=False):
        if what := _FOLDERS.get(part) or _FILES.get(part) or (_CONFIG.get(after) if part == ".config" else None):
            return what
    return _EDITOR if parts and parts[-1].endswith(".code-workspace") else ""


def _outside(path: str, around: Surroundings, folder: str | None = None) -> str:
    _, real = around.spellings(path.replace("\0", ""), folder)
    return f"{real} is outside the workspace." if around.relative(real) is None else ""


def _is_in(absolute: str, folder: Path) -> bool:
    root = os.path.realpath(folder)
    return absolute == root or absolute.startswith(root.rstrip(os.sep) + os.sep)


def _plain(part: str) -> str:
    """As file systems may compare it: without case, invisible characters, and dots or blanks at its end."""
    visible = "".join(c for c in unicodedata.normalize("NFKC", part) if unicodedata.category(c) != "Cf")
    return visible.casefold().rstrip(". ")


_NAMES = frozenset((*_FOLDERS, *_FILES))


def _paths_in(params: Any) -> Iterator[str]:
    """Every text of an MCP tool's arguments that may be a path: which of them it writes to, nobody knows."""
    pending: list[Any] = [params]
    count = 0
    while pending and count < _MAX_PIECES:
        node = pending.pop()
        count += 1
        if isinstance(node, Mapping):
            pending.extend(node.values())
        elif isinstance(node, list | tuple):
            pending.extend(node)
        elif isinstance(node, str) and node and len(node) <= _MAX_PATH and "\n" not in node:
            yield unquote(urlsplit(node).path) if node.startswith("file:") else node
