"""What users of such systems ran into, section B: MCP servers, through the real `caddie serve` and `caddie ask`."""

from __future__ import annotations

import asyncio
import itertools
import json
import signal
import sys
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from llmock.pytest_plugin import LLMock

from command_kit import caddie, double, lines
from editor_client import BOUND, Editor, clean_environment, editor
from raw_client import RawClient, request, start

FIXTURES = Path(__file__).parents[1] / "fixtures" / "mcp_servers"
FREE = {"permissions": {"mode": "auto"}}


def server(script: str, *args: object, **more: Any) -> dict[str, Any]:
    return {"command": sys.executable, "args": [str(FIXTURES / script), *map(str, args)], **more}


def with_children(script: str, *args: object) -> dict[str, Any]:
    """The server as a shell starts it that leaves something running beside."""
    words = " ".join([sys.executable, str(FIXTURES / script), *map(str, args)])
    return {"command": "sh", "args": ["-c", f"sleep 999 & exec {words}"]}


def configure(home: Path, **servers: Any) -> None:
    """As the person's own settings, so that nothing has to be trusted."""
    path = home / ".config" / "caddie" / "settings.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**FREE, "mcp": {"servers": servers}}))


def openai(llmock: LLMock, **servers: Any) -> dict[str, Any]:
    model = {"provider": "openai-chat", "baseUrl": llmock.base_url("openai"), "model": "gpt-4o"}
    return {**model, **FREE, "mcp": {"servers": servers}}


def bodies(llmock: LLMock) -> list[dict[str, Any]]:
    return [record.body for record in llmock.requests if record.body and "messages" in record.body]


def assert_only_appended(sent: list[dict[str, Any]]) -> None:
    """Each request begins with all of the one before, to the byte."""
    for before, after in itertools.pairwise(sent):
        assert json.dumps(after["tools"]) == json.dumps(before["tools"])
        assert json.dumps(after["messages"][: len(before["messages"])]) == json.dumps(before["messages"])


async def until_true(is_so: Callable[[], Any]) -> None:
    """For what only the system knows."""
    async with asyncio.timeout(BOUND):
        while not is_so():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


def running(home: Path) -> list[psutil.Process]:
    """Whatever was started with this home, directly or not, and has not ended."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.status() != psutil.STATUS_ZOMBIE and process.environ().get("HOME") == str(home):
                found.append(process)
        except psutil.Error:
            continue
    return found


def still_running(home: Path) -> list[psutil.Process]:
    """What does not end; what was killed may take a moment on a busy machine."""
    return list(psutil.wait_procs(running(home), timeout=BOUND)[1])


def programs(home: Path) -> list[str]:
    """The names of the servers' processes."""
    return sorted(process.name() for process in running(home) if "caddie" not in process.cmdline())


async def tools_of(one: Editor, name: str) -> list[str]:
    listed = await one.request("caddie/tools/list")
    return [tool["name"] for tool in listed["tools"] if tool.get("server") == name]


async def say(one: Editor, tool: str, **params: Any) -> str:
    result = await one.request("caddie/tools/execute", {"toolName": tool, "params": params})
    return str(result["content"][0]["text"])


def test_b01_the_only_turn_of_a_script_waits_for_a_slow_server(llmock: LLMock, workspace: Path, home: Path) -> None:
    configure(home, acme=server("slow_list.py", 3))
    llmock.call_tool("ExecuteTool", {"tool_name": "mcp__acme__slow", "params": {}})
    llmock.reply("It was worth it.")
    result = caddie(workspace, home, "ask", "use mcp__acme__slow", "--json", env=double(llmock))
    assert result.returncode == 0, result.stderr
    calls = [line["event"] for line in lines(result) if line.get("event", {}).get("kind") == "toolCall"]
    assert (calls[-1]["tool"], calls[-1]["status"]) == ("mcp__acme__slow", "done")
    assert "worth the wait" in calls[-1]["result"]
    assert "mcp__acme__slow" in json.dumps(bodies(llmock)[0]["messages"]), "known from the first request on"
    assert lines(result)[-1]["result"]["pendingServers"] == []


