"""Does the message ask for a text in files, which text, and where?"""

from __future__ import annotations

import re

from caddie.providers.planning.core import CoreCall
from caddie.providers.planning.listing import glob_in, is_ending, place_of
from caddie.providers.planning.values import Values, looks_like_path

# What code does with a name.
_DONE_WITH = """
use call define import declare mention reference contain implement cover handle throw raise log include instantiate
construct create invoke override extend inherit subclass render register initialize initialise assign export configure
parse emit catch return pass touch consume read depend need
"""


def _forms(verb: str) -> str:
    return f"{verb[:-1]}(?:e[sd]?|ing)" if verb.endswith("e") else f"{verb}(?:s|es|ed|ing)?"


_USED = rf"(?:{'|'.join(map(_forms, _DONE_WITH.split()))}|set|thrown|caught|ha(?:ve|s)|written)"
_HEADS: tuple[str, ...] = (
    r"(?:search|grep|rg|ag|look|scan|find|hunt)\b(?!\s+(?:up|at|in(?:to|side)?|through)\b(?! .*\bfor\b))",
    r"(?:show|list|give|get|see|count)(?: me)?(?= (?:all |every |the |any )*(?:(?:places?|lines?) (?:(?:we"
    r"|you|i|it|they)\b|that|which|where"
    r"|with|containing|in which|mentioning|using)|occurrences?|mentions?|references?|usages?|uses|calls?|callers"
    r"|files? (?:containing|with|that|which|using|importing|mentioning|referencing)|imports?|todos?\b(?! list)"
    r"|fixmes?)\b)",
    r"(?:(?:all|any|every|the) )*(?:files?|lines?|places?)(?= (?:containing|with|that|which|where|mentioning|using"
    r"|importing|calling)\b)",
    rf"where(?:'s| is| are| does| do| did)?(?: (?:we|i|you|it|they))?(?: {_USED})?",
    rf"(?:who|what) (?:else )?(?={_USED})(?!(?:sets?|has|have|logs?|logged|includes?|contains?)\b){_USED}",
    rf"(?:which|what) (?:[\w+#]+ )?(?:files?|code|modules?|functions?|scripts?|places?|tests?)(?: (?:is|are"
    rf"|do|does|all|still|we"
    rf"|i))*(?: {_USED})",
    r"(?:any|are there any|do we have any|is there any)(?= (?:code|files?|places?|lines?|occurrences?"
    r"|mentions?|references?"
    r"|usages?|uses|calls?|todos?|fixmes?)\b)",
)
_SEARCH = re.compile(rf"^\W*(?:{'|'.join(_HEADS)})\s+", re.IGNORECASE)
_SEARCH_ZH = re.compile(
    r"^(?:请?(?:帮我)?在.{0,40}?(?:里面?|中|下面?|目录)?(?:搜索|搜一?下?|查找|查一?下?|找一?下?|找出)\s*"
    r"|请?(?:帮我)?(?:全局)?(?:搜索|查找|搜一?下|搜|找一?下|找出?|grep)\s*|(?:有)?(?:(?:哪些|什么|哪个)(?:文件|地方|代码)|哪里|哪儿|谁)(?:里"
    r"|中)?(?:还|都"
    r"|会)?(?=定义|声明|实现|出现|包含|含有|提到|用|引用|调用|导入|使用)"
    r"|(?=\S+\s*(?:在哪|是在哪|定义在)))(?:所有|全部)?(?:包含|含有|提到|引用|使用|用到?|调用|导入|定义|声明|实现|出现)?了?\s*",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"\b(?:knowledge graph|(?:my|your|the|search|in|from) memory|(?:the|on the) web|internet|online|tools?"
    r"|commits?|branch(?:es)?|changes"
    r"|git|weather)\b"
    r"|记忆|工具|提交|网上|分支",
    re.IGNORECASE,
)
# What leads to the text: "all lines that contain the word", "every place where", "in the code for any".
_LEADS = re.compile(
    r"^(?:(?:places?|spots?|lines?)\s+(?:we|i|you|it|they)\s+(?:(?:still|ever)\s+)?"
    rf"(?:{_USED}\s+)?"
    r"|(?:in|through|across) (?:the |my |this |our )?(?:whole |entire )?(?:code(?:base)?|files?|project"
    r"|repo(?:sitory)?|workspace|tree|sources?)\s+(?:for\s+)?"
    r"|(?:the |my |this |our )?(?:whole |entire )?(?:code(?:base)?|project|repo(?:sitory)?|workspace|files?)\s+for\s+"
    r"|for\s+|all\s+|every\s+|each\s+|any\s+|me\s+|the\s+(?=\w+\s+(?:of|to|where|that|which|with|containing)\b)"
    rf"|(?:code |source )?(?:places?|spots?|locations?|lines?|files?|modules?|code|functions?)\s+(?:in which|where"
    rf"|that|which|with|containing|using|calling|importing|mentioning|referencing)\s+(?:(?:we|i|you|it"
    rf"|they)\s+)?(?:(?:is|are|still)\s+)?(?:{_USED}\s+)?"
    r"|(?:usages?|uses?|occurrences?|mentions?|references?|calls?|callers?|imports?|instances?|definitions?"
    r"|declarations?|places?|number)\s+(?:of|to|for)\s+"
    r"|(?:the )?(?:text|string|word|words|pattern|phrase|term|regex|expression|literal|symbol|identifier|name"
    r"|error message|message|log message)\s+(?=\S)"
    r"|the (?:class|function|method|variable|constant|type|interface|struct|enum|module|macro)\s+(?=\S)"
    rf"|(?:is|are|does|do)\s+|{_USED}\s+(?!in\b)|the\s+|an?\s+(?=\S+ (?:in|under)\b)"
    r")+",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?:\s+(?:is|are|was|were|gets?|being|still|ever|appears?|occurs?|shows? up|lives?|resides?|exists?))*"
    rf"(?:\s+(?:by|not|actually|even|left|remaining))?(?:\s+{_USED})?(?:\s+(?:anywhere|everywhere|somewhere))?"
    r"(?:\s+(?:in|under|inside|within|across|from|of)\s+.*)?(?:\s+(?:anywhere|everywhere"
    r"|recursively))?(?:,?\s*(?:ignoring case|case[- ]insensitive(?:ly)?))?[\s?？.。!]*$",
    re.IGNORECASE | re.DOTALL,
)
# What is found is text, and these say only of what kind: "TODO comments", "the login function", "包含 TODO 的文件".
_KIND_TAIL = re.compile(
    r"(?<=\S)\s+(?:comments?|usages?|uses|occurrences?|mentions?|references?|markers?|statements?|calls?|imports?"
    r"|class|function|method|variable|constant|definition|declaration|annotations?)\s*$"
    r"|\s*(?:这个|这)?(?:函数|变量|类|方法|常量)?\s*(?:是)?(?:在哪里?|在哪儿|定义在)(?:被?(?:定义|使用|调用|用到?|引用))?.*$"
    r"|\s*的(?:所有)?(?:文件|代码|地方|行|位置|引用|用法|定义|注释)$|\s*(?:这个)(?:词|字符串|单词)$",
    re.IGNORECASE,
)
_SIZES = re.compile(
    r"\b(?:bigger|larger|smaller|biggest|largest|smallest|heaviest|size|older|newer|newest|oldest)\b|最大|最小"
    r"|大于|小于"
    r"|超过\s*\d",
    re.IGNORECASE,
)
_NATURAL = re.compile(
    r"\b(?:my|your|our|and|or|that|which|for|with|about|me|you|how|why|to|is|are|of|some|good|best)\b", re.IGNORECASE
)
_COUNT = re.compile(
    r"^\W*(?:(?:count )?(?:how (?:many|often)|the number of|number of)|count)(?: times)?(?: (?:are|is|do|does"
    r"|did))?(?: there)?(?: (?:the|all|every))?"
    r"(?: (?:occurrences?|mentions?|instances?|uses?|usages?|references?) (?:of|to)| (?:lines|times)(?: (?:with"
    r"|containing|that (?:contain|mention)))?)?"
    r"(?: the (?:word|text|string))?\s+(?P<en>.+?)"
    r"(?:\s+(?:comments?|appears?|occurs?|there|used|mentioned|called|is|are|do|we|have))*\s+(?:in|under|across"
    r"|inside)\b.*$"
    r"|(?:统计|数一?下).*?(?:有)?(?:多少|几)(?:个|处|次|行)?\s*(?P<zh>\S+?)[?？。]*$"
    r"|(?:里|中|下)(?:有|出现)了?(?:多少|几)(?:个|处|次|行)?\s*(?P<zh2>[\w.]+?)[?？。]*$|(?:统计"
    r"|数一?下)\s*(?P<zh3>\S+?)\s*在.*(?:次数|多少次"
    r"|几次)",
    re.IGNORECASE,
)
_NOT_TEXT_COUNTED = re.compile(
    r"\b(?:files?|folders?|director(?:y|ies)|commits?|branch(?:es)?|lines|people|days?|tools?|words|characters)\b|文件"
    r"|目录|提交|分支|行|天",
    re.IGNORECASE,
)
_ANY_CASE = re.compile(
    r"\bignor(?:e|ing) (?:the )?case\b|\bcase[- ]insensitiv|\s-\w*i\w*\s|忽略大小写|不区分大小写", re.IGNORECASE
)


