"""caddie/mcp/*"""

from __future__ import annotations

from typing import TYPE_CHECKING

from caddie.protocol import mcp as wire
from caddie.protocol import methods
from caddie.protocol.base import Empty
from caddie.rpc import convert
from caddie.rpc.codec import Server, bind

if TYPE_CHECKING:
    from caddie.engine.engine import Engine
    from caddie.rpc.app import App


def bind_handlers(server: Server, app: App) -> None:
    def info(engine: Engine, name: str) -> wire.ServerInfo:
        status = next(status for status in engine.mcp.statuses() if status.name == name)
        return convert.server(status)

    async def list_servers(params: Empty) -> wire.ServersResult:
        engine = await app.engine()
        servers = [convert.server(status) for status in engine.mcp.statuses()]
        return wire.ServersResult(servers=servers, notices=engine.server_notices())

    async def start(params: wire.ServerParams) -> wire.ServerInfo:
        engine = await app.engine()
        await engine.mcp.start(params.server)
        return info(engine, params.server)

    async def stop(params: wire.ServerParams) -> wire.ServerInfo:
        engine = await app.engine()
        await engine.mcp.stop(params.server)
        return info(engine, params.server)

    async def restart(params: wire.ServerParams) -> wire.ServerInfo:
        engine = await app.engine()
        await engine.mcp.restart(params.server)
        return info(engine, params.server)

    bind(server, methods.MCP_LIST, list_servers)
    bind(server, methods.MCP_START, start)
    bind(server, methods.MCP_STOP, stop)
    bind(server, methods.MCP_RESTART, restart)
