"""The real server over the wire: cancelling, clients that cannot ask, open buffers, stored sessions, bad input."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from llmock.pytest_plugin import LLMock
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from editor_client import BOUND, Editor, clean_environment, editor
from raw_client import request, start

TIME = {"command": sys.executable, "args": ["-m", "mcp_server_time", "--local-timezone", "UTC"]}
NOW = "mcp__time__get_current_time"
SLEEP = f"sleep 61.{os.getpid()}"  # of this run of the tests alone


def double(llmock: LLMock) -> dict[str, Any]:
    return {"provider": "openai-chat", "baseUrl": llmock.base_url("openai"), "model": "gpt-4o"}


async def cancelled_turn(one: Editor, turn: asyncio.Task[Any], msg_id: str) -> int:
    """The error code that a cancelled turn gets; it must not wait for what runs, which takes half a minute at least."""
    one.cancel(msg_id)
    done, _ = await asyncio.wait({turn}, timeout=10)
    assert done, "the answer to a cancelled request waited for what was cancelled"
    error = turn.exception()
    assert isinstance(error, JsonRpcException)
    return error.code


@pytest.mark.parametrize("phase", ["streaming", "permission", "tool"])
async def test_c19_a_cancelled_turn_is_answered_and_the_next_one_works(
    llmock: LLMock, workspace: Path, home: Path, phase: str
) -> None:
    if phase == "streaming":
        llmock.reply("a b c d e f g h").stall(after_chunks=3, seconds=30)
    else:
        llmock.call_tool("Bash", {"command": f"echo begun; {SLEEP}"})
    async with editor(workspace, home, settings=double(llmock)) as one:
        asking = asyncio.Event()

        async def think(params: dict[str, Any]) -> dict[str, Any]:
            asking.set()
            if phase == "permission":
                await asyncio.Event().wait()
            return {"choice": "once"}

        one.on_permission = think
        turn = asyncio.create_task(one.request("caddie/chat/turn", {"message": "go"}, msg_id="t1"))
        if phase == "streaming":
            await one.until(lambda: one.events("text"))
        elif phase == "permission":
            async with asyncio.timeout(BOUND):
                await asking.wait()
        else:
            await one.until(lambda: any("begun" in event.get("progress", "") for event in one.events("toolCall")))
        assert await cancelled_turn(one, turn, "t1") == -32800
        assert one.events("done")[-1]["stopReason"] == "cancelled"
        session = next(params["sessionId"] for method, params in one.said if method == "caddie/chat/event")
        llmock.reset()
        llmock.reply("Here I am.")
        again = await one.turn("still there?", sessionId=session)
        assert again["text"] == "Here I am."
        sleeping = [p for p in psutil.process_iter(["cmdline"]) if SLEEP in " ".join(p.info["cmdline"] or ())]
        assert sleeping == [], "a cancelled command must not run on"


@pytest.mark.parametrize("end", ["window", "killed"])
async def test_a_turn_whose_window_or_server_went_away_is_told_as_interrupted(
    llmock: LLMock, workspace: Path, home: Path, end: str
) -> None:
    llmock.reply("a b c d e f g h").stall(after_chunks=3, seconds=30)
    async with editor(workspace, home, settings=double(llmock)) as one:
        turn = asyncio.create_task(one.request("caddie/chat/turn", {"message": "go"}, msg_id="t1"))
        await one.until(lambda: one.events("text"))
        session = next(params["sessionId"] for method, params in one.said if method == "caddie/chat/event")
        if end == "killed":
            one.client._server.kill()
            await one.client._server.wait()
    turn.cancel()
    await asyncio.wait({turn})
    async with editor(workspace, home, settings=double(llmock)) as one:
        opened = await one.request("caddie/session/open", {"sessionId": session})
        assert (opened["interrupted"], opened["notices"]) == (True, [])
        told = [(item["kind"], item["text"]) for item in opened["transcript"]]
        assert told[0] == ("user", "go")
        if end == "window":
            assert [kind for kind, _ in told] == ["user", "assistant"]
            assert told[1][1].startswith("a")
        else:
            assert len(told) == 1, "what had not been stored is not made up"
        llmock.reset()
        llmock.reply("Here I am.")
        await one.turn("go on", sessionId=session)
        opened = await one.request("caddie/session/open", {"sessionId": session})
        assert not opened["interrupted"]


@pytest.mark.parametrize("length", [100, 5_000, 200_000])
async def test_the_whole_of_a_long_result_can_be_had(llmock: LLMock, workspace: Path, home: Path, length: int) -> None:
    words = "é" * length
    command = f"{sys.executable} -X utf8 -c \"print('é' * {length})\""
    llmock.call_tool("Bash", {"command": command})
    async with editor(workspace, home, settings=double(llmock)) as one:
        one.on_permission = lambda params: {"choice": "once"}
        turn = asyncio.create_task(one.request("caddie/chat/turn", {"message": "go"}, msg_id="t1"))
        await one.until(lambda: ("Bash", "done") in one.calls())
        llmock.reset()
        llmock.reply("Done.")
        session = (await turn)["sessionId"]
        done = next(event for event in one.events("toolCall") if event["status"] == "done")
        assert len(done["result"]) < 4_100
        assert (done.get("resultChars") is None) == (length == 100)
        whole = await one.request("caddie/session/result", {"sessionId": session, "callId": done["callId"]})
        assert words in whole["text"]
        with pytest.raises(JsonRpcException, match="no call 'x'"):
            await one.request("caddie/session/result", {"sessionId": session, "callId": "x"})


async def test_d14_a_client_without_the_capability_is_not_asked_and_the_reason_says_so(
    workspace: Path, home: Path
) -> None:
    settings = {"mcp": {"servers": {"time": TIME}}}
    async with editor(workspace, home, settings=settings, capabilities={}) as one:
        await one.server_is("time", "ready")
        result = await one.request("caddie/tools/execute", {"toolName": NOW, "params": {"timezone": "UTC"}})
        assert one.asked == []
    assert result["isError"]
    assert "this client cannot ask permissions" in result["content"][0]["text"]


async def test_d14_a_client_that_answers_with_an_error_is_not_a_person_who_said_no(workspace: Path, home: Path) -> None:
    def fail(params: dict[str, Any]) -> dict[str, Any]:
        raise RuntimeError("no such prompt")

    settings = {"mcp": {"servers": {"time": TIME}}}
    async with editor(workspace, home, settings=settings) as one:
        one.on_permission = fail
        await one.server_is("time", "ready")
        result = await one.request("caddie/tools/execute", {"toolName": NOW, "params": {"timezone": "UTC"}})
    assert result["isError"]
    assert "could not be asked" in result["content"][0]["text"]
    assert "person refused" not in result["content"][0]["text"]


async def test_d14_a_client_that_goes_away_while_asked_leaves_nothing_hanging(workspace: Path, home: Path) -> None:
    async with start(program=("-m", "caddie", "serve"), cwd=workspace, env=clean_environment(home)) as client:
        client.send(request(1, "caddie/tools/execute", {"toolName": "Bash", "params": {"command": "true"}}))
        while (await client.read())["method"] != "caddie/permission/ask":
            pass
        client.stdin.close()
        code, log = await client.end()
    assert code == 0
    assert "Traceback" not in log


async def test_a_client_that_leaves_at_once_leaves_no_trace(workspace: Path, home: Path) -> None:
    async with start(program=("-m", "caddie", "serve"), cwd=workspace, env=clean_environment(home)) as client:
        client.stdin.close()
        assert await client.end() == (0, "")


async def test_a_request_sent_at_once_after_initialize_waits_for_the_engine_and_is_answered(
    workspace: Path, home: Path
) -> None:
    async with start(program=("-m", "caddie", "serve"), cwd=workspace, env=clean_environment(home)) as client:
        client.send(request(1, "caddie/tools/list"), request(2, "caddie/nothing"), request(3, "caddie/chat/turn", {}))
        answers: dict[int, Any] = {}
        while len(answers) < 3:
            message = await client.read()
            if "id" in message and "method" not in message:
                answers[message["id"]] = message
    assert answers[1]["result"]["totals"]["enabled"] >= 10
    assert (answers[2]["error"]["code"], answers[3]["error"]["code"]) == (-32601, -32602)


async def test_an_unknown_choice_is_a_refusal(workspace: Path, home: Path) -> None:
    async with editor(workspace, home) as one:
        one.on_permission = lambda params: {"choice": "sure, whatever", "feedback": "not today"}
        result = await one.request("caddie/tools/execute", {"toolName": "Bash", "params": {"command": "touch x"}})
    assert result["isError"]
    assert "not today" in result["content"][0]["text"]
    assert not (workspace / "x").exists()


async def test_reads_see_unsaved_text_and_what_no_session_has_read_is_not_written_over(
    workspace: Path, home: Path
) -> None:
    path = workspace / "notes.txt"
    path.write_text("on disk\n")
    async with editor(workspace, home) as one:
        applied: list[Any] = []

        @one.client.feature(types.WORKSPACE_APPLY_EDIT)
        def apply(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
            applied.append(params.edit)
            return types.ApplyWorkspaceEditResult(applied=True)

        item = types.TextDocumentItem(path.as_uri(), "text", 3, "first\nunsaved\nlast\n")
        one.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        one.on_permission = lambda params: {"choice": "once"}
        session = await one.request("caddie/session/list")
        assert session == {"sessions": []}
        read = await one.request("caddie/tools/execute", {"toolName": "Read", "params": {"path": "notes.txt"}})
        assert "unsaved" in read["content"][0]["text"]
        write = {"path": "notes.txt", "content": "first\nchanged\nlast\n"}
        result = await one.request("caddie/tools/execute", {"toolName": "Write", "params": write})
    assert result["isError"]
    assert "has not been read in this session" in result["content"][0]["text"], "what one call read is no other's"
    assert applied == []
    assert path.read_text() == "on disk\n"


async def test_an_edit_of_an_open_file_in_a_turn_is_shown_as_a_diff_and_applied_as_one_change(
    llmock: LLMock, workspace: Path, home: Path
) -> None:
    path = workspace / "notes.txt"
    path.write_text("on disk\n")
    llmock.call_tool("Read", {"path": "notes.txt"})
    llmock.call_tool("Edit", {"path": "notes.txt", "old_string": "unsaved", "new_string": "changed"})
    llmock.reply("Done.")
    applied: list[Any] = []

    def prepare(one: Editor) -> None:
        @one.client.feature(types.WORKSPACE_APPLY_EDIT)
        def apply(params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
            applied.append(params.edit)
            return types.ApplyWorkspaceEditResult(applied=True)

    async with editor(workspace, home, settings=double(llmock), prepare=prepare) as one:
        item = types.TextDocumentItem(path.as_uri(), "text", 3, "first\nunsaved\nlast\n")
        one.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        one.on_permission = lambda params: {"choice": "once"}
        result = await one.turn("change it")
    assert result["text"] == "Done."
    preview = one.asked[0][1]["preview"]
    assert preview["kind"] == "diff"
    assert "-unsaved\n+changed" in preview["unified"]
    change = applied[0].document_changes[0].edits[0]
    assert (change.range.start.line, change.range.end.line, change.new_text) == (1, 2, "changed\n")
    assert path.read_text() == "on disk\n"


async def test_a_session_is_listed_opened_renamed_and_deleted(llmock: LLMock, workspace: Path, home: Path) -> None:
    llmock.call_tool("Glob", {"pattern": "*"})
    llmock.reply("Nothing here.")
    async with editor(workspace, home, settings=double(llmock)) as one:
        turn = await one.turn("What is here?")
        [listed] = (await one.request("caddie/session/list"))["sessions"]
        opened = await one.request("caddie/session/open", {"sessionId": turn["sessionId"]})
        renamed = await one.request("caddie/session/rename", {"sessionId": turn["sessionId"], "title": "Empty"})
        await one.request("caddie/session/delete", {"sessionId": turn["sessionId"]})
        assert await one.request("caddie/session/list") == {"sessions": []}
        with pytest.raises(JsonRpcException) as gone:
            await one.request("caddie/session/open", {"sessionId": turn["sessionId"]})
    assert (listed["title"], listed["turns"]) == ("What is here?", 1)
    assert [item["kind"] for item in opened["transcript"]] == ["user", "toolCall", "assistant"]
    assert renamed["title"] == "Empty"
    assert gone.value.data["kind"] == "session_not_found"


async def test_events_are_numbered_without_gaps(llmock: LLMock, workspace: Path, home: Path) -> None:
    llmock.call_tool("Glob", {"pattern": "*"})
    llmock.reply("A longer answer that comes in several pieces, one after the other, to be counted.")
    async with editor(workspace, home, settings=double(llmock)) as one:
        await one.turn("go")
        numbers = [params["seq"] for method, params in one.said if method == "caddie/chat/event"]
    assert numbers == list(range(1, len(numbers) + 1))
    assert one.events()[-1]["kind"] == "done"


async def test_a_draft_is_answered_with_hints_and_a_pick_puts_the_tool_into_the_turn(
    llmock: LLMock, workspace: Path, home: Path
) -> None:
    llmock.reply("It is noon.")
    settings = {**double(llmock), "mcp": {"servers": {"time": TIME}}}
    async with editor(workspace, home, settings=settings) as one:
        await one.server_is("time", "ready")
        one.client.protocol.notify("caddie/chat/draft", {"draftId": "d1", "text": "what is the current time in Tokyo"})
        await one.until(lambda: NOW in one.hints("draft"))
        await one.turn("what is the current time in Tokyo", pickedTools=[NOW])
    body = str(llmock.requests[0].body)
    assert "<picked-tools>" in body
    assert f"## {NOW}" in body


async def test_an_untrusted_folder_is_asked_about_once_and_then_its_servers_start(workspace: Path, home: Path) -> None:
    (workspace / ".mcp.json").write_text(json.dumps({"mcpServers": {"time": TIME}}))

    def trusting(one: Editor) -> None:
        one.on_question = lambda params: {"answers": {"trust": "Trust"}}

    async with editor(workspace, home, trusted=None, prepare=trusting) as one:
        await one.server_is("time", "ready")
        assert "start the MCP server time" in one.asked[0][1]["questions"][0]["question"]
    async with editor(workspace, home, trusted=None) as two:
        await two.server_is("time", "ready")
        assert two.asked == []


@pytest.mark.parametrize("trusted", [False, None])
async def test_what_waits_for_trust_is_said_with_the_way_that_an_editor_has(
    workspace: Path, home: Path, trusted: bool | None
) -> None:
    (workspace / ".mcp.json").write_text(json.dumps({"mcpServers": {"time": TIME}}))
    async with editor(workspace, home, trusted=trusted) as one:
        [notice] = (await one.request("caddie/mcp/list"))["notices"]
    way = "say that you trust it, which is asked when Caddie starts"
    if trusted is False:
        way = "trust it with the editor's own workspace trust"
    assert notice == f"The servers time of this folder wait until you {way}."


async def test_settings_that_change_take_effect_and_bad_ones_are_reported(workspace: Path, home: Path) -> None:
    async with editor(workspace, home, settings={"tools": {"profil": "lean"}}) as one:
        before = await one.request("caddie/tools/list")
        notices = (await one.request("caddie/mcp/list"))["notices"]
        one.client.workspace_did_change_configuration(
            types.DidChangeConfigurationParams(
                settings={"caddie": {"tools": {"profile": "lean", "disabled": ["Bash"]}}}
            )
        )
        after = await one.request("caddie/tools/list")
    assert before["profile"] == "standard"
    assert any("did you mean 'profile'" in notice for notice in notices)
    states = {tool["name"]: tool["state"] for tool in after["tools"]}
    assert (states["Bash"], states["WebFetch"], states["Read"]) == ("disabled", "deferred", "enabled")


async def test_states_set_one_after_the_other_are_all_kept_and_can_be_reset(workspace: Path, home: Path) -> None:
    async def states(one: Editor) -> dict[str, str]:
        listed = await one.request("caddie/tools/list")
        return {tool["name"]: tool["state"] for tool in listed["tools"]}

    async with editor(workspace, home, settings={"tools": {"profile": "standard"}}) as one:
        for tool in ("Bash", "WebFetch"):
            change = {"changes": [{"tool": tool, "state": "disabled"}], "scope": "workspace"}
            await one.request("caddie/tools/setState", change)
        both = await states(one)
        reset = {"changes": [{"tool": "Bash", "state": "default"}], "scope": "workspace"}
        changed = await one.request("caddie/tools/setState", reset)
    assert (both["Bash"], both["WebFetch"]) == ("disabled", "disabled")
    assert [(tool["name"], tool["state"]) for tool in changed["changed"]] == [("Bash", "enabled")]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_the_server_and_its_mcp_servers(workspace: Path, home: Path, number: int) -> None:
    settings = {"mcp": {"servers": {"time": TIME}}}
    async with editor(workspace, home, settings=settings) as one:
        await one.server_is("time", "ready")
        process = one.client._server
        children = psutil.Process(process.pid).children(recursive=True)
        assert children
        process.send_signal(number)
        async with asyncio.timeout(BOUND):
            assert await process.wait() == 128 + number
        _, alive = await asyncio.to_thread(psutil.wait_procs, children, BOUND)
        assert alive == []


async def test_bad_params_unknown_methods_and_hostile_ids_are_answered_without_our_paths(
    workspace: Path, home: Path
) -> None:
    cases: list[tuple[str, dict[str, Any], int]] = [
        ("caddie/chat/turn", {}, -32602),
        ("caddie/chat/turn", {"message": "x", "extra": 1}, -32602),
        ("caddie/tools/search", {"query": "x", "limit": 0}, -32602),
        ("caddie/session/open", {"sessionId": "../../etc/passwd"}, -32602),
        ("caddie/mcp/start", {"server": "nope"}, -32050),
        ("caddie/tools/cycleState", {"tool": "nope", "scope": "workspace"}, -32050),
        ("caddie/nothing/here", {}, -32601),
    ]
    async with editor(workspace, home) as one:
        for method, params, code in cases:
            with pytest.raises(JsonRpcException) as refused:
                await one.request(method, params)
            assert refused.value.code == code, method
            assert "Traceback" not in str(refused.value.data)
            assert "site-packages" not in str(refused.value.message)


def test_the_environment_of_a_test_has_no_key(home: Path) -> None:
    assert not [name for name in clean_environment(home) if name.endswith("_API_KEY")]
