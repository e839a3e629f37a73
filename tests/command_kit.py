"""`caddie` as a script runs it, and a model for it to ask."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from llmock.pytest_plugin import LLMock

from editor_client import clean_environment

Result = subprocess.CompletedProcess[str]


def caddie(
    workspace: Path, home: Path, *args: str, env: Mapping[str, str] | None = None, stdin: str | None = None
) -> Result:
    return subprocess.run(
        [sys.executable, "-m", "caddie", *args],
        cwd=workspace,
        env=clean_environment(home, **(env or {})),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=240,
    )


def double(llmock: LLMock) -> dict[str, str]:
    return {
        "CADDIE_PROVIDER": "anthropic",
        "CADDIE_BASE_URL": llmock.base_url("anthropic"),
        "CADDIE_MODEL": "claude-sonnet-5",
        "ANTHROPIC_API_KEY": "test-key-7e3a",
    }


def lines(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]
