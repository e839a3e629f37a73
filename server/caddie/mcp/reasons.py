"""How is a server's failure told to a person: one sentence, without secrets, whatever the server printed."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from urllib.parse import urlsplit

from caddie.settings import McpServer

MAX_REASON = 300
_SECRET_KEY = re.compile(r"token|key|secret|pass|pwd|auth|credential|cookie", re.IGNORECASE)
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_LONG_VALUE = 8
_SHORT_SECRET = 3


def secrets_of(server: McpServer) -> tuple[str, ...]:
    """Configured values that must not be repeated; `PORT=8080` is none, `API_KEY=abc` is one."""
    values = [*_secret_values(server.env), *_secret_values(server.headers)]
    values += [value.split(" ", 1)[1] for value in server.headers.values() if " " in value]
    values += [value for value in _secret_args(server.args) if len(value) >= _SHORT_SECRET]
    values += _url_secrets(server.url)
    values += [server.oauth.client_secret] if server.oauth.client_secret else []
    # Shown line by line, or with the line's end spelled out.
    values += [line for value in values for line in value.splitlines() if len(line) >= _SHORT_SECRET and line != value]
    return tuple(sorted(set(values), key=len, reverse=True))


def _secret_values(pairs: Mapping[str, str]) -> Iterable[str]:
    for key, value in pairs.items():
        if len(value) >= _LONG_VALUE or (len(value) >= _SHORT_SECRET and _SECRET_KEY.search(key)):
            yield value


def _url_secrets(url: str) -> list[str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return []
    return [part for part in (parts.query, parts.password) if part]


def _secret_args(args: Sequence[str]) -> Iterable[str]:
    """`--api-key=x` and `--api-key x`."""
    for flag, following in pairwise((*args, "")):
        name, _, value = flag.partition("=")
        if name.startswith("-") and _SECRET_KEY.search(name):
            yield value or following


def clean(text: str, secrets: Iterable[str]) -> str:
    """`text` on one line, shortened, with each secret as `***`."""
    for secret in secrets:
        text = text.replace(secret, "***")
    text = " ".join(_CONTROL.sub(" ", _COLOUR.sub("", text)).split())
    return text if len(text) <= MAX_REASON else text[: MAX_REASON - 1] + "…"


def last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def ending(returncode: int | None, elapsed: float, stderr: str) -> str:
    """`exited with 1 after 0.3 s: JIRA_TOKEN is not set`."""
    if returncode is None:
        how = "closed its output"
    elif returncode < 0:
        how = f"was killed by {_signal_name(-returncode)}"
    else:
        how = f"exited with {returncode}"
    said = last_line(stderr)
    return f"{how} after {elapsed:.1f} s" + (f": {said}" if said else "")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
