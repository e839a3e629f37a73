"""Does the message ask which files there are, and where?"""

from __future__ import annotations

import re

from caddie.providers.planning.core import CoreCall
from caddie.providers.planning.phrases import named_places
from caddie.providers.planning.values import Values

_KIND_TABLE = """
python py, py py, javascript js, js js, typescript ts, ts ts, tsx tsx, jsx jsx, rust rs, rs rs, go go, golang go,
java java, markdown md, md md, json json, yaml {yml,yaml}, yml {yml,yaml}, toml toml, ini ini,
html html, css css, scss scss,
shell sh, bash sh, sh sh, text txt, txt txt, c c, c++ cpp, cpp cpp, c# cs, ruby rb, php php, lua lua, sql sql, csv csv,
xml xml, kotlin kt, swift swift, vue vue, svelte svelte, log log, pdf pdf, png png, svg svg, ipynb ipynb,
notebook ipynb, proto proto, header h, lock lock
"""
_KINDS: dict[str, str] = dict(re.findall(r"(\S+) (\S+?)(?:,\s|$)", _KIND_TABLE.strip()))
_GLOB = r"(?<![\w`])[\w./-]*(?:\*|\{\w+(?:,\w+)+\})[\w./*{},-]*"
_KIND = re.compile(
    rf"(?<![\w.])({'|'.join(map(re.escape, _KINDS))})\s*(?:的)?\s*(?:source |code |config(?:uration)? )?"
    r"(?:files?|scripts?|modules?|notebooks?|文件|脚本)",
    re.IGNORECASE,
)
_EXTENSION = re.compile(
    r"(?<![\w*/])\.(\w{1,8})\s*(?:的)?(?:files?|文件)|\bfiles? (?:ending (?:in|with)|with (?:the )?(?:extension"
    r"|suffix))\s+[\"'`]?\.?(\w{1,8})\b"
    r"|以\s*\.?(\w{1,8})\s*结尾",
    re.IGNORECASE,
)
# In the plural they are a kind of file; in the singular a file, which is read.
_KNOWN_FILES = re.compile(
    r"\b(README|LICENSE|Makefile|Dockerfile|CHANGELOG|Jenkinsfile|Gemfile|Procfile)(s)?\b", re.IGNORECASE
)
_LIST = re.compile(
    r"^\W*(?:me\s+)?(?:files? ending|files? with (?:the )?(?:extension|suffix)|list|find|show|which|what|where|locate"
    r"|give|get|how many|number of|count|all|every|any|display|print|ls|look|see|search"
    r"|(?:is|are) there|do (?:we|i|you) have|(?:have )?(?:we |you )?got any|enumerate)\b"
    r"|列出|找|有哪些|有没有|有多少|多少个|显示|查看|看看?|统计|哪里|哪儿",
    re.IGNORECASE,
)
_BY_CONTENT = re.compile(
    r"\b(?:contain\w*|mention\w*|referenc\w*|imports?|importing|us(?:e|es|ing)|called? .+\(|sizes?|bigger|larger"
    r"|smaller|biggest|largest|smallest"
    r"|tree|changed|modified|edited|touched|staged?|unstaged|metadata|committed|older|newer|newest|oldest|recent"
    r"|lines? (?:in|of|are|does))\b"
    r"|包含|含有|提到|引用|大小|最大|最小|树|修改|改动|暂存|提交",
    re.IGNORECASE,
)
_NO_FILE = re.compile(
    r"\b(?:left-?over|stray|remaining)\b|\.\w+\s+(?:statements?|calls?|usages?|uses|references?|imports?"
    r"|occurrences?)\b",
    re.IGNORECASE,
)
_PICTURES = re.compile(
    r"^\W*(?:.*\b(?:list|find|show|which|what|any|all|the|many)\b.*)?\b(?:images?|pictures|photos"
    r"|icons)\b(?: files)?(?: (?:are|is|do we have))?(?: there)?\s+(?:in|under|inside|within)\b|(?:图片"
    r"|图像)(?:文件)?(?:有哪些|在哪)?$",
    re.IGNORECASE,
)
_FOLDER_NAMED = re.compile(
    r"\b(?:find|where is|where's|locate)\s+(?:the |a )?(?:(?:folder|directory|dir)\s+(?:called |named )?([\w.-]+)"
    r"|([\w.-]+)\s+(?:folder|directory|dir)\b)",
    re.IGNORECASE,
)
_WHERE = re.compile(
    r"\b(?:where is|where's|where are|where does|where did (?:i|we|you) (?:put|save|store|leave|keep)"
    r"|where do (?:i|we|you) (?:keep|store|have)|find|locate)\b(?: the| a| my)?(?: file)?|(?:找到?|查找)一?下?文件"
    r"|在哪",
    re.IGNORECASE,
)
_NAMED = re.compile(r"\bfiles? (?:called|named)\s+[\"'`]?([\w.-]+)", re.IGNORECASE)


_READS = re.compile(r"^\W*(?:read|cat|show|open|view|print|display|see|look at)\b", re.IGNORECASE)
_EXISTS = re.compile(
    r"^\W*(?:is there|are there|any|do (?:we|i|you) have|where(?:'s| is| are))\b|有没有", re.IGNORECASE
)