def count_text(values: Values) -> CoreCall | None:
    match = _COUNT.search(values.text)
    counted = next((group for group in match.groups() if group), "").strip(" \"'`“”") if match else ""
    place = values.paths[0].rstrip("/") if values.paths else place_of(values)
    if not counted or not place or _NOT_TEXT_COUNTED.search(counted) or len(counted.split()) > 3:
        return None
    return CoreCall("Grep", {"pattern": _regex(_one(counted)), "path": place, "mode": "count"})


def search_text(values: Values) -> CoreCall | None:
    if shell := _as_grep(values.text):
        return CoreCall("Grep", {"pattern": _regex(shell[0]), "path": shell[1].rstrip("/"), "ignore": _ignores(values)})
    match = (
        _WHETHER.match(values.text)
        or _ANY.match(values.text)
        or _SEARCH.match(values.text)
        or _SEARCH_ZH.match(values.text)
    )
    if not match or _ELSEWHERE.search(values.masked) or _SIZES.search(values.masked):
        return None
    rest = re.sub(r"^(?:-\w+\s+)+", "", values.text[match.end() :])
    before = re.match(
        r"^\W*(?:search|grep|scan|look|find)\s+(?:in |through |inside )?(?!(?:for|all|the|any)\b)([\w./-]+)\s+for\s+",
        values.text,
        re.I,
    )
    if before:
        rest = values.text[before.end() :]
    strings = [text for text in values.quoted if not (looks_like_path(text) and len(values.quoted) > 1)]
    plain = _sought(rest)
    if not strings and not _is_sought(
        plain, match[0] if match[0].strip() != match[0].strip().split()[0] else values.text
    ):
        return None
    files = [path for path in values.paths if path not in plain and not is_ending(path, values.text)]
    where = (
        files[0].rstrip("/")
        if files
        else before[1]
        if before and before[1] not in _WHOLE
        else place_of(values, but=plain)
    )
    pattern = _regex(strings[0]) if strings else _regex(plain)
    return CoreCall(
        "Grep",
        {
            "pattern": pattern,
            "path": where if where != plain else None,
            "glob": glob_in(values, plain),
            "ignore": _ignores(values),
        },
    )


