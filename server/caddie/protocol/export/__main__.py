"""Writes, or checks, the files that are generated from the declared wire and settings."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from caddie.protocol.export import lua, reference, schema, settings_page, typescript

REPOSITORY = Path(__file__).parents[4]


def render_all(examples: dict[str, Any]) -> dict[str, str]:
    """Path in the repository -> text."""
    contents = schema.wire()
    return {
        "docs/reference/schema.json": json.dumps(schema.document(contents), indent=2, ensure_ascii=False) + "\n",
        "docs/reference/protocol.md": reference.render(contents, examples),
        "docs/reference/settings.md": settings_page.render(),
        "editors/vscode/src/protocol.ts": typescript.render(contents),
        "editors/nvim/lua/caddie/_meta/protocol.lua": lua.render(contents),
    }


def read_examples(folder: Path) -> dict[str, Any]:
    """One real exchange by method name."""
    loaded = [json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))]
    return {example["method"]: example for example in loaded}


def stale(repository: Path) -> list[str]:
    rendered = render_all(read_examples(repository / "tests" / "golden"))
    return [path for path, text in rendered.items() if _read(repository / path) != text]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m caddie.protocol.export", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 and name the stale files")
    parser.add_argument("--repository", type=Path, default=REPOSITORY)
    options = parser.parse_args(arguments)
    if options.check:
        return _report(stale(options.repository))
    rendered = render_all(read_examples(options.repository / "tests" / "golden"))
    for path, text in rendered.items():
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
