"""What is the same in each adapter: asking until the server has named all that it does not take, and reading an answer
that comes as a stream or, from some proxies, as a whole."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing
from typing import Any, Protocol

import httpx

from caddie.chat.messages import Completed, ModelRequest, StreamEvent
from caddie.errors import ProviderError, ProviderRejected
from caddie.providers.faults import fault_of_response
from caddie.providers.http import Decoder, Endpoint, decode, read_json
from caddie.providers.sse import is_json, is_web_page


class WholeDecoder(Decoder, Protocol):
    def feed_whole(self, answer: Any) -> Iterable[StreamEvent]:
        """The events of an answer that came in one piece."""
        ...


Post = Callable[[], AbstractAsyncContextManager[httpx.Response]]


async def answered(
    request: ModelRequest,
    endpoint: Endpoint,
    *,
    post: Post,
    concede: Callable[[ProviderError], bool],
    decoder: Callable[[], WholeDecoder],
    is_answer: Callable[[Any], bool],
    noted: Callable[[Completed], Completed],
) -> AsyncGenerator[StreamEvent, None]:
    """`concede` learns from a refusal and says whether the next `post` will differ; the decoder is made for the one
    that was taken. `is_answer` tells a whole answer from any other JSON; `noted` adds what the person should know.

    Raises: ProviderError.
    """
    if not request.model:
        raise ProviderRejected(f"No model is named for {endpoint.service.address}; set caddie.model.")
    async with AsyncExitStack() as stack:
        response = await _taken(post, concede, stack)
        if is_web_page(response):
            raise endpoint.not_a_stream(response)
        if is_json(response):
            whole = decoder()
            for event in whole.feed_whole(await _whole(response, endpoint, is_answer)):
                yield event
            yield noted(whole.finish())
            return
        async with aclosing(decode(response, decoder())) as events:
            async for event in events:
                yield noted(event) if isinstance(event, Completed) else event


async def _taken(post: Post, concede: Callable[[ProviderError], bool], stack: AsyncExitStack) -> httpx.Response:
    while True:
        try:
            return await stack.enter_async_context(post())
        except ProviderError as error:
            if not concede(error):
                raise


async def _whole(response: httpx.Response, endpoint: Endpoint, is_answer: Callable[[Any], bool]) -> Any:
    body = await read_json(response)
    try:
        parsed = json.loads(body)
    except (ValueError, RecursionError):
        parsed = None
    if is_answer(parsed):
        return parsed
    raise endpoint.rejected(fault_of_response(400, response.headers, body))
