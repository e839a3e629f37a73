"""The rules that propose a value for one slot, the most certain first. Each is one sentence of explanation.

A rule returns None when it has nothing to say. Optional slots are filled only where the message points at them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from caddie.providers.planning.coerce import Schema
from caddie.providers.planning.found import FoundTool
from caddie.providers.planning.phrases import (
    branch_in,
    fact_in,
    free_text,
    moment_in,
    named_places,
    note_subject,
    revision_in,
)
from caddie.providers.planning.values import Number, Values
from caddie.providers.planning.words import stems, words_of
from caddie.providers.planning.zones import find_zones


@dataclass(frozen=True, slots=True)
class Slot:
    name: str
    words: tuple[str, ...]
    schema: Schema
    types: tuple[str, ...]
    required: bool

    @property
    def about(self) -> str:
        return str(self.schema.get("description", ""))

    def says(self, *words: str) -> bool:
        return any(word in self.words for word in words)

    @property
    def is_text(self) -> bool:
        return "string" in self.types

    @property
    def is_number(self) -> bool:
        return "integer" in self.types or "number" in self.types


@dataclass(slots=True)
class Source:
    """The message's values, and which of them already have a place."""

    values: Values
    workspace: str
    tool: FoundTool
    used: set[str] = field(default_factory=set)

    @property
    def text(self) -> str:
        return self.values.text

    def use(self, value: Any) -> None:
        self.used.update(str(item) for item in (value if isinstance(value, list | tuple) else [value]))

    def unused(self, values: tuple[str, ...]) -> list[str]:
        return [value for value in values if value not in self.used]

    def unused_numbers(self) -> list[Number]:
        return [number for number in self.values.numbers if str(number.plain) not in self.used]


Rule = Callable[[Slot, Source], Any]


def written_out(slot: Slot, source: Source) -> Any:
    """`name=value` and `name: value`, as a person writes who knows the slot."""
    spelled = "[ _-]?".join(map(re.escape, slot.words)) or re.escape(slot.name)
    pattern = rf"(?<![\w-])(?:--)?{spelled}\s*(?:=|:(?!//))\s*(?:`([^`]+)`|\"([^\"]+)\"|'([^']+)'|([^\s,;]+))"
    match = re.search(pattern, source.text, re.IGNORECASE)
    return next((group for group in match.groups() if group), None) if match else None


def enum_word(slot: Slot, source: Source) -> Any:
    """A value of the enum, or one that the description quotes, that stands in the message."""
    if "enum" in slot.schema:
        choices = [choice for choice in slot.schema["enum"] if isinstance(choice, str)]
    elif slot.is_text and slot.says("type", "mode", "kind", "format", "level", "order", "sort"):
        choices = re.findall(r"['\"`]([A-Za-z][\w-]*)['\"`]", slot.about)
    else:
        return None
    told = stems(source.text)
    return next((choice for choice in choices if choice and stems(choice) and stems(choice) <= told), None)


def local_branches(slot: Slot, source: Source) -> Any:
    """Git's own default: branches without a word more are the local ones."""
    asks = re.search(r"\bbranch(?:es)?\b|分支", source.text, re.IGNORECASE)
    return "local" if slot.required and slot.name == "branch_type" and asks else None


def boolean_word(slot: Slot, source: Source) -> Any:
    """`raw`, `dry run`, `with image`, `without image`."""
    if slot.types != ("boolean",):
        return None
    noun = [word for word in slot.words if word not in ("include", "is", "with", "show", "use", "enable", "should")]
    match = re.search(rf"\b(without |no |not )?(?:an? |the )?{'[ -]?'.join(map(re.escape, noun))}\b", source.text, re.I)
    return not match[1] if noun and match else None


def zone(slot: Slot, source: Source) -> Any:
    """A place's time zone. Of two, the source stands after "from" or nearest to the time, the target is the other."""
    if not slot.is_text or not (slot.says("timezone", "tz") or {"time", "zone"} <= set(slot.words)):
        return None
    zones = find_zones(source.text)
    if slot.says("source", "from", "origin"):
        return _source_zone(zones, source.values)
    if slot.says("target", "to", "destination"):
        origin = _source_zone(zones, source.values)
        others = [(at, name) for at, name in zones if name != origin]
        return _zone_after(others, source.text, _TO) or (others[-1][1] if others else None)
    if zones or re.search(r"\b(?:in|at|for)\s+(?!the moment)[A-Za-z]|在", source.text):
        return zones[0][1] if zones else None  # a place that is not known is no reason to take another one
    stated = re.search(r"[Uu]se '([\w/]+)'[^.]*\bif no\b", slot.about)  # the tool's own documented default
    return stated[1] if stated else None


