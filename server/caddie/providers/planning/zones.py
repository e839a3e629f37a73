"""Which time zone does a place name mean? A name that could mean several is not resolved."""

from __future__ import annotations

import re
import zoneinfo
from functools import cache

_REGIONS = ("Africa", "America", "Antarctica", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific", "Arctic")

# Zones of that name exist, but in a sentence these words nearly always mean something else.
_EVERYDAY = {"center", "central", "eastern", "east", "west", "south", "north", "wake", "midway", "easter", "pacific"}

_PLACES = {
    "America/Los_Angeles": "san francisco, sf, seattle, san diego, silicon valley, california, pst, pdt, "
    "旧金山, 洛杉矶, 西雅图",
    "America/New_York": "nyc, boston, washington, miami, atlanta, philadelphia, est, edt, "
    "eastern time, 纽约, 华盛顿, 波士顿",
    "America/Chicago": "austin, dallas, houston, texas, cst, cdt, 芝加哥",
    "America/Sao_Paulo": "rio de janeiro, sao paulo, são paulo, 圣保罗",
    "America/Toronto": "montreal, ottawa, 多伦多",
    "America/Vancouver": "温哥华",
    "Asia/Dubai": "abu dhabi, 迪拜",
    "Asia/Ho_Chi_Minh": "saigon, hanoi, vietnam, 河内",
    "Asia/Hong_Kong": "hongkong, 香港",
    "Asia/Jakarta": "indonesia, 雅加达",
    "Asia/Kolkata": "india, mumbai, delhi, new delhi, bangalore, bengaluru, chennai, hyderabad, 印度, 孟买, 新德里",
    "Asia/Seoul": "south korea, korea, kst, busan, 首尔, 韩国",
    "Asia/Shanghai": "beijing, china, shenzhen, guangzhou, hangzhou, chengdu, 北京, 上海, 中国, 深圳, 广州, 杭州, 成都",
    "Asia/Singapore": "新加坡",
    "Asia/Taipei": "taiwan, 台北, 台湾",
    "Asia/Bangkok": "thailand, 曼谷",
    "Asia/Tokyo": "japan, osaka, kyoto, jst, 东京, 日本, 大阪",
    "Australia/Sydney": "canberra, 悉尼",
    "Australia/Melbourne": "墨尔本",
    "Europe/Berlin": "germany, munich, hamburg, frankfurt, cologne, 柏林, 德国, 慕尼黑",
    "Europe/Lisbon": "portugal, porto, 里斯本",
    "Europe/London": "uk, england, britain, manchester, edinburgh, bst, 伦敦, 英国",
    "Europe/Madrid": "spain, barcelona, 马德里, 西班牙",
    "Europe/Moscow": "st petersburg, 莫斯科",
    "Europe/Paris": "france, lyon, marseille, 巴黎, 法国",
    "Europe/Rome": "italy, milan, naples, 罗马, 意大利",
    "Europe/Stockholm": "sweden",
    "Europe/Vienna": "austria",
    "Europe/Warsaw": "poland, krakow",
    "Europe/Zurich": "switzerland, geneva, zürich, bern, 苏黎世, 瑞士",
    "Pacific/Auckland": "new zealand, wellington, 奥克兰",
    "UTC": "utc, gmt, zulu",
    "CET": "cet, cest",
}


def find_zones(text: str) -> list[tuple[int, str]]:
    """Position and IANA name of each place that `text` names, in order."""
    names, pattern = _table()
    return [(match.start(), names[match[0].lower()]) for match in pattern.finditer(text)]


@cache
def _table() -> tuple[dict[str, str], re.Pattern[str]]:
    # The list of zones costs some 50 ms, so it is read when a time is first asked for.
    names = _city_names(sorted(zoneinfo.available_timezones()))
    for zone, places in _PLACES.items():
        names |= dict.fromkeys(places.split(", "), zone)
    words = sorted(names, key=lambda name: (-len(name), name))
    ascii_words = "|".join(re.escape(word) for word in words if word.isascii())
    others = "|".join(re.escape(word) for word in words if not word.isascii())
    return names, re.compile(rf"(?<![A-Za-z0-9_/])(?:{ascii_words})(?![A-Za-z0-9_/])|{others}", re.IGNORECASE)


def _city_names(zones: list[str]) -> dict[str, str]:
    names: dict[str, str] = {}
    for zone in zones:
        region, _, city = zone.partition("/")
        word = city.rsplit("/", 1)[-1].replace("_", " ").lower()
        if region in _REGIONS and word not in _EVERYDAY:
            names[zone.lower()] = zone
            names.setdefault(word, zone)
    return names
