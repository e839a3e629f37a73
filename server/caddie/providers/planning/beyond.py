"""Does the message name a place or a service that only a tool made for it can reach?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from caddie.providers.planning.found import FoundTool
from caddie.providers.planning.phrases import named_places
from caddie.providers.planning.values import Values
from caddie.providers.planning.words import stems


@dataclass(frozen=True, slots=True)
class Beyond:
    """`tools` are words of which a fitting tool must name one of each; `hint` is a saying of `wording.py`."""

    said: re.Pattern[str]
    tools: tuple[frozenset[str], ...]
    hint: str


# what people say in English | and in Chinese | words a fitting tool names (one of each group) | what to do instead
_ROWS: tuple[tuple[str, str, str, str], ...] = (
    (
        r"\b(?:search|look up|look|find|check|browse)\b.*\b(?:web|internet|online|google|stack ?overflow)\b"
        r"|^\W*google\b|\bweb search\b",
        r"上网|网上|在线搜|百度|谷歌|联网",
        "web internet online google / search",
        "",
    ),
    (
        r"\b(?:my|the|in|on|to) calendar\b|\b(?:my|next|any|schedule an?|book an?|set up an?) (?:\w+ )?(?:meetings?"
        r"|appointments?)\b",
        r"日历|日程|会议",
        "calendar meeting appointment",
        "",
    ),
    (
        r"\b(?:my|new|unread|an|send|check|read|any|write|the last|latest) (?:\w+ )?(?:e-?mails?|mails?|inbox)\b"
        r"|\bgmail\b|\be-?mail (?:to )?\w+ (?:about|that|and)|^\W*e?-?mail\b",
        r"邮件|邮箱",
        "mail email inbox",
        "",
    ),
    (
        r"\b(?:slack|discord|telegram|whatsapp|teams|sms|text message|tweet)\b",
        r"微信|钉钉|飞书|短信|微博",
        "slack discord telegram whatsapp teams sms message chat",
        "",
    ),
    (
        r"\b(?:jira|linear|trello|notion|asana|confluence|github issues?|gitlab|pull requests?|prs?|open issues"
        r"|tickets?|merge requests?)\b",
        r"工单|拉取请求|合并请求",
        "jira linear trello notion asana confluence github gitlab issue pull ticket",
        "",
    ),
    (r"\b(?:weather|forecast|raining|temperature outside)\b", r"天气|气温|下雨", "weather forecast", ""),
    (
        r"\bremind me\b|\breminder\b|\bevery (?:day|hour|morning|night|weekday|week|monday|tuesday|wednesday|thursday"
        r"|friday|\d+ minutes) (?:at|run|check|do|send|remind)\b|\bschedule\b|\bset (?:an? )?(?:alarm|timer)\b"
        r"|\bcron ?job",
        r"提醒我|定时|每天.*点|每小时|闹钟",
        "remind reminder schedule cron alarm timer",
        "no schedule",
    ),
    (
        r"\bwho (?:last |has |have )?(?:changed|wrote|touched|edited|modified|added|broke|worked on)\b|\bblame\b",
        r"谁(?:最后|上次)?(?:改|写|修改|编辑)了?|追溯",
        "blame annotate",
        "blame",
    ),
    (
        r"\b(?:history|log|commits?|blame)\s+(?:of|for|to|on|in|touching|that touch(?:ed)?)(?: the)?(?: file)?\s{3,}",
        r"",
        "blame annotate",
        "blame",
    ),
    (
        r"\b(?:query|ask|select .+ from)\b.*\b(?:database|db|table|postgres|mysql|sqlite)\b|\bselect \S+ from\b",
        r"查询.*数据库",
        "sql database query postgres mysql sqlite",
        "",
    ),
    (r"\btranslate\b", r"翻译", "translate translation", ""),
    (r"\b(?:take|make) (?:a )?screenshots?\b", r"截图|截屏", "screenshot", ""),
    (
        r"\b(?:stock|share|bitcoin|crypto) prices?\b|\bexchange rate\b|\b(?:latest|today's|the) news\b",
        r"股价|汇率|新闻|股票",
        "stock price rate currency news",
        "",
    ),
    (
        r"\b(?:docker|kubernetes|k8s|kubectl|pods?|containers?)\b(?!file)",
        r"容器|集群",
        "docker kubernetes pod container",
        "",
    ),
    (
        r"\b(?:how much|free|available|remaining) (?:disk|memory|ram)\b|\bdisk (?:space|usage)\b|\bcpu (?:usage"
        r"|load)\b|\b(?:running )?processes\b",
        r"磁盘空间|内存占用|进程",
        "disk memory cpu process system",
        "command",
    ),
    (r"\b(?:play|pause|skip)\b.*\b(?:music|song|video)\b", r"播放|音乐", "music song play video", ""),
    (
        r"\bhow many (?:lines|words|characters)\b|\bcount (?:the )?(?:lines|words|characters) (?:in|of)\b"
        r"|\bline count\b",
        r"多少(?:行|字)",
        "count wc statistics",
        "count lines",
    ),
)
_BEYOND = tuple(
    Beyond(
        re.compile("|".join(part for part in (english, chinese) if part), re.IGNORECASE),
        tuple(stems(group) for group in words.split("/")),
        hint,
    )
    for english, chinese, words, hint in _ROWS
)


def beyond(values: Values) -> Beyond | None:
    text = values.masked
    for place in named_places(text):
        text = text.replace(place, "_")  # the folder "docker" is no service
    return next((row for row in _BEYOND if row.said.search(text)), None)


def reaches(tool: FoundTool, row: Beyond) -> bool:
    told = stems(f"{tool.name} {tool.description}")
    return all(not group.isdisjoint(told) for group in row.tools)
