"""Plain requests, kept as data, end with the right tool and the right arguments: the offline provider's promise."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from caddie.chat.messages import Completed, Message, ModelRequest, Text, ToolAnswer, ToolDefinition, ToolUse
from caddie.providers.offline import Offline
from caddie.providers.planning.choose import changes
from caddie.search.engine import ToolIndex
from caddie.search.index import Hit
from caddie.search.tool_search import Found, Unknown, answer
from caddie.tools.tool import TextContent, ToolSpec

FIXTURES = Path(__file__).parents[3] / "fixtures"
REQUESTS: list[dict[str, Any]] = json.loads((FIXTURES / "offline_requests.json").read_text("utf-8"))
SYSTEM = "You are Caddie.\n\nWorkspace: /home/ada/project\nSystem: Linux"


def core_tools() -> tuple[ToolDefinition, ...]:
    rows = json.loads((FIXTURES / "catalogues" / "core.json").read_text("utf-8"))
    return tuple(ToolDefinition(row["name"], row["description"], row["inputSchema"]) for row in rows)


def published_tools() -> list[ToolSpec]:
    specs = []
    for file in sorted((FIXTURES / "catalogues").glob("*.json")):
        if file.stem != "core":
            catalogue = json.loads(file.read_text("utf-8"))
            for tool in catalogue["tools"]:
                specs.append(
                    ToolSpec(
                        f"mcp__{catalogue['server']}__{tool['name']}",
                        tool.get("description", ""),
                        tool["inputSchema"],
                        original_name=tool["name"],
                        server=catalogue["server"],
                    )
                )
    return specs


class Search:
    """ToolSearch over the real index."""

    def __init__(self) -> None:
        self.specs = {spec.name: spec for spec in published_tools()}
        self.index = ToolIndex()
        self.index.update(added=self.specs.values())

    def __call__(self, query: str) -> str:
        if query.startswith("select:"):
            names = query.removeprefix("select:").split(",")
            hits = tuple(Hit(self.specs[name], 1, 1, 1, (), True) for name in names if name in self.specs)
            unknown = tuple(Unknown(name, f"There is no tool {name!r}.") for name in names if name not in self.specs)
            return answer(Found("select", query, hits, len(hits), unknown, (), (), not hits))
        ranking = self.index.search(query, 5)
        return answer(Found("words", query, ranking.hits, ranking.total, (), (), (), ranking.nothing_fits))


async def respond(messages: list[Message]) -> Message:
    request = ModelRequest("", SYSTEM, core_tools(), tuple(messages), "s1")
    async with asyncio.timeout(60):
        events = [event async for event in Offline().stream(request)]
    assert isinstance(events[-1], Completed)
    return events[-1].message


def opening(text: str, search: Search) -> list[Message]:
    deferred = f"<available-deferred-tools>\n{chr(10).join(search.specs)}\n</available-deferred-tools>"
    return [Message("user", (Text(deferred), Text(text)))]


async def first_call(text: str, search: Search) -> tuple[ToolUse | None, str]:
    """The first call that is not a search, and all that was said."""
    messages = opening(text, search)
    said = ""
    for _ in range(4):
        reply = await respond(messages)
        said += reply.text
        if not reply.tool_uses:
            return None, said
        use = reply.tool_uses[0]
        if use.name != "ToolSearch":
            return use, said
        assert use.arguments is not None
        content = (TextContent(search(use.arguments["query"])),)
        messages += [reply, Message("user", (ToolAnswer(use.id, use.name, content),))]
    raise AssertionError(f"{text!r} searched again and again")


def outcome(use: ToolUse | None) -> tuple[str | None, Any]:
    if use is None:
        return None, None
    arguments = use.arguments or {}
    return (arguments["tool_name"], arguments["params"]) if use.name == "ExecuteTool" else (use.name, arguments)


async def problem(row: dict[str, Any], search: Search) -> str:
    use, said = await first_call(row["say"], search)
    tool, arguments = outcome(use)
    if "missing" in row:
        names = [row["tool"], *row["missing"]]
        unsaid = [name for name in names if f"`{name}`" not in said]
        return f"{row['say']!r}: called {tool} {arguments}, unsaid {unsaid}: {said}" if tool or unsaid else ""
    if (tool, arguments) == (row["tool"], row.get("arguments")):
        return ""
    wanted = f"{row['tool']} {row.get('arguments')}"
    return f"{row['say']!r}:\n    wanted {wanted}\n    got    {tool} {arguments} {said[:200]!r}"


async def test_nine_of_ten_plain_requests_end_with_the_right_tool_and_arguments() -> None:
    search = Search()
    problems = [text for row in REQUESTS if (text := await problem(row, search))]
    sys.stdout.write("\n".join(problems))
    assert len(REQUESTS) >= 190
    assert len(problems) <= len(REQUESTS) // 10, "\n".join(problems)


@pytest.mark.parametrize("row", [row for row in REQUESTS if row["tool"] is None], ids=lambda row: row["say"])
async def test_a_message_that_no_tool_fits_runs_nothing_and_says_so(row: dict[str, Any]) -> None:
    use, said = await first_call(row["say"], Search())
    assert use is None
    assert "ANTHROPIC_API_KEY" in said


ONLY_SPOKEN_OF = [
    "what would happen if I delete README.md?",
    "did you move a.txt to b.txt?",
    "has anyone renamed old.txt to new.txt?",
    "should I commit?",
    "why did you commit this?",
    "can I unstage everything?",
    'what happens when I replace "a" with "b" in c.txt?',
    "is it safe to run `rm -rf build`?",
    "what does `rm -rf /` do?",
    "how do I create a branch named x?",
    "don't delete a.txt",
    "do not run npm test",
    "please don't switch to main",
    'never write "x" to a.txt',
    "don’t use mcp__git__git_commit message=x",
    "不要提交",
    "别运行 pytest",
    "不要把 a.txt 重命名为 b.txt",
    "可以删除 a.txt 吗？",
    "是否已经创建目录 build/out？",
]


@pytest.mark.parametrize("text", ONLY_SPOKEN_OF)
async def test_what_is_asked_about_or_forbidden_is_never_done(text: str) -> None:
    use, said = await first_call(text, Search())
    tool, _ = outcome(use)
    assert tool is None or (tool not in {"Bash", "Write", "Edit"} and not changes(tool.rsplit("__", 1)[-1])), tool
    assert tool or said


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("can you create a folder called build/out?", "mcp__filesystem__create_directory"),
        ("could you run npm test", "Bash"),
        ("请帮我创建目录 tmp/cache 好吗？", "mcp__filesystem__create_directory"),
    ],
)
async def test_a_polite_order_is_an_order(text: str, tool: str) -> None:
    use, _ = await first_call(text, Search())
    assert outcome(use)[0] == tool
