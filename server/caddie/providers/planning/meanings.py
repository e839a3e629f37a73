"""What people say, and the words that tool authors use for it. One row per meaning; English and Chinese."""

from __future__ import annotations

import re

from caddie.providers.planning.values import AMOUNT, FOLDERS

_WHEN = (
    r"(?:(?:since|after|in|on|over|during|from) )?(?:the )?(?:yesterday|today|this (?:morning|week|month)"
    r"|last (?:night|week|month|\w+day)|(?:last|past) [\w ]{0,12}(?:hour|day|week|month)s?"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|\d{4}-\d\d-\d\d|[\w ]{1,12} (?:hour|day|week|month)s? ago)\b"
)

# words to look for | what people write in English | and in Chinese
_ROWS: tuple[tuple[str, str, str], ...] = (
    (
        "create entities knowledge graph",
        r"^(?!\W*(?:what|which|do|did|have|who|list|show|everything"
        r"|anything)\b)(?!.*\?\s*$).*(?:\bremember(?! (?:about|of|me))\b|\bmake a note\b|\bnote (?:down|that)\b"
        r"|\bkeep in mind|^\W*memori[sz]e\b|^\W*note\s*:|\b(?:add|save|store|put|write)(?: this| it)?(?: down)? (?:to"
        r"|in|into) (?:your |the |my )?memory\b|\btake (?:a )?note\b|\bfor the record)",
        r"^(?!.*(?:什么|哪些|吗)).*(?:记住|记下|记一下|备注|^记得)",
    ),
    (
        "search nodes knowledge graph",
        r"\brecall\b|\b(?:do|did|have) (?:you|i|we) (?:know|remember|tell you|told you|say|said"
        r"|noted?)\b(?:.*\babout\b| (?!anything\W*$|so far\W*$)\w)|\bsearch (?:my |your "
        r"|the )?(?:memory|knowledge graph|graph)\b|(?<!what's )(?<!what is )\b(?:in|from) (?:your |my "
        r"|the )?(?:memory|knowledge graph)\b"
        r"|\bremember about\b",
        r"知道.{0,3}什么|还记得(?!什么)|记忆(?:里|中).*关于|关于.*记",
    ),
    ("delete entities knowledge graph", r"\bforget\b", r"忘记|忘掉"),
    (
        "read graph knowledge",
        r"\b(?:whole|entire|full|all of your) (?:memory|knowledge)\b|\beverything you (?:know|remember)(?!.*\babout\b)"
        r"|\b(?:what|anything|everything)\b(?!.*\babout\b).*\b(?:remember(?:ed)?|told you"
        r"|memori[sz]ed?)\b(?!\s+\w{2,}\s+\w)"
        r"|^\W*(?:(?:show|read|list|print|dump|display|open)(?: me)? )?(?:all )?(?:the |your |my )?(?:knowledge graph"
        r"|memory|memories|notes)\W*$|^\W*what do (?:you|we) know(?: so far)?\W*$|\bwhat(?:'s"
        r"| is) in (?:your|the|my) (?:memory|knowledge graph)\b",
        r"知识图谱|记得(?:什么|哪些)|记住了?(?:什么|哪些|啥)|所有记忆|你的记忆",
    ),
    (
        "current time",
        r"\bwhat time\b|\btime (?:is it|now)|\bcurrent time\b|\btime in\b|\bclock\b|\bnow in\b|^\W*time\W*$"
        r"|\bwhat day is (?:it|today)\b|\b(?:the|today[’']?s) date\b|\btime\b.*\bin (?-i:[A-Z])|\bhow late is it\b",
        r"几点|今天几号|星期几|今天日期|现在.{0,3}时间|当前时间",
    ),
    (
        "convert time",
        r"\bconvert\b.*\d|\b(?:when|if) it(?:'s| is) (?:\d|noon|midnight)"
        r"|^\W*\d{1,2}(?::\d\d)?\s?(?:[ap]m)?\s.*\b(?:in|to)\b|\bwhat time is \d|\bwhat(?:'s| is) \d{1,2}(?::\d\d"
        r"| ?[ap]m)"
        r"|\d ?(?:[ap]m)? .{2,30} in .* time\b",
        r"换算|转换|换成.*时间|\d+.{1,12}是.{0,6}几点",
    ),
    (
        "git diff unstaged changes",
        r"\b(?:what|anything|something)(?:'s| has| have| did)? (?:i )?changed?\b"
        r"(?! (?:since|against|from|between|in|on|today|yesterday|this|last|over|at)\b)|(?<!commit )(?<!stage )\b(?:my"
        r"|uncommitted|local) changes\b"
        r"|\bunstaged\b",
        r"未暂存|改了什么|修改了什么|哪些改动",
    ),
    ("git diff unstaged changes", r"^\W*(?:(?:show|see|git|me|the|a|print)\s+)*diff\W*$", r"^查看差异\W*$"),
    ("git diff target", rf"\bchange[sd]? (?:since|against|from|between)\b(?! {_WHEN})", r"和.+(?:的)?(?:差异|区别)"),
    (
        "git log commits",
        rf"\bchanges\b.*\b{_WHEN}|\b(?:what|anything|something)\b.*\b(?:changed?|happened|committed|landed"
        rf"|merged|done|new)\b.*\b{_WHEN}"
        rf"|\bwhat did (?:i|we) (?:do|commit|change)\b.*\b{_WHEN}",
        r"(?:昨天|今天|前天|上周|本周|最近.天).*(?:改了|提交|变了|做了)",
    ),
    (
        "git diff staged changes",
        r"(?<!un)\bstaged\b|\b(?:did|have) (?:i|we) staged?\b|\babout to commit\b",
        r"已暂存|暂存的(?:改动|更改|内容|修改|文件)|(?:看|显示|列出).{0,6}暂存区|暂存区(?:里|中)?有",
    ),
    (
        "git reset unstage",
        r"\bunstage\b|\b(?:undo|clear|revert|reset|remove)\b.*\b(?:stag(?:ing|ed)|index|git add)\b",
        r"(?:取消|撤销|清空|清除).{0,4}暂存|暂存区?(?:清空|清除|撤销)",
    ),
    (
        "git add staging",
        r"\b(?:put|add)\b.*\b(?:staging|index)\b|(?<!did i )(?<!did we )\bstage\b",
        r"(?<!取消)(?<!撤销)(?<!未)(?<!已)暂存(?!区|的)",
    ),
    (
        "git log commits",
        r"\b(?:commits|history|git log)\b|\b(?:last|latest) commit (?:message|author|date|time|hash)\b"
        r"|\bwho (?:made|did|wrote) the (?:last|latest) commit\b|\b(?:when|who|message|author|date"
        r"|what) (?:was |is |of )?(?:the )?(?:last"
        r"|latest) commit\b|\b(?:who|what) (?:was )?committed\b|\brecent commit",
        r"提交(?:记录|历史|日志)|(?:天|周|月|小时|以来|今天|昨天)的?提交|(?:最近|近期)的?(?:几次|一些)?的?提交|(?<!一)次提交|提交了(?:什么|哪些)",
    ),
    ("git commit", r"^\W*commit\b|\bcommit (?:my|the|all|these|everything|with|it)\b", r"^请?提交(?!记录|历史|日志)"),
    (
        "git status working tree",
        rf"^(?!.*\b{_WHEN})(?!.*\bwhen\b).*\b(?:modified|changed|dirty|edited) files\b"
        rf"|^(?!.*\b{_WHEN}).*\bfiles\b.*\b(?:modified|(?:i|we)(?:'ve| have)? (?:changed?|modif\w+|edit\w*)"
        rf"|(?:are|is|got|have been|were) (?:changed|dirty|edited|touched))\W*$|"
        r"\b(?:working (?:tree|copy|directory)|git) (?:status|state|clean|dirty)\b|\bstatus of (?:the|this|my) repo"
        r"|^\W*status\W*$|\b(?:untracked|uncommitted) files\b|\b(?:anything|something|nothing) (?:left )?to commit\b"
        r"|\b(?:clean|dirty) (?:tree|working)",
        r"仓库.*状态|git\s*状态|(?:未|没有?|还没)提交|(?:有没有|有什么|有哪些)(?:改动|变更)|(?:哪些|什么)文件.*(?:改|变)",
    ),
    (
        "git branch",
        r"\bam i on\b|^(?!.*\b(?:switch|check ?out|create|new|make|start|delete|diff|compare|go|change|hop"
        r"|jump|move|merge|rebase"
        r"|rename|push|pull|commits?|log)\b).*\bbranch(?:es)?\b",
        r"^(?!.*(?:切|创建|新建|删除|比较)).*分支",
    ),
    (
        "git checkout switch branch",
        r"\b(?:switch|check ?out|change|go|hop|jump|move|get)(?: over| back| branch(?:es)?)? (?:on)?to\b(?!.*\bplan)"
        r"|\bcheck ?out\b(?! -b)",
        r"切换|切到",
    ),
    (
        "create branch",
        r"\bcheckout -[bB]\b|\bswitch -c\b|\b(?:create|make|new|start|open)\b.*\bbranch\b",
        r"(?:新建|创建).*分支",
    ),
    (
        "git diff",
        r"^(?!.*\b(?:last|latest|previous|most recent|head) commit\b).*(?:\bdiff(?:erences?)?\b|\bcompare\b)",
        r"比较|差异|区别",
    ),
    (
        "git show revision",
        r"^(?!.*\bdiff (?:against|with|to|from|between)\b).*\b(?:show|contents? of|inspect|look at"
        r"|what(?:'s| is| was) in|view)\b.*(?:\bcommit(?! log)\b"
        r"|\brevision\b|\b[0-9a-f]{7,40}\b|\bHEAD\b)"
        r"|\b(?:diff|changes|what changed|what did|patch)\b.*\b(?:last|latest|previous|most recent|head) commit\b"
        r"|^\W*(?:the )?(?:last|latest) commit\W*$|\bgit show\b",
        r"查看.*提交\s*[0-9a-f]{7}|提交\s*[0-9a-f]{7}|(?:最近的?一次|最后一?次?|最新一?次?|上一?[次个])的?提交",
    ),
    ("fetch url", r"\b(?:fetch|download)\b|\b(?:open|visit|load|get)\b.*://", r"抓取|下载|网页"),
    (
        "git diff target",
        r"\b(?:different|differs?|diverged?) (?:from|to|than|with)\b(?=\s+(?:the )?[\w./-]+\W*$)",
        r"",
    ),
    (
        "read multiple files",
        r"^\W*(?:show|open|view|cat|display|print|read|see)\b(?!.*\b(?:diff\w*|compare"
        r"|between)\b).*\.\w+\b.*(?:\band\b|,|&|\+).*\.\w",
        r"^(?:读取?|打开|查看|看看?|显示).*\.\w+.*(?:和|、|，|与).*\.\w",
    ),
    ("sum numbers", r"\b(?:sum|add|plus)\b.*\d|\d\s*\+\s*-?\d|\d plus \d", r"\d\s*[加＋]上?\s*\d|之和|相加|求和"),
    ("echo", r"\becho\b|\brepeat after me\b", r"回显"),
    ("move file rename", r"\b(?:rename|move|mv)\b", r"移动|重命名|改名"),
    (
        "create directory",
        r"\b(?:create|make|new|add)\b.*\b(?:folder|directory)\b|\bmkdir\b|\bmake dir\b",
        r"(?:创建|新建).*(?:目录|文件夹)",
    ),
    (
        "list directory",
        r"^(?!\W*(?:(?:please|can you|could you|now|just)\s+)*"
        r"(?:create|make|add|new|mkdir|delete|remove|rename|move)\b)"
        r".*\b(?:folders?|dirs?|director(?:y|ies))\b(?!.*\btree\b)|\bls\b"
        r"|^\W*(?:list|show)(?: me)? (?:everything|all)(?: here| in here)?\W*$"
        rf"|^\W*(?:list|dir|show|browse|open|see|what(?:'s| is| are) (?:in|inside|under))(?: me)?(?: everything"
        rf"| all)?(?: (?:in|under|inside|of))?(?: the)? (?:[\w./~-]*/|(?:{FOLDERS}))\W*$",
        r"^(?!.*(?:创建|新建|删除|移动|重命名)).*(?:目录|文件夹)(?!树)|^(?:列出|查看|显示|看看?)\s*[A-Za-z0-9_/-]+\s*(?:里|下"
        r"|中)?的?(?:内容|东西)",
    ),
    (
        "list directory sizes",
        r"\b(?:size|sizes|how big|how large|largest|biggest|bigger|larger|smaller|smallest"
        r"|heaviest)\b(?!.*\w\.[a-z]\w{0,4}\b)",
        r"^(?!.*\w\.[A-Za-z]).*(?:大小|多大|最大|最小|大于|小于)",
    ),
    (
        "get file info size",
        r"\b(?:size|how (?:big|large)|how many (?:bytes|[kmg]b))\b.*\w\.[a-z]\w{0,4}\b",
        r"\w\.[A-Za-z]\w{0,4}\b.*(?:大小|多大)",
    ),
    ("directory tree recursive", r"\btree\b|\bfolder structure\b|\bproject structure\b", r"目录树|树形|结构"),
    (
        "get file info metadata",
        r"\bmetadata\b|\bwhen was .* (?:modified|changed|created)|\bfile info\b|\bpermissions (?:of|for|on)\b"
        r"|\b(?:owner|mode) of\b|\b(?:info|information"
        r"|details) (?:on|about|for|of)\b",
        r"文件信息|元数据",
    ),
    (
        "read text file lines",
        rf"\b(?:last|first|final) (?:{AMOUNT} )?lines?\b|\b(?:tail|head|end)\b",
        rf"(?:最后|末尾|前)\s*{AMOUNT}\s*行",
    ),
    (
        "read media file image",
        r"\b(?:image|picture|photo|audio)\b.*\.\w{2,4}\b|\.(?:png|jpe?g|gif|webp|mp3|wav)\b",
        r"图片|音频",
    ),
    (
        "list allowed directories",
        r"\b(?:allowed|accessible|permitted)\b.*\b(?:director|folder|path)|\b(?:director(?:y|ies)|folders?"
        r"|paths?)\b.*\b(?:access|allowed|reach)\b",
        r"允许.*目录|(?:能|可以)访问.*目录",
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
