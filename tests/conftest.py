"""Few shared fixtures: a folder to work in, a home that is empty, and a repository with three commits."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from editor_client import clean_environment

# An example that takes long says something of the machine, not of the code.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path / "home"
    path.mkdir()
    return path


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    path = tmp_path / "workspace"
    path.mkdir()
    return path


@pytest.fixture
def repository(workspace: Path) -> Path:
    """The workspace as a git repository: three commits, the last one “Fix the rounding of totals”."""
    identity = {"GIT_AUTHOR_NAME": "Ada", "GIT_COMMITTER_NAME": "Ada"}
    identity |= {"GIT_AUTHOR_EMAIL": "ada@example.org", "GIT_COMMITTER_EMAIL": "ada@example.org"}
    env = {**os.environ, **identity, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}

    def git(*args: str) -> None:
        subprocess.run(["git", *args], cwd=workspace, env=env, check=True, capture_output=True, timeout=120)

    git("init", "-q", "-b", "main")
    for number, message in enumerate(("Begin", "Add totals", "Fix the rounding of totals")):
        (workspace / "totals.py").write_text(f"TOTAL = {number}\n")
        git("add", ".")
        git("commit", "-q", "-m", message)
    return workspace


@pytest.fixture
def git_server(repository: Path) -> dict[str, object]:
    """Settings that run the real mcp-server-git on the repository."""
    return {"command": sys.executable, "args": ["-m", "mcp_server_git", "--repository", str(repository)]}


@pytest.fixture
def environment(home: Path) -> dict[str, str]:
    return clean_environment(home)
