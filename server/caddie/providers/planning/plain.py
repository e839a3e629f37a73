"""What does a message say without its courtesies and its slips of the pen?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

_YOU = r"(?:you|u|ya)"
_BEFORE = re.compile(
    r"^\W*(?:"
    r"(?:(?:hi|hey|hello|yo|good morning)\b(?:\s+(?:there|caddie|all))?\s*[,!.]|hey caddie\b|caddie\s*[,:])"
    r"|(?:please|pls|plz|kindly|just|quickly|now|also|then|okay|ok|so|right|alright|well)\b(?=[\s,])"
    r"|(?:go ahead and|do me a favou?r and|hold on|one sec(?:ond)?|quick question|hmm+|um+|oh|actually)\b(?=[\s,])"
    rf"|(?:can|could|would|will|might) {_YOU}\b(?: (?:please|kindly))?(?: (?:be able|go ahead) (?:to|and))?"
    rf"|(?:i(?:'d|’d|d| would) (?:like|love)|i (?:want|need|wish))(?: {_YOU})? to\b(?: (?:have|get|take) (?=a look))?"
    r"|(?:i(?:'d|’d| would) (?:like|love))(?=\s+(?:the|a|all|some)\b)"
    r"|(?:can|could|may) (?:i|we) (?=(?:see|have|get|take|look|read|view)\b)"
    r"|i (?:need|want) (?=an? (?:new )?(?:to-?do|branch|folder|directory|file)\b|the (?:last|first|top|final)\b)"
    r"|(?:i wanna|wanna|time to|help me(?: to)?|let'?s|let me|lemme)(?=\s+\w)"
    r"|(?:tell me|do you know|any idea|i(?:'m| am)? wonder(?:ing)?|(?:i(?:'d| would) like|i want|need) to know)"
    r"\s+(?=(?:what|which|where|when|who|why|if|whether|how)\b)"
    r"|(?:请问|请|麻烦(?:你|您)?|帮我|帮忙|替我|劳驾|(?:你|您)?(?:能不能|能否|可不可以|可否|可以|能)|我(?:想要?|要|需要))(?=.)"
    r")[\s,，:]*",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"(?:[\s,，.!]+(?:please|pls|plz|for me|(?:many )?thanks?(?: you| u)?(?: a lot| so much| in advance)?|thx|ty|cheers"
    rf"|(?:will|would|can|could) {_YOU}|if {_YOU} (?:can|could|please|don'?t mind)|real quick|asap)"
    r"|[\s,，。]*(?:好吗|可以吗|行吗|好不好|谢谢(?:你|您)?|多谢|吧))[\s.!?。！？]*$",
    re.IGNORECASE,
)
_NOT_FORGET = re.compile(r"^(?:don['’]?t|do not|never) forget\s+|^(?:别|不要)忘了", re.IGNORECASE)
_SHORT = {"whats": "what's", "wheres": "where's", "whos": "who's", "gimme": "give me", "wut": "what", "teh": "the"}
_SHORT |= {"dirs": "directories", "repos": "repositories", "diffs": "diff", "rn": "now"}

# What people type fast. Words that take away (delete, reset, push) are not among them: those must be said plainly.
_TYPED_FAST = """
read show list find search grep open print display view look where what which write create make rename move replace
change switch checkout commit commits branch branches status stage staged unstaged history diff file files folder
directory directories lines line first last fetch download convert time wait sleep remember count definition defined
used contains contain containing python typescript javascript markdown summary changes changed between current contents
"""
_REAL = {"form", "crate", "stats", "trail", "tiem", "moved", "stag", "fond", "fins", "lien", "fist", "cont", "sued"}
# The verbs that the rules know | other ways to begin with them.
_VERB_ROWS: tuple[tuple[str, str], ...] = (
    ("show", r"pull up|bring up|present|reveal|showing|displaying|printing|take me through|walk me through"),
    (
        "read",
        r"reading|viewing|opening|take a (?:quick )?(?:look|peek) (?:at|in|into|inside)|(?:have"
        r"|get) a (?:quick )?(?:look|peek) (?:at|in|into|inside)|peek (?:at|in|into|inside)",
    ),
    ("list", r"listing|enumerate"),
    (
        "find",
        r"finding|searching for|looking for|i(?:'m| am) looking for|hunt (?:for|down)|seek|look up|track down"
        r"|dig (?:up|out)|i (?:need|want)(?= (?:all|every|the(?! (?:last|first|top|final))|any|a list of)\b)"
        r"|where (?:can|could|do|would|might) (?:i|we|you) (?:find|see)",
    ),
    ("are there", r"(?:do|can) (?:you|we) (?:see|find|spot|know of)(?= any\b)|you (?:see|got|have)(?= any\b)"),
    ("get", r"grab|retrieve|obtain"),
    ("run", r"running|exec|launch|fire off|kick off"),
    ("wait", r"waiting|nap|idle|chill|rest|hang on(?= (?:for )?\w+ (?:sec|min))|hold(?= (?:for )?\d)"),
    ("write", r"overwrite|writing|dump(?= [\"'`“])"),
    ("replace", r"replacing|substitute|swap out"),
    (
        "create",
        r"creating|spin up|cut(?= (?:a|the) )|set up(?= (?:a|an|the) (?:new )?(?:branch|folder|directory|file))",
    ),
    ("move", r"moving|relocate"),
    ("rename", r"renaming"),
    ("switch", r"switching|swap(?= to\b)"),
    ("count", r"counting|tally(?: up)?"),
    (
        "remember that",
        r"(?:jot|write) (?:this )?down(?: that|:)?|memori[sz]e(?: that|:)?|record that|take note(?: that|:)?|fyi[,:]?"
        r"|for the record[,:]?",
    ),
)
_VERBS = tuple((re.compile(rf"^\W*(?:mind )?(?:{others})(?=\W|$)", re.IGNORECASE), verb) for verb, others in _VERB_ROWS)
_KNOWN = frozenset(_TYPED_FAST.split())
_LETTERS = re.compile(r"\"[^\"]*\"|`[^`]*`|“[^”]*”|(?<!\w)'[^']*'|(?<![\w./@:~$*-])[A-Za-z]{3,}(?![\w/@*(=-]|\.\w|:\S)")
# After these comes text that is kept as it is typed.
_TAKES_TEXT = re.compile(
    r"\W*(?:search|grep|find|rg|look|where|which files|echo|say|repeat|remember|note|add|write|save|create|replace"
    r"|commit"
    r"|run|execute|use|call|translate|make a note|keep in mind)\b",
    re.IGNORECASE,
)
_SPOKEN = re.compile(r"\W*(?:echo|say|repeat|[!$])", re.IGNORECASE)


def plain(text: str) -> str:
    """The request alone: "could u pls shwo me a.txt, thanks" -> "show me a.txt"."""
    bare = _NOT_FORGET.sub("remember ", _peeled(text.strip()))
    if _SPOKEN.match(bare):
        return bare
    bare = next((pattern.sub(verb, bare) for pattern, verb in _VERBS if pattern.match(bare)), bare)
    head, space, rest = bare.partition(" ")
    head = _LETTERS.sub(_mended, head)
    return head + space + rest if _TAKES_TEXT.match(head + space + rest) else _LETTERS.sub(_mended, head + space + rest)


def _peeled(text: str) -> str:
    while (match := _BEFORE.match(text)) and text[match.end() :].strip(" ?!."):
        text = text[match.end() :]
    while not _SPOKEN.match(text) and (match := _AFTER.search(text)) and text[: match.start()].strip():
        text = text[: match.start()]
    return text


def _mended(match: re.Match[str]) -> str:
    word = match[0]
    return _SHORT.get(word.lower()) or _slips().get(word.lower(), word)


@cache
def _slips() -> dict[str, str]:
    """Each way to miss one of the words by a letter, if it is no word itself."""
    slips: dict[str, str] = {}
    for word in _TYPED_FAST.split():
        for slip in _variants(word):
            if slip not in _KNOWN and slip not in _REAL:
                slips.setdefault(slip, word)
    return slips


def _variants(word: str) -> Iterator[str]:
    for at in range(len(word) - 1):
        yield word[:at] + word[at + 1] + word[at] + word[at + 2 :]  # two letters changed places
        if len(word) > 4:
            yield word[: at + 1] + word[at] + word[at + 1 :]  # one typed twice
    for at in range(1, len(word) - 1) if len(word) > 5 else ():
        yield word[:at] + word[at + 1 :]  # one left out
