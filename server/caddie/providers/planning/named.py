"""Does the message call a tool by its name?"""

from __future__ import annotations

import re
from collections.abc import Collection

from caddie.providers.planning.values import Values


def named_tool(values: Values, enabled: Collection[str], deferred: Collection[str]) -> str | None:
    """The wire name of the tool that the message calls by name, as far as that is known."""
    known = {name.lower(): name for name in (*deferred, *enabled)}
    bare = _bare_names(known.values())
    for match in re.finditer(r"(?<![\w./-])`?([A-Za-z][A-Za-z0-9_-]*)`?(?![\w/]|\.\w)", values.text):
        name = match[1]
        full = known.get(name.lower()) if _is_identifier(name) or name in enabled else bare.get(name.lower())
        full = full or bare.get(name.lower())
        asks = _ASKED.match(values.text)
        called = _is_called(values.text, match, name)
        if name.lower().startswith("mcp__") and not _SOUGHT.search(values.text[: match.start()]):
            return full or name
        if called and (
            full or ("_" in name and called == "by verb" and not asks and _ORDERED.search(values.text[: match.start()]))
        ):
            return full or name
    return None


_ASKED = re.compile(r"\W*(?:where|which|who|why|how|what)\b", re.IGNORECASE)  # who asks orders nothing
_SOUGHT = re.compile(r"(?:\b(?:for|find|grep|search|of|is)|搜索|查找)\s*[\"'`]*$", re.IGNORECASE)
_ORDERED = re.compile(
    r"(?:\b(?:use|call|invoke|execute|run)(?: the)?(?: tool)?|使用|调用|运行)\s*[\"'`]*$", re.IGNORECASE
)
_CALLED = re.compile(
    r"(?:\b(?:use|call|invoke|execute|run|using|with|via)(?: the)?(?: tool)?|使用|调用|用|运行)\s*[\"'`]*$",
    re.IGNORECASE,
)


def _is_called(text: str, match: re.Match[str], name: str) -> str:
    if _CALLED.search(text[: match.start()]):
        return "by verb"
    follows = re.match(r"\s+tool\b|\s*工具", text[match.end() :], re.IGNORECASE)
    leads = _is_identifier(name) and not text[: match.start()].strip()
    return "by place" if follows or leads else ""


def _is_identifier(name: str) -> bool:
    return "_" in name or "-" in name or bool(re.search(r"[a-z][A-Z]", name))


def _bare_names(names: Collection[str]) -> dict[str, str]:
    bare: dict[str, list[str]] = {}
    for name in names:
        bare.setdefault(name.rsplit("__", 1)[-1].lower(), []).append(name)
    return {short: owners[0] for short, owners in bare.items() if len(owners) == 1}
