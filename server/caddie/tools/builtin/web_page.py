"""What does a model see of a web page? Its title and text, HTML made Markdown; nothing of what is no text."""

from __future__ import annotations

import re
from dataclasses import dataclass

_HTML = ("text/html", "application/xhtml+xml")
_TEXT = re.compile(r"text/.+|application/(?:.+\+)?(?:json|xml|yaml|toml|javascript|x-ndjson|x-yaml|x-sh)")
_UNSEEN = (
    "script",
    "style",
    "noscript",
    "template",
    "svg",
    "iframe",
    "title",
)  # not "head": pages may leave its end tag out


@dataclass(frozen=True, slots=True)
class Page:
    title: str
    text: str


def as_markdown(media_type: str, charset: str | None, body: bytes) -> Page | None:
    """None when it is no text. Slow for large pages: call it in a thread."""
    if media_type in _HTML:
        return _from_html(body, charset)
    if _TEXT.fullmatch(media_type) or (not media_type and b"\0" not in body):
        return Page("", _decoded(body, charset))
    return None


def _decoded(body: bytes, charset: str | None) -> str:
    try:
        return body.decode(charset or "utf-8", "replace")
    except LookupError:
        return body.decode("utf-8", "replace")


def _closed(html: str) -> str:
    """Without tags and comments that never end, for each of which the parser would look through all that follows."""
    at = html.rfind("-->") + 1
    html = html[:at] + html[at:].replace("<!--", "&lt;!--")
    at = html.rfind(">") + 1
    return html[:at] + html[at:].replace("<", "&lt;")


def _from_html(body: bytes, charset: str | None) -> Page:
    import bs4.dammit  # with markdownify some 100 ms that most sessions never need
    from markdownify import MarkdownConverter

    text = bs4.dammit.UnicodeDammit(body, [charset] if charset else [], is_html=True).unicode_markup
    soup = bs4.BeautifulSoup(_closed(text or ""), "html.parser")
    title = " ".join(soup.title.get_text().split())[:300] if soup.title else ""
    for element in soup.find_all(_UNSEEN):
        if not element.decomposed:
            element.decompose()
    try:
        text = MarkdownConverter(heading_style="ATX", bullets="-").convert_soup(soup)
    except RecursionError:  # a page nested thousands deep, by mistake or to hurt
        text = soup.get_text("\n")
    return Page(title, re.sub(r"\n{3,}", "\n\n", text).strip())
