"""Bash: a command line in the workspace, streamed while it runs, bounded in time and in what it says."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import time
from collections import deque

from pydantic import Field

from caddie.errors import ToolFailure
from caddie.tools.builtin.output import Capture, clipped
from caddie.tools.builtin.process import Ending, environment, run
from caddie.tools.builtin.sandbox import Sandbox, bounds, find_sandbox, inside_environment, is_wanted, wrapped
from caddie.tools.context import ToolContext
from caddie.tools.tool import CommandPreview, Preview, TextContent, ToolArgs, ToolResult, builtin

UPDATE_SECONDS = 0.05
SHOWN_LINES = 20
SHOWN_BYTES = 4_000

_told: deque[str] = deque(maxlen=1_000)  # sessions that know that there is no sandbox


class BashArgs(ToolArgs):
    command: str = Field(
        description="The command line, as given to `bash -c`. It has no terminal and no input, so it must not ask."
    )
    timeout_seconds: float = Field(120, gt=0, le=600, description="Seconds until the command is stopped.")
    description: str = Field("", description="What the command does, in five to ten words, for the person.")


async def preview_bash(args: BashArgs, context: ToolContext) -> Preview:
    if not is_wanted(context.settings):
        note = "Runs without a sandbox."
    elif why_not := (await find_sandbox()).why_not:
        note = f"Runs without a sandbox: {why_not}."
    else:
        note = f"Runs in a sandbox: {bounds(context.settings)}."
    return CommandPreview(args.command, str(context.workspace), note)


async def bash(args: BashArgs, context: ToolContext) -> ToolResult:
    if not args.command.strip():
        raise ToolFailure("Expected a command, got an empty text.")
    argv, env = [_shell(), "-c", args.command], environment(os.environ)
    sandbox = await find_sandbox() if is_wanted(context.settings) else None
    if sandbox is not None and not sandbox.why_not:
        argv = await asyncio.to_thread(wrapped, sandbox.program, argv, context.folders, context.settings)
        env = inside_environment(env)
    elif sandbox is not None and context.settings.sandbox.mode == "always":
        raise ToolFailure(
            f"Nothing was run: sandbox.mode is `always`, and {sandbox.why_not}. "
            "The person can install bubblewrap or change the setting."
        )
    capture = Capture()
    progress = Progress(capture, context)
    try:
        ending = await run(argv, cwd=context.workspace, env=env, timeout=args.timeout_seconds, on_output=progress.feed)
    finally:
        progress.finish()
    output = await clipped(capture.text.rstrip("\n"), context, total_bytes=capture.total)
    return _result(output, ending, args.timeout_seconds, _about(sandbox, ending, context))


def _about(sandbox: Sandbox | None, ending: Ending, context: ToolContext) -> str:
    """What there is to say of the sandbox: its bounds when a command failed, once a session that there is none."""
    if sandbox is None or (not sandbox.why_not and ending.exit_code == 0):
        return ""
    if not sandbox.why_not:
        return f"(It ran in a sandbox: {bounds(context.settings)}.)"
    if context.session.session_id in _told:
        return ""
    _told.append(context.session.session_id)
    return f"(Commands run without a sandbox here: {sandbox.why_not}.)"


def _shell() -> str:
    shell = shutil.which("bash") or shutil.which("sh")
    if shell is None:
        raise ToolFailure("Neither bash nor sh is on the PATH, so no command can run here.")
    return shell


def _result(output: str, ending: Ending, timeout: float, about: str) -> ToolResult:
    verdict = _verdict(ending, timeout)
    silence = "" if output or verdict else "(The command succeeded and printed nothing.)"
    text = "\n\n".join(part for part in (output, verdict, silence, about) if part)
    return ToolResult((TextContent(text),), is_error=bool(verdict))


def _verdict(ending: Ending, timeout: float) -> str:
    """Empty when the command succeeded."""
    if ending.timed_out:
        return f"Stopped after {timeout:g} seconds (timeout_seconds); what it had printed until then is above."
    if ending.exit_code < 0:
        name = signal.strsignal(-ending.exit_code) or "unknown"
        return f"Ended by signal {-ending.exit_code} ({name})."
    return f"Exit code {ending.exit_code}." if ending.exit_code else ""


class Progress:
    """Shows the last lines at most twenty times a second, however fast the output comes; the newest is never lost."""

    def __init__(self, capture: Capture, context: ToolContext) -> None:
        self._capture = capture
        self._show = context.progress
        self._shown_at = 0.0
        self._later: asyncio.TimerHandle | None = None

    def feed(self, data: bytes) -> None:
        self._capture.feed(data)
        if self._later is None:
            wait = max(0.0, self._shown_at + UPDATE_SECONDS - time.monotonic())
            self._later = asyncio.get_running_loop().call_later(wait, self._update)

    def finish(self) -> None:
        if self._later is not None:
            self._later.cancel()
            self._update()

    def _update(self) -> None:
        self._later = None
        self._shown_at = time.monotonic()
        self._show("\n".join(self._capture.last(SHOWN_BYTES).splitlines()[-SHOWN_LINES:]))


TOOL = builtin(
    "Bash",
    "Runs a command line with bash in the workspace folder and returns its output, standard error included. Each call "
    "is a new shell: `cd` and variables do not last. Commands in the background end with the call. Long output is cut "
    "in the middle and saved to a file. To read, find or change files, use Read, Grep, Glob and Edit instead.",
    BashArgs,
    bash,
    preview=preview_bash,
    search_hint="run shell command, terminal, execute, git, tests, build, install",
    destructive=True,
)
