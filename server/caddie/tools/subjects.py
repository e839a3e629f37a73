"""What does a rule's pattern say about one call? Commands, paths, addresses and arguments each have their spellings.

For deny and ask rules every spelling counts, so that none slips through; for allow rules only the one that cannot be
mistaken.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from caddie.tools.commands import CommandLine, SimpleCommand, read_command_line
from caddie.tools.places import Surroundings
from caddie.tools.tool import ToolSpec

_WILD = re.compile(r"[*?\[]")
_PORTS = {"http": 80, "https": 443}
_GIT_VALUES = frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"})


class Subject(Protocol):
    def is_hit(self, pattern: str) -> bool:
        """Whether a deny or ask pattern is about this call."""
        ...

    def may_be_hit(self, pattern: str) -> str:
        """Why that cannot be told before it runs, or nothing."""
        ...

    def vouched(self, patterns: Sequence[str]) -> str | None:
        """One of the allow patterns, when together they vouch for all of the call."""
        ...


def subject_of(spec: ToolSpec, params: Mapping[str, Any], around: Surroundings) -> Subject:
    if not spec.server:
        if spec.name == "Bash":
            return _Command(str(params.get("command", "")))
        if isinstance(path := params.get("path"), str):
            return _Path(path, around, _Arguments(params))
        if isinstance(url := params.get("url"), str):
            return _Address(url)
    return _Arguments(params)


def fits(pattern: str, subject: str) -> bool:
    """A glob; `git log:*` means `git log` alone or with arguments."""
    if pattern.endswith(":*"):
        head = pattern[:-2]
        return subject == head or subject.startswith(head + " ")
    return fnmatchcase(subject, pattern)


class _Command:
    def __init__(self, line: str) -> None:
        self._text = line
        self._line: CommandLine = read_command_line(line)

    def is_hit(self, pattern: str) -> bool:
        if fits(pattern, self._text):
            return True
        return any(fits(pattern, one) for command in self._line.all_commands for one in _spellings(command))

    def may_be_hit(self, pattern: str) -> str:
        if self._line.unknown:
            return self._line.unknown
        for command in self._line.all_commands:
            if not command.is_known and any(_may_become(one, pattern) for one in _spellings(command)):
                return f"the words of `{command.text[:80]}` are only known when it runs"
        return ""

    def vouched(self, patterns: Sequence[str]) -> str | None:
        if not self._line.is_plain:
            return None
        found = [_vouching(command, patterns) for command in self._line.commands]
        return found[0] if found and all(one is not None for one in found) else None


def _spellings(command: SimpleCommand) -> Iterator[str]:
    """As written, as the shell reads it, without the folder of the program, without git's own options."""
    yield command.text
    if not command.words:
        return
    words = list(command.words)
    yield " ".join(words)
    words[0] = os.path.basename(words[0]).removesuffix(".exe")
    yield " ".join(words)
    yield " ".join(words).casefold()
    if words[0] == "git":
        at = 1
        while at < len(words) and words[at].startswith("-"):
            at += 2 if words[at] in _GIT_VALUES else 1
        yield " ".join(["git", *words[at:]])


def _may_become(known: str, pattern: str) -> bool:
    """Whether a command that begins with `known` may come to fit."""
    head = pattern.removesuffix(":*") if pattern.endswith(":*") else _WILD.split(pattern)[0]
    return head.startswith(known) or known.startswith(head)


def _vouching(command: SimpleCommand, patterns: Sequence[str]) -> str | None:
    """A pattern that vouches for a command and, where that starts another, for the other too."""
    for pattern in patterns:
        if fits(pattern, command.text) and (
            not command.launches
            or _reaches(pattern, command)
            or all(_vouching(one, patterns) is not None for one in command.launches)
        ):
            return pattern
    return None


def _reaches(pattern: str, command: SimpleCommand) -> bool:
    """`sudo apt:*` speaks of what sudo starts, `sudo:*` does not."""
    head = pattern.removesuffix(":*") if pattern.endswith(":*") else _WILD.split(pattern)[0]
    return command.launched_at is not None and len(head.split()) > command.launched_at


@dataclass(frozen=True, slots=True)
class _Path:
    path: str
    around: Surroundings
    arguments: _Arguments

    def is_hit(self, pattern: str) -> bool:
        wanted = [one.casefold() for one in self._patterns(pattern)]
        named = [one.casefold() for one in self._spellings()]
        return any(fnmatchcase(name, one) for name in named for one in wanted) or self.arguments.is_hit(pattern)

    def may_be_hit(self, pattern: str) -> str:
        return ""

    def vouched(self, patterns: Sequence[str]) -> str | None:
        """The real file must fit: a link in an allowed folder may lead anywhere. Relative patterns are about the first
        folder of the workspace, whose settings may hold the rule."""
        real = self.around.spellings(self.path)[1]
        relative = self.around.relative(real)
        names = (real,) if relative is None else (real, relative)
        for pattern in patterns:
            if any(fnmatchcase(name, one) for name in names for one in self._patterns(pattern)):
                return pattern
        # Not the arguments as one text: what is to be written would vouch for where it goes.
        return self.arguments.vouched([one for one in patterns if self.arguments.key_of(one) not in (None, "path")])

    def _spellings(self) -> Iterator[str]:
        for absolute in self.around.spellings(self.path):
            yield absolute
            yield os.path.relpath(absolute, self.around.workspace)
            yield from self.around.views(absolute)

    def _patterns(self, pattern: str) -> Iterator[str]:
        """As written with `~` for the home folder, and with the links of its fixed part followed."""
        written = os.path.expanduser(pattern.removeprefix("path=")).removeprefix("./")
        yield written
        if written.startswith("/"):
            fixed, _, rest = _split_glob(written)
            yield os.path.join(os.path.realpath(fixed), rest) if rest else os.path.realpath(fixed)


