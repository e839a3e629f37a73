"""The rules that propose a value for one slot, the most certain first. Each is one sentence of explanation.

A rule returns None when it has nothing to say. Optional slots are filled only where the message points at them.
"""

from __future__ import annotations

import re
from typing import Any

from caddie.providers.planning.phrases import (
    branch_in,
    fact_in,
    free_text,
    named_places,
    note_subject,
    renamed_in,
    revision_in,
)
from caddie.providers.planning.rules_of_amounts import any_number, clock_time, counted, duration, moment, zone
from caddie.providers.planning.slot import Rule, Slot, Source
from caddie.providers.planning.words import has_any, stems


def written_out(slot: Slot, source: Source) -> Any:
    """`name=value` and `name: value`, as a person writes who knows the slot."""
    spelled = "[ _-]?".join(map(re.escape, slot.words)) or re.escape(slot.name)
    pattern = rf"(?<![\w-])(?:--)?{spelled}\s*(?:=|:(?!//))\s*(?:`([^`]+)`|\"([^\"]+)\"|'([^']+)'|([^\s,;]+))"
    match = re.search(pattern, source.text, re.IGNORECASE)
    return next((group for group in match.groups() if group), None) if match else None


_BY_SIZE = re.compile(r"\b(?:large|big|small|heavi)(?:st|r|est|er|gest|ger)\b|最大|最小|大于|小于", re.IGNORECASE)


_ORDERED = re.compile(
    r"\b(?:sort\w*|order\w*|rank\w*|by (?:size|name|date)|larg\w+|bigg\w+|small\w+|heav\w+)\b|排序|按|最大|最小|大于"
    r"|小于",
    re.IGNORECASE,
)


def enum_word(slot: Slot, source: Source) -> Any:
    """A value of the enum, or one that the description quotes, that stands in the message."""
    if "enum" in slot.schema:
        choices = [choice for choice in slot.schema["enum"] if isinstance(choice, str)]
    elif slot.is_text and slot.says("type", "mode", "kind", "format", "level", "order", "sort"):
        choices = re.findall(r"['\"`]([A-Za-z][\w-]*)['\"`]", slot.about)
    else:
        return None
    if slot.says("sort", "order") and not _ORDERED.search(source.text):
        return None
    told = stems(source.text) | (stems("size") if _BY_SIZE.search(source.text) else frozenset())
    return next((choice for choice in choices if choice and stems(choice) and stems(choice) <= told), None)


def local_branches(slot: Slot, source: Source) -> Any:
    """Git's own default: branches without a word more are the local ones."""
    asks = re.search(r"\bbranch(?:es)?\b|^\W*am i on\b|分支", source.text, re.IGNORECASE)
    if asks and slot.name == "branch_type" and (flag := re.search(r"\bbranch\s+-([ar])\b", source.text)):
        return "all" if flag[1] == "a" else "remote"
    return "local" if slot.required and slot.name == "branch_type" and asks else None


def boolean_word(slot: Slot, source: Source) -> Any:
    """`raw`, `dry run`, `with image`, `without image`."""
    if slot.types != ("boolean",):
        return None
    noun = [word for word in slot.words if word not in ("include", "is", "with", "show", "use", "enable", "should")]
    match = re.search(rf"\b(without |no |not )?(?:an? |the )?{'[ -]?'.join(map(re.escape, noun))}\b", source.text, re.I)
    return not match[1] if noun and match else None


def address(slot: Slot, source: Source) -> Any:
    """An address goes where an address is wanted."""
    if slot.schema.get("format") in ("uri", "url") or slot.says("url", "uri", "href", "link", "urls"):
        urls = source.unused(source.values.urls)
        return urls if "array" in slot.types and urls else urls[0] if urls else None
    return None


def repository(slot: Slot, source: Source) -> Any:
    """The repository is the workspace, unless the message names another one."""
    is_place = slot.says("path", "dir", "directory", "root", "folder") or len(slot.words) == 1
    if not slot.is_text or not slot.required or not slot.says("repo", "repository", "workspace", "cwd") or not is_place:
        return None
    named = re.search(r"\b(?:repo|repository)\s+(?:at |in |under )?([~./\w-]*/[\w./-]*)", source.text)
    return named[1] if named else source.workspace


