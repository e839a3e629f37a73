"""Does the message ask to read, list, search or change files?"""

from __future__ import annotations

import re

from caddie.providers.planning.core import CoreCall
from caddie.providers.planning.phrases import named_places
from caddie.providers.planning.values import Values, looks_like_path

_REPLACE = re.compile(r"\b(?:replace|change)\b|替换|改成|改为", re.IGNORECASE)
_WRITE = re.compile(r"\b(?:write|create|save)\b|写入|创建|写到", re.IGNORECASE)


def edit(values: Values) -> CoreCall | None:
    strings = [text for text in values.quoted if text not in values.paths]
    if len(values.paths) != 1:
        return None
    if _REPLACE.search(values.text) and len(strings) == 2:
        every = bool(re.search(r"\b(?:all|every|each|everywhere)\b|所有|全部", values.text, re.IGNORECASE))
        return CoreCall("Edit", {"path": values.paths[0], "old": strings[0], "new": strings[1], "every": every or None})
    if (
        _WRITE.search(values.text)
        and len(strings) == 1
        and not re.search(r"\b(?:folder|directory)\b|目录", values.text)
    ):
        return CoreCall("Write", {"path": values.paths[0], "content": strings[0]})
    return None


_READ = re.compile(
    r"^\W*(?:please |can you |could you |let me |i want to )*(?:read|cat|view|print|display|open|see"
    r"|show(?: me)?|look at|what(?:'s| is) in|what does)\b"
    r"|^\W*(?:show|give)(?: me)? the contents? of\b|\bcontents? of\b|^请?(?:帮我)?(?:读取?|打开|查看|看看|看一下|显示)",
    re.IGNORECASE,
)
_NOT_READ = re.compile(
    r"\b(?:git|commits?|diff|branch|log|history|metadata|info(?:rmation)?|size|tree|director(?:y|ies)|folders?"
    r"|images?|files (?:in|under)|last \d+ lines|modified|changed|compress|gzip)\b"
    r"|提交|分支|目录|差异|最后\d+行|大小",
    re.IGNORECASE,
)


def read(values: Values) -> CoreCall | None:
    if len(values.paths) != 1 or not _READ.search(values.text) or _NOT_READ.search(values.masked):
        return None
    path = values.paths[0]
    return None if path.endswith("/") else CoreCall("Read", {"path": path, **_lines(values.text)})


def _lines(text: str) -> dict[str, int]:
    if match := re.search(
        r"\blines?\s+(\d+)\s*(?:-|–|to|through)\s*(\d+)|第?\s*(\d+)\s*(?:-|到|至)\s*(\d+)\s*行", text, re.IGNORECASE
    ):
        first, last = (int(group) for group in match.groups() if group)
        return {"offset": first, "limit": max(last - first + 1, 1)}
    if match := re.search(r"\bfirst\s+(\d+)\s+lines?|前\s*(\d+)\s*行", text, re.IGNORECASE):
        return {"limit": int(match[1] or match[2])}
    match = re.search(r"\b(?:from|starting at) line\s+(\d+)|从第?\s*(\d+)\s*行", text, re.IGNORECASE)
    return {"offset": int(match[1] or match[2])} if match else {}


_KIND_TABLE = """
python py, javascript js, typescript ts, rust rs, go go, java java, markdown md, json json, yaml {yml,yaml}, toml toml,
html html, css css, shell sh, text txt, c c, c++ cpp, ruby rb, php php, lua lua, sql sql, csv csv, xml xml, kotlin kt,
swift swift
"""
_KINDS: dict[str, str] = dict(re.findall(r"(\S+) (\S+?)(?:,\s|$)", _KIND_TABLE.strip()))
_GLOB = r"(?<![\w`])[\w./-]*(?:\*|\{\w+(?:,\w+)+\})[\w./*{},-]*"
# In the plural they are a kind of file; in the singular a file, which is read.
_KNOWN_FILES = re.compile(r"\b(README|LICENSE|Makefile|Dockerfile|CHANGELOG|Jenkinsfile|Gemfile|Procfile)s\b")
_LIST = re.compile(
    r"^\W*(?:(?:please|can you|could you|now|me)\s+)*(?:list|find|show|which|what|where|locate|give|how many|all"
    r"|get|display|print|ls|look|(?:is|are) there|do (?:we|i) have)\b"
    r"|列出|找|有哪些|显示|查看",
    re.IGNORECASE,
)


