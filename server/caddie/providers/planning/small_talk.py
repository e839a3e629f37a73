"""Is this a message for a language model or a bit of politeness, and not a request for a tool?"""

from __future__ import annotations

import re
from typing import Literal

Talk = Literal["greeting", "thanks", "help", "question"]

_GREETING = re.compile(
    r"\W*(?:hi|hello|hey|howdy|good (?:morning|afternoon|evening|day)|yo|greetings|你好|您好|嗨|哈喽|早上好|早|晚上好)"
    r"(?:\s+(?:there|caddie|all|again|everyone)|啊|呀)?\W*",
    re.IGNORECASE,
)
_THANKS = re.compile(
    r"\W*(?:(?:many )?thanks?(?: you)?(?: (?:so|very) much| a lot| again)?|thx|cheers|great|perfect|nice|ok(?:ay)?|cool"
    r"|well done|bye|goodbye|谢谢你?|多谢|感谢|好的?|再见|太好了)(?:[\s,!.，！。]+(?:thanks?(?: you)?|caddie"
    r"|谢谢))?\W*",
    re.IGNORECASE,
)
_HELP = re.compile(
    r"\W*(?:help(?: me)?|who are you|what are you|what can you do|what do you do|how do you work"
    r"|are you (?:an? )?(?:ai|llm|bot|gpt|claude)"
    r"|你是谁|你能做什么|你会什么|帮助|你可以做什么)\W*",
    re.IGNORECASE,
)
_FOR_A_MODEL = re.compile(
    r"^\W*(?:(?:please|can you|could you|pls)\s+)*(?:why|how (?:do|does|can|could|should|would|to|come)|explain"
    r"|describe how|teach|discuss"
    r"|what(?:'s| is| are) (?:an? |the (?:difference|meaning|best|point|purpose|capital|advantage|reason))"
    r"|what does .{1,60} mean|who (?:is|was|are|were|invented|wrote)|tell me (?:a|about)"
    r"|(?:write|compose|draft|generate) (?:me )?(?:an? |some |the )?(?:\w+ ){0,3}(?:poem|essay|story|function"
    r"|class|program|script|tests?|code|unit tests?)"
    r"|refactor|implement|fix|improve|optimi[sz]e|review|summari[sz]e|rewrite|debug"
    r"|should (?:i|we)|(?:would|is|was|will) it (?:be )?(?:safe|ok|okay|wise|possible|hard|worth|dangerous"
    r"|a good idea)|do you think|is it (?:better|good|ok)|which is better)\b"
    r"|^\W*(?:(?:请|帮我|请帮我)?(?:解释|说明一下|写一?[首篇个段]|重构|实现|修复|优化|总结)|为什么|怎么样?|如何|什么是)|是什么意思",
    re.IGNORECASE,
)


def small_talk(text: str) -> Talk | None:
    if _GREETING.fullmatch(text):
        return "greeting"
    if _THANKS.fullmatch(text):
        return "thanks"
    if _HELP.fullmatch(text):
        return "help"
    return "question" if _FOR_A_MODEL.search(text) else None
