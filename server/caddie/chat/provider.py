"""What a turn needs of a language model, in one port."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Literal, Protocol

from caddie.chat.messages import Deferral, ModelRequest, StreamEvent

NativeDeferral = Literal["", "tool_reference", "tool_search"]
LateTools = Literal["", "inline_tools", "additional_tools"]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a model can do at this address, by the provider table. Empty: what every model can (the bridge)."""

    deferral: NativeDeferral = ""
    """What `tools.deferral` auto takes."""
    api: NativeDeferral = ""
    """What the adapter speaks of at all: the person may ask for it where the table is silent."""
    late_tools: LateTools = ""
    why: str = ""
    """For the person: why there is a native deferral, or none."""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model that the provider lists. `context` and `output` are limits in tokens, where it tells them."""

    id: str
    label: str = ""
    context: int | None = None
    output: int | None = None


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

    def capabilities(self, model: str) -> Capabilities: ...

    async def list_models(self) -> tuple[ModelInfo, ...]:
        """Chat models, the provider's order. Raises: ProviderError."""
        ...

    async def count_tokens(self, request: ModelRequest) -> int | None:
        """Tokens of the request as the provider counts them; None where it does not count. Raises: ProviderError."""
        ...

    def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        """Raises: ProviderError and its children; StreamTruncated when the API's own terminal event is missing."""
        ...


@dataclass(frozen=True, slots=True)
class Chosen:
    """Who answers a turn. `speaker` is "provider/model", with the address where it is not the vendor's own."""

    provider: Provider
    model: str
    deferral: Deferral = "bridge"
    speaker: str = ""