def test_b01_a_server_that_is_not_there_in_time_is_named_and_fails_who_requires_it(
    llmock: LLMock, workspace: Path, home: Path, tmp_path: Path
) -> None:
    configure(home, acme=server("holds_list.py", tmp_path / "never"))
    llmock.reply("Without it.")
    told = caddie(workspace, home, "ask", "use mcp__acme__slow", "--json", "--wait", "0.5", env=double(llmock))
    assert lines(told)[-1]["result"]["pendingServers"] == ["acme"]
    notices = [line["event"]["message"] for line in lines(told) if line.get("event", {}).get("kind") == "notice"]
    assert "The MCP server acme is still connecting." in notices
    required = caddie(workspace, home, "ask", "hi", "--wait", "0.5", "--require", "acme", env=double(llmock))
    assert required.returncode == 6
    assert "'acme' is connecting" in required.stderr


async def test_b02_tools_announced_during_a_turn_are_found_and_the_request_only_grows(
    llmock: LLMock, workspace: Path, home: Path
) -> None:
    llmock.call_tool("ExecuteTool", {"tool_name": "mcp__grows__start", "params": {}})
    llmock.call_tool("ToolSearch", {"query": "select:mcp__grows__grown_77, mcp__grows__start"})
    llmock.call_tool("ExecuteTool", {"tool_name": "mcp__grows__grown_77", "params": {}})
    llmock.reply("Grown.")
    async with editor(workspace, home, settings=openai(llmock, grows=server("grows.py", 0.2))) as one:
        await one.server_is("grows", "ready")
        assert await tools_of(one, "grows") == ["mcp__grows__start"]
        assert (await one.turn("start it"))["text"] == "Grown."
        assert len(await tools_of(one, "grows")) == 89
    sent = bodies(llmock)
    assert len(sent) == 4
    new = [after["messages"][len(before["messages"]) :] for before, after in itertools.pairwise(sent)]
    [found] = [message["content"] for message in new[1] if message["role"] == "tool"]
    assert "Does grown_77." in found
    assert "There is no tool named 'mcp__grows__start'" in found
    assert "did grown_77" in json.dumps(new[2])
    assert_only_appended(sent)


async def test_b04_tools_added_while_a_server_or_caddie_was_down_are_there_when_it_runs_again(
    workspace: Path, home: Path, tmp_path: Path
) -> None:
    count = tmp_path / "count"
    count.write_text("5")
    settings = {"mcp": {"servers": {"acme": server("counted.py", count)}}}
    async with editor(workspace, home, settings=settings) as one:
        await one.server_is("acme", "ready")
        assert sum("__t" in name for name in await tools_of(one, "acme")) == 5
        await one.request("caddie/mcp/stop", {"server": "acme"})
        count.write_text("15")
        await one.request("caddie/mcp/start", {"server": "acme"})
        await one.server_is("acme", "ready")
        assert sum("__t" in name for name in await tools_of(one, "acme")) == 15
    count.write_text("25")
    async with editor(workspace, home, settings=settings) as two:
        await two.server_is("acme", "ready")
        assert sum("__t" in name for name in await tools_of(two, "acme")) == 25
        found = await two.request("caddie/tools/search", {"query": "select:mcp__acme__t24"})
        assert [hit["tool"] for hit in found["hits"]] == ["mcp__acme__t24"]


async def test_b06_one_list_that_takes_long_holds_up_neither_the_other_servers_nor_later_messages(
    llmock: LLMock, workspace: Path, home: Path, tmp_path: Path
) -> None:
    gate, counts = tmp_path / "gate", [tmp_path / f"count{number}" for number in range(4)]
    for count in counts:
        count.write_text("2")
    servers = {f"fast{number}": server("counted.py", count) for number, count in enumerate(counts)}
    llmock.reply("Yes.", times=3)
    async with editor(workspace, home, settings=openai(llmock, **servers, slow=server("holds_list.py", gate))) as one:
        for name in servers:
            await one.server_is(name, "ready")
        first = asyncio.create_task(one.turn("one"))
        await one.until(lambda: any(event["code"] == "waiting_for_servers" for event in one.events("notice")))
        assert "did t1" in await say(one, "mcp__fast3__t1")
        assert not first.done(), "the others work while the first message still waits"
        session = (await first)["sessionId"]
        assert any(event["code"] == "servers_pending" for event in one.events("notice"))
        for message in ("two", "three"):
            await one.turn(message, sessionId=session)
        waits = [event["code"] for event in one.events("notice") if event["code"].startswith(("waiting", "servers"))]
        assert waits == ["waiting_for_servers", "servers_pending"], "only the first message waits"
        gate.touch()
        await one.server_is("slow", "ready")
    lists = [Path(f"{path}.lists").read_text().count("list") for path in (*counts, gate)]
    assert lists == [1, 1, 1, 1, 1], "nothing is listed again while nothing changes"


