"""What a client may answer to a permission prompt, byte by byte. Anything but a choice that was offered is a no."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from editor_client import clean_environment
from raw_client import RawClient, request, start

TOUCH = {"toolName": "ExecuteTool", "params": {"tool_name": "Bash", "params": {"command": "touch ran"}}}


@asynccontextmanager
async def server(workspace: Path, home: Path, *, allow: bool = False) -> AsyncIterator[RawClient]:
    """With the setting that lets calls run where nobody can be asked, so that only a refusal stops them."""
    env = clean_environment(home, **({"CADDIE_PERMISSIONS_WHEN_CLIENT_CANNOT_ASK": "allow"} if allow else {}))
    async with start(program=("-m", "caddie", "serve"), cwd=workspace, env=env) as client:
        yield client


async def until(client: RawClient, method: str = "", msg_id: Any = None) -> dict[str, Any]:
    """The next request of that method, or the answer to that id."""
    while True:
        message: dict[str, Any] = await client.read()
        if (method and message.get("method") == method) or (
            msg_id is not None and message.get("id") == msg_id and "method" not in message
        ):
            return message


async def asked(client: RawClient, msg_id: int = 1) -> dict[str, Any]:
    client.send(request(msg_id, "caddie/tools/execute", TOUCH))
    return await until(client, "caddie/permission/ask")


def answer(prompt: dict[str, Any], result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": prompt["id"], "result": result}


NO_CHOICES: list[Any] = [
    {"choice": "reject"}, {"choice": "yes"}, {"choice": ""}, {"choice": "Once"}, {"choice": "allowOnce"},
    {"choice": "always please"}, {"choice": "withdrawn"}, {"feedback": "go"}, {}, None, [], "once", True,
    {"choice": True}, {"choice": ["once"]}, {"choice": {"id": "once"}}, {"choice": None},
]  # fmt: skip


async def test_only_a_choice_that_was_offered_is_a_yes(workspace: Path, home: Path) -> None:
    async with server(workspace, home, allow=True) as client:
        for msg_id, result in enumerate(NO_CHOICES, start=1):
            prompt = await asked(client, msg_id)
            assert prompt["params"]["params"] == {"command": "touch ran"}
            client.send(answer(prompt, result))
            refused = (await until(client, msg_id=msg_id))["result"]
            assert refused["isError"], result
            assert not (workspace / "ran").exists(), result


async def test_late_and_double_answers_allow_nothing(workspace: Path, home: Path) -> None:
    async with server(workspace, home) as client:
        first = await asked(client)
        client.send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 1}})
        assert (await until(client, msg_id=1))["error"]["code"] == -32800
        client.send(answer(first, {"choice": "always"}))
        assert not (workspace / "ran").exists(), "the answer came when nobody waited for it"
        second = await asked(client, 2)
        client.send(answer(second, {"choice": "reject"}), answer(second, {"choice": "always"}))
        assert (await until(client, msg_id=2))["result"]["isError"], "the first answer counts"
        client.send(request(3, "caddie/permissions/list", {}))
        assert (await until(client, msg_id=3))["result"]["grants"] == []
        third = await asked(client, 4)
        client.send(answer(third, {"choice": "once"}), answer(third, {"choice": "once"}))
        assert not (await until(client, msg_id=4))["result"]["isError"]
        await asked(client, 5)
    assert (workspace / "ran").exists()


async def test_an_answer_to_one_prompt_is_none_to_another(workspace: Path, home: Path) -> None:
    async with server(workspace, home) as client:
        first, second = await asked(client, 1), await asked(client, 2)
        assert first["params"]["requestId"] != second["params"]["requestId"]
        client.send(answer(first, {"choice": "once"}))
        assert not (await until(client, msg_id=1))["result"]["isError"]
        client.send(request(3, "caddie/permissions/list", {}))
        waiting = await until(client, msg_id=3)
        assert waiting["result"]["grants"] == []
        client.send(answer(second, {"choice": "reject"}))
        assert (await until(client, msg_id=2))["result"]["isError"]


async def test_an_always_settles_the_other_prompts_it_covers_and_takes_them_back(workspace: Path, home: Path) -> None:
    async with server(workspace, home) as client:
        first, second = await asked(client, 1), await asked(client, 2)
        client.send(answer(first, {"choice": "always"}))
        seen: list[Any] = []
        async with asyncio.timeout(60):
            while not {1, 2} <= {message.get("id") for message in seen if "result" in message}:
                seen.append(await client.read())
    taken_back = [message["params"]["id"] for message in seen if message.get("method") == "$/cancelRequest"]
    assert taken_back == [second["id"]]
    assert not any(message["result"]["isError"] for message in seen if message.get("id") in (1, 2))
