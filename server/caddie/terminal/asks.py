"""The server asks, the person answers: prompts wait in line, the first one has the keys."""

from __future__ import annotations

import asyncio
from typing import Any

from caddie.protocol import methods
from caddie.protocol.permissions import PermissionAsk, QuestionAsk
from caddie.terminal import cards
from caddie.terminal.client import Params
from caddie.terminal.desk import Asking, Desk
from caddie.terminal.printer import Printer
from caddie.terminal.prompts import PermissionPrompt, Prompt, QuestionPrompt
from caddie.terminal.screen import Screen

_ANSWERED_WITH_NOTHING = ("window/workDoneProgress/create", "client/registerCapability", "client/unregisterCapability")


class Asks:
    def __init__(self, desk: Desk, printer: Printer, screen: Screen) -> None:
        self._desk, self._printer, self._screen = desk, printer, screen

    async def on_request(self, method: str, params: Params) -> Any:
        """Cancelled when the server withdraws the question. Raises: NotImplementedError."""
        if method == methods.PERMISSION_ASK.name:
            return await self._ask(PermissionPrompt(PermissionAsk.model_validate(params)))
        if method == methods.QUESTION_ASK.name:
            return await self._ask(QuestionPrompt(QuestionAsk.model_validate(params)))
        if method in _ANSWERED_WITH_NOTHING:
            return None
        raise NotImplementedError

    def reject(self) -> bool:
        """False when nothing was asked."""
        for asking in self._desk.asking:
            asking.prompt.reject()
            _answer(asking)
        return bool(self._desk.asking)

    def key(self, key: str) -> None:
        if self._desk.asking:
            prompt = self._desk.asking[0].prompt
            if key == "v" and isinstance(prompt, PermissionPrompt):
                self._show_all(prompt)
            else:
                prompt.press(key)
            self._after_key()

    def enter(self, text: str) -> None:
        if self._desk.asking:
            self._desk.asking[0].prompt.enter(text)
            self._after_key()

    def escape(self) -> None:
        if self._desk.asking:
            self._desk.asking[0].prompt.escape()
            self._after_key()

    async def _ask(self, prompt: Prompt) -> dict[str, Any]:
        asking = Asking(prompt, asyncio.get_running_loop().create_future())
        self._desk.asking.append(asking)
        self._open_first()
        try:
            return await asking.answer
        finally:
            was_first = self._desk.asking[0] is asking
            self._desk.asking.remove(asking)
            if was_first:
                self._screen.close_prompt()
                self._open_first()

    def _open_first(self) -> None:
        if self._desk.asking:
            self._screen.open_prompt()
            self._screen.open_entry(bool(self._desk.asking[0].prompt.entry))

    def _show_all(self, prompt: PermissionPrompt) -> None:
        if not prompt.shown_all:
            prompt.shown_all = True
            self._printer.show(cards.full_request(prompt.ask, self._printer.pen.width))

    def _after_key(self) -> None:
        asking = self._desk.asking[0]
        if not _answer(asking):
            self._screen.open_entry(bool(asking.prompt.entry))
        self._screen.refresh()


def _answer(asking: Asking) -> bool:
    if asking.prompt.answer is not None and not asking.answer.done():
        asking.answer.set_result(asking.prompt.answer)
    return asking.answer.done()
