"""How do people phrase a branch, a moment, a fact, a place, a free text? Turns of phrase, in English and Chinese."""

from __future__ import annotations

import re

from caddie.providers.planning.found import FoundTool
from caddie.providers.planning.values import AMOUNT, FOLDERS, Values, whole
from caddie.providers.planning.words import stems, words_of

_NAME = r"[`\"'“]?([A-Za-z0-9][\w./-]*[\w]|[A-Za-z0-9])[`\"'”]?"
_NO_NAME = {
    "a",
    "an",
    "the",
    "new",
    "branch",
    "branches",
    "my",
    "this",
    "that",
    "current",
    "other",
    "it",
    "called",
    "named",
}
_COMMAND_BRANCH = rf"|\b(?:checkout -[bB]|switch -[cC])\s+{_NAME}"
_NO_NAME |= {"from", "on", "and", "to", "for", "in", "of", "based", "off", "list", "all", "remote", "local", "please"}


def branch_in(text: str, is_base: bool) -> str | None:
    if is_base:
        return _first_name(
            text,
            rf"\b(?:from|based on|off(?: of)?|starting (?:at|from))\s+(?:branch |the )?{_NAME}|(?:从|基于)\s*{_NAME}",
        )
    return _first_name(
        text,
        rf"\b(?:named|called)\s+{_NAME}|\bbranch\s+(?!(?:named|called|from)\b){_NAME}"
        rf"|\b(?:switch|change) branch(?:es)? to {_NAME}|\b(?:on)?to (?:the "
        rf"|my )?(?!branch\b){_NAME} branch\b|\b(?:switch|check ?out|change|go|hop|jump|move"
        rf"|get)\b(?: over| back)?(?: to)?\s+(?:the )?(?:branch )?{_NAME}"
        rf"|\b(?:create|make|new|start)\s+(?:a |the )?(?:new )?(?!(?:an?|the|new|branch)\b){_NAME}\s+branch"
        + _COMMAND_BRANCH
        + rf"|(?:切换到|切到|切回|分支|名为|叫做?)\s*(?:分支)?\s*{_NAME}",
    )


def _first_name(text: str, pattern: str) -> str | None:
    for match in re.finditer(pattern, text, re.IGNORECASE):
        name = next(group for group in match.groups() if group)
        if name.lower() not in _NO_NAME:
            return name
    return None


_BETWEEN = re.compile(
    rf"\b(?:(?:diff(?:erences?)?|compare|changes)(?:\s+(?:of|between))?"
    rf"|chang\w+ between)\s+{_NAME}\s+(?:and|to|with)\s+{_NAME}"
    rf"|(?:比较|对比)(?:一下)?\s*{_NAME}\s*(?:和|与|跟)\s*{_NAME}|{_NAME}\s*(?:和|与|跟)\s*{_NAME}\s*(?:之间)?的?(?:差异|区别"
    rf"|不同)",
    re.IGNORECASE,
)


_LAST_COMMIT = re.compile(
    r"\b(?:(before|second) (?:the |to )?)?(?:last|latest|newest|most recent|previous|head) commit\b"
    r"|\bcommit (before) (?:the )?last\b|(?:最近的?一次|最后一?次?|最新一?次?|上一?[次个])的?提交",
    re.IGNORECASE,
)


def revision_in(values: Values, *, with_branches: bool) -> str | None:
    match = _BETWEEN.search(values.text) if with_branches else None
    two = [group for group in match.groups() if group] if match else []
    if two and {*two} <= {*values.paths} and all(re.search(r"[A-Za-z]\.[a-z]\w*$", name) for name in two):
        return None  # two files are no revisions
    if two:
        return "..".join(two)
    if values.revisions:
        return values.revisions[0]
    if last := _LAST_COMMIT.search(values.text):
        return "HEAD~1" if last[1] or last[2] else "HEAD"
    if not with_branches:
        return None
    return _first_name(
        values.text,
        rf"\b(?:against|(?:different|differs?|diverged?) (?:from|to|than)|with|vs\.?|versus|changed? (?:since|from)"
        rf"|compared? (?:to|with)"
        rf"|diff(?:erences?)?(?: to| from| between)?)\s+"
        rf"(?:the )?(?:branch )?(?!(?:against|with|to|from|between|in|of|my|staged|unstaged)\b){_NAME}|(?:与|和"
        rf"|跟)\s*{_NAME}",
    )


