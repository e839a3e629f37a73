"""Servers that have an address instead of a command."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from mcp_bench import PATIENCE, Bench

from caddie.errors import ToolUnavailable
from caddie.mcp.manager import ConfiguredServer
from caddie.settings import McpServer

ANSWERS: dict[str, dict[str, Any]] = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "web", "version": "4"},
    },
    "tools/list": {"tools": [{"name": "greet", "inputSchema": {"type": "object"}}]},
    "tools/call": {"content": [{"type": "text", "text": "hello"}]},
}


# Emptied by a test to play a server that was restarted and forgot us.
KNOWN_SESSIONS: set[str] = set()


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers.get("Authorization") != "Bearer of-good-news":
            self._answer(401)
        elif message["method"] not in ("initialize", "server/discover") and not KNOWN_SESSIONS:
            self._answer(404, {"error": {"code": -32600, "message": "Session not found"}, "id": message.get("id")})
        elif "id" not in message:
            self._answer(202)
        elif message["method"] not in ANSWERS:
            self._answer(200, {"error": {"code": -32601, "message": "no such method"}, "id": message["id"]})
        else:
            KNOWN_SESSIONS.add("one")
            self._answer(200, {"result": ANSWERS[message["method"]], "id": message["id"]})

    def do_GET(self) -> None:
        self._answer(405)

    do_DELETE = do_GET

    def log_message(self, *args: object) -> None:
        pass

    def _answer(self, status: int, body: dict[str, Any] | None = None) -> None:
        data = json.dumps({"jsonrpc": "2.0", **body}).encode() if body else b""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/mcp"
        server.shutdown()


def at(url: str, **headers: str) -> ConfiguredServer:
    return ConfiguredServer(McpServer(url=url, headers=headers, timeout=PATIENCE), "test")


async def test_a_server_at_an_address_gets_the_headers_and_is_called(bench: Bench, url: str) -> None:
    await bench.connect(web=at(url, Authorization="Bearer of-good-news"))
    assert (bench.status("web").state, bench.status("web").version) == ("ready", "4")
    assert [tool.name for tool in bench.tools["web"]] == ["mcp__web__greet"]
    assert (await bench.call("web", "greet")).text == "hello"


async def test_a_refused_key_asks_for_authorization_without_showing_it(bench: Bench, url: str) -> None:
    await bench.connect(web=at(url, Authorization="Bearer of-bad-news"))
    assert bench.status("web").state == "needsAuth"
    assert "bad-news" not in bench.status("web").reason
    assert "mcp.servers.web.headers" in bench.status("web").reason


async def test_a_server_that_forgot_the_session_is_connected_anew(bench: Bench, url: str) -> None:
    await bench.connect(web=at(url, Authorization="Bearer of-good-news"))
    KNOWN_SESSIONS.clear()
    with pytest.raises(ToolUnavailable, match="lost during the call"):
        await bench.call("web", "greet")
    assert (await bench.call("web", "greet")).text == "hello"


async def test_a_tool_list_with_bad_entries_and_a_slow_result_schema_serves_all_the_same(
    bench: Bench, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = {"type": "object", "properties": {"text": {"type": "string", "pattern": "^(a+)+$"}}}
    listed = [
        {"name": "greet", "inputSchema": {"type": "object", "properties": []}, "outputSchema": slow},
        {"name": "odd", "inputSchema": None},
        {"title": "no name"},
    ]
    monkeypatch.setitem(ANSWERS, "tools/list", {"tools": listed})
    structured = {"text": "a" * 40 + "!"}
    monkeypatch.setitem(ANSWERS, "tools/call", {"content": [], "structuredContent": structured})
    await bench.connect(web=at(url, Authorization="Bearer of-good-news"))
    assert bench.names("web") == ["greet", "odd"]
    assert (await bench.call("web", "greet")).structured == structured


async def test_a_key_with_a_line_end_is_not_shown_in_the_reason(bench: Bench, url: str) -> None:
    await bench.connect(web=at(url, Authorization="Bearer of-good-news\n"))
    assert bench.status("web").state == "failed"
    assert "good-news" not in bench.status("web").reason


async def test_a_malformed_address_is_a_failure_with_a_reason(bench: Bench) -> None:
    await bench.connect(web=at("http://["))
    assert bench.status("web").reason.startswith("the connection failed: ")


async def test_an_address_where_nobody_answers_is_a_failure_that_is_tried_again(bench: Bench) -> None:
    await bench.connect(web=at("http://127.0.0.1:9/mcp"))
    assert bench.status("web").state == "failed"
    assert bench.status("web").reason.endswith("trying again")
