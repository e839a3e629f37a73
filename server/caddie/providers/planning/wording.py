"""What the offline provider says. Fixed sentences in two languages; what others wrote is always fenced."""

from __future__ import annotations

import re
from collections.abc import Sequence

from caddie.providers.planning.conversation import Language
from caddie.providers.table import PROVIDERS

SHOWN_CHARACTERS = 8_000

_KEYS = [row.key_name for row in PROVIDERS.values() if row.auto]
_SAYINGS: dict[str, dict[Language, str]] = {
    "label": {
        "en": "No language model is connected: tools are chosen by fixed rules. To connect one, "
        f"set {', '.join(_KEYS[:-1])} or {_KEYS[-1]}, or start a local server such as Ollama.",
        "zh": "未连接语言模型：工具按固定规则选择。要连接语言模型，请设置 "
        f"{'、'.join(_KEYS[:-1])} 或 {_KEYS[-1]}，或启动 Ollama 等本地服务器。",
    },
    "tag": {"en": "(no language model)", "zh": "（未连接语言模型）"},
    "greeting": {
        "en": "Hello. I can search your tools and run them, but I cannot hold a conversation. Try: {examples}.",
        "zh": "你好。我可以查找并运行你的工具，但不能聊天。例如：{examples}。",
    },
    "thanks": {"en": "You are welcome.", "zh": "不客气。"},
    "help": {
        "en": "I search the connected tools, fill in their arguments from your words by rules, ask for permission and "
        "show the result. Try: {examples}.",
        "zh": "我会查找已连接的工具，按规则从你的话中填写参数，征得许可后运行并显示结果。例如：{examples}。",
    },
    "question": {
        "en": "That needs a language model, and none is connected. Without one I can search your tools and run them. "
        "Try: {examples}.",
        "zh": "这需要语言模型，而现在没有连接。没有它时，我可以查找并运行你的工具。例如：{examples}。",
    },
    "long": {
        "en": "A message of more than {limit} characters needs a language model, and none is connected. "
        "Nothing was run.",
        "zh": "超过 {limit} 个字符的消息需要语言模型，而现在没有连接。没有运行任何工具。",
    },
    "examples": {
        "en": '"read README.md", "list the Python files under src", "search for TODO"',
        "zh": "“读取 README.md”、“列出 src 下的 Python 文件”、“搜索 TODO”",
    },
    "no order": {
        "en": "{tool} would change something, and this does not read as an order to do it, so nothing was run.",
        "zh": "{tool} 会作出更改，而这句话不像是要求执行，因此没有运行任何工具。",
    },
    "nothing": {
        "en": "No connected tool fits this request, so nothing was run.",
        "zh": "没有已连接的工具适合这个请求，因此没有运行任何工具。",
    },
    "nearest": {"en": " The nearest: {names}.", "zh": "最接近的有：{names}。"},
    "missing": {
        "en": "{tool} fits, but your message does not say: {slots}. Nothing was run. Say for example: {example}",
        "zh": "{tool} 适合，但消息中缺少：{slots}。没有运行任何工具。例如可以说：{example}",
    },
    "result": {"en": "Result of {tool}:", "zh": "{tool} 的结果："},
    "empty": {"en": "{tool} ran and returned nothing.", "zh": "{tool} 已运行，没有返回内容。"},
    "empty list": {
        "en": "That is an empty answer: nothing was found, or nothing was added because it was there already.",
        "zh": "这是空的结果：没有找到内容，或因已存在而没有添加。",
    },
    "cut": {"en": "({count} more characters are not shown.)", "zh": "（另有 {count} 个字符未显示。）"},
    "error": {
        "en": "{tool} answered with an error:",
        "zh": "{tool} 返回了错误：",
    },
    "mend": {
        "en": "Change the request and send it again; a value can be written out as name=value.",
        "zh": "请修改请求后重新发送；参数可以写成 名称=值。",
    },
    "invalid": {"en": "{tool} did not run, its arguments do not fit:", "zh": "{tool} 没有运行，参数不符合要求："},
    "refused": {"en": "Not run.", "zh": "未运行。"},
    "limit": {
        "en": "Stopped after {count} tool calls; the rest was not done: {rest}",
        "zh": "调用 {count} 次工具后停止；未完成的部分：{rest}",
    },
    "todos": {"en": "The todo list:\n{items}", "zh": "待办列表：\n{items}"},
    "no todos": {
        "en": "The todo list is empty. Say for example: {example}",
        "zh": "待办列表为空。例如可以说：{example}",
    },
    "a todo": {"en": "add a todo: write the docs", "zh": "添加待办：写文档"},
    "as command": {
        "en": " If it is to be run as a shell command, say: {command}",
        "zh": "如果要作为 shell 命令运行，请说：{command}",
    },
    "no todo": {
        "en": "No item of the todo list is meant by {said}, so the list was left as it is. "
        "Name one by its words or its number, once there is a list.",
        "zh": "待办列表中没有与 {said} 对应的项，因此列表未改动。请在有列表之后用其内容或序号指明。",
    },
    "tool state": {
        "en": "Tools are switched on, deferred or off by you, not by a message: in the Tools view of VS Code, "
        "with `:Caddie tools` in Neovim or with `/tools` in the terminal. Nothing was changed.",
        "zh": "工具的启用、延迟或禁用由你操作，而不是通过消息：在 VS Code 的工具视图中、"
        "在 Neovim 中用 `:Caddie tools`，或在终端中用 `/tools`。没有作任何更改。",
    },
    "tools found": {
        "en": "Connected tools that speak of it (none was run):\n{tools}\nTo use one, say what it is to do, or: {use}",
        "zh": "与此相关的已连接工具（没有运行任何工具）：\n{tools}\n要使用其中一个，请说明要做什么，或者说：{use}",
    },
    "overview": {
        "en": "At hand: {own}. {servers}`/tools` lists them all; ask for example {example}. None was run.",
        "zh": "随时可用：{own}。{servers}`/tools` 可列出全部；例如可以问 {example}。没有运行任何工具。",
    },
    "more": {"en": "To be found when asked for: {servers}. ", "zh": "按需查找：{servers}。"},
    "ask for tools": {"en": "which tools are there for git?", "zh": "有哪些处理 git 的工具？"},
    "no schedule": {
        "en": " Nothing connected does something at a later time.",
        "zh": "没有已连接的工具能在以后的时间执行操作。",
    },
    "by command": {
        "en": " A shell command can tell; it is run, after your permission, if you say for example: {command}",
        "zh": "可以用 shell 命令查看；征得许可后运行，例如可以说：{command}",
    },
    "run": {"en": "run {command}", "zh": "运行 {command}"},
    "no search": {
        "en": "No tool at hand fits this request, and searching for tools is switched off.",
        "zh": "现有工具都不适合这个请求，而且工具搜索已关闭。",
    },
}


