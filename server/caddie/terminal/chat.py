"""`caddie chat`: a conversation in the terminal, or, without one, each line of standard input as a message."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from platformdirs import user_state_path


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
    if sys.stdin.isatty() and sys.stdout.isatty():
        return await _in_terminal(workspace, command, session_id, settings)
    from caddie.terminal.plain import chat_plain  # one of the two ways in; the other need not load it

    return await chat_plain(workspace, command, session_id, settings)


def _absolute(path: Path) -> Path:
    return path.resolve()


async def _in_terminal(
    workspace: Path, command: Sequence[str], session_id: str | None, settings: dict[str, Any]
) -> int:
    from rich.console import Console  # with prompt_toolkit 300 ms that a piped conversation need not pay

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
    with _leaving_on_signals(screen.leave):
        try:
            await screen.run(conversation.start)
        finally:
            await conversation.stop()
            await link.close()
    return 0


@contextlib.contextmanager
def _leaving_on_signals(leave: Callable[[], None]) -> Iterator[None]:
    """A closed window or a polite kill ends the server too."""
    loop = asyncio.get_running_loop()
    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    added = []
    for name in names:
        with contextlib.suppress(NotImplementedError):  # Windows
            loop.add_signal_handler(getattr(signal, name), leave)
            added.append(name)
    try:
        yield
    finally:
        for name in added:
            loop.remove_signal_handler(getattr(signal, name))
