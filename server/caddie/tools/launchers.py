"""Which command does a command start in turn? `sudo rm x` runs `rm x`, `bash -c 'rm x'` runs a whole line.

A table of the usual ones. One that starts commands in a way that cannot be read makes the line unknown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

# Options of each that take the next word for their value, and how many words stand before the command.
_VALUES: dict[str, str] = {
    "sudo": "-u -g -h -p -C -c -D -R -r -t -T -U --user --group --host --prompt --chdir --chroot --role --type "
    "--close-from --command-timeout --other-user",
    "doas": "-u -C -a",
    "env": "-u -C -a --unset --chdir --argv0",
    "nice": "-n --adjustment",
    "ionice": "-c -n -p -P -u --class --classdata",
    "nohup": "",
    "setsid": "",
    "stdbuf": "-i -o -e --input --output --error",
    "time": "-f -o --format --output",
    "timeout": "-k -s --kill-after --signal",
    "command": "",
    "builtin": "",
    "exec": "-a",
    "coproc": "",
    "xargs": "-a -d -E -I -L -n -P -s --arg-file --delimiter --max-args --max-procs --max-chars --process-slot-var",
    "chroot": "--userspec --groups",
    "strace": "-e -o -p -s -u -E -a -b -I -O -S -P -X --output --user --env --trace --attach",
    "ltrace": "-e -o -p -s -u -a -n",
    "flock": "-w -E --timeout --wait --conflict-exit-code",
    "unshare": "-S -G -R -w -l --map-user --map-group --root --wd --setuid --setgid --propagation --setgroups "
    "--monotonic --boottime --load-interp",
    "busybox": "",
    "caffeinate": "-t -w",
    "chrt": "-T -P -D",
    "taskset": "",
    "jobs": "",
    "script": "",
    "watch": "-n -q -s --interval --equexit --shotsdir",
    "su": "-s -g -G -w --shell --group",
    "runuser": "-u -s -g -G -w --user --shell --group",
}
_PLACES = {"timeout": 1, "chroot": 1, "flock": 1, "chrt": 1, "taskset": 1}
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "fish"})
_BLIND = frozenset({"alias", "hash", "enable", "complete", "compgen", "bind", "fc", "parallel", "at", "batch"})
_ASSIGNMENT = re.compile(r"\w+\+?=.*", re.DOTALL)
_HIDES = "it starts a command that cannot be told before it runs"
_CHANGES = "it changes what its own words mean"


@dataclass(frozen=True, slots=True)
class Launched:
    """`words` of the one command started, the first of them at `at`; or a `line` for another shell; or `unknown`."""

    words: tuple[str, ...] = ()
    line: str | None = None
    unknown: str = ""
    at: int | None = None


_NOTHING = Launched()


def launched(words: Sequence[str], is_known: bool) -> Launched:
    """`is_known` says that `words` are all there are."""
    if not words:
        return _NOTHING
    name = words[0].rpartition("/")[2]
    if name in _BLIND or (name in ("mapfile", "readarray") and any(word.startswith("-C") for word in words)):
        return _NOTHING if len(words) == 1 and is_known else Launched(unknown=_CHANGES)
    if name in _SHELLS:
        return _shell(words, is_known)
    if name in ("eval", "trap"):
        return _evaluated(name, words, is_known)
    if name in ("source", "."):
        is_file = len(words) > 1 and not words[1].startswith(("/dev/", "/proc/"))
        return Launched(tuple(words[1:]), at=1) if is_file else Launched(unknown=_HIDES)
    if name == "find":
        return _find(words, is_known)
    if name in _VALUES:
        return _prefix(name, words, is_known)
    return _NOTHING


def _shell(words: Sequence[str], is_known: bool) -> Launched:
    at = 1
    while at < len(words) and words[at][:1] in "-+":
        option = words[at]
        if not option.startswith("--") and "c" in option:
            is_read = at + 1 < len(words) and words[at + 1][:1] not in ("-", "+")
            return Launched(line=words[at + 1], at=at + 1) if is_read else Launched(unknown=_HIDES)
        if option in ("--version", "--help"):
            return _NOTHING
        at += 2 if option in ("-o", "+o", "-O", "+O", "--rcfile", "--init-file") else 1
        if option in ("-s", "--rcfile", "--init-file", "--", "-") or option.startswith("-s"):
            return Launched(unknown=_HIDES)
    if at < len(words) and not words[at].startswith(("/dev/", "/proc/")):
        return Launched(tuple(words[at:]), at=at)  # a script, a program like any other
    return Launched(unknown=_HIDES)


def _evaluated(name: str, words: Sequence[str], is_known: bool) -> Launched:
    rest = list(words[1:])
    if rest[:1] == ["--"]:
        rest = rest[1:]
    if not is_known:
        return Launched(unknown=_HIDES)
    if name == "eval":
        return Launched(line=" ".join(rest), at=1) if rest else _NOTHING
    return Launched(line=rest[0], at=1) if len(rest) > 1 and rest[0] not in ("-", "-l", "-p") else _NOTHING


def _find(words: Sequence[str], is_known: bool) -> Launched:
    starts = [at for at, word in enumerate(words) if word in ("-exec", "-execdir", "-ok", "-okdir")]
    if not starts:
        return _NOTHING if is_known else Launched(unknown=_HIDES)
    first = starts[0] + 1
    end = next((at for at in range(first, len(words)) if words[at] in (";", "+")), len(words))
    inner = tuple(words[first:end])
    if len(starts) > 1 or not inner or "{}" in inner[0] or _starts_more(inner):
        return Launched(inner, unknown=_HIDES, at=first)
    return Launched(inner, at=first)


def _prefix(name: str, words: Sequence[str], is_known: bool) -> Launched:
    values = frozenset(_VALUES[name].split())
    at, places = 1, _PLACES.get(name, 0)
    while at < len(words):
        word = words[at]
        if name == "env" and (word.startswith(("-S", "--split-string")) or re.fullmatch(r"-[a-zA-Z]*S.*", word)):
            return Launched(unknown=_HIDES)
        if name in ("su", "runuser", "script", "flock") and word in ("-c", "--command"):
            return Launched(line=words[at + 1], at=at + 1) if at + 1 < len(words) else Launched(unknown=_HIDES)
        if name == "command" and word in ("-v", "-V"):
            return _NOTHING
        if word == "--":
            at += 1
            break
        if word[:1] == "-" and (word != "-" or name == "env"):
            at += 2 if _takes_next(word, values) else 1
        elif _ASSIGNMENT.fullmatch(word) and name in ("env", "sudo", "doas"):
            at += 1
        elif places:
            places, at = places - 1, at + 1
        else:
            break
    at += places
    if name == "script" and any(re.match(r"-\w*c|--c", word) for word in words[1:]):
        return Launched(unknown=_HIDES)
    if name in ("su", "script", "runuser", "jobs") and "-x" not in words:
        return Launched(unknown="" if name in ("script", "jobs") else _HIDES)
    inner = tuple(words[at:])
    if not inner:
        return _NOTHING if is_known else Launched(unknown=_HIDES)
    if name == "watch":
        return Launched(line=" ".join(inner), at=at)
    if name == "coproc" and inner[1:2] == ("{",):
        return Launched(unknown=_HIDES)
    if name == "xargs" and (_starts_more(inner) or _is_replaced(words[:at], inner[0])):
        return Launched(inner, unknown=_HIDES, at=at)
    if any(re.match(r"(PATH|LD_\w+|DYLD_\w+|BASH_\w+|ENV)=", word) for word in words[1:at]):
        return Launched(inner, unknown=_CHANGES, at=at)
    return Launched(inner, at=at)


def _takes_next(option: str, values: frozenset[str]) -> bool:
    """Options may stand together (`-Eu root` is `-E -u root`), and long ones may be shortened."""
    if option.startswith("--"):
        return any(value.startswith(option) for value in values if value.startswith("--"))
    taking = next((at for at, letter in enumerate(option) if f"-{letter}" in values), None)
    return taking is not None and taking == len(option) - 1


def _starts_more(inner: Sequence[str]) -> bool:
    """What is appended to such a command becomes a command itself."""
    name = inner[0].rpartition("/")[2]
    return name in _SHELLS or name in _VALUES or name in ("eval", "source", ".", "find")


def _is_replaced(options: Sequence[str], name: str) -> bool:
    """`xargs -I CMD CMD` puts its input in place of the name."""
    return any(re.match(r"-\w*[Ii]|--r", word) for word in options)
