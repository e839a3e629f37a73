"""The page about the providers is fresh, and nobody who names their keys forgot one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from caddie.providers import PROVIDERS

ROOT = Path(__file__).parents[3]
MAKE = ROOT / "docs" / "reference" / "make_providers.py"


def test_the_page_about_the_providers_is_fresh() -> None:
    done = subprocess.run(
        [sys.executable, str(MAKE), "--check"], capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("path", ["README.md", "editors/nvim/lua/caddie/health.lua", "editors/vscode/src/secrets.ts"])
def test_every_key_is_named_where_people_look_for_it(path: str) -> None:
    text = (ROOT / path).read_text("utf-8")
    assert [row.key_name for row in PROVIDERS.values() if row.key_name not in text] == []


def test_the_readme_names_the_default_models() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert [row.model for row in PROVIDERS.values() if f"`{row.model}`" not in text] == []
