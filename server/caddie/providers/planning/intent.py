"""Does one of the tools that are always at hand fit, by rule? The first rule that says so decides."""

from __future__ import annotations

from collections.abc import Callable

from caddie.providers.planning.commands import command, plan_mode, todo, wait, web
from caddie.providers.planning.core import CoreCall
from caddie.providers.planning.listing import list_files
from caddie.providers.planning.reading import read
from caddie.providers.planning.searching import count_text, search_text
from caddie.providers.planning.values import Values
from caddie.providers.planning.writing import edit

_RULES: tuple[Callable[[Values], CoreCall | None], ...] = (
    command,
    plan_mode,
    todo,
    wait,
    web,
    edit,
    count_text,
    list_files,
    search_text,
    read,
)


def core_call(values: Values) -> CoreCall | None:
    calls = (rule(values) for rule in _RULES)
    return next((call for call in calls if call), None)
