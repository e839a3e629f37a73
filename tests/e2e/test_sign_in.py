"""Signing in to an MCP server over the wire."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from editor_client import BOUND, editor
from oauth_server import Grants, oauth_server


@pytest.fixture
def url() -> Iterator[str]:
    with oauth_server(Grants()) as address:
        yield address


async def visit(page: str) -> None:
    async with httpx2.AsyncClient(follow_redirects=True, timeout=BOUND) as browser:
        assert (await browser.get(page)).status_code == 200


async def test_the_editor_opens_the_page_and_the_tools_come_after_the_sign_in(
    workspace: Path, home: Path, url: str
) -> None:
    settings = {"provider": "offline", "mcp": {"servers": {"safe": {"url": url}}}}
    async with editor(workspace, home, settings=settings, shows_pages=True) as one:
        await one.server_is("safe", "needsAuth")
        begun = await one.request("caddie/mcp/authorize", {"server": "safe"})
        assert begun["opened"]
        shown = one.pages[-1]
        assert (shown.uri, shown.external) == (begun["url"], True)
        await visit(begun["url"])
        await one.server_is("safe", "ready")
        tools = (await one.request("caddie/tools/list"))["tools"]
        assert "mcp__safe__secret" in [tool["name"] for tool in tools]
        await one.request("caddie/mcp/signOut", {"server": "safe"})
        await one.server_is("safe", "needsAuth")


async def test_an_editor_that_opens_no_pages_gets_the_address_and_can_cancel(
    workspace: Path, home: Path, url: str
) -> None:
    settings = {"provider": "offline", "mcp": {"servers": {"safe": {"url": url}}}}
    async with editor(workspace, home, settings=settings) as one:
        await one.server_is("safe", "needsAuth")
        begun = await one.request("caddie/mcp/authorize", {"server": "safe"})
        assert not begun["opened"]
        assert begun["url"].startswith(url.removesuffix("/mcp"))
        await one.request("caddie/mcp/cancelAuthorize", {"server": "safe"})

        def is_cancelled() -> bool:
            statuses = [params for method, params in one.said if method == "caddie/mcp/status"]
            return "was cancelled" in statuses[-1].get("reason", "")

        async with asyncio.timeout(BOUND):
            await one.until(is_cancelled)
