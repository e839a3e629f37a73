"""What the slash commands do with MCP servers: their prompts, and signing in."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable

from rich.console import Group, RenderableType
from rich.text import Text

from caddie.protocol import methods
from caddie.protocol.base import Empty, Message
from caddie.protocol.mcp import AuthorizeResult, ServerParams
from caddie.protocol.methods import Method
from caddie.protocol.prompts import PromptInfo, PromptParams, PromptResult, PromptsResult
from caddie.terminal.desk import Outgoing
from caddie.terminal.printer import Printer
from caddie.terminal.text import one_line
from caddie.terminal.view import DIM

Ask = Callable[[Method, Message], Awaitable[object]]


class ServerErrands:
    def __init__(self, printer: Printer, ask: Ask, send: Callable[[Outgoing], None]) -> None:
        self._printer, self._ask, self._send = printer, ask, send

    async def prompts(self) -> None:
        result = PromptsResult.model_validate(await self._ask(methods.PROMPTS_LIST, Empty()))
        self._printer.show(listed(result, self._printer.pen.width))

    async def prompt(self, line: str) -> None:
        """`server:prompt name=value …`: what comes back is the next message."""
        try:
            name, arguments = read_call(line)
        except ValueError as error:
            self._printer.notice("warning", str(error))
            return
        params = PromptParams(name=name, arguments=arguments)
        filled = PromptResult.model_validate(await self._ask(methods.PROMPTS_GET, params))
        self._send(Outgoing(filled.message, attachments=tuple(filled.attachments)))

    async def authorize(self, server: str) -> None:
        begun = AuthorizeResult.model_validate(await self._ask(methods.MCP_AUTHORIZE, ServerParams(server=server)))
        if not begun.opened:
            self._printer.notice("info", f"Sign in to {server} in a browser on this machine:")
            self._printer.show(Text(one_line(begun.url), no_wrap=False))

    async def sign_out(self, server: str) -> None:
        await self._ask(methods.MCP_SIGN_OUT, ServerParams(server=server))
        self._printer.notice("info", f"Signed out of {server}.")


def read_call(line: str) -> tuple[str, dict[str, str]]:
    """Raises: ValueError, with a sentence for the person."""
    try:
        name, *words = shlex.split(line)
    except ValueError:
        raise ValueError("A quote is not closed; write name='a value of several words'.") from None
    pairs = [word.partition("=") for word in words]
    if wrong := [key for key, equals, _ in pairs if not equals or not key]:
        raise ValueError(f"Expected name=value, got {wrong[0]!r}; quote a value of several words.")
    return name, {key: value for key, _, value in pairs}


def listed(result: PromptsResult, width: int) -> RenderableType:
    lines = [_line(prompt, width) for prompt in result.prompts]
    return Group(*lines) if lines else Text("No MCP server that runs offers a prompt.")


def _line(prompt: PromptInfo, width: int) -> Text:
    takes = [f"{one.name}=…" if one.required else f"[{one.name}=…]" for one in prompt.arguments]
    line = Text.assemble((one_line(f"/{prompt.name}"), "bold"), " ", one_line(" ".join(takes)))
    line.append(f"   {one_line(prompt.description or prompt.title or '')}", DIM)
    line.truncate(width, overflow="ellipsis")
    return line