async def test_b07_a_list_that_never_comes_is_a_failure_and_hanging_prompts_take_no_tool_away(
    workspace: Path, home: Path, tmp_path: Path
) -> None:
    servers = {
        "mute": server("holds_list.py", tmp_path / "never", timeout=4),
        "shy": server("holds_prompts.py", timeout=4),
        "open": server("prompting.py", "handshake"),
    }
    async with editor(workspace, home, settings={**FREE, "mcp": {"servers": servers}}) as one:
        await one.server_is("shy", "ready")
        await one.server_is("open", "ready")
        prompts = asyncio.create_task(one.request("caddie/prompts/list"))
        assert await say(one, "mcp__shy__works") == "it works"
        assert not prompts.done(), "a tool need not wait for prompts"
        assert {prompt["server"] for prompt in (await prompts)["prompts"]} == {"open"}
        assert await say(one, "mcp__shy__works") == "it works"
        await one.server_is("mute", "failed")
        told = next(params for method, params in one.said if method == "caddie/mcp/status" and params["name"] == "mute"
                    and params["status"] == "failed")  # fmt: skip
        assert "its tool list failed: no answer within 4 s" in told["reason"]


@asynccontextmanager
async def serving(workspace: Path, home: Path) -> AsyncIterator[RawClient]:
    """A Caddie whose server `acme` is ready."""
    async with start(program=("-m", "caddie", "serve"), cwd=workspace, env=clean_environment(home)) as client:
        while True:
            message = await client.read()
            if message.get("method") == "caddie/mcp/status" and message["params"]["status"] == "ready":
                break
        yield client


@pytest.mark.parametrize("end", ["shutdown", "stdin", "SIGTERM"])
async def test_b08_nothing_of_a_server_outlives_caddie_however_it_ends(workspace: Path, home: Path, end: str) -> None:
    configure(home, acme=with_children("noisy.py"))
    async with serving(workspace, home) as client:
        assert len(programs(home)) == 2, "the server, and what its shell left running"
        if end == "shutdown":
            await client.call(9, "shutdown")
            client.send({"jsonrpc": "2.0", "method": "exit"})
        elif end == "stdin":
            client.stdin.close()
        else:
            client.process.send_signal(signal.SIGTERM)
        code, _ = await client.end()
    assert code == (143 if end == "SIGTERM" else 0)
    assert still_running(home) == []
    assert list(home.glob("**/caddie/started/*")) == []


async def test_b08_what_a_killed_caddie_leaves_is_ended_by_the_next_and_a_living_one_keeps_its_own(
    workspace: Path, home: Path
) -> None:
    configure(home, acme=with_children("noisy.py"))
    async with serving(workspace, home) as lives:
        kept = {process.pid for process in running(home)}
        async with serving(workspace, home) as dies:
            assert len(programs(home)) == 4
            dies.process.kill()
            await dies.process.wait()
            await until_true(lambda: len(programs(home)) == 3)  # the server sees the end of its input
        left = {process.pid for process in running(home)} - kept
        assert len(left) == 1, "the server's own child sees nothing"
        caddie(workspace, home, "doctor")
        await until_true(lambda: not left & {process.pid for process in running(home)})
        assert {process.pid for process in running(home)} == kept
        lives.stdin.close()
        await lives.end()
    assert still_running(home) == []
    assert list(home.glob("**/caddie/started/*")) == []


@pytest.mark.timeout(300)  # ten processes that each start a Python for the server too
def test_b09_ten_runs_of_a_script_leave_no_process(llmock: LLMock, workspace: Path, home: Path) -> None:
    configure(home, acme=with_children("noisy.py"))

    def run(number: int) -> int:
        ask = ("ask", f"question {number}", "--require", "acme")
        command = ask if number < 3 else ("exec", "mcp__acme__quiet", "--yes")
        return caddie(workspace, home, *command, env=double(llmock)).returncode

    llmock.reply("Yes.", times=3)
    with ThreadPoolExecutor(4) as pool:
        codes = list(pool.map(run, range(10)))
    assert codes == [0] * 10
    assert still_running(home) == []
    assert list(home.glob("**/caddie/started/*")) == []


