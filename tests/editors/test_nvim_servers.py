"""MCP servers in Neovim: their prompts, and signing in."""

from __future__ import annotations

from collections.abc import Callable

import scripted_wire as wire
from nvim_kit import SEND, Terminal

Start = Callable[..., Terminal]

PROMPTS = [
    {
        "name": "git:commit",
        "server": "git",
        "description": "Writes a\nmessage",
        "arguments": [{"name": "style", "description": "How it reads", "required": True}, {"name": "tone"}],
    },
    {"name": "git:tag", "server": "git"},
]
FILLED = {
    "message": "Write a short message.\nIn English.",
    "attachments": [{"name": "/git:commit", "text": "the diff"}],
}


def test_a_prompt_is_filled_in_put_into_the_input_and_sent_with_what_belongs_to_it(terminal: Start) -> None:
    answers = {"caddie/prompts/list": {"prompts": PROMPTS}, "caddie/prompts/get": FILLED}
    screen = terminal({"answers": answers, "turns": [[wire.done()]]}, chat=False)
    screen.command("Caddie prompts")
    screen.wait("1: /git:commit  Writes a message")
    screen.type("1\r")
    screen.wait("style (How it reads):")
    screen.type("short\r")
    screen.wait("tone, optional:")
    screen.type("\r")
    screen.wait("In English.")
    assert screen.sent("caddie/prompts/get")[0] == {"name": "git:commit", "arguments": {"style": "short"}}
    screen.type(" Please." + SEND)
    turn = screen.until(lambda: screen.sent("caddie/chat/turn"))[0]
    assert turn["message"] == FILLED["message"] + " Please."
    assert turn["attachments"] == FILLED["attachments"]


def test_a_sign_in_is_begun_and_its_address_shown_where_nothing_opens_it(terminal: Start) -> None:
    answers = {"caddie/mcp/authorize": {"url": "https://auth.example/in", "opened": False}}
    screen = terminal({"answers": answers}, chat=False)
    screen.command("Caddie authorize hub")
    screen.wait("Sign in here: https://auth.example/in")
    assert screen.sent("caddie/mcp/authorize") == [{"server": "hub"}]
    screen.command("Caddie authorize")
    screen.wait("with the name of an MCP server")
