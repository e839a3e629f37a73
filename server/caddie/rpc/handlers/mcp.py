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
    from caddie.tools.context import McpResource


def _resource(found: McpResource) -> wire.ResourceInfo:
    description, media_type = found.description or None, found.media_type or None
    return wire.ResourceInfo(uri=found.uri, name=found.name, description=description, media_type=media_type)


def bind_handlers(server: Server, app: App) -> None:
    def info(engine: Engine, name: str) -> wire.ServerInfo:
        status = next(status for status in engine.mcp.statuses() if status.name == name)
        return convert.server(status)

    async def list_servers(params: Empty) -> wire.ServersResult:
        engine = await app.engine()
        servers = [convert.server(status) for status in engine.mcp.statuses()]
        return wire.ServersResult(servers=servers, notices=engine.configuration.notices())

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

    async def authorize(params: wire.ServerParams) -> wire.AuthorizeResult:
        engine = await app.engine()
        url = await engine.mcp.authorize(params.server)
        return wire.AuthorizeResult(url=url, opened=await engine.door.open_page(url))

    async def cancel_authorize(params: wire.ServerParams) -> wire.ServerInfo:
        engine = await app.engine()
        engine.mcp.cancel_authorize(params.server)
        return info(engine, params.server)

    async def sign_out(params: wire.ServerParams) -> wire.ServerInfo:
        engine = await app.engine()
        await engine.mcp.sign_out(params.server)
        return info(engine, params.server)

    async def log(params: wire.ServerParams) -> wire.ServerLogResult:
        engine = await app.engine()
        return wire.ServerLogResult(text=engine.mcp.log(params.server))

    async def list_resources(params: wire.ServerParams) -> wire.ResourcesResult:
        engine = await app.engine()
        found = await engine.mcp.list_resources(params.server)
        return wire.ResourcesResult(resources=[_resource(item) for item in found])

    async def read_resource(params: wire.ResourceParams) -> wire.ResourceResult:
        engine = await app.engine()
        return wire.ResourceResult(text=await engine.mcp.read_resource(params.server, params.uri))

    bind(server, methods.MCP_LIST, list_servers)
    bind(server, methods.MCP_START, start)
    bind(server, methods.MCP_STOP, stop)
    bind(server, methods.MCP_RESTART, restart)
    bind(server, methods.MCP_AUTHORIZE, authorize)
    bind(server, methods.MCP_CANCEL_AUTHORIZE, cancel_authorize)
    bind(server, methods.MCP_SIGN_OUT, sign_out)
    bind(server, methods.MCP_LOG, log)
    bind(server, methods.MCP_RESOURCES, list_resources)
    bind(server, methods.MCP_READ_RESOURCE, read_resource)