def file_path(slot: Slot, source: Source) -> Any:
    """Paths in the order of the message; a source is before its destination."""
    wants = slot.says(
        "path", "paths", "file", "files", "filename", "directory", "dir", "folder", "source", "destination"
    )
    if not wants or slot.says("exclude", "pattern", "timezone", "content"):
        return None
    bare = () if has_any(stems(source.tool.label), "read write edit") else named_places(source.values.masked)
    paths = source.unused(source.values.paths) or source.unused(bare)
    if "array" in slot.types:
        everything = re.search(r"\b(?:all|everything)\b|全部|所有|(?:^|\s)\.(?=\s|$)", source.text, re.IGNORECASE)
        return paths or (["."] if everything and slot.says("files") else None)
    if slot.says("source", "destination") and len(source.values.paths) < 2 and (pair := renamed_in(source.text)):
        paths = [name for name in pair if name not in source.used]
    if paths and slot.is_text:
        return _within(paths[0], source) if slot.says("destination") else paths[0]
    is_of_folders = slot.required and slot.name == "path" and has_any(stems(source.tool.label), _FOLDER_TOOLS)
    return (
        source.workspace if is_of_folders and not re.search(r"\b(?:create|make|new|mkdir)", source.text, re.I) else None
    )


def _within(folder: str, source: Source) -> str:
    """What is moved into a folder keeps its name there."""
    moved = next((path for path in source.values.paths if path in source.used), "")
    is_folder = folder.endswith("/") or ("." in moved.rsplit("/", 1)[-1] and "." not in folder.rsplit("/", 1)[-1])
    return f"{folder.rstrip('/')}/{moved.rsplit('/', 1)[-1]}" if moved and is_folder else folder


_FOLDER_TOOLS = "directory tree folder list sizes"


def pattern(slot: Slot, source: Source) -> Any:
    """`*.py` and its like."""
    globs = re.findall(r"(?<![\w`])[\w./*-]*\*[\w./*-]*", source.text)
    return globs[0] if globs and slot.is_text and slot.required and slot.says("pattern", "glob") else None


def branch(slot: Slot, source: Source) -> Any:
    """The branch, or the one it starts from."""
    return branch_in(source.text, "base" in slot.words) if slot.is_text and slot.says("branch") else None


def revision(slot: Slot, source: Source) -> Any:
    """A commit, HEAD~2, a tag; for a comparison also a branch."""
    if not slot.is_text or not slot.required or not slot.says("revision", "commit", "sha", "ref", "rev", "target"):
        return None
    return revision_in(source.values, with_branches=slot.says("target", "ref"))


def remembered(slot: Slot, source: Source) -> Any:
    """A fact to remember is one note: its subject is the name, its sentence the observation."""
    fact = fact_in(source.text)
    if fact is None or not slot.required:
        return None
    if slot.says("observations", "contents") and "array" in slot.types:
        return None if "object" in str(slot.schema.get("items")) else [fact]
    if slot.name in ("name", "entityName"):
        return note_subject(fact)
    return "note" if slot.name == "entityType" else None


def names(slot: Slot, source: Source) -> Any:
    """Names that are quoted or listed after the verb."""
    if "array" not in slot.types or not slot.required or not slot.says("names", "nodes", "ids", "tags", "entities"):
        return None
    if "object" in str(slot.schema.get("items")):
        return None
    if quoted := source.unused(source.values.quoted):
        return quoted
    listed = free_text(source.values, source.tool)
    return [part for part in re.split(r"\s*(?:,|、|\band\b|和)\s*", listed) if part] if listed else None


def quoted(slot: Slot, source: Source) -> Any:
    """A quoted or back-ticked string goes into the first required text slot still empty."""
    parts = [
        part for part in source.unused(source.values.quoted) if slot.says("path") or part not in source.values.urls
    ]
    return (
        parts[0] if parts and slot.is_text and slot.required and "enum" not in slot.schema and _is_free(slot) else None
    )


def words_after(slot: Slot, source: Source) -> Any:
    """What follows "for", "about", a colon or the tool's own verb goes into a text slot."""
    if not slot.required or not slot.is_text or "enum" in slot.schema or not _is_free(slot) or source.values.quoted:
        return None
    if not slot.says(*_FREE_TEXT):
        return None
    is_alone = len(source.tool.schema.get("required", ())) == 1
    text = free_text(source.values, source.tool, after_verb=is_alone)
    return text if text and text not in source.used else None


_FREE_TEXT = (
    *(
        "query",
        "message",
        "text",
        "prompt",
        "topic",
        "question",
        "search",
        "title",
        "content",
        "body",
        "input",
        "string",
    ),
    *("location", "city", "name", "symbol", "task", "subject", "description", "q"),
)


def _is_free(slot: Slot) -> bool:
    return not slot.says(
        "timezone", "tz", "date", "timestamp", "url", "uri", "repo", "repository", "type", "sha", "branch"
    )


RULES: tuple[Rule, ...] = (
    written_out,
    enum_word,
    local_branches,
    boolean_word,
    zone,
    clock_time,
    moment,
    address,
    repository,
    pattern,
    file_path,
    branch,
    revision,
    duration,
    counted,
    any_number,
    remembered,
    names,
    quoted,
    words_after,
)