def list_files(values: Values) -> CoreCall | None:
    text = values.text
    if not _LIST.search(text) or re.search(
        r"\b(?:containing|contain|mention\w*|referenc\w*|imports?|with size|sizes|tree|changed|modified|staged?"
        r"|metadata)\b|包含|提到|大小|树",
        text,
        re.I,
    ):
        return None
    place = _place(values)
    kind = re.search(
        rf"(?<![\w])({'|'.join(map(re.escape, _KINDS))})\s*(?:source |code )?(?:files?|scripts?|modules?|文件|脚本)",
        text,
        re.I,
    )
    extension = re.search(r"(?<![\w*/])\.(\w{1,8})\s*(?:files?|文件)", text, re.IGNORECASE)
    if match := re.search(_GLOB, text):
        return CoreCall("Glob", {"pattern": match[0] if "/" in match[0] else f"**/{match[0]}", "path": place})
    if kind or extension:
        ending = _KINDS[kind[1].lower()] if kind else extension[1] if extension else ""
        return CoreCall("Glob", {"pattern": f"**/*.{ending}", "path": place})
    if (
        not values.quoted
        and re.search(r"\b(?:where is|where's|find|locate)\b(?: the| a)?(?: file)?|(?:找到?|查找)文件", text, re.I)
        and len(values.paths) == 1
    ):
        return CoreCall("Glob", {"pattern": f"**/{values.paths[0].lstrip('./')}", "path": None})
    if match := _KNOWN_FILES.search(text):
        return CoreCall("Glob", {"pattern": f"**/{match[1]}*", "path": place})
    if re.search(r"\bfiles\b|文件(?!夹|信息)", text, re.IGNORECASE) and re.search(
        r"\b(?:list|show|what|which|all)\b|列出|有哪些|显示", text, re.I
    ):
        deep = re.search(r"\b(?:all|every|recursive(?:ly)?)\b|所有|全部", text, re.IGNORECASE)
        return CoreCall("Glob", {"pattern": "**/*" if deep else "*", "path": place})
    return None


def _place(values: Values) -> str | None:
    folders = [path for path in values.paths if not re.search(r"[^/.]\.\w+$|\*|^\.\w+$", path)]
    named = folders or list(named_places(values.masked))
    return named[0].rstrip("/") or "/" if named else None


_SEARCH = re.compile(
    r"^\W*(?:please |can you |could you )*(?:(?:search|grep|look|scan|find)\b(?!\s+(?:the\s+)?(?:web|internet"
    r"|memory|graph|nodes|online))(?:\s+(?:the |all )?(?:code(?:base)?|files?|project"
    r"|repo(?:sitory)?))?(?:\s+(?:for|all))?"
    r"(?:\s+(?:the )?(?:text|string|word|pattern|usages? of|uses of|occurrences? of|references? to|definition of))?"
    r"|where (?:is|are|(?:do|did|does) (?:we|i|you|it|they) (?:use|call|define|import|set|declare))"
    r"|which files (?:contain|use|mention|reference|import|call)"
    r"|(?:find|list|show)(?: all| me)? (?:files |lines )(?:containing|with|that (?:contain|mention|use)))\s+"
    r"|^请?(?:帮我)?在.{0,40}?(?:里|中|下|下面|目录)?(?:搜索|查找|找)\s*"
    r"|^(?:请?(?:帮我)?(?:搜索|查找|搜一下|找出?)\s*|(?:有)?哪些文件)(?:包含|含有|提到)?了?\s*",
    re.IGNORECASE,
)
_WHOLE = ("code", "codebase", "files", "project", "everything", "all", "repo", "repository")
_PLACE_TAIL = re.compile(
    r"\s+(?:(?:is|are|gets?) )?(?:(?:defined|used|mentioned|called|declared|imported)\b)?\s*(?:(?:in|under"
    r"|inside|within|across|from)\s+.*)?[?？.。]*$",
    re.IGNORECASE,
)


