"""What becomes of the input line when the person sends it."""

from __future__ import annotations

from typing import Any, cast

from prompt_toolkit.input import DummyInput
from prompt_toolkit.output import DummyOutput
from rich.console import Console

from caddie.terminal import view
from caddie.terminal.conversation import Conversation
from caddie.terminal.desk import Desk, Painter
from caddie.terminal.screen import Screen, history_at


async def test_a_message_that_is_too_long_stays_in_the_input_line() -> None:
    desk = Desk()
    conversation = Conversation(desk)
    pen = view.Pen(Console(), lambda: 80)
    screen = Screen(conversation, Painter(desk, pen), history_at(None), input=DummyInput(), output=DummyOutput())
    conversation.attach(pen, screen, cast(Any, None))
    assert not conversation.submit("a" * 1_000_001)
    assert desk.queue == []
    assert conversation.submit("hello")
    assert [outgoing.message for outgoing in desk.queue] == ["hello"]
