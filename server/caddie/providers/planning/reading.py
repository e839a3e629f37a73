"""Does the message ask to read a file, and which lines of it?"""

from __future__ import annotations

import re

from caddie.providers.planning.core import CoreCall
from caddie.providers.planning.values import AMOUNT, Values, whole

_READ = re.compile(
    r"^\W*(?:read|cat|view|print|display|open|see|show|look (?:at|in|into|inside|through)|(?:take |have )?a (?:look"
    r"|peek)"
    r"|peek|dump|type|less|more|bat|inspect|check(?: out)?|pull up|bring up|give me|get me|get|load|what(?:'s"
    r"| is)(?: written| stored| defined)? (?:in|inside|on)"
    r"|what (?:does|do)|what(?:'s| is| are) (?:the )?(?:first|top|lines?)|head|beginning|start|contents? of"
    r"|(?:the )?lines?"
    r"|(?:the )?(?:code|text|source) (?:in|of)|(?:the )?first|(?:the )?top)\b"
    r"|\bcontents? of\b|^请?(?:帮我)?(?:读取?|打开|查看|看|显示|输出|打印|展示)|的内容|有什么|写了(?:什么|啥)",
    re.IGNORECASE,
)
_NOT_READ = re.compile(
    r"\b(?:git|commits?|diff|branch|log|history|metadata|info(?:rmation)?|size|tree|director(?:y|ies)|folders?"
    rf"|images?|pictures?|files (?:in|under)|(?:last|final) {AMOUNT} lines?|last line|tail|modified|changed|changes"
    rf"|permissions?"
    r"|compress|gzip|compare|big|staged|how many|count)\b"
    rf"|提交|分支|目录|差异|(?:最后|末尾|倒数)\s*{AMOUNT}\s*行|末尾|大小|多少|修改|改动|文件夹|图片",
    re.IGNORECASE,
)
_MEDIA = re.compile(r"\.(?:png|jpe?g|gif|webp|bmp|mp3|wav|ogg|flac)$", re.IGNORECASE)

# What is said of lines | where it begins | where it ends, or how many there are.
_RANGE = rf"({AMOUNT})\s*(?:-|–|—|\.\.|to|through|thru|until|till|and|到|至|,)\s*(?:line )?l?({AMOUNT})"
_LINES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), kind)
    for pattern, kind in (
        (rf"\blines?\s+(?:from |between )?{_RANGE}|\bl{_RANGE}|第?\s*{_RANGE}\s*行|:{_RANGE}\b", "range"),
        (rf"\b(?:first|top|head|initial)\s+({AMOUNT})\s+lines?|\bhead\s+-n?\s*(\d+)|前\s*({AMOUNT})\s*行", "count"),
        (rf"\b(?:beginning|start|top|head)\b(?!.*\blines? \d).*?({AMOUNT})\s+lines\b", "count"),
        (r"\b(?:first|top) line\b|第一行|首行", "one"),
        (
            rf"\b(?:from|starting (?:at|from|with)|beginning (?:at|with)|after) line\s+({AMOUNT})"
            rf"|从第?\s*({AMOUNT})\s*行",
            "from",
        ),
        (rf"\b(?:around|near|at) line\s+({AMOUNT})|第\s*({AMOUNT})\s*行(?:附近|左右|周围)", "around"),
        (rf"\bline\s+(?:number\s+)?({AMOUNT})|第\s*({AMOUNT})\s*行", "line"),
        (rf"(?<!last )(?<!final )\b({AMOUNT}) lines (?:of|from)\b", "count"),
        (r"\.\w+:(\d+)\b", "from"),
    )
)
_AROUND = 10


def read(values: Values) -> CoreCall | None:
    if len(values.paths) != 1 or values.paths[0].endswith("/") or _NOT_READ.search(values.masked):
        return None
    path = values.paths[0]
    is_alone = values.text.strip(" \"'`?.!") in (path, f"{path}:")
    if _MEDIA.search(path) or not (is_alone or _READ.search(values.text)):
        return None
    return CoreCall("Read", {"path": path, **lines_in(values.text.replace(path, path[-8:].replace(" ", "_")))})


def lines_in(text: str) -> dict[str, int]:
    """The first line and how many, as far as the message says."""
    for pattern, kind in _LINES:
        if match := pattern.search(text):
            found = [whole(group) for group in match.groups() if group]
            first = found[0] if found else 1
            match kind:
                case "range":
                    return {"offset": first, "limit": max(found[1] - first + 1, 1)}
                case "count":
                    return {"limit": first}
                case "from":
                    return {"offset": first}
                case "around":
                    return {"offset": max(first - _AROUND, 1), "limit": 2 * _AROUND + 1}
                case "line":
                    return {"offset": first, "limit": 1}
            return {"limit": 1}
    return {}
