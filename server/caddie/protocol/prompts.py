"""The prompts that MCP servers offer: the `/` commands of the chat."""

from __future__ import annotations

from pydantic import Field

from caddie.protocol.base import Empty, Message
from caddie.protocol.chat import Attachment


class PromptArgument(Message):
    name: str
    description: str | None = None
    required: bool = False


class PromptInfo(Message):
    name: str = Field(description="`server:prompt`; shown and typed as `/server:prompt`.")
    server: str
    title: str | None = None
    description: str | None = Field(None, description="The server's own words: text, never markup.")
    arguments: list[PromptArgument] = Field(default_factory=list)


class PromptsResult(Message):
    """By server and name. Servers that are not ready have none."""

    prompts: list[PromptInfo]


class PromptParams(Message):
    name: str = Field(description="`server:prompt`.")
    arguments: dict[str, str] = Field(default_factory=dict)


class PromptResult(Message):
    """Ready for the next `caddie/chat/turn`; the person may change the text first."""

    message: str = Field(description="The prompt's words, for `message`.")
    attachments: list[Attachment] = Field(
        default_factory=list, description="Its pictures and files, for `attachments`."
    )


class PromptsChanged(Empty):
    """A server's prompts changed: ask for the list again when it is next shown."""