_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_MOMENT = (
    r"((?:\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?)|yesterday(?: morning| evening)?|today|this morning|last night"
    rf"|(?:{AMOUNT}|an?) (?:minute|hour|day|week|month|year)s? ago"
    rf"|(?:last )?(?:{_DAYS})|last (?:week|month|year)"
    r"|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* \d{1,2}(?:st|nd|rd|th)?(?:,? \d{4})?|昨天|今天"
    r"|前天|上周|上个?月)"
)
_TRANSLATED = {
    "昨天": "yesterday",
    "今天": "today",
    "前天": "2 days ago",
    "上周": "1 week ago",
    "上月": "1 month ago",
    "上个月": "1 month ago",
}
_SPAN = re.compile(
    rf"\b(?:in|over|from|for|within|of|during|these|since)?\s*(?:the |these )?(?:last|past) (?:({AMOUNT}) )?(minute"
    rf"|hour|day|week|month|year)s?\b",
    re.IGNORECASE,
)
_UNITS = {"天": "day", "周": "week", "月": "month", "小时": "hour", "星期": "week"}
_SPAN_ZH = re.compile(rf"(?:最近|过去|近)的?\s*({AMOUNT})\s*个?(天|周|月|小时|星期)")
_START = re.compile(
    rf"\b(?:since|after|from|starting)\s+{_MOMENT}|(?:自|从)?(昨天|今天|前天|上周|上个?月)(?:以来|起|以后|之后)",
    re.IGNORECASE,
)
_ON = re.compile(r"\b(today|yesterday|this morning|this week|this month)\b|(今天|昨天|本周|这周)", re.IGNORECASE)
_END = re.compile(rf"\b(?:until|till|before|up to|to)\s+{_MOMENT}|(昨天|今天|前天|上周)(?:之前|以前)", re.IGNORECASE)


_THIS = {"本周": "1 week ago", "这周": "1 week ago", "this week": "1 week ago", "this month": "1 month ago"}


def moment_in(text: str, side: str) -> str | None:
    if match := (_END if side == "end" else _START).search(text):
        moment = match[1] or match[2]
        return _TRANSLATED.get(moment, moment)
    if side == "end":
        return None
    if match := _SPAN.search(text):
        count = whole(match[1] or "1")
        return f"{count} {match[2].lower()}{'s' if count > 1 else ''} ago"
    if match := _SPAN_ZH.search(text):
        count = whole(match[1])
        return f"{count} {_UNITS[match[2]]}{'s' if count > 1 else ''} ago"
    if (match := _ON.search(text)) and not _END.search(text):
        moment = match[1] or match[2]
        return _THIS.get(moment.lower()) or _TRANSLATED.get(moment, moment.lower())
    return None


_FACT = re.compile(
    r"(?:\b(?:remember|keep in mind|memori[sz]e|(?:make|take) (?:a )?note(?: of)?|note(?: down)?|(?:add|save|store"
    r"|put|write)(?: this| it)?(?: down)? (?:to|in|into) (?:your |the |my )?memory|for the record)(?:\s+that"
    r"|\s*[:,])?|(?:请)?(?:记住|记下|记得|备注"
    r"|记一下)[：:,，]?)\s*(.+)",
    re.IGNORECASE | re.DOTALL,
)
_VERB = re.compile(
    r"\s{1,4}(?:is|are|was|were|has|have|had|lives?|works?|uses?|likes?|prefers?|needs?|runs?|means?|must|should|can"
    r"|will|starts?|"
    r"ends?|owns?|wants?|belongs?|knows?|speaks?|goes|comes|happens?)\b|(?<=[^\s])(?=是|在|负责|维护|管理|位于|属于|喜欢"
    r"|住|需要|使用|叫|有)",
    re.IGNORECASE,
)


_RECALLS = re.compile(
    r"^\W*(?:what|which|do|did|does|have|who|where|when|list|show|tell|how|everything|anything|forget)\b|\?\s*$"
    r"|\byou remember\b|还记得|记得什么|记住了(?:什么|哪些)|[？吗]$",
    re.IGNORECASE,
)


def fact_in(text: str) -> str | None:
    match = None if _RECALLS.search(text) else _FACT.search(text)
    return match[1].strip().strip('"“”').rstrip("。.!！ ") or None if match else None


# A name, then a word with the ending of a verb: "Leo maintains …".
_AFTER_NAME = re.compile(r"^(?P<name>[A-Z][\w-]*(?:\s[A-Z][\w-]*)*)\s(?=[a-z]{2,}(?:s|ed)\b)")


def note_subject(fact: str) -> str:
    """The words before the first verb: "Anna works at Acme" -> "Anna"; without a verb the whole fact."""
    verb = _VERB.search(fact)
    if named := _AFTER_NAME.match(fact):
        return named["name"]
    subject = fact[: verb.start()] if verb and verb.start() else fact
    subject = re.sub(r"^(?:the|my|our|a|an)\s+", "", subject, flags=re.IGNORECASE).strip()
    return {"i": "user", "we": "team", "我": "用户", "我们": "团队"}.get(subject.lower(), subject) or fact


_RENAMED = re.compile(
    rf"\b(?:rename|move|mv)\s+(?:the |my )?(?:(?:folder|directory|dir|file)\s+)?{_NAME}\s+(?:(?:folder|directory|dir"
    rf"|file)\s+)?(?:in)?to\s+(?:the )?(?:folder |directory )?{_NAME}"
    rf"|(?:把|将)\s*(?:目录|文件夹)?\s*{_NAME}\s*(?:目录|文件夹)?\s*(?:重命名为|改名为|移动到|移到)\s*{_NAME}",
    re.IGNORECASE,
)


