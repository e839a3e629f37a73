"""Every request is answered, whatever a client sends; the table of inputs and answers."""

from __future__ import annotations

from typing import Any

import pytest

from raw_client import frame, request, start

PARSE, INVALID, UNKNOWN, PARAMS, INTERNAL, EARLY = -32700, -32600, -32601, -32602, -32603, -32002

# what is sent, then id and error code of the answer
TABLE: dict[str, tuple[bytes, Any, int]] = {
    "malformed JSON": (frame(b"{nope"), None, PARSE),
    "not UTF-8": (frame(b'"\xff"'), None, PARSE),
    "NaN": (frame(b'{"jsonrpc":"2.0","id":1,"method":"test/echo","params":{"value":NaN}}'), None, PARSE),
    "empty body": (frame(b""), None, PARSE),
    "very deep": (frame(b"[" * 200_000), None, PARSE),
    "enormous integer": (frame(b"9" * 10_000), None, PARSE),
    "a string": (frame(b'"hello"'), None, INVALID),
    "null": (frame(b"null"), None, INVALID),
    "empty object": (frame({}), None, INVALID),
    "batch": (frame([request(1, "test/echo"), request(2, "test/echo")]), None, INVALID),
    "empty batch": (frame([]), None, INVALID),
    "no jsonrpc": (frame({"id": 7, "method": "test/echo"}), 7, INVALID),
    "jsonrpc 1.0": (frame({**request(7, "test/echo"), "jsonrpc": "1.0"}), 7, INVALID),
    "method is a number": (frame({**request("a", "x"), "method": 5}), "a", INVALID),
    "id is an object": (frame(request({}, "test/echo")), None, INVALID),
    "id is a boolean": (frame(request(True, "test/echo")), None, INVALID),
    "id is null": (frame(request(None, "test/echo")), None, INVALID),
    "params is text": (frame(request(7, "test/echo", "x")), 7, INVALID),
    "unknown method": (frame(request("b", "test/nothing", {})), "b", UNKNOWN),
    "unknown method without params": (frame(request(8, "test/nothing")), 8, UNKNOWN),
    "a method of the client": (frame(request(8, "window/showDocument", {"uri": "x"})), 8, UNKNOWN),
    "second initialize": (frame(request(9, "initialize", {"capabilities": {}})), 9, INVALID),
    "params is a list": (frame(request(10, "test/echo", [1, 2])), 10, PARAMS),
    "unknown field": (frame(request(11, "test/echo", {"vlaue": 1})), 11, PARAMS),
    "standard method without params": (frame(request(12, "workspace/executeCommand")), 12, PARAMS),
    "standard method, wrong params": (frame(request(13, "workspace/executeCommand", {"command": {}})), 13, PARAMS),
    "unknown command": (frame(request(14, "workspace/executeCommand", {"command": "x"})), 14, PARAMS),
    "no Content-Length": (b"Content-Type: x\r\n\r\n", None, PARSE),
    "bad Content-Length": (b"Content-Length: -5\r\n\r\n", None, PARSE),
    "bad Content-Length with a body": (b'Content-Length: ten\r\n\r\n{"jsonrpc":"2.0"}', None, PARSE),
    "result that is not JSON": (frame(request(15, "test/notJson")), 15, INTERNAL),
    "fault in a handler": (frame(request(16, "test/echo", {"fail": "fault"})), 16, INTERNAL),
}


async def test_every_row_of_the_table_is_answered_and_the_server_lives_on() -> None:
    wrong: list[str] = []
    async with start() as client:
        for name, (sent, msg_id, code) in TABLE.items():
            client.stdin.write(sent)
            answer = await client.read()
            if (answer.get("id", "absent"), answer.get("error", {}).get("code")) != (msg_id, code):
                wrong.append(f"{name}: {answer}")
            probe = await client.call("alive", "test/echo", {"value": name})
            assert probe == {"jsonrpc": "2.0", "id": "alive", "result": {"value": name}}, name
    assert wrong == []


@pytest.mark.parametrize("msg_id", [0, 7, -1, 2**53, "7", "", "ü"])
async def test_ids_come_back_as_they_were(msg_id: object) -> None:
    async with start() as client:
        assert (await client.call(msg_id, "test/echo", {"value": 1}))["id"] == msg_id


