"""The rules that propose times, durations and numbers for a slot."""

from __future__ import annotations

import re
from typing import Any

from caddie.providers.planning.phrases import moment_in
from caddie.providers.planning.slot import Slot, Source
from caddie.providers.planning.values import Values
from caddie.providers.planning.words import words_of
from caddie.providers.planning.zones import find_zones


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
    if slot.says("tail", "head") and (
        one := re.search(r"\b(last|final|first) line\b|(最后|第)一行", source.text, re.I)
    ):
        return 1 if slot.says("head") == ((one[1] or one[2]).lower() in ("first", "第")) else None
    for number in source.unused_numbers():
        before, after = source.text[: number.at].lower(), source.text[number.end :].lower()
        if _neighbour_names(slot, before, after):
            return number.plain
        if number.value < 0 and slot.says(*_COUNTS) and re.match(r"\W*git\b", source.text):
            return -number.plain  # `git log -5`
    return None


_COUNTS = ("count", "limit", "top", "n", "num")
_FEW = re.compile(
    r"(?:\b(?:last|latest|recent|first|top|newest|next|past|up to|at most|only)|\s-n|最近|最后|前|近|最新)\s*的?$"
)
_MANY = re.compile(
    r"^\s*(?:most )?(?:recent |latest |newest |last )?"
    r"(?:commits|results|items|entries|hits|matches|links|records|messages|issues|[次条个])"
)


def _neighbour_names(slot: Slot, before: str, after: str) -> bool:
    near = set(words_of(" ".join([*before.split()[-2:], *after.split()[:3]])))
    if slot.says("head", "tail"):
        side = r"\b(?:first|top|head)\b|前" if slot.says("head") else r"\b(?:last|final|tail|end)\b|[后末]|倒数"
        counts = re.match(r"\s*(?:lines?|行)", after) or re.search(r"\b(?:head|tail)\s+(?:-n\s*)?$", before)
        return bool(counts) and bool(re.search(side, f"{before} {after}"))
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
