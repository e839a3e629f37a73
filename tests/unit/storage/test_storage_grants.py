"""Permissions kept for always: shared by processes, bound to a workspace, and nothing in the file is lost."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from filelock import FileLock

from caddie.errors import InvalidInput
from caddie.rpc.codec import create_base_server
from caddie.rpc.handlers.permissions import bind_handlers
from caddie.storage import files
from caddie.storage.grants import GrantStore
from caddie.storage.places import Places
from caddie.tools.grants import Grant, grant_of, server_grant
from engine_kit import mcp_tool

PROCESSES, EACH = 4, 8
ADDING = """
import sys
from pathlib import Path
from caddie.storage.grants import GrantStore
from caddie.storage.places import Places
from caddie.tools.grants import Grant
root, who = Path(sys.argv[1]), sys.argv[2]
store = GrantStore(Places(root / "config", root / "data", root / "shop"))
for number in range(int(sys.argv[3])):
    store.add("", Grant(f"{who}-{number}", f"mcp__{who}__{number}", who, "always", "h", None, ""))
"""


def store(root: Path, workspace: str = "shop") -> GrantStore:
    return GrantStore(Places(root / "config", root / "data", root / workspace))


def grant(name: str = "x", **more: str) -> Grant:
    return grant_of(mcp_tool("a", name).spec, {}, "always", grant_id=more.get("grant_id", name), granted="")


def test_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    running = [
        subprocess.Popen([sys.executable, "-c", ADDING, str(tmp_path), f"p{n}", str(EACH)]) for n in range(PROCESSES)
    ]
    assert [process.wait(60) for process in running] == [0] * PROCESSES
    assert len({one.id for one in store(tmp_path).held("")}) == PROCESSES * EACH


def test_what_another_process_gives_or_takes_back_counts_at_once(tmp_path: Path) -> None:
    one, other = store(tmp_path), store(tmp_path)
    assert other.held("") == ()
    one.add("s", grant())
    assert [held.id for held in other.held("t")] == ["x"]
    other.revoke("x")
    assert one.held("s") == ()


def test_a_permission_is_for_its_workspace_and_session(tmp_path: Path) -> None:
    one = store(tmp_path)
    one.add("s", grant())
    spec = mcp_tool("a", "y").spec
    one.add("s", server_grant(spec, [spec], grant_id="whole", granted=""))
    assert [held.id for held in one.held("s")] == ["x", "whole"]
    assert [held.id for held in one.held("t")] == ["x"]
    assert store(tmp_path, "elsewhere").held("s") == ()
    one.revoke("whole")
    assert [held.id for held in one.held("s")] == ["x"]
    with pytest.raises(InvalidInput, match="no permission with the id 'whole'"):
        one.revoke("whole")


def test_the_same_permission_given_again_takes_the_place_of_the_first(tmp_path: Path) -> None:
    one = store(tmp_path)
    one.add("", grant())
    one.add("", grant(grant_id="again"))
    assert [held.id for held in one.held("")] == ["again"]


def test_what_an_older_or_newer_version_wrote_stays_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "data" / "grants.json"
    file.parent.mkdir()
    old = {"id": "o", "tool": "mcp__a__old", "server": "a", "scope": "always", "definition_hash": "h", "pattern": None,
           "granted": ""}  # fmt: skip
    newer = {**old, "id": "n", "until": "2030"}
    file.write_text(json.dumps({"version": 1, "workspaces": {str(tmp_path / "shop"): [old, newer], "/other": [old]}}))
    one = store(tmp_path)
    assert [held.id for held in one.held("")] == ["o"]
    one.add("", grant())
    tree = json.loads(file.read_text())
    assert [item["id"] for item in tree["workspaces"][str(tmp_path / "shop")]] == ["o", "n", "x"]
    assert tree["workspaces"]["/other"] == [old]


def test_a_permission_for_what_utf8_cannot_spell_is_kept(tmp_path: Path) -> None:
    one = store(tmp_path)
    odd = Grant("x", "Bash", "", "always", "h", "echo \ud83d", "")
    one.add("s", odd)
    one.add("s", grant("y"))
    assert [held.pattern for held in store(tmp_path).held("s")] == ["echo \ud83d", None]


def test_a_damaged_file_is_not_written_over(tmp_path: Path) -> None:
    one = store(tmp_path)
    path = tmp_path / "data" / "grants.json"
    path.parent.mkdir()
    path.write_text('{"workspaces": ["mine"]}')
    with pytest.raises(InvalidInput, match="damaged"):
        one.add("s", grant())
    assert "mine" in path.read_text()


async def test_a_file_that_another_program_holds_is_waited_for_beside_the_loop_and_not_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "LOCK_SECONDS", 0.05)
    one = store(tmp_path)
    one.add("s", grant())

    class App:
        async def engine(self) -> SimpleNamespace:
            return SimpleNamespace(grants=one)

    server = create_base_server("x", "1")
    bind_handlers(server, cast(Any, App()))
    revoke = server.protocol.fm.features["caddie/permissions/revoke"]
    revoked, threads = one.revoke, list[threading.Thread]()

    def noting(grant_id: str) -> None:
        threads.append(threading.current_thread())
        revoked(grant_id)

    monkeypatch.setattr(one, "revoke", noting)
    with FileLock(tmp_path / "data" / "grants.json.lock"), pytest.raises(InvalidInput, match="another program"):
        await revoke({"id": "x"})
    assert threading.main_thread() not in threads
    assert [held.id for held in one.held("s")] == ["x"]
