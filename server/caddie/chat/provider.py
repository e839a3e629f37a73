"""What a turn needs of a language model, in one port."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from caddie.chat.messages import ModelRequest, StreamEvent


class Provider(Protocol):
    """A translator: request to the API's JSON, its stream to our events. No retries, no tools, no permissions.

    Guarantees: the last event is `Completed`; its tool calls are complete or have `arguments=None`. Closing the
    iterator closes the connection.
    """

    @property
    def name(self) -> str:
        """The settings' word for it: `anthropic`, `openai-chat`, `offline`."""
        ...

    @property
    def default_model(self) -> str: ...

    def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        """Raises: ProviderError and its children; StreamTruncated when the API's own terminal event is missing."""
        ...
