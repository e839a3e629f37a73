"""Where do the tokens lie that MCP servers gave after a sign-in? Each server's in a file that only its owner reads.

Not in the platform's key ring: that needs a running desktop session, which an editor over SSH does not have.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from caddie.storage.files import read_json, write_atomically
from caddie.storage.places import Places

_OWNER_ONLY = 0o600


class TokenFiles:
    def __init__(self, places: Places) -> None:
        self._folder = places.mcp_tokens

    def read(self, key: str) -> Mapping[str, Any]:
        """Empty when there is none, or none that can be read."""
        return read_json(self._path(key))[0]

    def write(self, key: str, entry: Mapping[str, Any] | None) -> None:
        """None takes it away."""
        path = self._path(key)
        if entry is None:
            path.unlink(missing_ok=True)
            return
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if path.exists():
            os.chmod(path, _OWNER_ONLY)  # whatever anybody made of it; a new file is the owner's anyway
        write_atomically(path, json.dumps({"version": 1, **entry}, indent=1))

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.json"
