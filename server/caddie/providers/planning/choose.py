"""Which of several tools does a message ask for, and may it be called with what the message says?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from caddie.providers.planning.found import FoundTool
from caddie.providers.planning.phrases import named_places
from caddie.providers.planning.slots import Filled, fill
from caddie.providers.planning.values import Values
from caddie.providers.planning.words import stems, wanted
from caddie.providers.planning.zones import find_zones


@dataclass(frozen=True, slots=True)
class Fit:
    tool: FoundTool
    filled: Filled
    score: float
    is_relevant: bool


# A tool whose name says it changes something is chosen only for a message that asks for that change.
_CHANGES: tuple[tuple[str, str], ...] = (
    (r"delete|remove|drop|clear|purge", r"\b(?:delete|remove|drop|clear|erase|purge|forget)|删|移除|清空|忘"),
    (
        r"create|new|insert|make",
        r"\b(?:create|new|make|add|insert|open|start|mkdir|remember|note|keep in mind)\b|创建|新建|添加|记住"
        r"|记下|记一下",
    ),
    (r"add", r"\b(?:add|stage|append|put|include|remember|plus|sum)\b|添加|暂存|加|记"),
    (
        r"write|edit|update|set|modify|replace|patch",
        r"\b(?:write|edit|update|set|modify|change|replace|save|fill|overwrite|patch)\b|写|改|替换|设置|更新",
    ),
    (r"move|rename", r"\b(?:move|rename|mv)\b|移动|重命名|改名"),
    (r"reset|revert|restore|undo", r"\b(?:reset|revert|restore|undo|unstage)\b|重置|撤销|取消|恢复|清空|清除"),
    (
        r"commit",
        r"^\W*(?:git )?commit\b|\bcommit (?:my|the|all|these|this|everything|with|it|them|changes)\b"
        r"|\band commit\b|^请?提交(?!记录|历史)",
    ),
    (
        r"checkout|switch",
        r"\b(?:check ?out|switch|change to|(?:go|hop|jump|move|get|take me) (?:back |over )?(?:on)?to)\b|切换"
        r"|切到|切回",
    ),
    (r"push|merge|rebase|publish|deploy", r"\b(?:push|merge|rebase|publish|deploy|release)\b|推送|合并|发布|部署"),
    (r"send|post|notify", r"\b(?:send|post|notify|message|tell|mail|e-?mail|push)\b|发送|通知"),
    (
        r"toggle|enable|disable|trigger|start|stop|kill|run|execute",
        r"\b(?:toggle|turn|switch|enable|disable|trigger|start|stop|kill|run|execute|launch)\b|开关|切换|启动|停止"
        r"|运行|触发|打开|关闭",
    ),
)
_VERBS = stems(" ".join(name.replace("|", " ") for name, _ in _CHANGES))
_CHANGE_PATTERNS = tuple(
    (re.compile(rf"(?:^|[_-])(?:{name})(?:[_-]|$)", re.IGNORECASE), re.compile(ask, re.IGNORECASE))
    for name, ask in _CHANGES
)
_SILENT_NAME_WORDS = stems("get tool mcp the a")
_EMPTY_NAME_WORDS = stems("get tool mcp the a all list run running operation read open search")


def rank(tools: Sequence[FoundTool], values: Values, workspace: str) -> list[Fit]:
    """Best first; tools that would change what the message does not ask to change are left out."""
    allowed = [
        (place, tool)
        for place, tool in enumerate(tools)
        if is_asked_for(tool, values.text) and _serves_the_verb(tool, values)
    ]
    fits = [_fit(tool, values, workspace, place) for place, tool in allowed]
    return sorted(fits, key=lambda fit: -fit.score)


def is_asked_for(tool: FoundTool, text: str) -> bool:
    return all(ask.search(text) for ask in _asks_for(tool.label))


def changes(label: str) -> bool:
    """Whether a tool's name says that it changes something."""
    return bool(_asks_for(label))


def _asks_for(label: str) -> list[re.Pattern[str]]:
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", label)
    return [ask for name, ask in _CHANGE_PATTERNS if name.search(words)]


