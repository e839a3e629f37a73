"""The settings as VS Code wants them: `contributes.configuration`, and its words in English and Simplified Chinese."""

from __future__ import annotations

import json
from typing import Any

from caddie.protocol.export.chinese import CHINESE
from caddie.protocol.export.schema import GENERATED, Schema
from caddie.protocol.export.settings_tree import GROUPS, Leaf, leaves
from caddie.settings import MEANINGS, needs_trust

CONFIGURATION = "editors/vscode/configuration.json"
WORDS = {"editors/vscode/package.nls.json": "en", "editors/vscode/package.nls.zh-cn.json": "zh"}
PACKAGE = "editors/vscode/package.json"
_PREFIX = "configuration."


def configuration() -> list[Schema]:
    """The value of `contributes.configuration`."""
    table = leaves()
    return [
        {
            "title": f"%{_PREFIX}title.{group or 'model'}%",
            "order": number,
            "properties": {
                f"caddie.{leaf.path}": _property(leaf, order)
                for order, leaf in enumerate([leaf for leaf in table if leaf.group == group], 1)
            },
        }
        for number, group in enumerate(GROUPS, 1)
    ]


def render_configuration() -> str:
    """A file for those who merge it themselves."""
    return _text({"$comment": GENERATED, "restrictedConfigurations": _restricted(), "configuration": configuration()})


def words(language: str) -> dict[str, str]:
    """Every placeholder of the configuration with its text."""

    def said(key: str, english: str) -> str:
        return CHINESE.get(key, english) if language == "zh" else english

    found = {f"{_PREFIX}title.{group or 'model'}": said(f"#{group}", title) for group, title in GROUPS.items()}
    for leaf in leaves():
        found[f"{_PREFIX}{leaf.path}"] = said(leaf.path, leaf.node["description"])
        for choice, meaning in MEANINGS.get(leaf.path, {}).items():
            found[f"{_PREFIX}{leaf.path}.{choice}"] = said(f"{leaf.path}={choice}", meaning)
    return found


def render_words(language: str, existing: str | None) -> str:
    """With what others wrote into the file: the names of commands and views."""
    others = {key: text for key, text in _object(existing).items() if not key.startswith((_PREFIX, "//"))}
    return _text({"//": f"{_PREFIX}*: {GENERATED}", **others, **words(language)})


def render_package(existing: str) -> str:
    """`package.json` with our part renewed; the rest is written by hand."""
    tree = _object(existing)
    contributes = tree.setdefault("contributes", {})
    ours = configuration()
    titles = {section["title"] for section in ours}
    others = [section for section in contributes.get("configuration", []) if section["title"] not in titles]
    contributes["configuration"] = [*ours, *others]
    untrusted = tree.get("capabilities", {}).get("untrustedWorkspaces")
    if isinstance(untrusted, dict):
        untrusted["restrictedConfigurations"] = _restricted()
    return _text(tree)


def _restricted() -> list[str]:
    return [f"caddie.{leaf.path}" for leaf in leaves() if needs_trust(leaf.path)]


def _property(leaf: Leaf, order: int) -> Schema:
    node = {key: value for key, value in leaf.node.items() if key not in ("description", "markdownEnumDescriptions")}
    if "default" not in node:
        node["default"] = {}
    if leaf.path in MEANINGS:
        node["markdownEnumDescriptions"] = [f"%{_PREFIX}{leaf.path}.{choice}%" for choice in node["enum"]]
    scope = "machine-overridable" if needs_trust(leaf.path) else "window"
    return {**node, "markdownDescription": f"%{_PREFIX}{leaf.path}%", "order": order, "scope": scope}


def _object(text: str | None) -> dict[str, Any]:
    tree = json.loads(text) if text else {}
    return tree if isinstance(tree, dict) else {}


def _text(tree: Any) -> str:
    return json.dumps(tree, indent=2, ensure_ascii=False) + "\n"
