"""What users of such systems ran into, sections E and U: conversations that are compacted, cut, damaged or resumed."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from llmock.pytest_plugin import LLMock

from command_kit import caddie, double, lines
from editor_client import editor
from engine_kit import desk, mcp_tool
from fake_anthropic import FakeAnthropic, text, use
from provider_bodies import check_anthropic

TARGETS = Path(__file__).parents[1] / "fixtures" / "mcp_servers" / "targets.py"
WRITE = "mcp__acme__write"


def targets(tmp_path: Path) -> dict[str, Any]:
    return {"mcp": {"servers": {"acme": {"command": sys.executable, "args": [str(TARGETS), str(tmp_path / "heard")]}}}}


def anthropic(llmock: LLMock) -> dict[str, Any]:
    model = {"provider": "anthropic", "baseUrl": llmock.base_url("anthropic"), "model": "claude-sonnet-5"}
    return {**model, "permissions": {"mode": "auto"}, "tools": {"deferral": "bridge"}}


KEY = {"ANTHROPIC_API_KEY": "test-key-7e3a"}


def bodies(llmock: LLMock) -> list[dict[str, Any]]:
    """What the model was asked, each checked by the vendor's own types and rules."""
    found = [record.body for record in llmock.requests if record.body and "messages" in record.body]
    for body in found:
        check_anthropic(body)
    return found


def results(body: dict[str, Any]) -> list[dict[str, Any]]:
    return [block for block in body["messages"][-1]["content"] if block["type"] == "tool_result"]


async def test_e03_a_tool_that_was_found_before_a_compaction_can_be_called_after_it(
    llmock: LLMock, workspace: Path, home: Path, tmp_path: Path
) -> None:
    right, wrong = {"path": "a.txt", "mode": "new"}, {"path": "a.txt", "mode": "overwrite"}
    llmock.call_tool("ToolSearch", {"query": f"select:{WRITE}"})
    llmock.call_tool("ExecuteTool", {"tool_name": WRITE, "params": right})
    llmock.reply("Written.")
    llmock.reply("Notes: a.txt was written.")
    llmock.call_tool("ExecuteTool", {"tool_name": WRITE, "params": right})
    llmock.call_tool("ExecuteTool", {"tool_name": WRITE, "params": wrong})
    llmock.call_tool(WRITE, right)
    llmock.reply("Again.")
    async with editor(workspace, home, settings=anthropic(llmock) | targets(tmp_path), env=KEY) as one:
        await one.server_is("acme", "ready")
        session = (await one.turn("write a.txt"))["sessionId"]
        made = await one.request("caddie/session/compact", {"sessionId": session})
        assert made["notes"] == "Notes: a.txt was written."
        assert (await one.turn("once more", sessionId=session))["text"] == "Again."
    asked = bodies(llmock)
    first = json.dumps(asked[4]["messages"])
    assert WRITE in first
    assert '\\"depth\\"' not in first, "the schema itself went with the history"
    assert not results(asked[5])[0].get("is_error"), "it is called as before"
    refused = results(asked[6])[0]
    assert refused["is_error"]
    assert '"append"' in str(refused["content"]), "the error carries what the call needs"
    assert '"depth"' in str(refused["content"])
    assert not results(asked[7])[0].get("is_error"), "also by its own name"
    heard = [json.loads(line) for line in (tmp_path / "heard").read_text().splitlines()]
    assert heard == [["call", "write", right]] * 3


async def test_e04_the_tools_of_a_request_are_the_same_bytes_before_and_after_a_compaction_and_a_restart(
    llmock: LLMock, workspace: Path, home: Path, tmp_path: Path
) -> None:
    llmock.call_tool("ToolSearch", {"query": f"select:{WRITE}"})
    for answer in ("Found.", "Notes.", "After.", "Restarted.", "More notes.", "At last."):
        llmock.reply(answer)
    settings = anthropic(llmock) | targets(tmp_path)
    async with editor(workspace, home, settings=settings, env=KEY) as one:
        await one.server_is("acme", "ready")
        session = (await one.turn("find write"))["sessionId"]
        await one.request("caddie/session/compact", {"sessionId": session})
        await one.turn("go on", sessionId=session)
    async with editor(workspace, home, settings=settings, env=KEY) as two:
        await two.server_is("acme", "ready")
        await two.turn("and now?", sessionId=session)
        await two.request("caddie/session/compact", {"sessionId": session})
        await two.turn("and after a restart?", sessionId=session)
    asked = bodies(llmock)
    said = [index for index, body in enumerate(asked) if body["messages"][-1]["role"] == "user" and "tools" in body]
    tools = {json.dumps(asked[index]["tools"]) for index in (0, 1, 3, 4, 6)}
    assert set(said) >= {0, 1, 3, 4, 6}
    assert len(tools) == 1
    assert {"ToolSearch", "ExecuteTool"} <= {tool["name"] for tool in asked[-1]["tools"]}
    for index in (0, 3, 6):
        assert WRITE in json.dumps(asked[index]["messages"]), "what can be searched is named in each new beginning"


