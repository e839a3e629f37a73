"""Which values does a message name: paths, addresses, quoted words, numbers, times, commits?"""

from __future__ import annotations

import re
from dataclasses import dataclass

_QUOTED = re.compile(
    r"`+([^`]+)`+|\"([^\"]+)\"|“([^”]+)”|「([^」]+)」|(?<![A-Za-z0-9])'([^']+)'(?![A-Za-z0-9])|‘([^’]+)’"
)
_URL = re.compile(r"\b[a-z][a-z0-9+.-]{0,20}://[^\s<>\"'`，。；）]+|(?<![\w./@-])www\.[^\s<>\"'`，。]+", re.IGNORECASE)
# What folders are called nearly everywhere, so that the bare word is enough.
FOLDERS = (
    "src|lib|libs|tests?|docs?|app|apps|bin|build|dist|scripts?|server|client|assets|public|vendor|config"
    "|examples?|packages|internal|cmd|pkg|web|node_modules"
)

_SITE = re.compile(
    r"(?<![\w./@~-])(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|edu|gov|ai)(?:/[^\s<>\"'`，。]*)?(?![\w.])", re.IGNORECASE
)
_VISITS = re.compile(
    r"\b(?:fetch|visit|browse|download|web ?site|web ?page|site|url|go to)\b|\w\.com\b|抓取|访问|下载|网页|网站",
    re.IGNORECASE,
)
_WORD = r"[A-Za-z0-9_À-ɏ@+.-]"
_HAN = r"[\u3400-\u9fff]"
_PATH = re.compile(
    rf"(?<![A-Za-z0-9_À-ɏ@+./*\\-])(?:"
    rf"[A-Za-z]:[\\/][^\s,;，。]+"
    rf"|(?:(?:~|\.{{1,2}})?/?(?:(?:{_WORD}|{_HAN})+/)+|(?<!\S))(?:{_WORD}|{_HAN})*{_HAN}(?:{_WORD}"
    rf"|{_HAN})*\.[A-Za-z][A-Za-z0-9]{{0,9}}"
    rf"|(?:~|\.{{1,2}})?/?(?:{_WORD}+/)+(?:{_WORD}*[A-Za-z0-9_])?"
    rf"|~?/{_WORD}*[A-Za-z0-9_]"
    rf"|\.[A-Za-z][A-Za-z0-9_.-]*[A-Za-z0-9]"
    rf"|[A-Za-z0-9_À-ɏ][A-Za-z0-9_À-ɏ+-]*(?:\.[A-Za-z0-9_+-]+)*\.[A-Za-z][A-Za-z0-9]{{0,9}}"
    rf"|README|LICENSE|Makefile|Dockerfile|CHANGELOG|Jenkinsfile|Gemfile|Procfile"
    rf")(?![A-Za-z0-9_/\\])"
)
_NOT_PATH = re.compile(
    r"e\.g|i\.e|and/or|either/or|\d+/\d+(/\d+)?|v?\d+(\.\d+)+|\d+\.\d+|node\.js|asp\.net|https?:/*", re.IGNORECASE
)
_ZONE_LIKE = re.compile(r"(Africa|America|Antarctica|Asia|Atlantic|Australia|Europe|Indian|Pacific|Etc)/[A-Z][\w/+-]+")
_NUMBER = re.compile(r"(?<![A-Za-z0-9_.:/-])-?\d+(?:\.\d+)?(?![A-Za-z0-9_:/-]|\.\d)")
_WORD_NUMBERS = {
    word: number
    for number, words in enumerate(
        [
            "zero",
            "one|一",
            "two|两|二",
            "three|三",
            "four|四",
            "five|五",
            "six|六",
            "seven|七",
            "eight|八",
            "nine|九",
            "ten|十",
        ]
    )
    for word in words.split("|")
}
_MORE = ["eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
_WORD_NUMBERS |= {word: 11 + at for at, word in enumerate(_MORE)}
_WORD_NUMBERS |= {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "hundred": 100}
NUMBER_WORDS = "|".join(word for word in _WORD_NUMBERS if word.isascii())
AMOUNT = rf"(?:\d+|(?:an? )?(?:{NUMBER_WORDS}|dozen|couple|few)\b(?: of(?: the)?)?|[一两二三四五六七八九十]{{1,3}})"
"""A whole number in digits or words, as `whole` reads it."""


def whole(text: str) -> int:
    word = re.sub(r"^an? | of(?: the)?$", "", text.strip().lower())
    tens, ten, ones = word.partition("十")
    if ten:
        return _WORD_NUMBERS.get(tens, 1) * 10 + _WORD_NUMBERS.get(ones, 0)
    return int(word) if word.isdigit() else {"dozen": 12, "couple": 2, "few": 3}.get(word) or _WORD_NUMBERS[word]


_WORD_NUMBER = re.compile(
    rf"\b(?!(?:zero|one|hundred)\b)(?:{NUMBER_WORDS})\b|(?<=[近前后新])[一两二三四五六七八九十](?=[次个条行份])",
    re.IGNORECASE,
)
_DURATION = re.compile(
    rf"(?<![\w.])(\d+(?:\.\d+)?|an?|half an?|(?:a )?quarter of an?|{NUMBER_WORDS})\s*"
    r"(milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)(?![A-Za-z])"
    r"|(\d+(?:\.\d+)?|[一两二三四五六七八九十半])\s*个?(毫秒|秒钟?|分钟|小时|天)",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    r"(?<![\d:])([01]?\d|2[0-3])[:：]([0-5]\d)(?::[0-5]\d)?(?![\d:])\s*([ap]\.?m\b)?"
    r"|(?<![\w:.])(1[0-2]|[1-9])\s*([ap]\.?m\b)\.?"
    r"|\b(noon|midnight)\b"
    r"|(上午|下午|晚上|早上|中午)?\s?([01]?\d|2[0-3])\s*[点點](?!多)(半|[0-5]?\d(?=分))?",
    re.IGNORECASE,
)
_REVISION = re.compile(
    r"(?<![\w/.-])(?:(?:HEAD|FETCH_HEAD|ORIG_HEAD)(?:[~^]\d*)*|(?=[0-9a-f]*\d)[0-9a-f]{7,40}|v\d+(?:\.\d+)+)(?![\w/-])"
)
_UNITS = {"ms": 0.001, "毫": 0.001, "s": 1.0, "秒": 1.0, "m": 60.0, "分": 60.0, "h": 3600.0, "小": 3600.0}


@dataclass(frozen=True, slots=True)
class Number:
    at: int
    end: int
    value: float

    @property
    def plain(self) -> int | float:
        return int(self.value) if self.value == int(self.value) else self.value


@dataclass(frozen=True, slots=True)
class Values:
    """Everything a rule may put into a slot, in the order of the message."""

    text: str
    masked: str  # the text with quoted parts, addresses and paths blanked out
    quoted: tuple[str, ...]
    urls: tuple[str, ...]
    paths: tuple[str, ...]
    numbers: tuple[Number, ...]
    durations: tuple[float, ...]  # seconds
    clocks: tuple[str, ...]  # HH:MM
    clock_at: int  # where the first of them stands, or -1
    revisions: tuple[str, ...]


def read_values(text: str) -> Values:
    quoted = tuple(_first_group(match) for match in _QUOTED.finditer(text))
    rest = _blank(text, _QUOTED)
    urls = tuple(_trimmed_url(match[0]) for match in _URL.finditer(rest))
    urls += tuple(part for part in quoted if _URL.fullmatch(part))
    rest = _blank(rest, _URL)
    if _VISITS.search(text):
        urls += tuple(_trimmed_url(match[0]) for match in _SITE.finditer(rest))
        rest = _blank(rest, _SITE)
    loose = tuple(match[0] for match in _PATH.finditer(rest) if _is_path(match[0]))
    paths = tuple(sorted({*loose, *filter(looks_like_path, quoted)}, key=text.find))
    masked = _PATH.sub(lambda match: " " * len(match[0]) if _is_path(match[0]) else match[0], rest)
    return Values(
        text=text,
        masked=masked,
        quoted=quoted,
        urls=urls,
        paths=paths,
        numbers=_numbers(masked),
        durations=tuple(_seconds(match) for match in _DURATION.finditer(masked)),
        clocks=tuple(_clock(match) for match in _CLOCK.finditer(masked)),
        clock_at=next((match.start() for match in _CLOCK.finditer(masked)), -1),
        revisions=tuple(match[0] for match in _REVISION.finditer(rest)),
    )


def looks_like_path(text: str) -> bool:
    if _URL.fullmatch(text) or "\n" in text:
        return False
    if " " in text:
        return bool(re.fullmatch(r"[^/]+/.*\.\w{1,8}", text))
    return "/" in text or bool(_PATH.fullmatch(text))


def _is_path(word: str) -> bool:
    return not _NOT_PATH.fullmatch(word) and not _ZONE_LIKE.fullmatch(word)


def _first_group(match: re.Match[str]) -> str:
    return next(group for group in match.groups() if group is not None)


def _blank(text: str, pattern: re.Pattern[str]) -> str:
    return pattern.sub(lambda match: " " * len(match[0]), text)


def _trimmed_url(url: str) -> str:
    url = url.rstrip(".,;:!?)")
    return url if "://" in url else f"https://{url}"


def _numbers(text: str) -> tuple[Number, ...]:
    digits = [Number(match.start(), match.end(), float(match[0])) for match in _NUMBER.finditer(text)]
    words = [
        Number(match.start(), match.end(), float(_WORD_NUMBERS[match[0].lower()]))
        for match in _WORD_NUMBER.finditer(text)
    ]
    return tuple(sorted([*digits, *words], key=lambda number: number.at))


def _seconds(match: re.Match[str]) -> float:
    amount, unit = (match[1] or match[3]).lower(), (match[2] or match[4]).lower()
    if unit.startswith(("d", "天")):
        factor = 86400.0
    else:
        factor = _UNITS["ms" if unit.startswith(("ms", "milli")) else unit[0]]
    if amount[0].isdigit():
        return float(amount) * factor
    if amount.startswith(("half", "半")):
        return 0.5 * factor
    if "quarter" in amount:
        return 0.25 * factor
    return _WORD_NUMBERS.get(amount, 1) * factor


def _clock(match: re.Match[str]) -> str:
    hour, minute, half, hour12, half12, name, part, hour_zh, minute_zh = match.groups()
    if name:
        return "12:00" if name.lower() == "noon" else "00:00"
    if hour_zh:
        value, late = int(hour_zh), part in ("下午", "晚上")
        return f"{_afternoon(value) if late else value:02}:{30 if minute_zh == '半' else int(minute_zh or 0):02}"
    value, half = int(hour or hour12), half or half12
    if half:
        value = _afternoon(value) if half.lower().startswith("p") else value % 12 if value <= 12 else value
    return f"{value:02}:{minute or '00'}"


def _afternoon(hour: int) -> int:
    return hour + 12 if hour < 12 else hour
