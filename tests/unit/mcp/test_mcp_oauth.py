"""Signing in to servers that want to know who asks: the SDK's own OAuth and MCP server, on loopback."""

from __future__ import annotations

import asyncio
import json
import logging
import stat
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from mcp.shared.auth import OAuthClientInformationFull
from mcp_bench import PATIENCE, Bench
from pydantic import AnyUrl

from caddie.errors import ServerFailed
from caddie.mcp import oauth, supervisor
from caddie.mcp.loopback import Loopback
from caddie.mcp.manager import ConfiguredServer
from caddie.settings import McpOAuth, McpServer
from caddie.storage.places import Places
from oauth_server import Grants, oauth_server


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "FIRST_BACKOFF_SECONDS", 0.01)


@pytest.fixture
def grants() -> Grants:
    return Grants()


@pytest.fixture
def url(grants: Grants) -> Iterator[str]:
    with oauth_server(grants) as address:
        yield address


def at(url: str) -> ConfiguredServer:
    return ConfiguredServer(McpServer(url=url, timeout=PATIENCE), "test")


def token_files(bench: Bench) -> list[Path]:
    return sorted(Places(bench.workspace, bench.workspace / "data", bench.workspace).mcp_tokens.glob("*"))


async def visit(url: str) -> httpx2.Response:
    """What a browser does whose person says yes at once."""
    async with httpx2.AsyncClient(follow_redirects=True, timeout=PATIENCE) as browser:
        return await browser.get(url)


async def sign_in(bench: Bench) -> httpx2.Response:
    async with asyncio.timeout(PATIENCE):
        page = await bench.manager.authorize("safe")
    answer = await visit(page)
    await bench.until(lambda: bench.status("safe").state == "ready")
    return answer


async def test_a_server_that_asks_who_calls_offers_its_tools_after_a_sign_in(bench: Bench, url: str) -> None:
    await bench.connect(safe=at(url))
    assert bench.status("safe").state == "needsAuth"
    assert "authorize it" in bench.status("safe").reason
    page = await bench.manager.authorize("safe")
    assert bench.status("safe").reason == "waits for you to sign in in the browser"
    answer = await visit(page)
    assert answer.status_code == 200
    assert "You are signed in" in answer.text
    await bench.until(lambda: bench.status("safe").state == "ready")
    assert bench.names("safe") == ["secret"]
    assert bench.status("safe").signed_in
    assert (await bench.call("safe", "secret")).text == "the safe is open"