async def test_params_may_be_absent_null_or_what_libraries_make_of_nothing() -> None:
    async with start() as client:
        assert await client.call(1, "test/echo") == {"jsonrpc": "2.0", "id": 1, "result": {}}
        assert await client.call(2, "test/echo", None) == {"jsonrpc": "2.0", "id": 2, "result": {}}
        assert await client.call(3, "test/echo", [None]) == {"jsonrpc": "2.0", "id": 3, "result": {}}
        assert await client.call(4, "shutdown") == {"jsonrpc": "2.0", "id": 4, "result": None}


async def test_nested_protocol_words_are_data() -> None:
    value = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "exit",
        "type_name": "x",
        "class": 1,
        "max-results": [None, "ü😀"],
    }
    async with start() as client:
        assert (await client.call(1, "test/echo", {"value": value}))["result"] == {"value": value}


async def test_invalid_parameters_are_listed_with_their_paths() -> None:
    async with start() as client:
        answer = await client.call(1, "test/echo", {"size": "many", "key": "sk-secret"})
    assert answer["error"]["data"]["kind"] == "invalid_params"
    assert [row["path"] for row in answer["error"]["data"]["errors"]] == ["size", "key"]
    assert "sk-secret" not in str(answer)


async def test_our_errors_carry_kind_and_data_and_faults_carry_nothing() -> None:
    async with start() as client:
        unknown = await client.call(1, "test/echo", {"fail": "unknown"})
        wrong = await client.call(2, "test/echo", {"fail": "input"})
        fault = await client.call(3, "test/echo", {"fail": "fault"})
        log = await client.stderr_has(b"ZeroDivisionError: secret detail")
    assert unknown["error"] == {
        "code": -32050,
        "message": "There is no session 's-9'.",
        "data": {"session": "s-9", "kind": "session_not_found", "retryable": False},
    }
    assert wrong["error"]["code"] == PARAMS
    assert fault["error"] == {
        "code": INTERNAL,
        "message": "internal error",
        "data": {"kind": "internal", "retryable": False},
    }
    assert b"Traceback" in log


async def test_requests_out_of_their_time_are_refused() -> None:
    async with start(initialized=False) as client:
        assert (await client.call(1, "test/echo"))["error"]["code"] == EARLY
        assert (await client.call(2, "initialize", {}))["error"]["code"] == PARAMS
        await client.initialize()
        client.send(request(3, "test/sleep", {"seconds": 30}))
        assert (await client.call(3, "test/echo"))["error"]["code"] == INVALID
        client.send(request(4, "shutdown"))
        assert (await client.read())["error"]["code"] == -32800
        assert (await client.read())["id"] == 4
        assert (await client.call(5, "test/echo"))["error"]["code"] == INVALID


async def test_headers_are_case_insensitive_and_in_any_order() -> None:
    body = b'{"jsonrpc":"2.0","id":1,"method":"test/echo","params":{"value":"\xc3\xbc"}}'
    async with start() as client:
        client.stdin.write(b"content-type: x; charset=utf-8\r\ncontent-length:%d\r\n\r\n%b" % (len(body), body))
        assert (await client.read())["result"] == {"value": "ü"}


async def test_a_body_over_the_cap_is_passed_over_and_the_cap_is_named() -> None:
    size = 64 * 1024 * 1024 + 1
    async with start() as client:
        client.stdin.write(b"Content-Length: %d\r\n\r\n" % size)
        for _ in range(size // 65536):
            client.stdin.write(bytes(65536))
            await client.stdin.drain()
        client.stdin.write(bytes(size % 65536))
        answer = await client.read()
        assert answer["error"]["code"] == INVALID
        assert str(64 * 1024 * 1024) in answer["error"]["message"]
        assert (await client.call(1, "test/echo", {"value": 2}))["result"] == {"value": 2}


@pytest.mark.parametrize("sent", [b"Content-Length: 99999999999\r\n\r\n", b"x" * 40_000, b"a: b\r\n" * 10_000])
async def test_where_no_next_message_can_be_found_the_server_says_so_and_stops(sent: bytes) -> None:
    async with start() as client:
        client.stdin.write(sent)
        assert (await client.read())["error"]["code"] == PARSE
        code, log = await client.end()
    assert code == 1
    assert "closed" in log
    assert "Traceback" not in log
