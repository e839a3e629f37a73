"""Does the message ask what tools there are, or for one to be switched on or off? Neither is an order to run one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from caddie.providers.planning.found import FoundTool
from caddie.providers.planning.meanings import meanings
from caddie.providers.planning.phrases import named_places
from caddie.providers.planning.values import Values
from caddie.providers.planning.words import stems

_TOOLS = r"(?:tools?|toolset|mcp servers?|plugins?|functions|capabilities)"
_ASKS = re.compile(
    rf"^\W*(?:which|what|any|list|show|see|find|search|look|give|is there|are there|do (?:you|we|i) have|have (?:you"
    rf"|we|i)|got|how many|tell me|name"
    rf"|i need|describe|explain|how (?:do|does|to)|discover)\b(?!.*\b(?:use|using|with"
    rf"|call) (?:the )?[\w-]+ tool\b).*?\b{_TOOLS}\b(?!\s*(?:folder|director|dir\b|files?\b|/|\.\w|\())"
    rf"|^\W*(?:[\w-]+\s+)?{_TOOLS}\s+(?:for|to|about|that|available|list)\b|^\W*(?:my |all |the |available "
    rf"|connected |enabled )*tools\W*$"
    r"|^\W*(?:do you (?:have|know) (?:anything|something)|(?:is|are) there (?:anything|something)"
    r"|what do you have) (?:for|that can|that could|about)\b"
    r"|^\W*what (?:can|could|do) you do (?:with|about|for|on)\b|^\W*(?:do you support|are you able to)\b"
    r"|(?:哪些|什么|有没有|列出|显示|查看|查找|找|搜索|多少个?|哪个).{0,12}工具|工具(?:列表|有哪些|都有|清单)|你(?:有什么|能用什么|对.+能做什么)",
    re.IGNORECASE,
)
_SILENT = stems(
    "which what any list show see find search look give is there are do you we have got how many tell me name need "
    "describe explain does to for that can "
    "tool tools toolset mcp server servers plugin plugins functions capabilities available connected about with "
    "something anything my all the support able enabled"
    " of be use could up work working i it on in discover"
)
_STATE = re.compile(
    r"\b(?:turn|switch)\s+(?:.{1,40}\s)?(?:on|off)\b|\b(?:en|dis)able\b|\b(?:de)?activate\b|\bdefer\b"
    r"|\b(?:un)?block\b|\b(?:stop|never|don['’]?t)\s+(?:offering|using|use)\b"
    r"|启用|禁用|停用|打开.*工具|关闭|关掉|屏蔽",
    re.IGNORECASE,
)


def asks_about_tools(values: Values) -> bool:
    asks = _ASKS.search(values.text)
    return (
        bool(asks)
        and not values.paths
        and not values.quoted
        and not re.search(r"\btools?\b", " ".join(_places(values)))
    )


def _places(values: Values) -> tuple[str, ...]:
    return tuple(
        place
        for place in named_places(values.masked)
        if re.fullmatch(r"(?:src|lib|code|tools?|app|tests?)", place, re.I)
    )


def subject_of(values: Values) -> str:
    """What the tools are to be about; empty when all are meant."""
    words = [
        word
        for word in re.findall(r"[^\W_]+(?:[_-][^\W_]+)*", values.masked)
        if stems(word) - _SILENT or not word.isascii()
    ]
    bare = re.sub(
        r"哪些|什么|有没有|没有|列出|显示|查看|查找|找|搜索|多少个?|哪个|工具|列表|清单|都|有|可用|可以|关于|用来|用于|处理|的|你|我|能|做|对|了|吗|个|一|下|所|现在",
        " ",
        " ".join(words),
    )
    said = " ".join(bare.split())
    return " ".join(dict.fromkeys([*said.split(), *meanings(values.text).split()])) if said else ""


def about(tools: Sequence[FoundTool], values: Values) -> list[FoundTool]:
    """Those of the found that speak of the subject at all."""
    asked = stems(subject_of(values)) - _SILENT
    return [tool for tool in tools if not asked or asked & stems(f"{tool.name} {tool.description}")]


def wants_state(values: Values, names: Iterable[str]) -> bool:
    """Whether a tool or a server is to be switched on or off, as a state and not by running it."""
    if not _STATE.search(values.text):
        return False
    known = {
        part.lower()
        for name in names
        for part in (name, name.rsplit("__", 1)[-1], name.split("__")[1] if name.startswith("mcp__") else name)
    }
    said = {word.lower() for word in re.findall(r"[A-Za-z][\w-]*", values.text)}
    return bool(
        re.search(r"\b(?:tools?|mcp|servers?)\b|工具|服务器", values.text, re.IGNORECASE)
    ) or not known.isdisjoint(said)


def overview(at_hand: Iterable[str], deferred: Iterable[str]) -> tuple[list[str], list[tuple[str, int]]]:
    """The tools at hand, and how many more each server has."""
    own = [name for name in at_hand if not name.startswith("mcp__")]
    servers = Counter(name.split("__")[1] for name in {*at_hand, *deferred} if name.startswith("mcp__"))
    return own, sorted(servers.items())
