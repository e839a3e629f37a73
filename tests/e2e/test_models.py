"""Which models may answer, which one does and why: through the real server, for the pickers of every client."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from llmock.pytest_plugin import LLMock
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from editor_client import editor
from terminal_screen import Screen


async def test_the_models_of_the_provider_are_listed_and_another_one_answers_once_it_is_set(
    workspace: Path, home: Path, llmock: LLMock
) -> None:
    settings = {"provider": "openai-chat", "baseUrl": llmock.base_url("openai"), "model": "gpt-4o"}
    async with editor(workspace, home, settings=settings) as one:
        first = await one.request("caddie/models/list", {})
        assert (first["provider"], first["model"]) == ("openai-chat", "gpt-4o")
        assert "caddie.provider" in first["why"]
        names = [model["id"] for model in first["models"]]
        assert len(names) > 1
        assert "gpt-4o" in names
        other = next(name for name in names if name != "gpt-4o")
        one.client.workspace_did_change_configuration(
            types.DidChangeConfigurationParams({"caddie": {**settings, "model": other}})
        )
        assert (await one.request("caddie/models/list", {}))["model"] == other
        await one.turn("hello")
        assert llmock.last_request.model == other


async def test_a_list_that_cannot_be_had_says_why_and_a_missing_key_is_an_error(workspace: Path, home: Path) -> None:
    nobody = {"provider": "openai-chat", "baseUrl": "http://127.0.0.1:9", "model": "mine"}
    async with editor(workspace, home, settings=nobody) as one:
        listed = await one.request("caddie/models/list", {})
        assert [model["id"] for model in listed["models"]] == ["mine"]
        assert "127.0.0.1:9" in listed["problem"]
        one.client.workspace_did_change_configuration(
            types.DidChangeConfigurationParams({"caddie": {"provider": "anthropic"}})
        )
        with pytest.raises(JsonRpcException) as told:
            await one.request("caddie/models/list", {})
        assert told.value.data["kind"] == "provider_auth"
        assert "ANTHROPIC_API_KEY" in told.value.message


def test_the_terminal_lists_models_and_switches(tmp_path: Path, llmock: LLMock) -> None:
    config = tmp_path / "config" / "caddie"
    config.mkdir(parents=True)
    settings = {"provider": "openai-chat", "baseUrl": llmock.base_url("openai"), "model": "gpt-4o"}
    (config / "settings.json").write_text(json.dumps(settings))
    (tmp_path / "project").mkdir()
    places = {f"XDG_{name}_HOME": str(tmp_path / name.lower()) for name in ("CONFIG", "DATA", "STATE", "CACHE")}
    screen = Screen.spawn(
        [sys.executable, "-m", "caddie", "chat", "--workspace", str(tmp_path / "project")],
        {"HOME": str(tmp_path), **places},
    )
    try:
        screen.wait_for("›")
        screen.send("/model")
        screen.send("enter")
        screen.wait_for("gpt-4o  ← in use", "/model N or /model NAME")
        screen.send("/model gpt-4o-mini")
        screen.send("enter")
        screen.wait_for("From the next message on: openai-chat, gpt-4o-mini.")
        screen.send("hello")
        screen.send("enter")
        screen.wait_for("% cached")
        assert llmock.last_request.model == "gpt-4o-mini"
    finally:
        screen.close()
