"""`caddie undo`, in a process of its own after the turn's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from llmock.pytest_plugin import LLMock

from editor_client import clean_environment


def caddie(workspace: Path, home: Path, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "caddie", *args]
    environ = clean_environment(home, **env)
    return subprocess.run(command, cwd=workspace, env=environ, capture_output=True, text=True, timeout=90, check=False)


def test_a_turn_of_another_process_is_taken_back_and_the_undo_too(llmock: LLMock, workspace: Path, home: Path) -> None:
    (workspace / "a.txt").write_text("one\ntwo\nthree\n")
    llmock.call_tool("Bash", {"command": "sed -i s/two/2/ a.txt; echo new >b.txt"})
    llmock.reply("Done.")
    double: dict[str, Any] = {
        "CADDIE_PROVIDER": "anthropic", "CADDIE_BASE_URL": llmock.base_url("anthropic"),
        "CADDIE_MODEL": "claude-sonnet-5", "ANTHROPIC_API_KEY": "test-key",
    }  # fmt: skip
    nothing = caddie(workspace, home, "undo")
    assert (nothing.returncode, nothing.stdout) == (2, "")
    assert "nothing to undo" in nothing.stderr
    asked = caddie(workspace, home, "ask", "--yes", "go", **double)
    assert asked.returncode == 0, asked.stderr
    (workspace / "a.txt").write_text("one\n2\nthree\nmine\n")
    undone = caddie(workspace, home, "undo", "--json")
    result = json.loads(undone.stdout)
    assert undone.returncode == 0
    assert [(file["path"], file["outcome"]) for file in result["files"]] == [("a.txt", "merged"), ("b.txt", "restored")]
    assert (workspace / "a.txt").read_text() == "one\ntwo\nthree\nmine\n"
    assert not (workspace / "b.txt").exists()
    again = caddie(workspace, home, "undo", "--session", result["sessionId"], "--turn", result["undoId"])
    assert again.stdout == "Restored: a.txt, b.txt.\n"
    assert "caddie undo --session" in again.stderr
    (workspace / "a.txt").write_text("one\nclash\nthree\n")
    clash = caddie(workspace, home, "undo")
    assert clash.returncode == 1
    assert "Left as it is: a.txt was changed since in the same place (line 2)" in clash.stdout
