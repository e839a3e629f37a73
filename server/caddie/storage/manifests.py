"""Where is it kept what MCP servers offered when they last ran? One file per server identity."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from caddie.storage.files import read_json, write_atomically
from caddie.storage.places import Places


class ManifestFiles:
    def __init__(self, places: Places) -> None:
        self._folder = places.manifests

    def read(self, key: str) -> Mapping[str, Any]:
        """Empty when there is none, or none that can be read."""
        return read_json(self._folder / f"{key}.json")[0]

    def write(self, key: str, entry: Mapping[str, Any]) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        write_atomically(self._folder / f"{key}.json", json.dumps({"version": 1, **entry}))
