from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from nvim_kit import NVIM, QUIET, RUN, SCRIPTED, Terminal, init_lua, isolated, shop


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    """Starts Neovim in a terminal, with our client and a server that plays a script."""
    started: list[Terminal] = []

    def start(
        script: dict[str, Any] | None = None, extra: str = "", chat: bool = True, size: tuple[int, int] = (120, 34)
    ) -> Terminal:
        (tmp_path / "script.json").write_text(json.dumps(script or {}))
        cmd = [sys.executable, str(SCRIPTED), str(tmp_path / "script.json"), str(tmp_path / "log.jsonl")]
        (tmp_path / "init.lua").write_text(init_lua(cmd, extra))
        argv = [NVIM, *QUIET, "-u", str(tmp_path / "init.lua"), "invoices.py"]
        one = Terminal(argv, shop(tmp_path), isolated(tmp_path), tmp_path / "log.jsonl", size)
        started.append(one)
        one.wait("def overdue")
        if chat:
            one.command("Caddie chat")
            one.wait("Ask, or say")
            one.until(lambda: one.sent("initialized"))
        return one

    yield start
    for one in started:
        one.close()


@pytest.fixture
def lua(tmp_path: Path) -> Callable[..., Any]:
    """Runs Lua in a headless Neovim that has our client on its path; gives what the code returned."""
    folder = shop(tmp_path)
    (tmp_path / "init.lua").write_text(init_lua(["caddie-is-not-here", "serve"]))

    def run(code: str, *args: Any) -> Any:
        (tmp_path / "args.json").write_text(json.dumps(args))
        (tmp_path / "code.lua").write_text(code)
        (tmp_path / "run.lua").write_text(RUN)
        argv = [NVIM, "--headless", *QUIET, "-u", str(tmp_path / "init.lua"), "-l", str(tmp_path / "run.lua")]
        env = {**os.environ, **isolated(tmp_path)}
        done = subprocess.run(
            [*argv, str(tmp_path)], cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr
        return json.loads((tmp_path / "result.json").read_text()).get("result")

    return run