async def test_b11_bytes_that_are_no_text_are_replaced_visibly_and_our_own_stay_valid(
    workspace: Path, home: Path
) -> None:
    configure(home, acme=server("odd_bytes.py"))
    async with serving(workspace, home) as client:

        async def call(msg_id: int, tool: str) -> dict[str, Any]:
            client.send(request(msg_id, "caddie/tools/execute", {"toolName": f"mcp__acme__{tool}", "params": {}}))
            while True:  # reads whole messages by their length in bytes: a wrong one would break the next
                message = await client.read()
                if message.get("id") == msg_id:
                    return dict(message["result"])

        odd = (await call(1, "bytes"))["content"][0]["text"]
        plain = (await call(2, "plain"))["content"][0]["text"]
        client.stdin.close()
        await client.end()
    gbk, lone, nul, surrogate, end = odd.rsplit(" ", 4)
    assert gbk
    assert set(gbk) <= {"\ufffd", *map(chr, range(0x80, 0x800))}, "what stood there cannot be known, only that it did"
    assert "\ufffd" in gbk
    assert (lone, nul, surrogate, end) == ("\ufffd", "\ufffd", "\ufffd", "end")
    assert plain == "plain"


async def test_b11_the_model_gets_valid_text_too(llmock: LLMock, workspace: Path, home: Path) -> None:
    llmock.call_tool("ExecuteTool", {"tool_name": "mcp__acme__bytes", "params": {}})
    llmock.call_tool("ExecuteTool", {"tool_name": "mcp__acme__plain", "params": {}})
    llmock.reply("Odd.")
    async with editor(workspace, home, settings=openai(llmock, acme=server("odd_bytes.py"))) as one:
        await one.server_is("acme", "ready")
        result = await one.turn("查询 the bytes")
        assert result["text"] == "Odd."
        session = await one.request("caddie/session/open", {"sessionId": result["sessionId"]})
    answers = [message["content"] for message in bodies(llmock)[-1]["messages"] if message["role"] == "tool"]
    assert str(answers[0]).count("\ufffd \ufffd \ufffd end") == 1
    assert "plain" in str(answers[1])
    json.dumps([answers, session], ensure_ascii=False).encode("utf-8")  # raises for half a character


async def test_b12_a_message_sent_as_the_editor_opens_has_the_tools_of_servers_that_come_meanwhile(
    llmock: LLMock, workspace: Path, home: Path, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    llmock.reply("One.")
    async with editor(workspace, home, settings=openai(llmock, acme=server("holds_list.py", gate))) as one:
        turn = asyncio.create_task(one.turn("at once"))
        await one.until(lambda: any(event["code"] == "waiting_for_servers" for event in one.events("notice")))
        gate.touch()
        await turn
    [body] = bodies(llmock)
    assert "mcp__acme__slow" in json.dumps(body["messages"])
    assert {"Read", "Edit", "Bash", "ToolSearch", "ExecuteTool"} <= {tool["function"]["name"] for tool in body["tools"]}


async def test_b12_a_message_that_could_not_wait_longer_says_so_and_the_next_one_has_the_tools(
    llmock: LLMock, workspace: Path, home: Path, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    llmock.reply("One.")
    llmock.reply("Two.")
    async with editor(workspace, home, settings=openai(llmock, acme=server("holds_list.py", gate))) as one:
        first = await one.turn("at once")
        late = [event["message"] for event in one.events("notice") if event["code"] == "servers_pending"]
        assert late == ["Still connecting: acme. The turn goes on."]
        gate.touch()
        await one.server_is("acme", "ready")
        await one.turn("and now?", sessionId=first["sessionId"])
    before, after = bodies(llmock)
    assert {"Read", "Edit", "Bash", "ToolSearch"} <= {tool["function"]["name"] for tool in before["tools"]}
    assert "mcp__acme__slow" not in json.dumps(before["messages"])
    assert "mcp__acme__slow" in json.dumps(after["messages"][-1])
    assert_only_appended([before, after])
