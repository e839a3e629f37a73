"""Whole turns against a server that remembers what it said and refuses what generateContent refuses."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from gemini_kit import DUMMY, Remembering, call, chunk, stop

from caddie.chat.events import Notice, TurnEvent
from engine_kit import mcp_tool, over_http

MALFORMED = [chunk(finish="MALFORMED_FUNCTION_CALL", finishMessage="Malformed function call: print(default_api.")]


@contextlib.contextmanager
def listening(server: Remembering) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            answer = server.answer(httpx.Request("POST", f"http://x{self.path}", content=body))
            self.send_response(answer.status_code)
            self.send_header("content-type", answer.headers["content-type"])
            self.send_header("content-length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{http.server_port}"
        finally:
            http.shutdown()
            thread.join()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    made = tmp_path / "w"
    made.mkdir()
    for name in "abc":
        (made / f"{name}.py").write_text(f"{name} = 1\n")
    return made


def read(name: str, signature: str = "", call_id: str = "") -> dict[str, object]:
    return call("Read", {"path": f"{name}.py"}, signature=signature, call_id=call_id)


async def test_signatures_outlive_turns_and_a_restart(workspace: Path) -> None:
    server = Remembering(
        [chunk({"text": "hm", "thought": True}), chunk(read("a", "c2lnMQ==", "1"), read("b", "", "2")), stop()],
        [chunk(call("default_api.Read", {"path": "c.py"}, signature="c2lnMg==")), stop({"text": ""})],
        [chunk({"text": "All read."}), stop({"text": "", "thoughtSignature": "c2lnMw=="})],
        [stop({"text": "Bye."})],
    )
    with listening(server) as url:
        async with over_http(workspace, "gemini", url, published={}) as engine:
            session, _, first = await engine.turns.run(None, "read all", lambda *_: None)
        async with over_http(workspace, "gemini", url, published={}) as engine:
            _, _, last = await engine.turns.run(session.id, "thanks", lambda *_: None)
    assert (first.text, last.text) == ("All read.", "Bye.")
    assert not server.refused
    assert [len(body["contents"]) for body in server.bodies] == [1, 3, 5, 7]
    for shorter, longer in zip(server.bodies, server.bodies[1:], strict=False):
        assert longer["contents"][: len(shorter["contents"])] == shorter["contents"]
        assert longer["tools"] == shorter["tools"]
    answers = server.bodies[1]["contents"][2]["parts"]
    assert [str(part).count(" = 1") for part in answers] == [1, 1]
    assert server.bodies[-1]["contents"][5]["parts"][-1] == {"text": "", "thoughtSignature": "c2lnMw=="}


async def test_a_malformed_call_is_asked_for_again_and_never_an_end(workspace: Path) -> None:
    server = Remembering(MALFORMED, MALFORMED, [chunk(read("a", "c2lnMQ==")), stop()], [stop({"text": "Read."})])
    events: list[TurnEvent] = []
    with listening(server) as url:
        async with over_http(workspace, "gemini", url, published={}) as engine:
            _, _, outcome = await engine.turns.run(None, "read a", lambda _s, _t, event: events.append(event))
    assert outcome.text == "Read."
    notices = [event.message for event in events if isinstance(event, Notice)]
    assert sum("MALFORMED_FUNCTION_CALL" in text for text in notices) == 2


async def test_a_refused_signature_is_taken_out_once_and_the_turn_goes_on(workspace: Path) -> None:
    server = Remembering(
        [chunk(read("a", "c2lnMQ==", "1")), stop()],
        [stop({"text": "Read."})],
    )
    server.forget = True
    with listening(server) as url:
        async with over_http(workspace, "gemini", url, published={}) as engine:
            _, _, outcome = await engine.turns.run(None, "read a", lambda *_: None)
    assert outcome.text == "Read."
    assert server.refused == ["Invalid thought signature."]
    [part] = server.bodies[-1]["contents"][1]["parts"]
    assert part["thoughtSignature"] == DUMMY


async def test_one_tool_that_is_refused_is_left_out_and_the_turn_goes_on(workspace: Path) -> None:
    server = Remembering([chunk(read("a", "c2lnMQ==")), stop()], [stop({"text": "Read."})])
    server.refuses = "mcp__odd__bad"
    published = {"odd": (mcp_tool("odd", "bad"), mcp_tool("odd", "good"))}
    events: list[TurnEvent] = []
    tools = {"enabled": ["mcp__odd__*"]}
    with listening(server) as url:
        async with over_http(workspace, "gemini", url, published=published, tools=tools) as engine:
            _, _, outcome = await engine.turns.run(None, "read a", lambda _s, _t, event: events.append(event))
    assert outcome.text == "Read."
    assert len(server.refused) == 1
    names = [tool["name"] for tool in server.bodies[-1]["tools"][0]["functionDeclarations"]]
    assert "mcp__odd__good" in names
    assert "mcp__odd__bad" not in names
    assert any("mcp__odd__bad" in event.message for event in events if isinstance(event, Notice))
