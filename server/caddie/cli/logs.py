"""How does a log stay free of keys, whoever writes into it?"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Mapping

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
# A shorter value of such a variable is a word such as `true`, and cutting it out would garble everything.
_SHORTEST = 8
_SHAPES = re.compile(
    r"\b(?:sk-|xai-|gsk_|AIza|ghp_|github_pat_)[A-Za-z0-9_*.\-]{6,}"
    r"|(?<=://)[^/\s@:'\"]+:[^/\s@'\"]+(?=@)"
    r"|(?<=[?&])(?:api[_-]?key|key|token|access_token|secret|sig|signature)=[^&\s'\"]+"
    r"|(?<=Bearer )[A-Za-z0-9._~+/=\-]{8,}",
    re.IGNORECASE,
)
_OTHERS = ("pygls", "httpx", "httpcore", "hpack", "mcp")  # they log whole messages


def write_logs(
    level: str | int, environ: Mapping[str, str], layout: str = "%(levelname)s %(name)s: %(message)s"
) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Discreet(layout, environ))
    logging.basicConfig(level=level, handlers=[handler])
    for name in _OTHERS:
        logging.getLogger(name).setLevel(logging.WARNING)


class Discreet(logging.Formatter):
    """Cuts values of secret variables, and what looks like one, out of the finished line, tracebacks included."""

    def __init__(self, layout: str, environ: Mapping[str, str]) -> None:
        super().__init__(layout)
        values = {value.strip() for name, value in environ.items() if _SECRET_NAME.search(name)}
        secrets = sorted((value for value in values if len(value) >= _SHORTEST), key=len, reverse=True)
        self._secrets = re.compile("|".join(map(re.escape, secrets))) if secrets else None

    def format(self, record: logging.LogRecord) -> str:
        line = super().format(record)
        if self._secrets:
            line = self._secrets.sub("[key]", line)
        return _SHAPES.sub("[key]", line)
