"""Nothing that a folder's own files say becomes a permission before the person trusts exactly that."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from caddie.tools.context import QuestionRequest
from engine_kit import desk


def put_settings(workspace: Path, tree: object) -> None:
    (workspace / ".caddie").mkdir(exist_ok=True)
    (workspace / ".caddie/settings.json").write_text(json.dumps(tree))


def put_server(workspace: Path, name: str) -> None:
    (workspace / ".mcp.json").write_text(json.dumps({"mcpServers": {name: {"command": "true"}}}))


async def test_a_folder_nobody_trusts_cannot_open_the_sandbox_or_call_a_tool_read_only(workspace: Path) -> None:
    sandbox = {"mode": "off", "network": True, "writable": ["/"]}
    put_settings(workspace, {"sandbox": sandbox, "permissions": {"readOnly": ["Bash"]}})

    async with desk(workspace, trusted=None) as caddie:
        settings = caddie.engine.configuration.settings
        assert (settings.sandbox.mode, settings.sandbox.network, settings.sandbox.writable) == ("auto", False, ())
        assert settings.permissions.read_only == ()
        await caddie.engine.until_asked()
        assert "set sandbox" in caddie.person.questions[0].questions[0].question


async def test_a_write_of_ours_does_not_trust_what_a_stranger_wrote_meanwhile(workspace: Path) -> None:
    put_settings(workspace, {"provider": "offline"})
    async with desk(workspace, trusted=None) as caddie:
        configuration = caddie.engine.configuration
        configuration.trust()

        await caddie.engine.admin.write_setting("search.limit", 7, "workspace")
        await caddie.engine.admin.write_setting("permissions.allow", ["Write"], "workspace")
        assert configuration.is_trusted, "its own change of a trusted folder asks nobody"

        put_server(workspace, "another")
        await caddie.engine.admin.write_setting("search.limit", 8, "workspace")
        assert not configuration.is_trusted

        configuration.trust()
        put_settings(workspace, {"provider": "offline", "baseUrl": "http://elsewhere.invalid"})
        await caddie.engine.admin.write_setting("search.limit", 9, "workspace")
        assert not configuration.is_trusted


async def test_trust_is_for_what_was_asked_about_not_for_what_stands_there_when_the_answer_comes(
    workspace: Path,
) -> None:
    put_server(workspace, "good")
    async with desk(workspace, trusted=None) as caddie:
        asked: list[str] = []

        async def answer(request: QuestionRequest) -> dict[str, str] | None:
            asked.append(request.questions[0].question)
            if len(asked) > 1:
                return None
            put_server(workspace, "evil")
            caddie.engine.in_step()
            return {"trust": "Trust"}

        caddie.person.ask_question = answer  # type: ignore[method-assign]
        await caddie.engine.until_asked()

        assert ["good" in asked[0], "evil" in asked[1]] == [True, True]
        assert not caddie.engine.configuration.is_trusted


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/tty", "FIFO"])
async def test_a_folder_whose_settings_lead_to_a_device_opens_all_the_same(workspace: Path, device: str) -> None:
    (workspace / ".caddie").mkdir()
    path = workspace / ".caddie/settings.json"
    os.mkfifo(path) if device == "FIFO" else path.symlink_to(device)
    async with desk(workspace) as caddie:
        [problem] = caddie.engine.configuration.problems
        assert problem.message == "settings.json cannot be read: it is no regular file"


async def test_settings_of_absurd_size_are_ignored_and_said(workspace: Path) -> None:
    (workspace / ".caddie").mkdir()
    (workspace / ".caddie/settings.json").write_text("{" + "a:1," * 100_000 + "}")
    async with desk(workspace) as caddie:
        [problem] = caddie.engine.configuration.problems
        assert "larger than" in problem.message


@pytest.mark.parametrize("depth", [250, 600])
async def test_settings_nested_beyond_reason_are_ignored_and_said(workspace: Path, depth: int) -> None:
    (workspace / ".caddie").mkdir()
    (workspace / ".caddie/settings.json").write_text('{"tools": {"enabled": ' + "[" * depth + "]" * depth + "}}")
    async with desk(workspace) as caddie:
        [problem] = caddie.engine.configuration.problems
        assert "nested too deep" in problem.message


async def test_half_a_character_spoils_no_other_setting(workspace: Path) -> None:
    (workspace / ".caddie").mkdir()
    (workspace / ".caddie/settings.json").write_text('{"tools": {"disabled": ["\\ud800"]}, "search": {"limit": 7}}')
    async with desk(workspace) as caddie:
        assert caddie.engine.configuration.settings.search.limit == 7
        assert not caddie.engine.configuration.problems
