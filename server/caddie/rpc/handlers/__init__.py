"""One file per noun of the wire; each converts in, calls the engine, converts out."""

from __future__ import annotations

from caddie.rpc.app import App
from caddie.rpc.codec import Server
from caddie.rpc.handlers import chat, mcp, models, permissions, prompts, tools, usage


def bind_all(server: Server, app: App) -> None:
    for noun in (chat, tools, mcp, prompts, models, permissions, usage):
        noun.bind_handlers(server, app)
