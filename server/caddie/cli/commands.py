"""The command line: one row per command. A command's module is imported only when it runs."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from caddie import __version__

EXIT_CODES = """\
exit codes of `ask` and `exec`: 0 done; 2 wrong usage; 3 a permission was refused; 4 empty answer;
5 provider error; 6 a required server is missing; 7 the tool failed (exec); 130 interrupted"""


def run(argv: Sequence[str]) -> int:
    _make_streams_usable()
    parser = _parser()
    args = parser.parse_args(argv)
    if not hasattr(args, "command"):
        parser.print_help()
        return 2
    module, function = args.command.split(":")
    try:
        code: int = getattr(importlib.import_module(module), function)(args)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # `caddie tools | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


def _make_streams_usable() -> None:
    """A closed stream is an empty one, and a letter that is not of the locale's alphabet ends nothing."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper) and name != "stderr":
            stream.reconfigure(errors="replace")


def _folder(text: str) -> Path:
    try:
        folder = Path(text).resolve()
        if folder.is_dir():
            return folder
    except OSError:  # this very folder was deleted
        pass
    raise argparse.ArgumentTypeError(f"{text!r} is no folder; name one that exists with -C DIR")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="caddie", description="An AI coding assistant that carries every tool you own.", epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--version", action="version", version=f"caddie {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="")
    _add_serve(commands)
    _add_chat(commands)
    _add_ask(commands)
    _add_looking(commands)
    _add_exec(commands)
    _add_undo(commands)
    doctor = _command(
        commands, "doctor", "what is set, what is reachable, what is wrong and how to mend it", "doctor:doctor"
    )
    _add_common(doctor)
    return parser


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, text: str, target: str
) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    parser.set_defaults(command=f"caddie.cli.{target}")
    return parser


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--workspace", "-C", type=_folder, default=".", metavar="DIR", help="default: here")
    parser.add_argument("--trust", action="store_true", help="trust this folder's own files for this run")
    parser.add_argument("--wait", type=float, default=20.0, metavar="SECONDS", help="for MCP servers; default 20")


def _add_serve(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "serve", "speak JSON-RPC with an editor", "serve:serve")
    parser.add_argument("--stdio", action="store_true", help="over stdin and stdout (the default)")
    parser.add_argument("--tcp", type=int, metavar="PORT", help="over a loopback port, for one client; 0 picks one")
    parser.add_argument("--log-level", default="WARNING", choices=["DEBUG", "INFO", "WARNING", "ERROR"])


def _add_chat(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "chat", "a conversation in the terminal", "chat:chat")
    parser.add_argument("--workspace", "-C", type=_folder, default=".", metavar="DIR", help="default: here")
    parser.add_argument("--resume", metavar="ID", help="go on with a stored session")


def _add_ask(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "ask", "one question, one answer, for scripts", "ask:ask")
    parser.add_argument("message", help="the question; - reads it from stdin")
    parser.add_argument("--json", action="store_true", help="events as JSON lines, the result last")
    _add_permissions(parser)
    parser.add_argument("--resume", metavar="ID", help="go on with a stored session; `last` is the newest")
    parser.add_argument("--require", action="append", default=[], metavar="SERVER", help="fail unless it is ready")
    parser.add_argument("--plan", action="store_true", help="plan mode: read only")
    _add_common(parser)


def _add_permissions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", help="allow every call that no rule denies")
    parser.add_argument("--allow", action="append", default=[], metavar="RULE", help="Tool, Tool(pattern), mcp__x__*")


def _add_looking(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    tools = _command(commands, "tools", "the tools, their states and who decided them", "look:tools")
    search = _command(commands, "search", "what ToolSearch would find", "look:search")
    search.add_argument("query")
    search.add_argument("--limit", type=int, metavar="N")
    search.add_argument("--explain", action="store_true", help="the scores and reasons of each hit")
    discover = _command(commands, "discover", "fitting tools with their schemas", "look:discover")
    discover.add_argument("task")
    explain = _command(commands, "explain", "why a tool is as it is", "look:explain")
    explain.add_argument("tool")
    usage = _command(commands, "usage", "what the tools cost, and what deferring them saves", "usage:usage")
    for parser in (tools, search, discover, explain, usage):
        parser.add_argument("--json", action="store_true", help="for programs")
        _add_common(parser)


def _add_undo(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "undo", "take back what a turn did to files", "undo:undo")
    parser.add_argument("--session", default="last", metavar="ID", help="a stored session; the newest by default")
    parser.add_argument("--turn", default="", metavar="ID", help="a turn, or an undo; the newest by default")
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.add_argument("--workspace", "-C", type=_folder, default=".", metavar="DIR", help="default: here")


def _add_exec(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = _command(commands, "exec", "run one tool", "execute:execute")
    parser.add_argument("tool")
    parser.add_argument("params", nargs="?", default="{}", metavar="JSON", help="its arguments; default {}")
    parser.add_argument("--json", action="store_true", help="the whole result as JSON")
    _add_permissions(parser)
    _add_common(parser)
