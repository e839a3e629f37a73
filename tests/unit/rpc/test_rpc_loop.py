"""Life and death of the server process: signals, the end of the stream, cancelling, slow and silent clients."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

from raw_client import SECONDS, SERVER, RawClient, frame, request, start


async def _sleeping_with_a_child(client: RawClient) -> int:
    client.send(request("long", "test/sleep", {"seconds": 60, "child": True}))
    log = await client.stderr_has(b"sleeping")
    found = re.search(rb"sleeping (\d+)", log)
    assert found is not None
    return int(found[1])


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def _ended_tidily(client: RawClient, child: int) -> int:
    code, log = await client.end()
    assert log.index("tidied") < log.index("closed")
    assert "Traceback" not in log
    assert not _alive(child)
    return code


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
async def test_a_signal_ends_handlers_children_and_the_server_in_order(number: signal.Signals, code: int) -> None:
    async with start() as client:
        child = await _sleeping_with_a_child(client)
        client.process.send_signal(number)
        assert await _ended_tidily(client, child) == code


async def test_the_end_of_input_ends_the_server() -> None:
    async with start() as client:
        child = await _sleeping_with_a_child(client)
        client.stdin.close()
        assert await _ended_tidily(client, child) == 0


async def test_a_client_that_closes_its_read_end_ends_the_server() -> None:
    async with start() as client:
        child = await _sleeping_with_a_child(client)
        client.process._transport.get_pipe_transport(1).close()  # type: ignore[attr-defined]
        assert await _ended_tidily(client, child) == 0


async def test_exit_without_shutdown_is_a_failure() -> None:
    async with start() as client:
        child = await _sleeping_with_a_child(client)
        client.send({"jsonrpc": "2.0", "method": "exit"})
        assert await _ended_tidily(client, child) == 1


async def test_a_thread_that_never_ends_does_not_keep_the_server() -> None:
    async with start() as client:
        client.send(request(1, "test/block"))
        await client.stderr_has(b"blocking")
        before = time.monotonic()
        client.stdin.close()
        assert (await client.end())[0] == 0
        assert time.monotonic() - before < 60, "the thread blocks for 600"


async def test_exit_is_heard_before_initialize() -> None:
    async with start(initialized=False) as client:
        client.send({"jsonrpc": "2.0", "method": "exit"})
        assert (await client.end())[0] == 1


async def test_shutdown_cancels_what_runs_and_then_exit_is_a_success() -> None:
    async with start() as client:
        child = await _sleeping_with_a_child(client)
        client.send(request(1, "shutdown"))
        cancelled, done = await client.read(), await client.read()
        assert (cancelled["id"], cancelled["error"]["code"]) == ("long", -32800)
        assert done == {"jsonrpc": "2.0", "id": 1, "result": None}
        client.send({"jsonrpc": "2.0", "method": "exit"})
        assert await _ended_tidily(client, child) == 0


async def test_an_exit_that_does_not_wait_for_the_answer_to_shutdown_is_a_success_too() -> None:
    async with start() as client:
        child = await _sleeping_with_a_child(client)
        client.send(request(1, "shutdown"), {"jsonrpc": "2.0", "method": "exit"})
        assert await _ended_tidily(client, child) == 0


async def test_a_cancelled_request_is_answered_at_once_and_leaves_no_child() -> None:
    async with start() as client:
        child = await _sleeping_with_a_child(client)
        before = time.monotonic()
        client.send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": "long"}})
        answer = await client.read()
        assert time.monotonic() - before < 10, "it would have slept for 60"
        assert (answer["id"], answer["error"]["code"]) == ("long", -32800)
        assert not _alive(child)


async def test_cancelling_what_is_not_there_or_not_an_id_changes_nothing() -> None:
    async with start() as client:
        for params in ({"id": "nobody"}, {"id": []}, {}, None):
            client.send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": params})
        assert (await client.call(1, "test/echo", {"value": 1}))["result"] == {"value": 1}


async def test_a_short_request_does_not_wait_for_a_long_one() -> None:
    async with start() as client:
        client.send(request(1, "test/sleep", {"seconds": 60}))
        assert (await client.call(2, "test/echo", {"value": 1}))["id"] == 2


async def test_a_thousand_notifications_leave_nothing_behind() -> None:
    async with start() as client:
        for number in range(1000):
            client.send({"jsonrpc": "2.0", "method": "test/note", "params": {}})
            client.send({"jsonrpc": "2.0", "method": "$/setTrace", "params": {"value": "off"}})
            client.send({"jsonrpc": "2.0", "method": "$/unknown", "params": {"n": number}})
        await client.call(1, "test/sleep", {"seconds": 0.2})
        assert (await client.call(2, "test/leak"))["result"]["value"] == [0, 0, 0]


async def test_an_answer_of_the_client_reaches_the_handler() -> None:
    async with start() as client:
        asked = await client.call(1, "test/ask")
        assert asked["method"] == "caddie/question/ask"
        client.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"answers": {"a": "b"}, "new": 1}})
        assert (await client.read())["result"]["value"] == {"answers": {"a": "b"}, "declined": False}


@pytest.mark.parametrize(
    "answer",
    [
        {"error": {"code": -32601, "message": "no such method"}},
        {"error": {"code": -32603, "message": "boom"}},
        {"error": "not even an object"},
        {"result": 5},
        {"result": {"answers": [1]}},
    ],
)
async def test_d14_a_client_that_cannot_answer_is_told_apart_from_a_no(answer: dict[str, Any]) -> None:
    async with start() as client:
        asked = await client.call(1, "test/ask")
        client.send({"jsonrpc": "2.0", "id": asked["id"], **answer})
        error = (await client.read())["error"]
        assert (error["code"], error["data"]["kind"]) == (-32050, "client_cannot_ask")
        assert (await client.call(2, "test/leak"))["result"]["value"] == [0, 0, 0]


async def test_a_question_is_withdrawn_when_its_time_is_up_and_a_late_answer_is_quiet() -> None:
    async with start() as client:
        asked = await client.call(1, "test/ask", {"timeout": 0.01})
        assert await client.read() == {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": asked["id"]}}
        assert (await client.read())["result"]["value"] == "too late"
        client.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"declined": True}})
        assert (await client.call(2, "test/leak"))["result"]["value"] == [0, 0, 0]
        client.stdin.close()
        assert "late" not in (await client.end())[1]


async def test_a_question_is_withdrawn_when_its_request_is_cancelled() -> None:
    async with start() as client:
        asked = await client.call(1, "test/ask")
        client.send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 1}})
        assert (await client.read())["params"] == {"id": asked["id"]}
        assert (await client.read())["error"]["code"] == -32800
        assert (await client.call(2, "test/leak"))["result"]["value"] == [0, 0, 0]


async def test_a_client_cannot_answer_or_cancel_in_the_name_of_the_server() -> None:
    async with start() as client:
        client.send(request(1, "test/sleep", {"seconds": 60}))
        client.send({"jsonrpc": "2.0", "id": 1, "result": "forged"})
        asked = await client.call(2, "test/ask")
        client.send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": asked["id"]}})
        client.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"declined": True}})
        assert (await client.read())["result"]["value"] == {"declined": True}


async def test_a_client_that_does_not_read_stalls_nobody_and_gets_all_text_in_order() -> None:
    count = 3000
    async with start() as client:
        client.send(request(1, "test/stream", {"size": count}))
        client.send(request(2, "test/sleep", {"seconds": 0}))
        await client.stderr_has(b"tidied")  # the loop went on although nobody reads
        await client.stderr_has(b"streamed")
        text, sequence = "", []
        while "id" not in (message := await client.read()) or message["id"] != 1:
            if message.get("method") == "caddie/chat/event":
                sequence.append(message["params"]["seq"])
                text += message["params"]["event"].get("text", "")
    assert text == "".join(f"{number:06d}".ljust(1000, ".") for number in range(count))
    assert sequence == list(range(1, len(sequence) + 1))
    assert len(sequence) < count, "nothing was coalesced"


async def test_large_answers_pass_whole() -> None:
    async with start() as client:
        assert len((await client.call(1, "test/echo", {"size": 20_000_000}))["result"]["value"]) == 20_000_000


def test_stdin_and_stdout_may_be_files(tmp_path: Any) -> None:
    sent = frame(request(1, "initialize", {"capabilities": {}})) + frame(request(2, "shutdown"))
    (tmp_path / "in").write_bytes(sent + frame({"jsonrpc": "2.0", "method": "exit"}))
    with (tmp_path / "in").open("rb") as source, (tmp_path / "out").open("wb") as sink:
        done = subprocess.run([sys.executable, SERVER], stdin=source, stdout=sink, timeout=SECONDS, check=False)
    assert b'"serverInfo"' in (tmp_path / "out").read_bytes()
    assert done.returncode in (0, 1)  # `exit` may overtake the running shutdown


async def test_a_second_client_of_the_port_is_refused_and_the_first_undisturbed() -> None:
    async with start("--tcp", initialized=False) as server:
        found = re.search(rb"127\.0\.0\.1:(\d+)", await server.stderr_has(b"listening on"))
        assert found is not None
        port = int(found[1])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        other, other_writer = await asyncio.open_connection("127.0.0.1", port)
        other_writer.write(frame(request(1, "initialize", {"capabilities": {}})))
        async with asyncio.timeout(SECONDS):
            refusal = await other.read()
            assert json.loads(refusal.partition(b"\r\n\r\n")[2])["error"]["code"] == -32600
            other_writer.close()
            writer.write(frame(request(1, "initialize", {"capabilities": {}})))
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"Content-Length")
            writer.close()
        assert (await server.end())[0] == 0


async def test_a_page_in_a_browser_cannot_speak_through_the_port() -> None:
    first = frame(request(1, "initialize", {"capabilities": {}}))
    length, body = re.findall(rb"\d+", first)[0], first.partition(b"\r\n\r\n")[2]
    head = b"POST / HTTP/1.1\r\nContent-Length: 1000\r\nReferer: http://evil.test/?content-length:"
    async with start("--tcp", initialized=False) as server:
        found = re.search(rb"127\.0\.0\.1:(\d+)", await server.stderr_has(b"listening on"))
        assert found is not None
        reader, writer = await asyncio.open_connection("127.0.0.1", int(found[1]))
        writer.write(head + length + b"\r\n\r\n" + body)
        async with asyncio.timeout(SECONDS):
            answer = json.loads((await reader.read()).partition(b"\r\n\r\n")[2])
            assert answer["error"]["code"] == -32700
            writer.close()
        assert (await server.end())[0] == 1