def _split_glob(pattern: str) -> tuple[str, str, str]:
    """The folders before the first wildcard, and what follows."""
    parts = Path(pattern).parts
    at = next((index for index, part in enumerate(parts) if _WILD.search(part)), len(parts))
    return os.path.join(*parts[:at]), os.sep, os.path.join(*parts[at:]) if parts[at:] else ""


@dataclass(frozen=True, slots=True)
class _Address:
    url: str

    def is_hit(self, pattern: str) -> bool:
        names = {self.url, *_spelled_urls(self.url)}
        wanted = {pattern, pattern.casefold(), _upgraded(pattern).casefold()}
        return any(fits(one, name) for name in names for one in wanted)

    def may_be_hit(self, pattern: str) -> str:
        return ""

    def vouched(self, patterns: Sequence[str]) -> str | None:
        """Only an address that is read in one way: no name before an `@`, no backslash, no blanks, no hidden `..`."""
        parts = _url_parts(self.url)
        if parts is None or re.search(r"[\s\\]", self.url) or "@" in parts.netloc:
            return None
        if posixpath.normpath(unquote(parts.path)) != unquote(posixpath.normpath(parts.path)):
            return None
        plain = _plain_url(parts)
        return next((pattern for pattern in patterns if fits(pattern, plain)), None)


def _url_parts(url: str) -> SplitResult | None:
    """None for what is no address."""
    try:
        parts = urlsplit(url.strip())
        _ = parts.port
    except ValueError:
        return None
    return parts


def _spelled_urls(url: str) -> Iterator[str]:
    """As written, as it is fetched (https, the name in ASCII) and as people read it, each also with `%61` as `a`."""
    parts = _url_parts(url)
    if parts is None:
        return
    host = (parts.hostname or "").rstrip(".")
    try:
        ascii_host = host.encode("idna").decode("ascii")
        hosts = {host, ascii_host.rstrip("."), ascii_host.encode("ascii").decode("idna").rstrip(".")}
    except UnicodeError:
        hosts = {host}
    secure = parts._replace(scheme="https", netloc=host if parts.port in _PORTS.values() else parts.netloc)
    for one in (parts, parts._replace(path=unquote(parts.path)), secure, secure._replace(path=unquote(parts.path))):
        for name in hosts:
            plain = _plain_url(one, name)
            yield from (plain, plain.casefold())


def _upgraded(url: str) -> str:
    return "https://" + url[len("http://") :] if url[: len("http://")].casefold() == "http://" else url


def _plain_url(parts: SplitResult, host: str | None = None) -> str:
    """As servers understand it: no case in scheme and host, no usual port, no user, `..` taken out."""
    host = (parts.hostname or "").rstrip(".") if host is None else host
    scheme = parts.scheme.lower()
    place = host if parts.port in (None, _PORTS.get(scheme)) else f"{host}:{parts.port}"
    path = posixpath.normpath(parts.path) + ("/" if parts.path.endswith("/") and parts.path.strip("/") else "")
    path = path if parts.path else "/"
    return urlunsplit((scheme, place, "/" + path.lstrip("/"), parts.query, ""))


@dataclass(frozen=True, slots=True)
class _Arguments:
    """`key=glob` is about one argument; any other pattern is a glob over all arguments as JSON, keys sorted."""

    params: Mapping[str, Any]

    def is_hit(self, pattern: str) -> bool:
        key = self.key_of(pattern)
        if key is None:
            return fits(pattern, self._json())
        return any(fits(pattern.casefold(), f"{key}={value}".casefold()) for value in _texts(self.params[key]))

    def may_be_hit(self, pattern: str) -> str:
        return ""

    def vouched(self, patterns: Sequence[str]) -> str | None:
        for pattern in patterns:
            key = self.key_of(pattern)
            if key is None:
                if fits(pattern, self._json()):
                    return pattern
            elif (texts := list(_texts(self.params[key]))) and all(fits(pattern, f"{key}={one}") for one in texts):
                return pattern
        return None

    def key_of(self, pattern: str) -> str | None:
        key, equals, _ = pattern.partition("=")
        return key if equals and key in self.params else None

    def _json(self) -> str:
        return json.dumps(self.params, sort_keys=True, ensure_ascii=False)


def _texts(value: Any) -> Iterator[str]:
    """A value as it would be written in a rule; each entry of a list by itself."""
    for one in value if isinstance(value, list | tuple) else (value,):
        yield one if isinstance(one, str) else json.dumps(one, sort_keys=True, ensure_ascii=False)