# "any console.log left in src?": what is asked for looks like code, and a place is named.
_ANY = re.compile(
    r"^\W*(?:(?:is|are) there |do we (?:still )?have |(?:we )?got )?(?:any|some|an?)\s+(?:(?:left-?over"
    r"|remaining|stray|more|other|old|unused|direct|hard-?coded)\s+)*"
    r"(?=(?:\S*[\w)][._(:][\w(]\S*|[A-Z]\w*[A-Z_]\w*|[a-z]+[A-Z]\w*"
    r"|[\"'`“].+?[\"'`”])(?:\s+(?!files?)\w+)?(?:\s+(?:left|still|remaining))?(?:\s+(?:in|under|inside"
    r"|anywhere)\b|\W*$))"
)
_WHETHER = re.compile(
    rf"^\W*(?:(?:do|does|did|has)\s+(?:we|anyone|anything|anybody|somebody|something|any (?:code|file|module|test)s?"
    rf"|the (?:code|project))\s+(?:still |ever |actually |already )?{_USED}\s+"
    rf"|(?:is|are)\s+(?:the )?(?=\S+\s+(?:still |ever |actually |even )?(?:being )?{_USED}\b))",
    re.IGNORECASE,
)
_WHOLE = ("code", "codebase", "files", "project", "everything", "all", "repo", "repository")


def _sought(rest: str) -> str:
    text = _TAIL.sub("", _LEADS.sub("", rest)).strip(" \"'`“”?？。")
    text = _KIND_TAIL.sub("", text).strip(" \"'`“”")
    return _one(text)


def _one(text: str) -> str:
    return re.sub(r"^([A-Z]{3,})s$", r"\1", text)  # "the TODOs"


def _is_sought(plain: str, head: str) -> bool:
    """A few words that could stand in a file; from a question, only one that looks like a name."""
    words = plain.split()
    if not words or len(words) > 4 or (len(words) > 1 and _NATURAL.search(plain)):
        return False
    asks = re.match(r"\W*(?:who|what|where|which)", head, re.IGNORECASE)
    uses = re.search(rf"\b{_USED}\b", head, re.IGNORECASE)
    return bool(not asks or uses or re.search(r"[_A-Z(.]", plain) or len(words) == 2)


def _as_grep(text: str) -> tuple[str, str] | None:
    """`grep -rn words place`, as in a shell: the pattern, then the place."""
    match = re.match(r"^\W*(?:grep|rg|ag)(?:\s+-{1,2}[\w-]+)*\s+(\"[^\"]+\"|'[^']+'|\S+)\s+([\w./~-]+)\s*$", text)
    return (match[1].strip("\"'`"), match[2]) if match else None


def _ignores(values: Values) -> bool | None:
    return True if _ANY_CASE.search(values.masked) else None


def _regex(text: str) -> str:
    """The text as a pattern: left alone where it was written as one."""
    if re.search(r"\\[wdsb.(]|\.[*+]|\[[^\]]+\]|^\^|\$$|\w\|\w", text):
        return text
    return re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", text)
