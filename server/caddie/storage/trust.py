"""Which workspaces the person trusts, bound to the content of the files that could start or allow something."""

from __future__ import annotations

from caddie.storage.files import read_json, update_json
from caddie.storage.places import Places


class TrustStore:
    def __init__(self, places: Places) -> None:
        self._path = places.trust
        self._workspace = str(places.workspace)

    def is_trusted(self, fingerprint: str) -> bool:
        """A changed file has another fingerprint and so is asked about again."""
        tree, _ = read_json(self._path)
        folders = tree.get("folders")
        return isinstance(folders, dict) and folders.get(self._workspace) == fingerprint

    def trust(self, fingerprint: str) -> None:
        def apply(tree: dict[str, object]) -> None:
            tree["version"] = 1
            folders = tree.setdefault("folders", {})
            if isinstance(folders, dict):
                folders[self._workspace] = fingerprint

        update_json(self._path, apply)
