"""What people say, and the words that tool authors use for it. One row per meaning; English and Chinese."""

from __future__ import annotations

import re

# words to look for | what people write in English | and in Chinese
_ROWS: tuple[tuple[str, str, str], ...] = (
    (
        "create entities knowledge graph",
        r"\bremember(?! (?:about|of|me))\b|\bmake a note\b|\bnote (?:down |that)|\bkeep in mind",
        r"记住|记下|记一下",
    ),
    (
        "search nodes knowledge graph",
        r"\brecall\b|\bwhat (?:do|did) (?:you|i|we) (?:know|remember|tell you|say)\b|\bsearch (?:my |your "
        r"|the )?memory\b",
        r"记得什么|知道.{0,3}什么|还记得|记忆",
    ),
    ("delete entities knowledge graph", r"\bforget\b", r"忘记|忘掉"),
    (
        "read graph knowledge",
        r"\b(?:whole|entire|full|all of your) (?:memory|knowledge)\b|\beverything you (?:know|remember)",
        r"知识图谱",
    ),
    (
        "current time",
        r"\bwhat time\b|\btime (?:is it|now)|\bcurrent time\b|\btime in\b|\bclock\b",
        r"几点|现在.{0,3}时间|当前时间",
    ),
    (
        "convert time",
        r"\bconvert\b.*\d|\b(?:when|if) it(?:'s| is) \d|\bwhat time is \d|\bwhat(?:'s| is) \d{1,2}(?::\d\d| ?[ap]m)"
        r"|\d ?(?:[ap]m)? .{2,30} in .* time\b",
        r"换算|转换|换成|\d+.{2,12}是.{0,6}几点",
    ),
    (
        "git diff unstaged changes",
        r"\b(?:what|anything|something)(?:'s| has| have| did)? (?:i )?changed?\b"
        r"(?! (?:since|against|from|between)\b)|(?<!commit )(?<!stage )\b(?:my"
        r"|uncommitted|local) changes\b"
        r"|\bunstaged\b",
        r"未暂存|改了什么|修改了什么|哪些改动",
    ),
    ("git diff unstaged changes", r"^\W*(?:(?:show|see|git|me|the|a|print)\s+)*diff\W*$", r"^查看差异\W*$"),
    ("git diff target", r"\bchanged? (?:since|against|from|between)\b", r""),
    ("git diff staged changes", r"(?<!un)\bstaged\b|\b(?:did|have) (?:i|we) staged?\b|\babout to commit\b", r"已暂存"),
    ("git reset unstage", r"\bunstage\b", r"取消暂存"),
    ("git add staging", r"(?<!did i )(?<!did we )\bstage\b", r"(?<!取消)(?<!未)(?<!已)暂存(?!区)"),
    (
        "git log commits",
        r"\b(?:commits|history)\b|\blast commit\b|\b(?:who|what) (?:was )?committed\b|\brecent commit",
        r"提交(?:记录|历史|日志)|次提交",
    ),
    ("git commit", r"^\W*commit\b|\bcommit (?:my|the|all|these|everything|with|it)\b", r"^请?提交(?!记录|历史|日志)"),
    (
        "git status working tree",
        r"\b(?:working tree|git) status\b|\bstatus of (?:the|this|my) repo",
        r"仓库.*状态|git\s*状态",
    ),
    (
        "git branch",
        r"^(?!.*\b(?:switch|check ?out|create|new|make|start|delete|diff|compare|go|change)\b).*\bbranch(?:es)?\b",
        r"^(?!.*(?:切|创建|新建|删除|比较)).*分支",
    ),
    (
        "git checkout switch branch",
        r"\b(?:switch|check ?out|change|go)(?: over| back)? to\b|\bcheck ?out\b",
        r"切换|切到",
    ),
    ("create branch", r"\b(?:create|make|new|start|open)\b.*\bbranch\b", r"(?:新建|创建).*分支"),
    ("git diff", r"\bdiff(?:erences?)?\b|\bcompare\b", r"比较|差异|区别"),
    (
        "git show revision",
        r"\b(?:show|contents? of|inspect|look at|what(?:'s| is| was) in|view)\b.*(?:\bcommit(?! log)\b"
        r"|\brevision\b|\b[0-9a-f]{7,40}\b|\bHEAD\b)",
        r"查看.*提交\s*[0-9a-f]{7}|提交\s*[0-9a-f]{7}",
    ),
    ("fetch url", r"\b(?:fetch|download)\b|\b(?:open|visit|load|get)\b.*://", r"抓取|下载|网页"),
    ("sum numbers", r"\b(?:sum|add|plus)\b.*\d|\d\s*\+\s*-?\d|\d plus \d", r"\d\s*[加＋]上?\s*\d|之和|相加|求和"),
    ("echo", r"\becho\b|\brepeat after me\b", r"回显"),
    ("move file rename", r"\b(?:rename|move|mv)\b", r"移动|重命名|改名"),
    (
        "create directory",
        r"\b(?:create|make|new|add)\b.*\b(?:folder|directory)\b|\bmkdir\b",
        r"(?:创建|新建).*(?:目录|文件夹)",
    ),
    (
        "list directory",
        r"^(?!\W*(?:(?:please|can you|could you|now|just)\s+)*"
        r"(?:create|make|add|new|mkdir|delete|remove|rename|move)\b)"
        r".*\b(?:folders?|director(?:y|ies))\b(?!.*\btree\b)|\bls\b",
        r"^(?!.*(?:创建|新建|删除|移动|重命名)).*(?:目录|文件夹)(?!树)",
    ),
    (
        "list directory sizes",
        r"\b(?:size|sizes|how big|largest|biggest)\b(?!.*\w\.[a-z]\w{0,4}\b)",
        r"^(?!.*\w\.[A-Za-z]).*(?:大小|多大)",
    ),
    (
        "get file info size",
        r"\b(?:size|how (?:big|large))\b.*\w\.[a-z]\w{0,4}\b",
        r"\w\.[A-Za-z]\w{0,4}\b.*(?:大小|多大)",
    ),
    ("directory tree recursive", r"\btree\b|\bfolder structure\b|\bproject structure\b", r"目录树|树形|结构"),
    (
        "get file info metadata",
        r"\bmetadata\b|\bwhen was .* (?:modified|changed|created)|\bfile info\b|\b(?:info|information"
        r"|details) (?:on|about|for|of)\b",
        r"文件信息|元数据",
    ),
    ("read text file lines", r"\b(?:last|first|final) \d+ lines\b|\b(?:tail|head)\b", r"[最后前]\s*\d+\s*行"),
    (
        "read media file image",
        r"\b(?:image|picture|photo|audio)\b.*\.\w{2,4}\b|\.(?:png|jpe?g|gif|webp|mp3|wav)\b",
        r"图片|音频",
    ),
    ("environment variables env", r"\benv(?:ironment)?(?: vars?| variables?)?\b", r"环境变量"),
    ("weather", r"\bhow (?:warm|cold|hot) is it\b|\bforecast\b", r"天气"),
    ("schedule cron", r"\bevery (?:day|hour|morning|night|weekday|monday|\d+ minutes)\b", r"定时|每天|每小时"),
    ("translate", r"", r"翻译"),
    ("list", r"", r"列出|有哪些"),
    ("search", r"", r"搜索|查找|查询"),
    ("create", r"", r"创建|新建"),
    ("delete", r"\bget rid of\b", r"删除|删掉"),
    ("read", r"", r"读取|打开|查看"),
    ("send message", r"", r"发送"),
)
_MEANINGS = tuple(
    (re.compile("|".join(part for part in (english, chinese) if part), re.IGNORECASE | re.DOTALL), words)
    for words, english, chinese in _ROWS
)


def meanings(text: str) -> str:
    """The tool authors' words for what `text` asks."""
    return " ".join(words for pattern, words in _MEANINGS if pattern.search(text))
