"""Does the message order a text to be put into a file, or one to be replaced by another?"""

from __future__ import annotations

import re

from caddie.providers.planning.core import CoreCall
from caddie.providers.planning.values import Values

_REPLACE = re.compile(r"\b(?:replace|change|update|bump|swap|substitute|rename)\b|替换|改成|改为|换成", re.IGNORECASE)
_WRITE = re.compile(
    r"^\W*(?:write|create|save|put|store|make|add|new|generate|touch)\b|写|创建|新建|保存", re.IGNORECASE
)
# Writing replaces a whole file, so what is to be added to one is not written.
_ADDS = re.compile(
    r"\b(?:append|prepend|insert|at the (?:end|top|start|bottom|beginning)|to the (?:end|top|bottom|start)"
    r"|add\b.*\bto|line \d+|after|before)\b"
    r"|追加|末尾|开头|插入|添加到|加到|加入",
    re.IGNORECASE,
)
_PLACES = re.compile(r"\b(?:folder|directory|branch|to-?do|note that)\b|目录|文件夹|分支|待办", re.IGNORECASE)
_EMPTY = re.compile(r"\b(?:empty|blank)\b|空白?(?:的)?文件|空的", re.IGNORECASE)
_EVERY = re.compile(r"\b(?:all|every|each|everywhere)\b|所有|全部", re.IGNORECASE)

_GAP = "\0"  # stands for the one path, so that no pattern need know what a path looks like
_FILE = rf"(?:(?:a |an |the |my )?(?:new )?(?:text )?file\s+)?(?:called |named )?[\"'`“]?{_GAP}[\"'`”]?"
_CONTENT_AFTER = re.compile(
    rf"{_GAP}[\"'`”]?[\s,，]*(?:(?:with|containing|that (?:says|contains|reads)|which (?:says|contains)|and (?:put"
    rf"|write)|saying|having)\s+"
    r"(?:in it\s+)?(?:(?:the |some )?(?:text|contents?|words?|lines?|string|message)\b\s*)?[:：]?|[:：]|，?内容(?:是"
    r"|为)?[:：]?|写入|里?写)\s*(?P<text>\S.*?)(?:\s+(?:in it|inside))?$",
    re.IGNORECASE | re.DOTALL,
)
_CONTENT_BEFORE = re.compile(
    rf"^\W*(?:write|save|put|store)\s+(?:the (?:text|words?|line|string)\s+)?(?P<text>\S.*?)\s+(?:in|into|to|inside"
    rf"|as)\s+{_FILE}\W*$"
    rf"|^(?:把|将)\s*(?P<zh>\S.*?)\s*(?:写入|写到|写进|保存到|保存为|存到)\s*{_FILE}\W*$",
    re.IGNORECASE | re.DOTALL,
)
# "the summary", "these results", "a haiku": not the text itself but a name for one.
_SPOKEN_OF = re.compile(
    r"(?:an?|the|this|that|these|those|it|them|all|my|your|our|some|everything|documentation|docs|tests?|code)\b|这|那"
    r"|上面|结果",
    re.IGNORECASE,
)
_PLAIN_REPLACE = re.compile(
    r"\b(?:replace|change|update|bump|swap|substitute|rename)\s+(?:all |every |each "
    r"|the )*(?:(?:occurrences?|instances?"
    r"|uses?) of )?(?:the )?(?:(?:word|text|string|variable|function|class|method|version|port|value|name|constant"
    r"|key) )?"
    rf"(?P<old>\S+(?: \S+)??)\s+(?:with|by|to|for|into)\s+(?P<new>\S+(?: \S+)??)\s+(?:everywhere )?(?:in|inside"
    rf"|within|of)\s+{_FILE}(?: everywhere)?\W*$"
    rf"|\b(?:in|inside)\s+{_FILE}[\s,]+(?:please )?(?:replace|change|swap)\s+(?:all |every "
    rf"|each )*(?P<old2>\S+)\s+(?:with|by|to|for|into)\s+(?P<new2>\S+?)[.!]?$"
    rf"|^(?:把|将)\s*(?P<old4>\S+?)\s*(?:替换成|替换为|改成|改为|换成)\s*(?P<new4>[^\s，,]+)[，,]?\s*(?:在|文件是)?\s*{_FILE}"
    rf"|^(?:把|将)\s*{_FILE}\s*(?:里面?|中)?的?(?:所有的?)?\s*(?P<old3>\S+?)\s*(?:全部)?(?:替换成|替换为|改成|改为"
    rf"|换成)\s*(?P<new3>\S+?)[。！]?$",
    re.IGNORECASE,
)


_NAMED = re.compile(
    r"\bfile\s+(?:called |named )?[\"'`]?(?!(?:with|in|for|that|called|named)\b)([A-Za-z_][\w-]*)", re.IGNORECASE
)
_ABOUT_IT = re.compile(rf"\b(?:for|of|about|from|against|on|based on)\s+(?:the )?(?:file )?{_GAP}", re.IGNORECASE)
_IS_FILE = re.compile(r"^\W*(?:write|save|touch)\b|\bfiles?\b|文件", re.IGNORECASE)


def edit(values: Values) -> CoreCall | None:
    paths = values.paths or (tuple(_NAMED.findall(values.masked)) if _WRITE.search(values.text) else ())
    if len(paths) != 1:
        return None
    path, text = paths[0], values.text.replace(paths[0], _GAP, 1)
    strings = [string for string in values.quoted if string != path]
    if _REPLACE.search(values.text):
        pair = _pair(text, strings)
        every = bool(_EVERY.search(values.masked)) or None
        return CoreCall("Edit", {"path": path, "old": pair[0], "new": pair[1], "every": every}) if pair else None
    if not _WRITE.search(values.text) or _PLACES.search(values.masked) or _ADDS.search(values.masked):
        return None
    content = _content(text, strings)
    is_file = "." in path.strip("./").rsplit("/", 1)[-1] and re.match(
        r"\W*(?:create|generate|new)\b|创建|新建", text, re.I
    )
    if content is None and (_ABOUT_IT.search(text) or not (is_file or _IS_FILE.search(text))):
        return None
    return CoreCall("Write", {"path": path, "content": content})


def _pair(text: str, strings: list[str]) -> tuple[str, str] | None:
    if len(strings) == 2:
        return strings[0], strings[1]
    match = _PLAIN_REPLACE.search(text) if not strings else None
    found = [group for group in match.groups() if group] if match else []
    return (found[0], found[1]) if len(found) == 2 else None


def _content(text: str, strings: list[str]) -> str | None:
    if len(strings) == 1 and not re.search(rf"[\w(\[{{=.+]\W?{re.escape(strings[0])}", text):
        return strings[0]
    if _EMPTY.search(text):
        return ""
    matches = (match for match in (_CONTENT_BEFORE.search(text), _CONTENT_AFTER.search(text)) if match)
    contents = (next((group for group in match.groups() if group), "").strip() for match in matches)
    return next((content for content in contents if content and not _SPOKEN_OF.match(content)), None)
