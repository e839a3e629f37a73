"""How do bytes of an event stream become (event, data) pairs, whatever a proxy did to the headers?"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing

import httpx
from httpx_sse import EventSource

Event = tuple[str, str]


async def read_events(response: httpx.Response) -> AsyncIterator[Event]:
    """The events that carry data. Lines end at CR, LF and CRLF only, so U+2028 inside JSON stays whole."""
    # Event streams are UTF-8 by definition; a wrong or missing header of a proxy must not garble or refuse them.
    response.headers["content-type"] = "text/event-stream; charset=utf-8"
    async with aclosing(EventSource(response).aiter_sse()) as events:
        async for event in events:
            if event.data:
                yield event.event, event.data


def media_type(response: httpx.Response) -> str:
    header: str = response.headers.get("content-type", "")
    return header.partition(";")[0].strip().lower()


def is_json(response: httpx.Response) -> bool:
    kind = media_type(response)
    return kind == "application/json" or kind.endswith("+json")


def is_web_page(response: httpx.Response) -> bool:
    return media_type(response) in {"text/html", "application/xhtml+xml"}
