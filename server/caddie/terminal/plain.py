"""A conversation without a terminal: each line of standard input is a message, answers are plain text.

Nobody can be asked here, and the server is told so at the start; whatever needs a permission is denied by its rules.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from caddie.protocol import methods
from caddie.protocol.chat import MAX_MESSAGE, ChatEvent, NoticeEvent, ToolCallEvent, TurnParams, TurnResult
from caddie.terminal.client import Params, RpcError, ServerGone
from caddie.terminal.link import Link
from caddie.terminal.text import clean, one_line, too_long
from caddie.terminal.turn import Answer, Item, Thought, TurnState, apply

_WORDS = {"refused": "refused: nobody can be asked here", "failed": "failed", "cancelled": "cancelled"}


class _Plain:
    def __init__(self, session_id: str | None) -> None:
        self.session_id = session_id
        self.state = TurnState()
        self._is_unread = False

    def on_event(self, method: str, params: Params) -> None:
        if method == methods.CHAT_EVENT.name:
            self.state, settled = apply(self.state, ChatEvent.model_validate(params).event)
            try:
                for thing in settled:
                    _print(thing)
            except BrokenPipeError:
                self._is_unread = True
                raise

    async def on_request(self, method: str, params: Params) -> Any:
        """Asked in spite of what was announced: the answer is no."""
        if method == methods.PERMISSION_ASK.name:
            _say(f"denied: {one_line(str(params.get('label')))} needs a permission, and nobody can be asked here")
            return {"choice": "reject"}
        if method == methods.QUESTION_ASK.name:
            return {"declined": True}
        raise NotImplementedError

    async def turn(self, link: Link, message: str) -> bool:
        """False when it failed. Raises: BrokenPipeError when nobody reads the answer."""
        if why := too_long(message, MAX_MESSAGE):
            _say(f"error: {why}")
            return False
        params = TurnParams(session_id=self.session_id, message=message, mode=None)
        self.state = TurnState()
        try:
            client = await link.client()
            result = TurnResult.model_validate(await client.request(methods.CHAT_TURN.name, params.wire()))
        except RpcError as error:
            _say(f"error: {clean(error.message)}")
            return False
        except ServerGone as gone:
            if self._is_unread:
                raise BrokenPipeError from None
            _say("\n".join([f"error: the server stopped{gone.how}", *map(clean, gone.stderr)]))
            return False
        except OSError as error:
            _say(f"error: the server could not be started: {error.strerror or error}")
            return False
        self.session_id = result.session_id
        return True


async def chat_plain(workspace: Path, command: Sequence[str], session_id: str | None, settings: dict[str, Any]) -> int:
    """0 when every message was answered."""
    plain = _Plain(session_id)
    link = Link(
        command,
        workspace,
        can_ask=False,
        settings=settings,
        on_event=plain.on_event,
        on_request=plain.on_request,
        on_gone=lambda gone: None,
    )
    is_well = True
    try:
        async for line in _lines():
            if line.strip() in ("/quit", "/exit"):
                break
            if line.strip():
                is_well = await plain.turn(link, line.strip()) and is_well
    except BrokenPipeError:
        # Whoever read the answers has gone; Python must not try to flush to it at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    finally:
        await link.close()
    return 0 if is_well else 1


async def _lines() -> AsyncIterator[str]:
    """The lines of standard input. A thread that nobody waits for reads them: one stuck in a read must not keep the
    program from ending."""
    loop, lines = asyncio.get_running_loop(), asyncio.Queue[str]()

    def read() -> None:
        line = "not yet its end"
        with contextlib.suppress(RuntimeError):  # the loop is closed
            while line:
                try:
                    line = sys.stdin.readline()
                except (OSError, ValueError):  # closed, or a terminal that has gone
                    line = ""
                loop.call_soon_threadsafe(lines.put_nowait, line)

    threading.Thread(target=read, daemon=True).start()
    while line := await lines.get():
        yield line


def _print(thing: Item) -> None:
    match thing:
        case Answer(text=text):
            # A block's own empty lines at its end set it apart from the next.
            sys.stdout.write(clean(text).rstrip("\n") + ("\n\n" if text.endswith("\n\n") else "\n"))
            sys.stdout.flush()
        case Thought():
            pass
        case ToolCallEvent():
            server = f" ({one_line(thing.server)})" if thing.server else ""
            outcome = _WORDS.get(thing.status, "done")
            reason = f": {one_line(thing.result)[:300]}" if thing.result and thing.status in _WORDS else ""
            _say(f"[{one_line(thing.label)}{server} {outcome}{reason}]")
        case NoticeEvent():
            _say(f"{thing.level}: {clean(thing.message)}")
        case _:
            marks = {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}
            _say("\n".join(f"{marks[todo.status]} {one_line(todo.content)}" for todo in thing.items))


def _say(words: str) -> None:
    """Beside the answer, so that a pipe carries the answer alone."""
    sys.stderr.write(words + "\n")
    sys.stderr.flush()
