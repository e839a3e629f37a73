"""The server hears from Neovim what it hears from every other client that plays the same story."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nvim_kit import SEND, Terminal

STORY = json.loads(Path(__file__).with_name("story.json").read_text())


def heard(messages: list[dict[str, Any]]) -> list[list[Any]]:
    """What matters of the messages: not how fast the person typed, nor what a client leaves to the defaults."""
    out: list[list[Any]] = []
    for message in messages:
        params, method = message.get("params") or {}, message.get("method")
        if method == "caddie/chat/draft" and not any(entry[0] == "turn" for entry in out):
            out = [entry for entry in out if entry[0] != "draft"] + [["draft", params["text"]]]
        elif method == "caddie/chat/turn":
            told = {key: value for key, value in params.items() if value not in (None, [], "agent")}
            out.append(["turn", told])
        elif method == "$/cancelRequest":
            out.append(["cancel"])
        elif method is None and message["id"] == "p1":
            out.append(["answer", "p1", {key: value for key, value in message["result"].items() if value is not None}])
    return out


def test_f11_neovim_says_what_every_client_says(terminal: Callable[..., Terminal]) -> None:
    screen = terminal(STORY["script"])
    screen.type("Which invoices are overdue?")
    screen.wait("⌁ find_invoices")
    screen.type("\t\r")
    screen.wait("with: find_invoices")
    screen.type(SEND)
    screen.wait("asks to run")
    screen.normal_mode()
    screen.type("a")
    screen.wait("One invoice is overdue: INV-1042.")
    screen.wait_gone("working")
    screen.type("iSend a reminder" + SEND)
    screen.wait("I am writing the reminder")
    screen.normal_mode()
    screen.type("\x03")
    screen.wait("· stopped")
    assert screen.until(lambda: heard(screen._messages()) == STORY["heard"]), heard(screen._messages())
