"""What one connected server may send, and what becomes of it."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from mcp_bench import fixture_server, until_true

from caddie.errors import ServerFailed
from caddie.mcp.calls import Calls
from caddie.mcp.manager import ConfiguredServer
from caddie.settings import McpServer
from caddie.tools.tool import ImageContent, ResourceContent

if TYPE_CHECKING:
    from mcp_bench import Bench


async def test_b10_noise_on_stdout_is_skipped_and_logged_once(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        await bench.connect(noisy=fixture_server("noisy.py"))
        assert (await bench.call("noisy", "quiet")).text == "heard"
        assert (await bench.call("noisy", "quiet")).text == "heard"
    assert [record.message.count("skipped output") for record in caplog.records if "noisy" in record.message] == [1]


async def test_b11_bytes_that_are_not_utf8_are_replaced_visibly_and_the_session_lives(bench: Bench) -> None:
    await bench.connect(odd=fixture_server("odd_bytes.py"))
    text = (await bench.call("odd", "bytes")).text
    assert text.endswith("\ufffd \ufffd \ufffd end")
    assert text.encode("utf-8").count(b"\0") == 0
    assert (await bench.call("odd", "plain")).text == "plain"


async def test_arguments_that_are_no_unicode_do_not_break_the_connection(bench: Bench) -> None:
    await bench.connect(kinds=fixture_server("contents.py"))
    assert (await bench.call("kinds", "error", text="lone \ud800", number=float("nan"))).text == "it broke"
    assert (await bench.call("kinds", "error", text="lone \ud800")).text == "it broke"


async def test_an_answer_that_cannot_be_read_fails_its_call_at_once(bench: Bench) -> None:
    await bench.connect(odd=fixture_server("odd_bytes.py"))
    broken = await bench.call("odd", "broken")
    assert broken.is_error
    assert "not valid JSON" in broken.text
    assert (await bench.call("odd", "plain")).text == "plain"


async def test_a_line_of_40_mebibytes_is_dropped_and_the_next_call_works(bench: Bench) -> None:
    await bench.connect(odd=fixture_server("odd_bytes.py"))
    huge = await bench.call("odd", "huge")
    assert huge.is_error
    assert "bytes on one line" in huge.text
    assert (await bench.call("odd", "plain")).text == "plain"


async def test_names_and_schemas_no_provider_takes_still_reach_the_server_as_published(bench: Bench) -> None:
    await bench.connect(odd=fixture_server("odd_tools.py"))
    assert bench.names("odd") == sorted(bench.names("odd"))
    assert len(bench.names("odd")) == 7
    for tool in bench.tools["odd"]:
        assert (await tool.run({}, bench.context())).text == tool.spec.original_name
        assert tool.spec.input_schema["type"] == "object"


async def test_annotations_and_titles_are_taken_over_and_absent_ones_mean_caution(bench: Bench) -> None:
    await bench.connect(odd=fixture_server("odd_tools.py"))
    specs = {tool.spec.original_name: tool.spec for tool in bench.tools["odd"]}
    reads = specs["calendar.create"]
    assert (reads.read_only, reads.destructive, reads.title) == (True, False, "Make an entry")
    assert (specs["admin/tools"].read_only, specs["admin/tools"].destructive) == (False, False)
    assert (specs["my tool"].read_only, specs["my tool"].destructive) == (False, True)
    assert specs["查询"].description == ""


async def test_cancelling_a_call_reaches_the_server_once(bench: Bench, tmp_path: Path) -> None:
    log = tmp_path / "log"
    await bench.connect(patient=fixture_server("patient.py", log))
    call = asyncio.create_task(bench.call("patient", "wait"))
    await until_true(lambda: log.exists() and "called" in log.read_text())
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert (await bench.call("patient", "steps")).text == "done"
    request = log.read_text().split()[1]
    assert log.read_text().splitlines() == [f"called {request}", f"cancelled {request}"]


async def test_a_call_over_its_time_is_cancelled_at_the_server_and_says_which_setting(
    bench: Bench, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    await bench.connect(patient=fixture_server("patient.py", log, timeout=4))
    result = await bench.call("patient", "wait")
    assert result.is_error
    assert "mcp.servers.patient.timeout" in result.text
    await bench.call("patient", "steps")
    assert log.read_text().count("cancelled") == 1


async def test_progress_is_shown_beside_the_call(bench: Bench, tmp_path: Path) -> None:
    await bench.connect(patient=fixture_server("patient.py", tmp_path / "log"))
    await bench.call("patient", "steps")
    assert bench.progress == ["halfway (1/2)"]


async def test_an_error_result_keeps_its_flag(bench: Bench) -> None:
    await bench.connect(kinds=fixture_server("contents.py"))
    result = await bench.call("kinds", "error")
    assert (result.is_error, result.text) == (True, "it broke")


async def test_a_protocol_error_becomes_a_result_the_model_can_read(bench: Bench) -> None:
    await bench.connect(kinds=fixture_server("contents.py"))
    for name, words in (("refuse", "not for you"), ("nonsense", "that MCP does not have")):
        result = await bench.call("kinds", name)
        assert result.is_error
        assert words in result.text


async def test_every_kind_of_content_arrives(bench: Bench) -> None:
    await bench.connect(kinds=fixture_server("contents.py"))
    assert (await bench.call("kinds", "image")).content == (ImageContent("iVBORw0KGgo=", "image/png"),)
    assert "audio/wav" in (await bench.call("kinds", "audio")).text
    assert (await bench.call("kinds", "link")).content == (ResourceContent("file:///a.txt", "a", "text/plain"),)
    assert (await bench.call("kinds", "embedded")).content == (ResourceContent("note://1", "hello", ""),)
    assert (await bench.call("kinds", "structured")).structured == {"n": 5}


async def test_resources_are_listed_and_read(bench: Bench) -> None:
    await bench.connect(kinds=fixture_server("contents.py"))
    [found] = await bench.manager.list_resources()
    assert (found.server, found.uri, found.name) == ("kinds", "note://1", "first")
    assert await bench.manager.read_resource("kinds", "note://7") == "read note://7"
    with pytest.raises(ServerFailed, match="kinds"):
        await bench.manager.read_resource("kind", "note://7")


async def test_a_servers_form_is_put_to_the_person_and_answered_in_its_types(bench: Bench) -> None:
    await bench.connect(kinds=fixture_server("contents.py"))
    bench.answers = {"count": "3", "colour": "blue"}
    answer = json.loads((await bench.call("kinds", "ask")).text)
    assert answer["action"] == "accept"
    assert answer["content"] == {"count": 3, "colour": "blue", "sure": False}
    [request] = bench.questions
    assert request.session_id == "s1"
    assert [question.id for question in request.questions] == ["count", "colour", "sure"]


@pytest.mark.parametrize("answers", [None, {"colour": "blue"}, {"count": "many"}])
async def test_a_form_not_answered_or_answered_wrongly_is_declined(
    bench: Bench, answers: dict[str, str] | None
) -> None:
    await bench.connect(kinds=fixture_server("contents.py"))
    bench.answers = answers
    assert json.loads((await bench.call("kinds", "ask")).text)["action"] == "decline"


async def test_the_roots_are_the_folders_of_the_workspace_at_that_moment(bench: Bench, tmp_path: Path) -> None:
    async def roots() -> list[str]:
        told = json.loads((await bench.call("kinds", "roots")).text)["roots"]
        return [root["uri"].rstrip("/") for root in told]

    await bench.connect(kinds=fixture_server("contents.py"))
    assert await roots() == [bench.workspace.as_uri()]
    bench.further = (tmp_path / "the api",)
    assert await roots() == [bench.workspace.as_uri(), (tmp_path / "the api").as_uri()]


async def test_the_home_of_a_user_who_is_not_known_is_a_failure_that_says_so(bench: Bench) -> None:
    await bench.connect(
        a=ConfiguredServer(McpServer(command="~nobody-here/server"), "test"),
        b=ConfiguredServer(McpServer(command="true", cwd="~nobody-here"), "test"),
    )
    assert "command '~nobody-here/server' was not found" in bench.status("a").reason
    assert "~nobody-here does not exist" in bench.status("b").reason


async def test_while_one_person_still_answers_no_call_runs_out_of_time() -> None:
    calls = Calls(cast(Any, None), "shop", 60)
    async with asyncio.timeout(60) as deadline:
        with calls._counted(deadline, "s"), calls.waiting_for_a_person():
            with calls.waiting_for_a_person():
                pass
            assert deadline.when() is None, "another question is open"
            await calls._on_progress(deadline, lambda text: None)(1, 2, None)
            assert deadline.when() is None, "progress is no reason to hurry the person"
        assert deadline.when() is not None
