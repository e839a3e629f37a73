"""What servers offer as prompts."""

from __future__ import annotations

import pytest
from mcp_bench import Bench, fixture_server

from caddie.errors import InvalidInput
from caddie.tools.tool import ImageContent, TextContent


async def names(bench: Bench) -> list[str]:
    return [prompt.full_name for prompt in await bench.manager.list_prompts()]


async def test_prompts_are_listed_with_their_arguments(bench: Bench) -> None:
    await bench.connect(a=fixture_server("prompting.py", "handshake"), b=fixture_server("counted.py", "n"))
    assert await names(bench) == ["a:look", "a:review"]
    review = (await bench.manager.list_prompts())[1]
    assert (review.title, review.description) == ("Review", "Reviews code.")
    assert [(one.name, one.required) for one in review.arguments] == [("language", True), ("tone", False)]


async def test_a_prompt_is_filled_in_with_text_and_pictures(bench: Bench) -> None:
    await bench.connect(a=fixture_server("prompting.py", "handshake"))
    _, messages = await bench.manager.get_prompt("/a:review", {"language": "Lua"})
    assert [message.content for message in messages] == [TextContent("Review this Lua.")]
    _, messages = await bench.manager.get_prompt("a:look", {})
    assert isinstance(messages[1].content, ImageContent)


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("a:review", {}, r"needs the argument 'language' \(Of the code\); give language=…"),
        ("a:review", {"language": " "}, "needs the argument 'language'"),
        ("a:review", {"language": "C", "ton": "x"}, "no argument 'ton'; it takes language, tone"),
        ("a:revue", {}, "did you mean /a:review"),
        ("b:review", {}, "did you mean /a:review"),
    ],
)
async def test_what_does_not_fit_is_said_by_name(bench: Bench, name: str, arguments: dict[str, str], says: str) -> None:
    await bench.connect(a=fixture_server("prompting.py", "handshake"))
    with pytest.raises(InvalidInput, match=says):
        await bench.manager.get_prompt(name, arguments)


@pytest.mark.parametrize("protocol", ["handshake", "newest"])
async def test_a_changed_list_of_prompts_is_told_and_followed(bench: Bench, protocol: str) -> None:
    await bench.connect(a=fixture_server("prompting.py", protocol))
    before = await names(bench)
    assert "a:late" not in before
    told = bench.prompts_changed
    await bench.call("a", "add")
    await bench.until(lambda: bench.prompts_changed > told)
    assert await names(bench) == sorted([*before, "a:late"])


async def test_prompts_come_and_go_with_their_server_and_that_is_told(bench: Bench) -> None:
    await bench.connect(a=fixture_server("prompting.py", "handshake"))
    assert bench.prompts_changed == 1
    assert await names(bench) == ["a:look", "a:review"]
    await bench.manager.stop("a")
    assert bench.prompts_changed == 2
    assert await names(bench) == []


async def test_prompts_that_change_while_they_are_listed_are_asked_for_again(bench: Bench) -> None:
    await bench.connect(a=fixture_server("prompting.py", "handshake", "hurry"))
    assert await names(bench) == ["a:look", "a:review"]
    assert await names(bench) == ["a:late", "a:look", "a:review"]
