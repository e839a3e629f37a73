"""`caddie chat`: a conversation in the terminal, or, without one, each line of standard input as a message."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from platformdirs import user_state_path

_INTERRUPTED = 130


async def chat(
    workspace: Path,
    server_command: Sequence[str] | None = None,
    session_id: str | None = None,
    *,
    provider: str = "",
    model: str = "",
) -> int:
    """Returns the exit code. The server is a child and is gone when this returns."""
    command = tuple(server_command or (sys.executable, "-m", "caddie", "serve"))
    settings: dict[str, Any] = {name: value for name, value in (("provider", provider), ("model", model)) if value}
    workspace = _absolute(workspace)
    if sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb":
        return await _in_terminal(workspace, command, session_id, settings)
    from caddie.terminal.plain import chat_plain  # one of the two ways in; the other need not load it

    conversation = asyncio.ensure_future(chat_plain(workspace, command, session_id, settings))
    with _leaving_on_signals(conversation.cancel, "SIGINT", "SIGTERM", "SIGHUP"):
        try:
            return await conversation
        except asyncio.CancelledError:
            return _INTERRUPTED


def _absolute(path: Path) -> Path:
    return path.resolve()


async def _in_terminal(
    workspace: Path, command: Sequence[str], session_id: str | None, settings: dict[str, Any]
) -> int:
    from rich.console import Console  # with prompt_toolkit 300 ms that a piped conversation need not pay
    from rich.text import Text

    from caddie.terminal import view
    from caddie.terminal.conversation import Conversation
    from caddie.terminal.desk import Desk, Painter
    from caddie.terminal.link import Link
    from caddie.terminal.screen import Screen, history_at

    history = user_state_path("caddie", appauthor=False) / "chat-history"
    is_first = not history.exists()
    desk = Desk(session_id=session_id, model=settings.get("model", ""))
    conversation = Conversation(desk)
    link = Link(
        command,
        workspace,
        can_ask=True,
        settings=settings,
        on_event=conversation.on_event,
        on_request=conversation.on_request,
        on_gone=conversation.on_gone,
    )
    pen = view.Pen(Console(), lambda: screen.columns)
    screen = Screen(conversation, Painter(desk, pen), history_at(history))
    printer = conversation.attach(pen, screen, link)
    header = view.header(workspace.name or str(workspace), desk.model, pen.width)
    printer.show(header, *([view.welcome()] if is_first else []))
    with _leaving_on_signals(screen.leave, "SIGTERM", "SIGHUP"):
        try:
            await screen.run(conversation.start)
        finally:
            await conversation.stop()
            await link.close()
    if desk.session_id:
        printer.show(Text(f"caddie chat --resume {desk.session_id}  goes on with this conversation", style=view.DIM))
    return 0


@contextlib.contextmanager
def _leaving_on_signals(leave: Callable[[], object], *names: str) -> Iterator[None]:
    """A closed window or a polite kill ends the server too."""
    loop = asyncio.get_running_loop()
    added = []
    for name in names:
        with contextlib.suppress(NotImplementedError, AttributeError):  # Windows
            number = getattr(signal, name)
            loop.add_signal_handler(number, leave)
            added.append(number)
    try:
        yield
    finally:
        for number in added:
            loop.remove_signal_handler(number)