def renamed_in(text: str) -> tuple[str, str] | None:
    """The old and the new name."""
    match = _RENAMED.search(text)
    found = [group for group in match.groups() if group] if match else []
    return (found[0], found[1]) if len(found) == 2 else None


_PLACE = re.compile(
    r"\b(?:in|under|inside|within|below|of|at)\s+(?:the\s+|my\s+)?(?:(?:folder|directory|dir)\s+)?"
    r"([A-Za-z0-9_][\w.-]*)(?:\s+(?:folder|directory|dir))?"
    r"|^\W*(?:ls|tree|dir)\s+(?:-\w+\s+)*([A-Za-z0-9_][\w.-]*)"
    rf"|^\W*(?:list|show|browse|open|see)\s+(?:me\s+)?(?:the\s+)?({FOLDERS})\b(?!\s+\w*(?:files?|commands?|results?)\b)"
    r"|\b(?:folder|directory|dir)\s+(?:called\s+|named\s+)?([A-Za-z0-9_][\w.-]*)"
    r"|\b(?!(?:an?|the|new|this|that|my|current|list|show|create|make|in|remove"
    r"|delete)\b)([A-Za-z0-9_][\w.-]*)\s+(?:folder|directory|dir)\b(?!\s+(?:called|named))"
    r"|([A-Za-z0-9_][A-Za-z0-9_.-]*)\s*(?:目录|文件夹)?\s*(?:里|中|下)"
    r"|([A-Za-z0-9_][A-Za-z0-9_.-]*)\s*(?:目录|文件夹|的内容|的结构)"
    r"|(?:在|目录|文件夹)\s*([A-Za-z0-9_][A-Za-z0-9_.-]*)",
    re.IGNORECASE,
)
_NOT_PLACES = """
the this that these those here there repo repository project workspace folder directory dir files file all it git my
current tree python javascript typescript rust go markdown json yaml a an new which what detail full text size sizes
code whole codebase every each one called named create make list show with and memory head
your our their his her its me us you general
structure layout listing contents hierarchy overview
last first latest next past top end
times total fact case advance order particular root occurrences number
"""
_NO_PLACE = frozenset(_NOT_PLACES.split())


def named_places(masked: str) -> tuple[str, ...]:
    """Bare folder names: "under src", "the docs folder", "src 目录下"."""
    found = [(match[0], next(group for group in match.groups() if group)) for match in _PLACE.finditer(masked)]
    found.sort(key=lambda place: place[0].lower().startswith(("of ", "at ")))  # "uses of colour in docs"
    return tuple(name.rstrip(".") for _, name in found if name.lower() not in _NO_PLACE)


_AFTER = re.compile(
    r"(?:\b(?:for|about|on|saying|that says|titled|named|called|with (?:the )?(?:message|text|title|subject))\b"
    r"|[:：]|关于|搜索|查找|查询|消息为?)\s*(\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_TAIL = re.compile(
    r"\s+(?:in|from|to|of) (?:the |your |my )?(?:memory|knowledge graph|graph|notes)\b.*$|\s*(?:please"
    r"|now)?[?？!！.。]*$|(?:的信息|的内容)[。？]?$",
    re.IGNORECASE,
)
_NOT_TEXT = """
please can you could the a an me my all in of this that it them these those changes everything something now tool to
"""
_LEADING = frozenset(_NOT_TEXT.split())


def free_text(values: Values, tool: FoundTool, *, after_verb: bool = True) -> str:
    """The words after "for", "about" or a colon, else those after the tool's own verb ("echo hello world")."""
    text = values.text.strip()
    if fact := re.match(
        r"^\W*(?:recall|open|forget(?: about| everything about)?|(?:what |anything )?(?:do|did|have) (?:you|i"
        r"|we) (?:know|remember|recall|tell you|told you|say|said|note[d]?|save[d]?)"
        r"(?: anything| something)?(?: about)?)\s+(\S.*)$",
        text,
        re.IGNORECASE,
    ):
        return re.sub(
            r"^(?:the )?(?:nodes?|entit(?:y|ies))\s+", "", _TAIL.sub("", fact[1]).strip(), flags=re.IGNORECASE
        )
    if asked := re.search(r"关于\s*(.+?)\s*(?:你|我)?(?:们)?(?:还)?(?:记得|知道|说过|记录)", text):
        return asked[1]
    if asked := re.search(r"知道\s*(.+?)\s*(?:的?什么|吗)|(?:忘记|忘掉)\s*(\S+)", text):
        return (asked[1] or asked[2]).rstrip("。？?")
    if match := _AFTER.search(text):
        return _TAIL.sub("", match[1]).strip().strip("\"“”'")
    if not after_verb:
        return ""
    own = stems(" ".join(words_of(tool.label)))
    words = text.split()
    skipped = 0
    for word in words:
        if not (stems(word) and stems(word) <= own) and word.lower() not in _LEADING:
            break
        skipped += 1
    rest = [word for word in words[skipped:] if word.strip(".,!?").lower() not in _LEADING]
    is_command = bool(rest) and any(stems(word) & own for word in words[:skipped])
    return _TAIL.sub("", " ".join(words[skipped:])) if is_command else ""
