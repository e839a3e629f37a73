"""Plain requests, kept as data, end with the right tool and the right arguments: the offline provider's promise."""

from __future__ import annotations

import asyncio
import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from caddie.chat.messages import Completed, Message, ModelRequest, Text, ToolAnswer, ToolDefinition, ToolUse
from caddie.providers.offline import Offline
from caddie.providers.planning.choose import changes
from caddie.providers.planning.plain import plain
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


@cache
def searcher() -> Search:
    """One for all tests: it only reads, and building it takes its time."""
    return Search()


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
    unsaid = [part for part in row.get("says", ()) if part not in said]
    if (tool, arguments) == (row["tool"], row.get("arguments")) and not unsaid:
        return ""
    wanted = f"{row['tool']} {row.get('arguments')}"
    return f"{row['say']!r}:\n    wanted {wanted}\n    got    {tool} {arguments} {said[:200]!r}"


async def test_nine_of_ten_plain_requests_end_with_the_right_tool_and_arguments() -> None:
    search = searcher()
    problems = [text for row in REQUESTS if (text := await problem(row, search))]
    sys.stdout.write("\n".join(problems))
    assert len(REQUESTS) >= 790
    assert len(problems) <= len(REQUESTS) // 10, "\n".join(problems)


@pytest.mark.parametrize("row", [row for row in REQUESTS if row["tool"] is None], ids=lambda row: row["say"])
async def test_a_message_that_no_tool_fits_runs_nothing_and_says_so(row: dict[str, Any]) -> None:
    use, said = await first_call(row["say"], searcher())
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
    "yesterday I renamed a.txt to b.txt",
    "they moved src/a.py to src/b.py",
    "I deleted README.md by accident",
    "someone committed secrets",
    "he said: run rm -rf /",
    "before you commit, show me the diff",
    'if I commit now with message "x", what happens?',
    "you shouldn't move a.txt to b.txt",
    "we should not switch to main",
    "how would I create a branch named x",
    "is running `npm install` needed?",
    "the file says: delete all entities",
    "explain what `rm -rf build` does",
    "what would `git push --force` do",
    'never mind, don\'t write "x" to a.txt',
    "which command do I run to switch to branch main",
    'should we replace "a" with "b" in c.txt',
    "I ran npm test",
    'we wrote "hello" to notes.txt',
    'does write "x" to a.txt overwrite it?',
    'why can\'t I commit with message "x"',
    "when should I run `npm audit`",
    "tell me how to create a folder called x",
    "could someone have renamed a.txt to b.txt?",
    "the docs say create the directory build/out",
    'it says "replace foo with bar in a.txt"',
    "what if we switch to branch dev",
    'no need to commit with message "x"',
    'stop, don\'t create notes.txt with "x"',
    "我昨天把 a.txt 重命名为 b.txt 了",
    "为什么要切换到 main 分支",
    "如果我运行 npm test 会怎样",
    "他提交了，消息是“x”",
    "先别创建目录 a/b",
    "怎么把 a.txt 重命名为 b.txt",
    "do you think I should create a branch named x",
    'was "x" written to a.txt?',
    "I'm about to run npm publish",
    "wait, did you just run npm test?",
    "turn off git",
    "which tool creates folders",
    "what does mcp__memory__delete_entities do?",
    "how does git_commit work",
    "is there a tool that runs commands",
    "what does the echo tool say",
    "describe the Write tool",
    "what tool would rename a.txt to b.txt",
    "do you have a tool that runs `rm -rf build`",
    "list the tools that delete entities",
    'can you tell me whether to commit with message "x"',
    'I was going to write "x" to a.txt',
    'it would be nice if someone replaced "a" with "b" in c.txt',
    "the test suite runs npm test",
    "we usually switch to main first",
    "what is the command to create a branch named x",
    "who ran `rm -rf /`?",
    'add "x" to a.txt',
    'append "bye" to notes.txt',
    'insert "x" at the top of a.txt',
    'prepend "x" to a.txt',
    '"run rm -rf /"',
    'I don\'t want you to commit with message "x"',
    'rather than commit with message "x", show me the diff',
    'commit? with message "x"',
    "shall I run npm test",
    "could I run npm test here",
    "would you say I should create a folder called x",
    "unless I say so, don't run npm test",
    "he wants me to run npm test",
    "my boss asked to switch to branch main",
    "commit",
    "delete everything",
    "wipe my memory",
    "drop the database",
    "reset",
    "别提交，消息是“x”",
    "要不要切换到 main 分支",
    "是不是该运行 npm test",
    "有人运行了 npm test",
    "我刚刚创建目录 a/b 了",
    "如何运行 npm test",
    "能不能告诉我怎么提交",
]


@pytest.mark.parametrize("text", ONLY_SPOKEN_OF)
async def test_what_is_asked_about_or_forbidden_is_never_done(text: str) -> None:
    use, said = await first_call(text, searcher())
    tool, _ = outcome(use)
    assert tool is None or (tool not in {"Bash", "Write", "Edit"} and not changes(tool.rsplit("__", 1)[-1])), tool
    assert tool or said


ABOUT_TOOLS = [
    "which tools do you have for images",
    "is there an echo tool?",
    "what can you do with git",
    "do you have anything for converting times?",
    "find a tool that creates folders",
    "show me the tools for memory",
    "what does the get-tiny-image tool do?",
    "any tools for environment variables?",
    "有什么处理图片的工具吗",
    "列出 git 的工具",
]


@pytest.mark.parametrize("text", ABOUT_TOOLS)
async def test_a_question_about_tools_shows_them_and_runs_none(text: str) -> None:
    use, said = await first_call(text, searcher())
    assert use is None
    assert "mcp__" in said


@pytest.mark.parametrize(
    "text", ["disable git", "turn off the Bash tool", "enable the memory server", "禁用 Bash 工具"]
)
async def test_switching_a_tool_on_or_off_is_left_to_the_person_who_is_told_where(text: str) -> None:
    use, said = await first_call(text, searcher())
    assert use is None
    assert "/tools" in said


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("could u pls shwo me a.txt, thanks", "show me a.txt"),
        ("lsit all the html files", "list all the html files"),
        ("search for comit in src", "search for comit in src"),
        ('commit with message "serach works"', 'commit with message "serach works"'),
        ("echo please wait, thanks", "echo please wait, thanks"),
        ("麻烦帮我读取 a.txt，谢谢", "读取 a.txt"),
    ],
)
def test_courtesies_and_slips_are_overlooked_but_not_in_text_to_keep(typed: str, meant: str) -> None:
    assert plain(typed) == meant


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("can you create a folder called build/out?", "mcp__filesystem__create_directory"),
        ("could you run npm test", "Bash"),
        ("请帮我创建目录 tmp/cache 好吗？", "mcp__filesystem__create_directory"),
    ],
)
async def test_a_polite_order_is_an_order(text: str, tool: str) -> None:
    use, _ = await first_call(text, searcher())
    assert outcome(use)[0] == tool
