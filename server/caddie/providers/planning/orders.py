"""Does a message order something to be done, or does it ask about it, forbid it or tell of it?"""

from __future__ import annotations

import re

from caddie.providers.planning.choose import changes
from caddie.providers.planning.phrases import fact_in
from caddie.providers.planning.plain import plain
from caddie.providers.planning.values import read_values

_CORE_CHANGES = frozenset({"Bash", "Write", "Edit"})
_FORBIDS = re.compile(
    r"\b(?:don['’]?t|do not|does not|must not|mustn['’]?t|should not|shouldn['’]?t|can(?:['’]?t|not)|won['’]?t|never"
    r"|avoid"
    r"|no need|not (?:yet|now)|without ever|instead of|rather than|hold off|refrain)\b"
    r"|不要|不用|不必|请勿|切勿|不能|不应该?|不想|^请?别|[先就都也还，,]别|别再",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"^\W*(?:did|does|has|have|had|was|were|is|are|am|should|shall|may|might|must|would (?:it|that|this|you say)"
    r"|(?:can|could) (?!you\b|u\b|ya\b)|do (?:i|we|you|they)\b|if|whether|what|which|who|whom|whose|why|when|where|how"
    r"|explain|describe|suppose|imagine|in case|before|after|once|unless|while)\b|^\W*\w+\?\s+\S",
    re.IGNORECASE,
)
_ASKS_ZH = re.compile(
    r"^(?!.*(?:帮我|给我|替我|麻烦|请)).*(?:吗|么|呢)\s*[?？。]*$|是否|有没有|为什么|为何|会怎么?样|会发生什么|怎么|如何|如果|要是|假如|什么时候",
)
_TELLS = re.compile(
    r"^\W*(?:(?:yesterday|today|earlier|last \w+|just now|then|so|but|and|because|since)\W+)?"
    r"(?:(?:i|we|he|she|they|you|it|someone|somebody|everyone|nobody)\b(?!['’]?(?:d| would)? (?:want|need|like|wish)\b)"
    r"|(?:the|an?|my|our|your|this|that|his|her|their) (?:[\w-]+ ){1,3}(?:says?|said|states?|tells?|told|asks?|asked"
    r"|recommends?|suggests?|wants?"
    r"|is|are|was|were|has|had|will|must|should|did|does|fails?|failed|broke|deleted|created|moved|renamed|ran"
    r"|committed)\b)"
    r"|^(?:昨天|刚才|今天)?(?:我们?|他们?|她|它|有人|同事)(?:昨天|刚才?|今天|已经?)*(?!想|要|需要|希望).*(?:了|过)\W*$|^(?:文档|文件|他|她"
    r"|有人)(?:里)?(?:上)?(?:说|写)",
    re.IGNORECASE,
)


def is_only_spoken_of(tool: str, text: str) -> bool:
    """Whether this tool would change something that the message does not tell anybody to change."""
    if tool not in _CORE_CHANGES and not changes(tool.rsplit("__", 1)[-1]):
        return False
    said = _without_words_to_keep(plain(text))
    return bool(_FORBIDS.search(said) or _ASKS.search(said) or _TELLS.search(said) or _ASKS_ZH.search(text))


def _without_words_to_keep(text: str) -> str:
    """What is quoted, or told to be remembered, may say anything."""
    fact = fact_in(text)
    told = text[: text.find(fact)] if fact and fact in text else text
    masked = read_values(told).masked
    return masked if masked.strip() else told