async def test_tokens_are_the_owners_alone_and_never_logged(
    bench: Bench, url: str, grants: Grants, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    await bench.connect(safe=at(url))
    await sign_in(bench)
    (file,) = token_files(bench)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert grants.issued
    said = caplog.text + str(bench.statuses)
    assert [token for token in grants.issued if token in said] == []


async def test_a_sign_in_holds_for_the_next_process_and_for_no_other_address(bench: Bench, url: str) -> None:
    await bench.connect(safe=at(url))
    await sign_in(bench)
    await bench.manager.configure({})
    await bench.connect(safe=at(url), other=at(url.replace("127.0.0.1", "localhost")))
    assert bench.status("safe").state == "ready"
    assert bench.status("other").state != "ready"


async def test_tokens_that_run_out_are_renewed(bench: Bench, url: str, grants: Grants) -> None:
    grants.seconds = 1
    await bench.connect(safe=at(url))
    await sign_in(bench)
    (file,) = token_files(bench)
    kept = json.loads(file.read_text())
    file.write_text(json.dumps({**kept, "expiresAt": 1}))
    grants.access.clear()
    await bench.manager.restart("safe")
    await bench.until(lambda: bench.status("safe").state == "ready")
    assert grants.refreshed
    assert json.loads(file.read_text())["tokens"] != kept["tokens"]


async def test_tokens_that_were_taken_back_early_are_renewed_too(bench: Bench, url: str, grants: Grants) -> None:
    await bench.connect(safe=at(url))
    await sign_in(bench)
    grants.access.clear()
    with pytest.raises(Exception, match="lost during the call"):
        await bench.call("safe", "secret")
    await bench.until(lambda: grants.refreshed == 1 and bench.status("safe").state == "ready")
    assert (await bench.call("safe", "secret")).text == "the safe is open"


async def test_when_nothing_can_be_renewed_the_person_is_asked_again(bench: Bench, url: str, grants: Grants) -> None:
    await bench.connect(safe=at(url))
    await sign_in(bench)
    grants.access.clear()
    grants.refresh.clear()
    await bench.manager.restart("safe")
    await bench.until(lambda: bench.status("safe").state == "needsAuth")
    assert "takes the sign-in no longer" in bench.status("safe").reason
    await sign_in(bench)


async def test_an_answer_with_a_wrong_state_is_refused_and_changes_nothing(bench: Bench, url: str) -> None:
    await bench.connect(safe=at(url))
    page = await bench.manager.authorize("safe")
    back = parse_qs(urlsplit(page).query)["redirect_uri"][0]
    for forged in (f"{back}?code=evil&state=guessed", f"{back}?code=evil", f"{back}?error=access_denied", back):
        assert (await visit(forged)).status_code == 400
    async with httpx2.AsyncClient() as client:
        rebound = await client.get(f"{back}?code=x", headers={"Host": "evil.example"})
    assert rebound.status_code == 404
    assert bench.status("safe").reason == "waits for you to sign in in the browser"
    assert (await visit(page)).status_code == 200
    await bench.until(lambda: bench.status("safe").state == "ready")


async def test_a_refusal_is_told_and_can_be_tried_again(bench: Bench, url: str, grants: Grants) -> None:
    await bench.connect(safe=at(url))
    grants.denies = True
    page = await bench.manager.authorize("safe")
    answer = await visit(page)
    assert "was refused" in answer.text
    assert "not you" not in answer.text
    await bench.until(lambda: "access_denied: not you" in bench.status("safe").reason)
    assert bench.status("safe").state == "needsAuth"
    assert token_files(bench) == []
    grants.denies = False
    await sign_in(bench)


async def test_a_sign_in_can_be_cancelled_and_its_address_is_gone(bench: Bench, url: str) -> None:
    await bench.connect(safe=at(url))
    page = await bench.manager.authorize("safe")
    bench.manager.cancel_authorize("safe")
    await bench.until(lambda: "was cancelled" in bench.status("safe").reason)
    with pytest.raises(httpx2.ConnectError):
        await visit(page)


async def test_a_sign_in_ends_when_nobody_comes(bench: Bench, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    await bench.connect(safe=at(url))
    monkeypatch.setattr(oauth, "SIGN_IN_SECONDS", 0.5)
    await bench.manager.authorize("safe")
    await bench.until(lambda: "nobody signed in within" in bench.status("safe").reason)


async def test_signing_out_forgets_the_tokens(bench: Bench, url: str) -> None:
    await bench.connect(safe=at(url))
    await sign_in(bench)
    await bench.manager.sign_out("safe")
    await bench.until(lambda: bench.status("safe").state == "needsAuth")
    assert token_files(bench) == []
    assert not bench.status("safe").signed_in
    await bench.manager.start("safe")
    await bench.until(lambda: bench.status("safe").state == "needsAuth")


async def test_what_cannot_be_signed_in_to_says_why(bench: Bench) -> None:
    headed = ConfiguredServer(McpServer(url="http://127.0.0.1:9/mcp", headers={"authorization": "Bearer x"}), "test")
    local = ConfiguredServer(McpServer(command="true", lazy=True), "test")
    await bench.manager.configure({"headed": headed, "local": local, "gone": at("http://127.0.0.1:9/mcp")})
    with pytest.raises(ServerFailed, match=r"mcp.servers.headed.headers; remove that"):
        await bench.manager.authorize("headed")
    with pytest.raises(ServerFailed, match="nothing to sign in to"):
        await bench.manager.authorize("local")
    with pytest.raises(ServerFailed, match="sign-in to 'gone' failed: it cannot be reached"):
        await bench.manager.authorize("gone")


async def test_a_server_that_registers_no_programs_names_the_way_out(bench: Bench) -> None:
    with oauth_server(Grants(), registers=False) as url:
        await bench.connect(safe=at(url))
        with pytest.raises(ServerFailed, match=r"registers no programs by itself; .* mcp.servers.safe.headers"):
            await bench.manager.authorize("safe")
        assert "mcp.servers.safe.headers" in bench.status("safe").reason


@pytest.mark.parametrize("secret", ["", "a-long-client-secret"])
async def test_a_program_that_was_registered_by_hand_signs_in_and_renews_its_tokens(
    bench: Bench, grants: Grants, secret: str
) -> None:
    async with Loopback() as free:
        port, redirect = free.port, free.url
    grants.clients["by-hand"] = OAuthClientInformationFull(
        client_id="by-hand",
        client_secret=secret or None,
        redirect_uris=[AnyUrl(redirect)],
        token_endpoint_auth_method="client_secret_post" if secret else "none",
        scope="",
    )
    registered = McpOAuth(clientId="by-hand", clientSecret=secret, callbackPort=port)
    with oauth_server(grants, registers=False) as address:
        await bench.connect(safe=ConfiguredServer(McpServer(url=address, timeout=10, oauth=registered), "test"))
        await sign_in(bench)
        grants.access.clear()
        with pytest.raises(Exception, match="lost during the call"):
            await bench.call("safe", "secret")
        await bench.until(lambda: grants.refreshed == 1 and bench.status("safe").state == "ready")
        assert (await bench.call("safe", "secret")).text == "the safe is open"
    assert list(grants.clients) == ["by-hand"]
    assert "by-hand" not in token_files(bench)[0].read_text()


async def test_a_callback_port_that_is_taken_fails_the_sign_in_with_its_setting(bench: Bench, url: str) -> None:
    async with Loopback() as other:
        registered = McpOAuth(clientId="by-hand", callbackPort=other.port)
        await bench.connect(safe=ConfiguredServer(McpServer(url=url, timeout=10, oauth=registered), "test"))
        with pytest.raises(ServerFailed, match=rf"port {other.port}, which mcp.servers.safe.oauth.callbackPort names"):
            await bench.manager.authorize("safe")


async def test_tokens_that_cannot_be_kept_fail_the_sign_in_with_the_reason(bench: Bench, url: str) -> None:
    (bench.workspace / "data").mkdir()
    (bench.workspace / "data" / "mcp-tokens").write_text("in the way")
    await bench.connect(safe=at(url))
    await visit(await bench.manager.authorize("safe"))
    await bench.until(lambda: "cannot be kept in the data folder (File exists)" in bench.status("safe").reason)


async def test_closing_ends_a_sign_in_that_is_under_way(bench: Bench, url: str) -> None:
    await bench.connect(safe=at(url))
    page = await bench.manager.authorize("safe")
    async with asyncio.timeout(PATIENCE):
        await bench.manager.close()
    with pytest.raises(httpx2.ConnectError):
        await visit(page)


async def test_an_address_that_is_none_ends_its_connection_and_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    async with asyncio.timeout(PATIENCE), Loopback() as loopback:
        reader, writer = await asyncio.open_connection("127.0.0.1", loopback.port)
        writer.write(b"GET //[ HTTP/1.1\r\nHost: x\r\n\r\n")
        assert await reader.read() == b""
        writer.close()
        await asyncio.sleep(0)
    assert caplog.records == []