_SAYS_WHERE = re.compile(r"(?:\b(?:in|within|inside|under|from|of)\s+(?:the )?(?:file )?|在)[\"'`]?$", re.IGNORECASE)
_OPENS = re.compile(r"^\W*(?:open|read|cat|print|display|view|show)(?: me)? (?:the |my )?file\b", re.IGNORECASE)
# "find TODO in the Python files": the kind says where to look, not what for.
_LOOKS_WITHIN = re.compile(
    r"\b(?:search|grep|look|scan|find|where)\b.*\S\s+(?:in|across|within|inside)\s+(?:(?:all|the|every|my"
    r"|our|any)\s+)*$"
    r"|在(?:所有|全部)?的?\s*$",
    re.IGNORECASE,
)


def list_files(values: Values) -> CoreCall | None:
    text = values.text
    kind, extension = _KIND.search(text), _EXTENSION.search(text)
    if re.fullmatch(rf"\W?(?:{_GLOB})\W?", text.strip()):
        return CoreCall("Glob", {"pattern": text.strip() if "/" in text else f"**/{text.strip()}", "path": None})
    begins = kind is not None and not text[: kind.start()].strip(" .")
    named = kind or extension
    if named and _LOOKS_WITHIN.search(text[: named.start()]):
        return None
    if not (_LIST.search(text) or begins or _READS.search(text) or _PICTURES.search(text)) or _BY_CONTENT.search(
        values.masked
    ):
        return None
    place = place_of(values)
    if (match := re.search(_GLOB, text)) and not values.quoted:
        return CoreCall("Glob", {"pattern": match[0] if "/" in match[0] else f"**/{match[0]}", "path": place})
    if ending := _ending(kind or extension):
        return CoreCall("Glob", {"pattern": f"**/*.{ending}", "path": place if place != f".{ending}" else None})
    if match := _FOLDER_NAMED.search(text):
        return CoreCall("Glob", {"pattern": f"**/{match[1] or match[2]}/*", "path": None})
    if _PICTURES.search(text) and place:
        return CoreCall("Glob", {"pattern": "**/*.{png,jpg,jpeg,gif,svg,webp}", "path": place})
    if _NO_FILE.search(text):
        return None
    if (match := _KNOWN_FILES.search(text)) and (
        match[2] or _EXISTS.search(text) or (_READS.search(text) and not values.paths)
    ):
        return CoreCall("Glob", {"pattern": f"**/{_spelled(match[1])}*", "path": place})
    if (_NAMED.search(text) and not _OPENS.search(text)) or (
        _WHERE.search(text) and len(values.paths) == 1 and not _SAYS_WHERE.search(text.partition(values.paths[0])[0])
    ):
        return _by_name(values)
    if re.search(r"\bfiles\b|文件(?!夹|信息)", values.masked, re.IGNORECASE) and not values.quoted:
        return _all_files(text, place)
    return None


def _ending(named: re.Match[str] | None) -> str:
    said = next((group for group in named.groups() if group), "") if named else ""
    return _KINDS.get(said.lower(), said)


def glob_in(values: Values, sought: str) -> str | None:
    """`*.py`, or "Python files" as one; `sought` is the text that is looked for in them."""
    if match := re.search(_GLOB, values.masked):
        return match[0]
    text = values.text.replace(sought, " ") if sought and not values.quoted else values.text
    ending = "" if values.quoted else _ending(_KIND.search(text) or _EXTENSION.search(text))
    return f"*.{ending}" if ending else None


def _by_name(values: Values) -> CoreCall | None:
    named = _NAMED.search(values.text)
    name = named[1] if named else values.paths[0].lstrip("./")
    if values.quoted and (not named or values.quoted[0] != name):
        return None
    place = place_of(values)
    return CoreCall("Glob", {"pattern": f"**/{name}", "path": place if place and place.strip("./") != name else None})


_ALL = re.compile(r"\b(?:all|every|recursive(?:ly)?|how many|count)\b|所有|全部|多少", re.IGNORECASE)
_LISTS = re.compile(
    r"\b(?:list|show|what|which|all|see|display|print|how many|count|enumerate|give)\b|列出|有哪些|显示|哪些|看|多少",
    re.I,
)


def _all_files(text: str, place: str | None) -> CoreCall | None:
    if not _LISTS.search(text):
        return None
    return CoreCall("Glob", {"pattern": "**/*" if _ALL.search(text) else "*", "path": place})


def _spelled(name: str) -> str:
    return next(
        known for known in ("README", "LICENSE", "CHANGELOG", name.capitalize()) if known.lower() == name.lower()
    )


def place_of(values: Values, *, but: str = "") -> str | None:
    """The folder that the message names; `but` is a word that is known to be something else."""
    folders = [
        path for path in values.paths if not re.search(r"[^/.]\.\w+$|\*", path) and not is_ending(path, values.text)
    ]
    folders = [path for path in folders if not _KNOWN_FILES.fullmatch(path)]
    named = folders or [place for place in named_places(values.masked) if place not in but.split()]
    return named[0].rstrip("/") or "/" if named else None


def is_ending(path: str, text: str) -> bool:
    """`.ts` of "all .ts files", which is no folder as `.github` is."""
    within = rf"(?:\b(?:in|under|inside|within|from|of)\s+(?:the\s+)?|在\s*){re.escape(path)}(?!\s*(?:files?|文件))"
    return bool(re.fullmatch(r"\.\w+", path)) and not re.search(within, text, re.IGNORECASE)
