"""caddie/prompts/*"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from caddie.chat.prompt import inert
from caddie.protocol import methods
from caddie.protocol import prompts as wire
from caddie.protocol.base import Empty
from caddie.protocol.chat import Attachment
from caddie.rpc.codec import Server, bind
from caddie.tools.tool import ImageContent, ResourceContent, TextContent

if TYPE_CHECKING:
    from caddie.rpc.app import App
    from caddie.tools.servers import PromptMessage, ServerPrompt


def bind_handlers(server: Server, app: App) -> None:
    async def list_prompts(params: Empty) -> wire.PromptsResult:
        engine = await app.engine()
        return wire.PromptsResult(prompts=[_info(prompt) for prompt in await engine.mcp.list_prompts()])

    async def get_prompt(params: wire.PromptParams) -> wire.PromptResult:
        engine = await app.engine()
        prompt, messages = await engine.mcp.get_prompt(params.name, params.arguments)
        return wire.PromptResult(message=_words(messages), attachments=list(_attachments(prompt, messages)))

    bind(server, methods.PROMPTS_LIST, list_prompts)
    bind(server, methods.PROMPTS_GET, get_prompt)


def _info(prompt: ServerPrompt) -> wire.PromptInfo:
    arguments = [
        wire.PromptArgument(name=one.name, description=one.description or None, required=one.required)
        for one in prompt.arguments
    ]
    return wire.PromptInfo(
        name=prompt.full_name,
        server=prompt.server,
        title=prompt.title or None,
        description=prompt.description or None,
        arguments=arguments,
    )


def _words(messages: Sequence[PromptMessage]) -> str:
    """One text; where the prompt is a sample conversation, who says what is told."""
    is_conversation = any(message.role == "assistant" for message in messages)
    texts = [(message.role, message.content.text) for message in messages if isinstance(message.content, TextContent)]
    said = [f"{role.capitalize()}: {text}" if is_conversation else text for role, text in texts]
    return inert("\n\n".join(said))


def _attachments(prompt: ServerPrompt, messages: Sequence[PromptMessage]) -> Iterable[Attachment]:
    name = f"/{prompt.full_name}"
    for message in messages:
        match message.content:
            case ImageContent(data, media_type):
                yield Attachment(name=name, data=data, media_type=media_type)
            case ResourceContent(uri, text):
                yield Attachment(name=uri, text=inert(text))
            case _:
                pass
