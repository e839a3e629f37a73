"""caddie/permissions/*"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from caddie.protocol import methods
from caddie.protocol import permissions as wire
from caddie.rpc import convert
from caddie.rpc.codec import Server, bind
from caddie.tools.permissions import read_rules

if TYPE_CHECKING:
    from caddie.rpc.app import App


def bind_handlers(server: Server, app: App) -> None:
    async def list_permissions(params: wire.PermissionsListParams) -> wire.PermissionsListResult:
        engine = await app.engine()
        rules = read_rules(engine.configuration.resolved(params.session_id or ""))
        held = engine.grants.held(params.session_id or "")
        return wire.PermissionsListResult(
            rules=[convert.rule(item) for item in rules], grants=[convert.grant(item) for item in held]
        )

    async def revoke(params: wire.RevokeParams) -> None:
        engine = await app.engine()
        await asyncio.to_thread(engine.grants.revoke, params.id)  # waits for a lock

    bind(server, methods.PERMISSIONS_LIST, list_permissions)
    bind(server, methods.PERMISSIONS_REVOKE, revoke)
