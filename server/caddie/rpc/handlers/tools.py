"""caddie/tools/*"""

from __future__ import annotations

from typing import TYPE_CHECKING

from caddie.protocol import methods
from caddie.protocol import tools as wire
from caddie.rpc import convert
from caddie.rpc.codec import Server, bind

if TYPE_CHECKING:
    from caddie.engine.listed import Listed
    from caddie.rpc.app import App


def bind_handlers(server: Server, app: App) -> None:
    async def list_tools(params: wire.ToolsListParams) -> wire.ToolsListResult:
        engine = await app.engine()
        listed = engine.admin.listing(params.session_id or "")
        return wire.ToolsListResult(
            revision=engine.catalogue.revision,
            profile=engine.configuration.settings.tools.profile,
            tools=[convert.tool(item) for item in listed],
            servers=[convert.server(status) for status in engine.catalogue.servers],
            totals=convert.totals(listed),
        )

    async def search_tools(params: wire.SearchParams) -> wire.SearchResult:
        engine = await app.engine()
        engine.in_step()
        found = await engine.searcher.search(params.query, limit=params.limit, session_id=params.session_id or "")
        return convert.search(found)

    async def discover_tools(params: wire.DiscoverParams) -> wire.DiscoverResult:
        engine = await app.engine()
        engine.in_step()
        query = f"discover:{params.task}"
        found = await engine.searcher.search(query, limit=params.limit, session_id=params.session_id or "")
        return convert.discovered(found)

    async def execute_tool(params: wire.ExecuteParams) -> wire.ExecuteResult:
        engine = await app.engine()
        result = await engine.execute(
            params.tool_name, params.params, lambda update: None, session_id=params.session_id or ""
        )
        return convert.result(result)

    def changed(result: tuple[tuple[Listed, ...], tuple[str, ...]]) -> wire.SetStateResult:
        return wire.SetStateResult(changed=[convert.tool(item) for item in result[0]], warnings=list(result[1]))

    async def set_state(params: wire.SetStateParams) -> wire.SetStateResult:
        engine = await app.engine()
        changes = [(change.tool, change.state) for change in params.changes]
        return changed(await engine.admin.set_state(changes, params.scope, params.session_id or ""))

    async def cycle_state(params: wire.CycleStateParams) -> wire.SetStateResult:
        engine = await app.engine()
        return changed(await engine.admin.cycle_state(params.tool, params.scope, params.session_id or ""))

    async def explain(params: wire.ExplainParams) -> wire.ExplainResult:
        engine = await app.engine()
        await engine.deferrals.look(params.session_id or "")
        return convert.explanation(engine.admin.explain(params.tool, params.session_id or ""))

    bind(server, methods.TOOLS_LIST, list_tools)
    bind(server, methods.TOOLS_SEARCH, search_tools)
    bind(server, methods.TOOLS_DISCOVER, discover_tools)
    bind(server, methods.TOOLS_EXECUTE, execute_tool)
    bind(server, methods.TOOLS_SET_STATE, set_state)
    bind(server, methods.TOOLS_CYCLE_STATE, cycle_state)
    bind(server, methods.TOOLS_EXPLAIN, explain)
