"""Nothing that a folder's own files say becomes a permission before the person trusts exactly that."""

from __future__ import annotations

import json
from pathlib import Path

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
