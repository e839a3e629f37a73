"""caddie/usage/*"""

from __future__ import annotations

from typing import TYPE_CHECKING

from caddie.protocol import methods
from caddie.protocol import usage as wire
from caddie.rpc.codec import Server, bind
from caddie.rpc.convert_usage import usage

if TYPE_CHECKING:
    from caddie.rpc.app import App


def bind_handlers(server: Server, app: App) -> None:
    async def report(params: wire.UsageParams) -> wire.UsageResult:
        engine = await app.engine()
        if params.session_id:
            await engine.sessions.get(params.session_id)
        return usage(await engine.usage(params.session_id or ""))

    bind(server, methods.USAGE_REPORT, report)
