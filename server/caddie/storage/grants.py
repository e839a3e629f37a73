"""Permissions given in prompts: for a session in memory, for always in one file shared by all processes."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from caddie.errors import InvalidInput
from caddie.storage.files import Stamp, read_json, stamp, update_json
from caddie.storage.places import Places
from caddie.tools.grants import Grant

VERSION = 1


class GrantStore:
    """Always-grants are bound to the workspace they were given in."""

    def __init__(self, places: Places) -> None:
        self._path = places.grants
        self._workspace = str(places.workspace)
        self._by_session: dict[str, list[Grant]] = {}
        self._read: tuple[Stamp | None, tuple[Grant, ...]] = (None, ())

    def held(self, session_id: str) -> tuple[Grant, ...]:
        return (*self._stored(), *self._by_session.get(session_id, ()))

    def add(self, session_id: str, grant: Grant) -> None:
        if grant.scope == "session":
            self._by_session.setdefault(session_id, []).append(grant)
            return
        self._change(lambda entries: [*(item for item in entries if not _same(item, grant)), asdict(grant)])

    def revoke(self, grant_id: str) -> None:
        """Raises: InvalidInput for an id that no grant has."""
        for grants in self._by_session.values():
            for grant in grants:
                if grant.id == grant_id:
                    grants.remove(grant)
                    return
        if all(grant.id != grant_id for grant in self._stored()):
            raise InvalidInput(f"There is no permission with the id {grant_id!r}; list them first.")
        self._change(lambda entries: [item for item in entries if item.get("id") != grant_id])

    def forget_session(self, session_id: str) -> None:
        self._by_session.pop(session_id, None)

    def _stored(self) -> tuple[Grant, ...]:
        """Read again whenever any process has written the file."""
        now = stamp(self._path)
        if now is None:
            return ()
        if now != self._read[0]:
            tree, _ = read_json(self._path)
            self._read = (now, tuple(grant for item in _entries(tree, self._workspace) if (grant := _grant(item))))
        return self._read[1]

    def _change(self, change: Any) -> None:
        def apply(tree: dict[str, Any]) -> None:
            tree["version"] = VERSION
            workspaces = tree.setdefault("workspaces", {})
            if not isinstance(workspaces, dict):
                raise InvalidInput(
                    f"{self._path} is damaged: expected an object at 'workspaces'. Mend it by hand first."
                )
            workspaces[self._workspace] = change(_entries(tree, self._workspace))

        update_json(self._path, apply)


def _entries(tree: dict[str, Any], workspace: str) -> list[dict[str, Any]]:
    workspaces = tree.get("workspaces")
    entries = workspaces.get(workspace) if isinstance(workspaces, dict) else None
    return [item for item in entries if isinstance(item, dict)] if isinstance(entries, list) else []


def _grant(item: dict[str, Any]) -> Grant | None:
    try:
        return Grant(**item)
    except TypeError:  # written by another version, or by hand
        return None


def _same(item: dict[str, Any], grant: Grant) -> bool:
    return (item.get("tool"), item.get("server"), item.get("pattern")) == (grant.tool, grant.server, grant.pattern)