_TO = r"\b(?:to|into)\s+$|[到成]$"


def _source_zone(zones: list[tuple[int, str]], values: Values) -> str | None:
    if after_from := _zone_after(zones, values.text, r"\bfrom\s+$|从$"):
        return after_from
    candidates = [(at, name) for at, name in zones if not re.search(_TO, values.text[:at], re.IGNORECASE)]
    return min(candidates, key=lambda zone: abs(zone[0] - values.clock_at))[1] if candidates else None


def _zone_after(zones: list[tuple[int, str]], text: str, before: str) -> str | None:
    return next((name for at, name in zones if re.search(before, text[:at], re.IGNORECASE)), None)


def clock_time(slot: Slot, source: Source) -> Any:
    """15:30, 3pm, noon."""
    fits = slot.is_text and slot.says("time", "clock", "hour") and not slot.says("zone", "stamp", "timestamp")
    return source.values.clocks[0] if fits and source.values.clocks else None


def moment(slot: Slot, source: Source) -> Any:
    """since, until, after, before."""
    if not slot.is_text or not slot.says("timestamp", "date", "datetime", "since", "until", "after", "before"):
        return None
    side = "end" if slot.says("end", "until", "before", "to") else "start"
    return moment_in(source.text, side)


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
    paths = source.unused(source.values.paths) or source.unused(named_places(source.values.masked))
    if "array" in slot.types:
        everything = re.search(r"\b(?:all|everything)\b|全部|所有|(?:^|\s)\.(?=\s|$)", source.text, re.IGNORECASE)
        return paths or (["."] if everything and slot.says("files") else None)
    if paths and slot.is_text:
        return paths[0]
    here = slot.required and slot.name == "path" and re.search(_HERE, source.text, re.IGNORECASE)
    return source.workspace if here else None


_HERE = (
    r"\b(?:here|(?:this|the|current) (?:workspace|project|folder|directory|repo)|list (?:all )?(?:the )?files)\b"
    r"|当前目录|这里"
)


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


def duration(slot: Slot, source: Source) -> Any:
    """A duration, in the unit that the name or the description states."""
    named = slot.says("duration", "seconds", "ms", "minutes", "delay", "timeout", "wait", "sleep", "millis", "hours")
    if not slot.is_number or not named or not source.values.durations:
        return None
    told = f"{' '.join(slot.words)} {slot.about}".lower()
    unit = (
        0.001 if re.search(r"\bms\b|milli", told) else 60.0 if "minute" in told else 3600.0 if "hour" in told else 1.0
    )
    return round(source.values.durations[0] / unit, 3)


def counted(slot: Slot, source: Source) -> Any:
    """A number whose neighbour names the slot: "last 5 commits" is a count, "first 20 lines" a head."""
    if not slot.is_number:
        return None
    for number in source.unused_numbers():
        before, after = source.text[: number.at].lower(), source.text[number.end :].lower()
        if _neighbour_names(slot, before, after):
            return number.plain
    return None


_COUNTS = ("count", "limit", "top", "n", "num")
_FEW = re.compile(
    r"(?:\b(?:last|latest|recent|first|top|newest|next|past|up to|at most|only)|最近|最后|前|近|最新)\s*的?$"
)
_MANY = re.compile(
    r"^\s*(?:most )?(?:recent |latest |newest |last )?"
    r"(?:commits|results|items|entries|hits|matches|links|records|messages|issues|[次条个])"
)


def _neighbour_names(slot: Slot, before: str, after: str) -> bool:
    near = set(words_of(" ".join([*before.split()[-2:], *after.split()[:3]])))
    if slot.says("head", "tail"):
        side = r"\b(?:first|top|head)\s*$|前\s*$" if slot.says("head") else r"\b(?:last|tail)\s*$|[后末]\s*$"
        return bool(re.search(side, before)) and bool(re.match(r"\s*(?:lines?|行)", after))
    if slot.says(*_COUNTS):
        return bool(
            _FEW.search(before) and not re.match(r"\s*(?:days?|weeks?|months?|hours?|lines?|[天周])", after)
        ) or (bool(_MANY.match(after)))
    words = [word for word in slot.words if word not in ("max", "min", "number", "total", "start")]
    return bool(words) and all(word in near or word.rstrip("s") in near for word in words)


def any_number(slot: Slot, source: Source) -> Any:
    """Required numbers are taken in the order of the message."""
    numbers = source.unused_numbers() if slot.is_number and slot.required else []
    if len(source.values.numbers) > 1 and not numbers:
        numbers = [source.values.numbers[-1]]  # "add 2 and 2"
    return numbers[0].plain if numbers and slot.is_number and slot.required else None


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
