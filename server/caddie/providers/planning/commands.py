"""Does the message ask for a command, a wait, plan mode, the todo list or a page?"""

from __future__ import annotations

import re

from caddie.providers.planning.core import CoreCall
from caddie.providers.planning.values import NUMBER_WORDS, Values

_PROGRAMS = (
    r"pytest|npm|npx|yarn|pnpm|make|cargo|go|node|deno|bun|python3?|pip3?|uv|ruff|mypy|tox|nox|docker|kubectl"
    r"|terraform|git|gh|ls|cat|echo"
    r"|pwd|grep|rg|find|sed|awk|curl|wget|tar|du|df|ps|whoami|uname|date|env|which|mvn|gradle|dotnet|rustc|gcc|cmake"
    r"|ctest|bash|sh|jest|eslint|tsc"
)


_RUN = re.compile(
    r"^\W*(?:please |can you |could you )*(?:run|execute)(?: the)?(?: (?:shell )?command)?:?\s+"
    r"|^请?(?:运行|执行)(?:命令)?[:：]?\s*",
    re.IGNORECASE,
)
_SOME_COMMAND = re.compile(
    r"(?:(?:the|all|my|unit) )*(?:tests?|test suite|build|linter|checks?|script|command)\W*|(?:所有)?测试|构建",
    re.IGNORECASE,
)


def command(values: Values) -> CoreCall | None:
    text = values.text.strip()
    if match := re.match(r"^[!$]\s*(\S.*)$", text, re.DOTALL):
        return CoreCall("Bash", {"command": match[1].strip(), "note": match[1].strip()[:60]})
    if match := re.match(r"^(?:shell|bash|terminal|cmd)\s*[:：]\s*(\S.*)$", text, re.IGNORECASE):
        return CoreCall("Bash", {"command": match[1], "note": match[1][:60]})
    match = _RUN.match(text)
    if not match:
        return None
    rest = text[match.end() :].strip()
    if _SOME_COMMAND.fullmatch(rest) or (rest in values.paths and not rest.startswith("./")):
        return CoreCall("Bash", {"command": None})  # which command that is, only the person knows
    quoted = re.match(r"`+([^`]+)`+|\"([^\"]+)\"[.?!]*$", rest)
    if quoted or re.match(rf"(?:{_PROGRAMS}|\./\S+)(?=\s|$)", rest) or "command" in match[0] or "命令" in match[0]:
        command = (quoted[1] or quoted[2]) if quoted else rest.rstrip("。")
        return CoreCall("Bash", {"command": command, "note": command[:60]})
    return None


def wait(values: Values) -> CoreCall | None:
    asks = re.match(
        r"^\W*(?:please )?(?:wait|sleep|pause|give it(?= \d))\b(?! (?:for|until) (?!\d|an?\b|half|quarter"
        rf"|{NUMBER_WORDS}))"
        r"|^请?(?:等待?|暂停|休眠|睡眠|睡(?=\s*\d))",
        values.text,
        re.I,
    )
    return CoreCall("Sleep", {"seconds": values.durations[0] if values.durations else None}) if asks else None


def plan_mode(values: Values) -> CoreCall | None:
    if not re.search(r"\bplan(?:ning)? mode\b|计划模式|规划模式", values.text, re.IGNORECASE):
        return None
    leaves = re.search(r"\b(?:exit|leave|quit|end|stop|out of|finish)\b|退出|离开|结束", values.text, re.IGNORECASE)
    return CoreCall("ExitPlanMode" if leaves else "EnterPlanMode", {})


_TODO = re.compile(
    r"^\W*(?:please )?(?:(?:add|put|create|new|make)\s+(?:an?\s+|to (?:my |the )?)?to-?dos?(?!\.\w)(?: list"
    r"| item)?s?\b(?:\s*[:：]|\s+(?:to|for|that says)\b)?\s*(\S.*)"
    r"|(?:an? |new )?to-?dos?(?: list)?(?: add| new| item)?\s*[:：]\s*(\S.*)"
    r"|(?:add|put)\s+(\S.*?)\s+(?:to|on) (?:my |the )?to-?dos?(?: list)?\W*$"
    r"|(?:添加|新建|加(?:一个|个)?)?待办(?:事项)?\s*[:：]?\s*(\S.*))",
    re.IGNORECASE | re.DOTALL,
)
_TODO_DONE = re.compile(
    r"^\W*(?:(?:mark|set|check|tick|cross)(?: off)?|complete|finish)\s+(?:the )?(?:to-?do\s+)?[\"'`“]?(.+?)[\"'`”]?\s+"
    r"(?:(?:as|to) )?(?:done|completed?|finished|off)\W*$"
    r"|^\W*(?:tick|check|cross) off\s+(?:the )?(?:to-?do\s+)?[\"'`“]?(.+?)[\"'`”]?\W*$"
    r"|^\W*(?:i(?:'m| am|'ve| have)? (?:done|finished)(?: with)?|(?:complete"
    r"|finish))\s+(?:the )?(.*\bto-?dos?\b.*?)\W*$"
    r"|^(?:把)?(?:待办)?\s*[“\"]?(.+?)[”\"]?\s*(?:这个|这条)?(?:待办)?(?:标记|标|设)(?:为|成)(?:已)?完成",
    re.IGNORECASE,
)


def todo(values: Values) -> CoreCall | None:
    if match := _TODO.match(values.text):
        listed = re.sub(r"^(?:with|of|containing)\s+", "", next(group for group in match.groups() if group))
        parts = re.split(r"\s*(?:[,;，；、\n]|\band\b(?=\s+\w+\s+\w))\s*", listed.strip())
        return CoreCall(
            "TodoWrite", {"add": [part.strip("\"'`“”-* .。") for part in parts if part.strip("\"'`“”-* .。")]}
        )
    done = _TODO_DONE.match(values.text)
    return CoreCall("TodoWrite", {"done": next(group for group in done.groups() if group)}) if done else None


_BARE = re.compile(
    rf"^\s*(?!(?:which|find|make|go|date|env|echo|du|df|ps|tar|node)\b)(?:{_PROGRAMS})(?:\s+[\w./:=@-]+)+\s*$"
)
_SHOWS_TODOS = re.compile(
    r"^\W*(?:show|list|see|read|print|what(?:'s| is| are)(?: on| in)?|view|display|open"
    r"|check)(?: me)?(?: all)?(?: of)?(?: my| the)?(?: open| current)? ?(?:to-?do(?: list|s| items)?"
    r"|tasks)(?: list)?\W*$"
    r"|^(?:查看|显示|列出|看看?)(?:一下)?(?:我的|所有)?(?:待办)(?:事项|列表|清单)?\W*$|^我?有?(?:哪些|什么)待办",
    re.IGNORECASE,
)


def bare_command(text: str) -> str | None:
    """A command as it would be typed into a shell; it is an order only after `run`."""
    return text.strip() if _BARE.match(text) and len(text.split()) < 8 else None


def asks_for_todos(values: Values) -> bool:
    return bool(_SHOWS_TODOS.match(values.text))


_VISIT = re.compile(
    r"\b(?:fetch|open|read|get|visit|load|download|show|browse|look at|check|summari[sz]e)\b"
    r"|抓取|打开|访问|获取|读取|看看|下载",
    re.IGNORECASE,
)


def web(values: Values) -> CoreCall | None:
    if not values.urls or not (_VISIT.search(values.text) or values.text.strip() == values.urls[0]):
        return None
    return CoreCall("WebFetch", {"url": values.urls[0], "note": values.text.strip()}) if len(values.urls) == 1 else None
