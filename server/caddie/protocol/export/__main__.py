"""Writes, or checks, the files that are generated from the declared wire and settings."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from caddie.protocol.export import (
    lua,
    lua_settings,
    reference,
    schema,
    settings_page,
    settings_tree,
    typescript,
    vscode,
)

REPOSITORY = Path(__file__).parents[4]


def render_all(examples: dict[str, Any]) -> dict[str, str]:
    """Path in the repository -> text."""
    contents = schema.wire()
    return {
        "docs/reference/schema.json": _json(schema.document(contents)),
        "docs/reference/protocol.md": reference.render(contents, examples),
        "docs/reference/settings.md": settings_page.render(),
        "docs/reference/settings.schema.json": _json(settings_tree.file_schema()),
        "editors/vscode/src/protocol.ts": typescript.render(contents),
        "editors/nvim/lua/caddie/_meta/protocol.lua": lua.render(contents),
        "editors/nvim/lua/caddie/_meta/settings.lua": lua_settings.render(),
        vscode.CONFIGURATION: vscode.render_configuration(),
    }


def render_parts(repository: Path) -> dict[str, str]:
    """Files that are generated in part: what stands there by hand is kept."""
    words = {path: vscode.render_words(code, _read(repository / path)) for path, code in vscode.WORDS.items()}
    package = _read(repository / vscode.PACKAGE)
    return words if package is None else {**words, vscode.PACKAGE: vscode.render_package(package)}


def _everything(repository: Path) -> dict[str, str]:
    return {**render_all(read_examples(repository / "tests" / "golden")), **render_parts(repository)}


def _json(tree: Any) -> str:
    return json.dumps(tree, indent=2, ensure_ascii=False) + "\n"


def read_examples(folder: Path) -> dict[str, Any]:
    """One real exchange by method name."""
    loaded = [json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))]
    return {example["method"]: example for example in loaded}


def stale(repository: Path) -> list[str]:
    return [path for path, text in _everything(repository).items() if _read(repository / path) != text]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m caddie.protocol.export", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 and name the stale files")
    parser.add_argument("--repository", type=Path, default=REPOSITORY)
    options = parser.parse_args(arguments)
    if options.check:
        return _report(stale(options.repository))
    for path, text in _everything(options.repository).items():
        target = options.repository / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
    return 0


def _report(paths: list[str]) -> int:
    for path in paths:
        sys.stderr.write(f"{path} is stale: run `python -m caddie.protocol.export`\n")
    return 1 if paths else 0


def _read(path: Path) -> str | None:
    return path.read_text("utf-8") if path.is_file() else None


if __name__ == "__main__":
    sys.exit(main())