def say(key: str, language: Language, **values: object) -> str:
    return _SAYINGS[key][language].format(**values)


def labelled(text: str, language: Language, earlier: str) -> str:
    """The long label once per conversation, then a short tag."""
    known = any(label in earlier for label in _SAYINGS["label"].values())
    return f"{text}\n\n{say('tag' if known else 'label', language)}"


def code(text: str) -> str:
    """Inline code that holds whatever backticks the text has."""
    ticks = "`" * (1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def fenced(text: str) -> str:
    ticks = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return f"{ticks}text\n{text}\n{ticks}"


def shown(text: str, language: Language) -> str:
    """Another's text, whole up to a limit, and never as markup."""
    text = text.strip("\n")
    kept = text[:SHOWN_CHARACTERS]
    block = fenced(kept) if "\n" in kept else code(kept)
    return block if kept == text else f"{block}\n{say('cut', language, count=len(text) - len(kept))}"


def result(tool: str, text: str, language: Language) -> str:
    if not text.strip():
        return say("empty", language, tool=code(tool))
    body = shown(text, language)
    if text.strip() in ("[]", "{}", "null"):
        body += f"\n{say('empty list', language)}"
    return f"{say('result', language, tool=code(tool))}{chr(10) if body.startswith('```') else ' '}{body}"


def missing(tool: str, slots: Sequence[str], request: str, language: Language) -> str:
    filled_in = " ".join(f'{slot}="…"' for slot in slots)
    example = f"{' '.join(request.split())} {filled_in}"
    if tuple(slots) == ("command",):
        example = say("run", language, command=code("npm test"))
    names = ", ".join(code(slot) for slot in slots)
    return say("missing", language, tool=code(tool), slots=names, example=code(example))


def nothing_fits(names: Sequence[str], language: Language, hint: str = "") -> str:
    nearest = say("nearest", language, names=", ".join(code(name) for name in names)) if names else ""
    return say("nothing", language) + (hint or nearest)


_COMMANDS = {"blame": "git log -3 -- {path}", "count lines": "wc -l {path}", "command": "df -h"}


def way_out(hint: str, paths: Sequence[str], language: Language) -> str:
    """What to do where no tool reaches; empty when there is nothing to advise."""
    if hint in _COMMANDS:
        command = _COMMANDS[hint].format(path=paths[0] if paths else "README.md")
        return say("by command", language, command=code(say("run", language, command=code(command))))
    return say(hint, language) if hint else ""


def as_command(command: str, language: Language) -> str:
    return say("as command", language, command=code(say("run", language, command=code(command))))


def todos(items: Sequence[tuple[str, str]], language: Language) -> str:
    if not items:
        return say("no todos", language, example=code(say("a todo", language)))
    marks = {"completed": "[x]", "in_progress": "[~]"}
    return say("todos", language, items=fenced("\n".join(f"{marks.get(state, '[ ]')} {text}" for text, state in items)))


def tools_found(tools: Sequence[tuple[str, str]], language: Language) -> str:
    rows = [f"{name}: {' '.join(about.split())[:100]}" if about else name for name, about in tools]
    return say("tools found", language, tools=fenced("\n".join(rows)), use=code(f"use {tools[0][0]}"))


def overview(own: Sequence[str], servers: Sequence[tuple[str, int]], language: Language) -> str:
    named = ", ".join(f"{code(name)} ({count})" for name, count in servers)
    return say(
        "overview",
        language,
        own=", ".join(code(name) for name in own),
        servers=say("more", language, servers=named) if named else "",
        example=code(say("ask for tools", language)),
    )
