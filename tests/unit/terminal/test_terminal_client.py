from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from caddie.terminal.client import CANCELLED, Client, Params, RpcError, ServerGone

SERVER = """
import json, sys
def send(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\\r\\n\\r\\n" % len(body) + body)
    sys.stdout.buffer.flush()
waiting = None
while True:
    length = 0
    while (line := sys.stdin.buffer.readline()).strip():
        length = int(line.split(b":")[1])
    if not line:
        break
    message = json.loads(sys.stdin.buffer.read(length))
    method, number = message.get("method"), message.get("id")
    if method == "echo": send({"id": number, "result": message["params"]})
    elif method == "fail": send({"id": number, "error": {"code": -32050, "message": "No.", "data": {"kind": "x"}}})
    elif method == "wait": waiting = number; send({"method": "started", "params": {}})
    elif method == "$/cancelRequest": send({"id": waiting, "error": {"code": -32800, "message": "Cancelled"}})
    elif method == "ask": send({"id": "q", "method": message["params"]["method"], "params": {}}); asker = number
    elif method == "withdraw": send({"method": "$/cancelRequest", "params": {"id": "q"}})
    elif method is None: send({"id": asker, "result": message})
    elif method == "die": print("the last words", file=sys.stderr); sys.exit(7)
    elif method == "garbage": sys.stdout.write("Traceback\\n\\n"); sys.stdout.flush()
    elif method == "shutdown": send({"id": number, "result": None})
    elif method == "exit": break
"""


class Door:
    def __init__(self) -> None:
        self.events: asyncio.Queue[tuple[str, Params]] = asyncio.Queue()
        self.asked = asyncio.Event()

    def on_event(self, method: str, params: Params) -> None:
        self.events.put_nowait((method, params))

    async def on_request(self, method: str, params: Params) -> Any:
        self.asked.set()
        if method == "quick":
            return {"answer": 42}
        if method == "slow":
            await asyncio.Event().wait()
        raise NotImplementedError

    async def client(self) -> Client:
        return await Client.start([sys.executable, "-c", SERVER], Path.cwd(), self.on_event, self.on_request)


async def test_requests_are_answered_and_errors_carry_their_data() -> None:
    async with asyncio.timeout(60):
        client = await Door().client()
        text = {"text": "ünï ✓\n" * 50_000}
        assert await asyncio.gather(client.request("echo", text), client.request("echo", {"a": 1})) == [text, {"a": 1}]
        with pytest.raises(RpcError) as raised:
            await client.request("fail", {})
        assert (raised.value.code, raised.value.message, raised.value.data) == (-32050, "No.", {"kind": "x"})
        await client.close()
        assert client.is_gone


async def test_a_cancelled_call_ends_when_the_server_says_so() -> None:
    async with asyncio.timeout(60):
        door = Door()
        client = await door.client()
        call = client.begin("wait", {})
        assert (await door.events.get())[0] == "started"
        client.cancel(call)
        with pytest.raises(RpcError) as raised:
            await call.result
        assert raised.value.code == CANCELLED
        await client.close()


async def test_what_the_server_asks_is_answered_even_when_it_is_unknown() -> None:
    async with asyncio.timeout(60):
        client = await Door().client()
        assert (await client.request("ask", {"method": "quick"}))["result"] == {"answer": 42}
        assert (await client.request("ask", {"method": "nonsense"}))["error"]["code"] == -32601
        await client.close()


async def test_a_withdrawn_question_is_answered_as_cancelled() -> None:
    async with asyncio.timeout(60):
        door = Door()
        client = await door.client()
        call = client.begin("ask", {"method": "slow"})
        await door.asked.wait()
        client.notify("withdraw", {})
        assert (await call.result)["error"]["code"] == CANCELLED
        await client.close()


async def test_when_the_server_dies_everyone_waiting_hears_its_last_words() -> None:
    async with asyncio.timeout(60):
        client = await Door().client()
        call = client.begin("wait", {})
        client.notify("die", {})
        with pytest.raises(ServerGone) as raised:
            await call.result
        assert (raised.value.returncode, raised.value.stderr) == (7, ("the last words",))
        with pytest.raises(ServerGone):
            await client.request("echo", {})
        await client.close()


async def test_bytes_that_are_no_message_end_the_connection() -> None:
    async with asyncio.timeout(60):
        client = await Door().client()
        call = client.begin("wait", {})
        client.notify("garbage", {})
        with pytest.raises(ServerGone):
            await call.result
        await client.close()


async def test_a_server_that_ignores_everything_is_still_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("caddie.terminal.client._GRACE", 0.3)
    deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(60)"
    async with asyncio.timeout(60):
        door = Door()
        client = await Client.start([sys.executable, "-c", deaf], Path.cwd(), door.on_event, door.on_request)
        await client.close()
        assert client.is_gone