_ORDER = re.compile(
    r"^\W*(?:git\s+)?(delete|remove|erase|drop|purge|clear|push|pull|merge"
    r"|rebase|send|post|publish|deploy|install"
    r"|uninstall|upload|copy|rename|move|format|build|compile|book|buy|order|pay|cancel|kill|stop|start|restart"
    r"|translate|schedule|sort|draw|play|undo|revert|reset|restore|stash|amend|squash|tag|zip|unzip|extract|encrypt"
    r"|upgrade|bump|fix|chmod|backup|duplicate|clone|fork|lint|start|launch|unlink|rm|kill|ping|connect|login|sign)\b",
    re.IGNORECASE,
)


def _serves_the_verb(tool: FoundTool, values: Values) -> bool:
    """Who says "delete" is not served by a tool that lists."""
    order = _ORDER.match(values.text)
    name = stems(tool.label)
    if not order or name & _VERBS & wanted(values)[1]:
        return True
    told = f"{tool.description} {' '.join(tool.schema.get('properties', ()))}"
    return bool(stems(order[1]) & (name | stems(told)))


def _fit(tool: FoundTool, values: Values, workspace: str, place: int) -> Fit:
    said, meant = wanted(values)
    asked = said | meant
    name, about = stems(tool.label) - _SILENT_NAME_WORDS, stems(tool.description)
    overlap, shared = len(name & asked), len(about & asked)
    filled = fill(tool, values, workspace)
    strong = _strong(values)
    score = 2 * overlap / max(len(name), 1) + 0.5 * overlap + 0.15 * min(shared, 4) + 0.5 / (1 + place)
    score += 0.2 * sum(value in values.text for value in filled.used)
    score += 0.4 * len(strong & filled.used) - 0.3 * len(strong - filled.used) - 0.8 * len(filled.missing)
    telling = name - _server_of(tool) or name
    is_relevant = _is_relevant(telling, _with_file(values, asked), shared) and _has_place_for_all(filled, tool, values)
    return Fit(tool, filled, score, is_relevant)


def _server_of(tool: FoundTool) -> frozenset[str]:
    """The first word of `git_log`, where it only says that it is of the server git."""
    server = tool.name.removeprefix("mcp__").partition("__")[0]
    return stems(server) if tool.label.lower().startswith((f"{server.lower()}_", f"{server.lower()}-")) else frozenset()


def _has_place_for_all(filled: Filled, tool: FoundTool, values: Values) -> bool:
    """What a change does not use was meant for another one; a tool that takes nothing serves no file and no folder."""
    if not tool.schema.get("properties"):
        return not (values.paths or named_places(values.masked))
    if not changes(tool.label):
        return True
    unused = [text for text in values.quoted if not any(_holds(used, text) for used in filled.used)]
    is_one_word = re.fullmatch(r"\W*[A-Za-z]+\W*", values.text) and not filled.missing  # "reset": of what?
    return not (unused or is_one_word)


def _holds(used: str, text: str) -> bool:
    return bool(re.search(rf"(?<![A-Za-z0-9]){re.escape(text)}(?![A-Za-z0-9])", used))


def _with_file(values: Values, asked: frozenset[str]) -> frozenset[str]:
    """A path speaks of a file without the word."""
    return asked | stems("file") if values.paths else asked


def _is_relevant(name: frozenset[str], asked: frozenset[str], shared: int) -> bool:
    """A tool that changes something must be meant by its object too: "delete all files" is no `delete_entities`."""
    telling = name - _EMPTY_NAME_WORDS
    if name & _VERBS:
        return bool((telling - _VERBS or telling) & asked)
    return bool(telling & asked) or shared > 1


def _strong(values: Values) -> frozenset[str]:
    """Values that a fitting tool would have a place for."""
    found = {*values.urls, *values.paths, *values.quoted, *values.clocks, *values.revisions}
    found |= {str(number.plain) for number in values.numbers}
    if values.clocks or re.search(r"\btime|时间|几点", values.text, re.IGNORECASE):
        found |= {zone for _, zone in find_zones(values.masked)}
    return frozenset(found)