# What is found is text, and these say only of what kind: "TODO comments", "usages", "包含 TODO 的文件".
_KIND_TAIL = re.compile(
    r"(?<=\S)\s+(?:comments?|usages?|uses|occurrences?|mentions?|references?|markers?)\s*$|\s*的(?:所有)?(?:文件|代码|地方|行)$",
    re.IGNORECASE,
)
_COUNT = re.compile(
    r"^\W*(?:count|how (?:many|often))(?: times)?(?: (?:are|is|do|does))?(?: there)?(?: (?:the|all))?"
    r"(?: occurrences? of| mentions? of| lines (?:with|containing))?\s+(?P<en>.+?)"
    r"(?:\s+(?:appears?|occurs?|there|used|mentioned))*\s+(?:in|under|across)\b.*$"
    r"|(?:统计|数一?下).*?(?:有)?多少(?:个|处|次|行)?\s*(?P<zh>\S+?)[?？。]*$",
    re.IGNORECASE,
)
_NOT_TEXT_COUNTED = re.compile(
    r"\b(?:files?|folders?|director(?:y|ies)|commits?|branch(?:es)?|lines|people|days?|tools?)\b|文件|目录|提交|分支|行|天",
    re.IGNORECASE,
)


def count_text(values: Values) -> CoreCall | None:
    match = _COUNT.search(values.text)
    counted = (match["en"] or match["zh"] or "").strip(" \"'`“”") if match else ""
    place = values.paths[0].rstrip("/") if values.paths else _place(values)
    if not counted or not place or _NOT_TEXT_COUNTED.search(counted) or len(counted.split()) > 3:
        return None
    return CoreCall("Grep", {"pattern": _regex(counted), "path": place, "mode": "count"})


def _as_grep(text: str) -> tuple[str, str] | None:
    """`grep -rn words place`, as in a shell: the pattern, then the place."""
    match = re.match(r"^\W*(?:grep|rg|ag)(?:\s+-{1,2}[\w-]+)*\s+(\S+)\s+([\w./~-]+)\s*$", text)
    return (match[1].strip("\"'`"), match[2]) if match else None


def search_text(values: Values) -> CoreCall | None:
    if shell := _as_grep(values.text):
        return CoreCall("Grep", {"pattern": _regex(shell[0]), "path": shell[1].rstrip("/")})
    match = _SEARCH.match(values.text)
    if not match or re.search(
        r"\b(?:knowledge graph|memory|web|internet|online|tools?|commits?|branch(?:es)?)\b|记忆|工具|提交|网上",
        values.text,
        re.I,
    ):
        return None
    rest = re.sub(r"^(?:-\w+\s+)+", "", values.text[match.end() :])
    before = re.match(r"^\W*(?:search|grep|scan)\s+([\w./-]+)\s+for\s+", values.text, re.IGNORECASE)
    if before:
        rest = values.text[before.end() :]
    strings = [text for text in values.quoted if not (looks_like_path(text) and len(values.quoted) > 1)]
    plain = _KIND_TAIL.sub("", _PLACE_TAIL.sub("", rest).strip(" \"'`“”?？。"))
    if not strings and (not plain or len(plain.split()) > 4):
        return None
    globs = re.search(_GLOB, values.masked)
    files = [path for path in values.paths if path in rest and path != plain]
    where = files[0].rstrip("/") if files else before[1] if before and before[1] not in _WHOLE else _place(values)
    pattern = _regex(strings[0]) if strings else _regex(plain)
    return CoreCall(
        "Grep", {"pattern": pattern, "path": where if where != plain else None, "glob": globs[0] if globs else None}
    )


def _regex(text: str) -> str:
    """The text as a pattern: left alone where it was written as one."""
    if re.search(r"\\[wdsb.(]|\.[*+]|\[[^\]]+\]|^\^|\$$|\w\|\w", text):
        return text
    return re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", text)