@contextmanager
def reasoning_only() -> Iterator[str]:
    """The address of a model that thinks and says nothing."""
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None,
               "stop_sequence": None, "usage": {"input_tokens": 3, "output_tokens": 1}}  # fmt: skip
    thinking = {"type": "thinking", "thinking": "", "signature": ""}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": thinking},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "I need acme."}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "sig"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    ]  # fmt: skip
    stream = b"".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events)

    class Thinker(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("content-length", str(len(stream)))
            self.end_headers()
            self.wfile.write(stream)

        def log_message(self, format: str, *args: object) -> None:
            """Not on the test's own stderr."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Thinker) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_e05_an_answer_of_reasoning_alone_is_flagged_as_empty_and_no_success(
    workspace: Path, home: Path, tmp_path: Path
) -> None:
    path = home / ".config" / "caddie" / "settings.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(targets(tmp_path)))
    with reasoning_only() as address:
        env = {"CADDIE_PROVIDER": "anthropic", "CADDIE_BASE_URL": address, "CADDIE_MODEL": "claude-sonnet-5", **KEY}
        told = caddie(workspace, home, "ask", "use acme", "--json", "--require", "acme", env=env)
    last = lines(told)[-1]["result"]
    assert (told.returncode, last["exitCode"], last["stopReason"], last["text"]) == (4, 4, "emptyAnswer", "")
    assert "empty_answer" in [line["event"].get("code") for line in lines(told) if "event" in line]


async def test_e06_a_damaged_conversation_opens_with_a_notice_and_the_next_request_is_valid(
    llmock: LLMock, workspace: Path, home: Path, tmp_path: Path
) -> None:
    """Cut in the middle of a line, robbed of its results, or naming tools that are no more: each opened elsewhere."""
    (workspace / "a.txt").write_text("alpha")
    llmock.call_tool("Read", {"path": "a.txt"})
    llmock.reply("It says alpha.")
    llmock.call_tool(WRITE, {"path": "b.txt"})
    llmock.reply("Written.")
    settings = anthropic(llmock)
    with_tool = settings | targets(tmp_path) | {"tools": {"enabled": [WRITE], "deferral": "bridge"}}
    async with editor(workspace, home, settings=with_tool, env=KEY) as one:
        await one.server_is("acme", "ready")
        session = (await one.turn("read a.txt"))["sessionId"]
        await one.turn("write b.txt", sessionId=session)
    [path] = home.glob("**/caddie/sessions/*/*.jsonl")
    whole = path.read_bytes()
    middle = len(whole) // 2
    without_results = b"".join(line for line in whole.splitlines(True) if b'"toolAnswer"' not in line)
    damages = {
        "head": (whole[:middle], "1 damaged lines of this session were skipped"),
        "tail": (whole[middle:], "The beginning of this session is missing"),
        "results": (without_results, ""),
        "tools": (whole, ""),
    }
    for name, (data, _) in damages.items():
        path.with_name(f"damage-{name}.jsonl").write_bytes(data)
    async with editor(workspace, home, settings=settings, env=KEY) as two:
        for name, (_, notice) in damages.items():
            opened = await two.request("caddie/session/open", {"sessionId": f"damage-{name}"})
            assert notice in " ".join(opened["notices"]), name
            llmock.reset()
            if name == "tools":
                llmock.call_tool(WRITE, {"path": "c.txt"})
            llmock.reply("Still here.")
            assert (await two.turn("and now?", sessionId=f"damage-{name}"))["text"] == "Still here."
            said = bodies(llmock)
            assert said[0]["messages"][-1]["content"][-1]["text"] == "and now?"
    assert WRITE in [tool["name"] for tool in said[0]["tools"]], "the prefix stays"
    [refused] = results(said[1])
    assert refused["is_error"]
    assert WRITE in str(refused["content"])
    damaged = caddie(workspace, home, "ask", "hi", "--resume", "damage-tail", env={"CADDIE_PROVIDER": "offline"})
    assert "The beginning of this session is missing" in damaged.stderr


async def test_e06_a_conversation_whose_file_was_deleted_goes_on_where_it_is_open_and_is_unknown_elsewhere(
    llmock: LLMock, workspace: Path, home: Path
) -> None:
    for answer in ("One.", "Two.", "Three."):
        llmock.reply(answer)
    async with editor(workspace, home, settings=anthropic(llmock), env=KEY) as one:
        session = (await one.turn("first"))["sessionId"]
        [path] = home.glob("**/caddie/sessions/*/*.jsonl")
        path.unlink()
        gone = caddie(workspace, home, "ask", "hi", "--resume", session, env=double(llmock))
        assert (await one.turn("second", sessionId=session))["text"] == "Two."
    assert gone.returncode == 2
    assert f"There is no stored session '{session}'" in gone.stderr
    async with editor(workspace, home, settings=anthropic(llmock), env=KEY) as two:
        opened = await two.request("caddie/session/open", {"sessionId": session})
        assert "The beginning of this session is missing; what is left of it is here." in opened["notices"]
        assert (await two.turn("third", sessionId=session))["text"] == "Three."
    assert "second" in json.dumps(bodies(llmock)[-1]["messages"])


async def test_e06_whichever_lines_are_lost_the_next_request_is_valid(workspace: Path) -> None:
    """Each line alone, each beginning and each end: in one engine, as sessions of their own."""
    api = FakeAnthropic([[use("Read", path="a.txt"), use("Glob", pattern="*")], [text("Read.")],
                         [use("Glob", pattern="*.py")], [text("None.")]])  # fmt: skip
    (workspace / "a.txt").write_text("alpha")
    tools = {"a": (mcp_tool("a", "b"),)}
    async with desk(workspace, provider=api.provider(), tools=tools) as one:
        session, _ = await one.turn("read a.txt")
        await one.turn("any Python?", session)
        folder = one.engine.configuration.places.sessions
        whole = (folder / f"{session}.jsonl").read_text().splitlines(keepends=True)
        count = len(whole)
        ways = [[n for n in range(count) if n != lost] for lost in range(count)]
        ways += [list(range(first, count)) for first in range(1, count)]
        ways += [list(range(last)) for last in range(1, count)]
        for number, kept in enumerate(ways):
            (folder / f"copy-{number}.jsonl").write_text("".join(whole[n] for n in kept))
            api.script.append([text("Here.")])
            _, said = await one.turn("go on", f"copy-{number}")
            assert said == "Here.", kept
    assert api.refusals == []


async def test_u08_a_picked_hint_goes_into_its_own_session_and_hints_come_again(
    llmock: LLMock, workspace: Path, home: Path, tmp_path: Path
) -> None:
    hold, words = "mcp__acme__recording", "play the recording"
    for _ in range(5):
        llmock.reply("Yes.")
    async with editor(workspace, home, settings=anthropic(llmock) | targets(tmp_path), env=KEY) as one:
        await one.server_is("acme", "ready")

        async def ask(session: str | None, **params: Any) -> str:
            before = len(one.said)

            def shown() -> list[dict[str, Any]]:
                return [p for m, p in one.said[before:] if m == "caddie/hints/show" and p["source"] == "turn"]

            result = await one.turn(words, **({"sessionId": session} if session else {}), **params)
            await one.until(lambda: any(hold == hint["tool"] for params in shown() for hint in params["hints"]))
            assert {params["sessionId"] for params in shown()} == {result["sessionId"]}
            return str(result["sessionId"])

        first = await ask(None)
        second = await ask(None)
        await ask(first, pickedTools=[hold])
        await ask(first)
        await ask(second)
    asked = [json.dumps(body["messages"]) for body in bodies(llmock)]
    defined = [f"## {hold}" in messages for messages in asked]
    assert defined == [False, False, True, True, False], "picked for one session, and for no other"
    assert [messages.count(f"## {hold}") for messages in asked] == [0, 0, 1, 1, 0], "once is enough"
