"""What users of such systems ran into, section D: rules, prompts and the permissions given in them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from caddie.layers import Layer
from caddie.providers.scripted import use
from caddie.tools.context import PermissionAnswer, PermissionRequest
from caddie.tools.tool import Tool, ToolResult, text_result
from engine_kit import BOUND, Desk, desk, mcp_tool
from targets_kit import targets

X, Y, Z = (mcp_tool("my-linear", name) for name in ("x", "y", "z"))
BX = mcp_tool("b", "x")
TOOLS = {"my-linear": (X, Y), "b": (BX,)}


def rules(**permissions: Any) -> dict[str, Any]:
    return {"permissions": permissions}


async def runs(one: Desk, tool: str, params: Mapping[str, Any] | None = None, session: str = "") -> bool:
    return not (await one.bridge(tool, dict(params or {}), session)).is_error


# D03: the arguments are there to be read before the yes.


async def test_d03_all_arguments_are_in_the_prompt_and_the_server_gets_the_very_same(workspace: Path) -> None:
    given = {
        "path": "notes/a.md",
        "lines": [f"line {n}" for n in range(40)],
        "options": {"depth": 3},
        "token": "ghp_looksLikeASecret",
        "odd": "é 查询 \t \u202e",
    }
    async with targets(workspace) as one:
        one.desk.person.choice = "once"
        await one.desk.bridge("mcp__acme__write", given)
        [asked] = one.desk.person.asked
        assert one.arguments("write") == [given]
    assert asked.params == given
    assert (asked.tool, asked.label, asked.server) == ("mcp__acme__write", "write", "acme")


async def test_d03_what_was_put_right_is_shown_as_it_will_be_sent(workspace: Path) -> None:
    async with targets(workspace) as one:
        one.desk.person.choice = "once"
        await one.desk.bridge("mcp__acme__write", '{"options": {"depth": "3"}}')
        assert one.desk.person.asked[0].params == {"options": {"depth": 3}}
        assert one.arguments("write") == [{"options": {"depth": 3}}]


# D05, D07: every spelling of a rule does what it says, or is reported.

SPELLINGS = ["mcp__my-linear__*", "mcp__my-linear", "mcp__*", "mcp__my-linear__x", "my-linear/x", "my-linear/",
             "my-linear__x", "MCP__My-Linear__X"]  # fmt: skip


@pytest.mark.parametrize("spelling", SPELLINGS)
async def test_d05_every_form_allows_its_own_tools_and_no_others(workspace: Path, spelling: str) -> None:
    async with desk(workspace, settings=rules(allow=[spelling]), tools=TOOLS) as one:
        assert await runs(one, "mcp__my-linear__x")
        assert await runs(one, "mcp__my-linear__y") == (not spelling.casefold().rstrip("/").endswith("x"))
        assert await runs(one, "mcp__b__x") == (spelling == "mcp__*")


@pytest.mark.parametrize("spelling", [*SPELLINGS, "x", "X", "*", "mcp__*__x"])
async def test_d07_every_spelling_denies_in_every_mode_and_over_every_allow(workspace: Path, spelling: str) -> None:
    settings = rules(mode="auto", allow=["*", "mcp__*"], deny=[spelling])
    async with desk(workspace, settings=settings, tools=TOOLS) as one:
        one.person.choice = "once"
        for name in ("mcp__my-linear__x", "my-linear/x"):
            assert not await runs(one, name)
        assert one.person.asked == []


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("mcp__my-linear__xx", "matches no tool"),
        ("my-linaer/x", "matches no tool"),
        ("Bash(rm:*", "expected a rule such as"),
        ("(rm)", "expected a rule such as"),
    ],
)
async def test_d07_a_rule_that_means_nothing_is_reported(workspace: Path, rule: str, said: str) -> None:
    async with desk(workspace, settings=rules(deny=[rule]), tools=TOOLS) as one:
        [finding] = one.engine.check.findings()
    assert finding.key == "permissions.deny.0"
    assert said in finding.message


# D06: ask goes before allow and before what was allowed earlier.


async def test_d06_an_ask_rule_asks_each_time_whatever_allows(workspace: Path) -> None:
    async with desk(workspace, settings=rules(mode="auto", allow=["mcp__*"]), tools=TOOLS) as one:
        assert await runs(one, "mcp__b__x")
        one.engine.configuration.set_editor_layers([Layer("editorUser", rules(allow=["mcp__*"], ask=["b/x"]))])
        for _ in range(2):
            assert not await runs(one, "mcp__b__x")
    assert len(one.person.asked) == 2
    assert "ask 'b/x'" in one.person.asked[0].reason


async def test_d06_an_ask_rule_asks_although_the_session_allowed_it_before(workspace: Path) -> None:
    async with desk(workspace, tools=TOOLS) as one:
        session = one.engine.sessions.create().id
        one.person.choice = "session"
        assert await runs(one, "mcp__b__x", session=session)
        one.person.choice = "reject"
        assert await runs(one, "mcp__b__x", session=session)
        one.engine.configuration.set_editor_layers([Layer("editorUser", rules(ask=["mcp__b"]))])
        assert not await runs(one, "mcp__b__x", session=session)


async def test_an_argument_pattern_looks_at_one_argument(workspace: Path) -> None:
    settings = rules(allow=["b/x(repo=acme/*)"], deny=["b/x(labels=secret*)"])
    async with desk(workspace, settings=settings, tools=TOOLS) as one:
        assert await runs(one, "b/x", {"repo": "acme/shop"})
        assert not await runs(one, "b/x", {"repo": "evil/shop", "note": "acme/shop"})
        assert not await runs(one, "b/x", {"repo": ["acme/shop", "evil/shop"]})
        one.person.choice = "once"
        assert not await runs(one, "b/x", {"repo": "acme/shop", "labels": ["a", "Secret-1"]})


# D09: a permission is for what was read when it was given.


def changed(one: Desk, *tools: Tool) -> None:
    one.engine.catalogue.replace_source("a", tools)


SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}, "mode": {"enum": ["r"]}}}
OTHER_SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}, "mode": {"enum": ["r", "w"]}}}
TURNED = {"properties": {"mode": {"enum": ["r"]}, "path": {"type": "string"}}, "type": "object"}


async def test_d09_a_new_description_and_a_new_schema_ask_again_with_the_difference_and_key_order_does_not(
    workspace: Path,
) -> None:
    async with desk(workspace, tools={"a": (mcp_tool("a", "x", "Reads a file", SCHEMA),)}) as one:
        one.person.choice = "always"
        assert await runs(one, "a/x")
        changed(one, mcp_tool("a", "x", "Reads a file", TURNED))
        assert await runs(one, "a/x")
        assert len(one.person.asked) == 1, "the order of keys is no change"
        changed(one, mcp_tool("a", "x", "Reads a file and sends it away", TURNED))
        assert await runs(one, "a/x")
        changed(one, mcp_tool("a", "x", "Reads a file and sends it away", OTHER_SCHEMA))
        assert await runs(one, "a/x")
        assert await runs(one, "a/x")
    first, second, third = (request.definition_changed for request in one.person.asked)
    assert first == ""
    assert "-Reads a file\n+Reads a file and sends it away" in second
    assert '+    "w"' in third
    assert "Reads a file" not in third.replace("Reads a file and sends it away", "")


async def test_d09_another_program_under_the_servers_name_is_another_server(workspace: Path) -> None:
    tool = mcp_tool("a", "x")
    other = replace(tool, spec=replace(tool.spec, identity="started otherwise"))
    async with desk(workspace, tools={"a": (tool,)}) as one:
        one.person.choice = "always"
        assert await runs(one, "a/x")
        one.person.choice = "reject"
        changed(one, other)
        assert not await runs(one, "a/x")
    assert "not started as it was" in one.person.asked[1].definition_changed


async def test_d09_a_real_server_started_in_another_way_asks_again(workspace: Path) -> None:
    async with targets(workspace) as one:
        one.desk.person.choice = "always"
        assert await runs(one.desk, "acme/look")
    (workspace.parent / "elsewhere").mkdir()
    async with targets(workspace) as again:
        assert await runs(again.desk, "acme/look"), "the same server"
        server = dict(again.desk.engine.configuration.servers()["acme"].server.model_dump())
        moved = {**{key: server[key] for key in ("command", "args")}, "cwd": str(workspace.parent / "elsewhere")}
        await again.desk.engine.set_editor_layers([Layer("editorUser", {"mcp": {"servers": {"acme": moved}}})])
        assert await again.desk.engine.mcp.settled(["acme"], BOUND) == ()
        assert not await runs(again.desk, "acme/look")


# D10: taken back, and at once.


async def test_d10_a_revoked_permission_asks_again_at_once_in_every_running_session(workspace: Path) -> None:
    async with desk(workspace, tools=TOOLS) as one, desk(workspace, tools=TOOLS) as other:
        sessions = [one.engine.sessions.create().id, one.engine.sessions.create().id]
        one.person.choice = "always"
        assert await runs(one, "mcp__b__x", session=sessions[0])
        assert await runs(other, "mcp__b__x"), "another editor of the same workspace"
        one.person.choice = other.person.choice = "reject"
        [grant] = one.engine.grants.held(sessions[1])
        one.engine.grants.revoke(grant.id)
        for session in sessions:
            assert not await runs(one, "mcp__b__x", session=session)
        assert not await runs(other, "mcp__b__x")
    assert len(one.person.asked) == 3
    assert len(other.person.asked) == 1


# D11: one yes for a whole server.


async def test_d11_a_server_can_be_allowed_for_the_session_and_only_what_it_has_now(workspace: Path) -> None:
    async with desk(workspace, tools=TOOLS) as one:
        session, other = one.engine.sessions.create().id, one.engine.sessions.create().id
        one.person.choice = "server"
        assert await runs(one, "mcp__my-linear__x", session=session)
        kinds = {choice.id: (choice.kind, choice.label) for choice in one.person.asked[0].choices}
        assert kinds["server"] == ("allowServerSession", "Allow all 2 tools of my-linear in this session")
        one.person.choice = "reject"
        assert await runs(one, "mcp__my-linear__y", session=session)
        assert not await runs(one, "mcp__b__x", session=session), "another server"
        assert not await runs(one, "mcp__my-linear__x", session=other), "another session"
        one.engine.catalogue.replace_source("my-linear", (X, Y, Z))
        assert not await runs(one, "mcp__my-linear__z", session=session), "a tool that came later"
        assert await runs(one, "mcp__my-linear__y", session=session)
        [grant] = one.engine.grants.held(session)
        assert grant.tool == "mcp__my-linear__*"
        one.engine.grants.revoke(grant.id)
        assert not await runs(one, "mcp__my-linear__y", session=session)


# D13: nothing is offered that cannot hold.


@pytest.mark.parametrize(
    ("settings", "tool", "params"),
    [
        (rules(ask=["b/x"]), "mcp__b__x", {}),
        ({}, "mcp__b__confirm", {}),
        (rules(mode="acceptEdits"), "Write", {"path": ".git/hooks/pre-commit", "content": ""}),
        (rules(mode="auto", allow=["Bash"]), "Bash", {"command": "echo x >> ~/.bashrc"}),
        (rules(deny=["Bash(rm:*)"]), "Bash", {"command": "$TOOL x"}),
    ],
)
async def test_d13_only_once_is_offered_where_it_will_be_asked_again(
    workspace: Path, settings: dict[str, Any], tool: str, params: dict[str, Any]
) -> None:
    tools = {"b": (BX, mcp_tool("b", "confirm", needs_interaction=True))}
    async with desk(workspace, settings=settings, tools=tools) as one:
        await one.bridge(tool, params)
        [asked] = one.person.asked
        assert [choice.kind for choice in asked.choices] == ["allowOnce", "reject"]
        assert asked.reason


async def test_d13_an_answer_that_was_not_offered_is_no_permission(workspace: Path) -> None:
    async with desk(workspace, settings=rules(ask=["b/x"]), tools=TOOLS) as one:
        one.person.choice = "always"
        assert not await runs(one, "mcp__b__x")
        assert one.engine.grants.held("") == ()


# D16: reading in plan mode.

PLAN_TOOLS = {
    "cg": (
        mcp_tool("cg", "codegraph_explore", read_only=True),
        mcp_tool("cg", "get_and_delete", read_only=False),
        mcp_tool("cg", "list_things"),
        mcp_tool("cg", "lies", read_only=True),
    )
}


async def test_d16_in_plan_mode_the_claim_counts_and_a_name_does_not(workspace: Path) -> None:
    async with desk(workspace, settings=rules(mode="plan", allow=["mcp__cg"]), tools=PLAN_TOOLS) as one:
        assert await runs(one, "cg/codegraph_explore")
        for name in ("cg/get_and_delete", "cg/list_things"):
            assert not await runs(one, name)
            assert "plan mode" in one.calls[-1].result


async def test_d16_the_persons_own_list_wins_and_deny_wins_over_all(workspace: Path) -> None:
    settings = rules(mode="plan", allow=["mcp__cg"], readOnly=["cg/list_things", "cg/lies"], deny=["cg/lies"])
    async with desk(workspace, settings=settings, tools=PLAN_TOOLS) as one:
        assert await runs(one, "cg/list_things")
        assert not await runs(one, "cg/lies")
        assert "was refused by" in one.calls[-1].result
        assert not await runs(one, "cg/get_and_delete")


async def test_d16_a_claim_is_believed_for_plan_mode_and_is_no_permission(workspace: Path) -> None:
    async with desk(workspace, settings=rules(mode="plan"), tools=PLAN_TOOLS) as one:
        one.person.choice = "once"
        assert await runs(one, "cg/codegraph_explore")
        assert len(one.person.asked) == 1


# U04: what the first seed's bridge let through.

GUARDED = [".git/hooks/pre-commit", ".vscode/tasks.json", ".caddie/settings.json", "src/../.mcp.json", ".GIT/config"]


@pytest.mark.parametrize("mode", ["acceptEdits", "auto"])
@pytest.mark.parametrize("path", GUARDED)
async def test_u04_guarded_files_ask_over_the_bridge_in_every_mode_whatever_is_allowed(
    workspace: Path, path: str, mode: str
) -> None:
    settings = rules(mode=mode, allow=["Write", "Bash", "mcp__*"])
    async with desk(workspace, settings=settings, tools={"fs": (mcp_tool("fs", "write_file"),)}) as one:
        for tool, params in (
            ("Write", {"path": path, "content": "x"}),
            ("Bash", {"command": f"echo x > {path}"}),
            ("fs/write_file", {"path": path}),
            ("fs/write_file", {"edits": [{"file": str(workspace / path)}]}),
            ("fs/write_file", {"uri": (workspace / path).as_uri()}),
        ):
            before = len(one.person.asked)
            result = await one.bridge(tool, params)
            assert result.is_error, tool
            assert len(one.person.asked) == before + 1, tool
        assert not (workspace / path).exists()


async def test_u04_caddies_own_settings_and_permissions_ask_wherever_they_are_kept(workspace: Path) -> None:
    async with desk(workspace, settings=rules(mode="auto", allow=["Bash", "mcp__*"])) as one:
        places = one.engine.configuration.places
        for path in (places.user_settings, places.grants, places.trust, places.workspace_settings):
            before = len(one.person.asked)
            assert (await one.bridge("Bash", {"command": f"cp a {path}"})).is_error
            assert "Caddie's own settings" in one.person.asked[before].reason, path
        long_result = places.results / "a.txt"
        await one.bridge("Bash", {"command": f"sed -n 1,5p {long_result}"})
        assert len(one.person.asked) == 4, "a result that was too long is there to be looked at"


async def test_u04_a_link_into_a_guarded_folder_does_not_help(workspace: Path) -> None:
    (workspace / ".git" / "hooks").mkdir(parents=True)
    (workspace / "innocent").symlink_to(workspace / ".git" / "hooks")
    (workspace / "away").symlink_to(workspace.parent)
    async with desk(workspace, settings=rules(mode="auto", allow=["Bash", "mcp__*", "Write"])) as one:
        for command in ("echo x > innocent/pre-commit", "cp a innocent/", "echo x > away/out.txt"):
            assert (await one.bridge("Bash", {"command": command})).is_error, command
        assert (await one.bridge("Write", {"path": "innocent/pre-commit", "content": "x"})).is_error
    assert len(one.person.asked) == 4


async def test_u04_guarded_files_are_refused_where_nobody_can_be_asked_whatever_the_setting(workspace: Path) -> None:
    settings = rules(mode="auto", whenClientCannotAsk="allow")
    async with desk(workspace, settings=settings, can_ask=False) as one:
        result = await one.bridge("Write", {"path": ".vscode/tasks.json", "content": "{}"})
        assert result.is_error
        assert "A person must see that" in result.text
        assert not (await one.bridge("Write", {"path": "a.txt", "content": ""})).is_error


async def test_u04_a_tool_that_needs_you_asks_over_the_bridge_in_auto_mode(workspace: Path) -> None:
    settings = rules(mode="auto", allow=["mcp__*"])
    async with targets(workspace, settings=settings) as one:
        await one.desk.bridge("mcp__acme__confirm", {})
        assert [request.label for request in one.desk.person.asked] == ["confirm"]
        assert one.heard == []


async def test_u04_always_over_the_bridge_is_for_the_one_tool(workspace: Path) -> None:
    async with targets(workspace) as one:
        one.desk.person.choice = "always"
        assert await runs(one.desk, "acme/look")
        [grant] = one.desk.engine.grants.held("")
        assert (grant.tool, grant.server) == ("mcp__acme__look", "acme")
        one.desk.person.choice = "reject"
        assert not await runs(one.desk, "acme/drop")


# Several prompts at once.


async def waiting(one: Desk, count: int) -> None:
    async with asyncio.timeout(BOUND):
        while len(one.person.asked) < count:  # noqa: ASYNC110
            await asyncio.sleep(0.005)


async def test_parallel_prompts_are_all_in_sight_and_one_yes_settles_those_it_covers(workspace: Path) -> None:
    async with desk(workspace, tools=TOOLS) as one:
        session = one.engine.sessions.create().id
        first, last = asyncio.Event(), asyncio.Event()
        answers = [(first, "session"), (last, "reject"), (last, "reject")]

        async def ask(request: PermissionRequest) -> PermissionAnswer:
            gate, choice = answers[len(one.person.asked)]
            one.person.asked.append(request)
            await gate.wait()
            return PermissionAnswer(choice)

        one.person.ask_permission = ask  # type: ignore[method-assign]
        calls = [
            asyncio.create_task(one.bridge(tool, {}, session))
            for tool in ("mcp__b__x", "mcp__b__x", "mcp__my-linear__x")
        ]
        await waiting(one, 3)
        assert [update.status for update in one.calls].count("awaitingPermission") == 3
        first.set()
        async with asyncio.timeout(BOUND):
            assert not (await calls[0]).is_error
            assert not (await calls[1]).is_error, "the permission covers it, so its prompt is taken back"
        assert not calls[2].done(), "the other tool still waits for its own answer"
        last.set()
        assert (await calls[2]).is_error


async def test_a_rule_that_comes_while_the_person_is_asked_settles_the_prompt(workspace: Path) -> None:
    async with desk(workspace, tools=TOOLS) as one:
        one.person.thinking = asyncio.Event()
        call = asyncio.create_task(one.bridge("mcp__b__x", {}))
        await waiting(one, 1)
        await one.engine.set_editor_layers([Layer("editorUser", rules(deny=["b/x"]))])
        async with asyncio.timeout(BOUND):
            result = await call
    assert result.is_error
    assert "was refused by" in result.text


async def test_a_rejected_call_goes_back_to_the_model_with_the_persons_words_and_the_turn_goes_on(
    workspace: Path,
) -> None:
    script = ([use("ExecuteTool", "c1", tool_name="b/x", params={})], [use("Read", "c2", path="a.txt")], ["Then so."])
    (workspace / "a.txt").write_text("hello\n")
    async with desk(workspace, answers=script, tools=TOOLS) as one:
        one.person.feedback = "not on Fridays"
        _, text = await one.turn("go")
    assert text == "Then so."
    refused = one.provider.requests[1].messages[-1].parts[0]
    assert refused.is_error
    assert refused.content[0].text == "The person refused x and said: not on Fridays"
    assert [call.status for call in one.calls if call.status in ("refused", "done")] == ["refused", "done"]


async def test_no_sentence_that_a_person_reads_speaks_to_the_model(workspace: Path) -> None:
    settings = {**rules(deny=["b/x"]), "tools": {"disabled": ["my-linear/x"]}}
    async with desk(workspace, settings=settings, tools=TOOLS) as one:
        said = [(await one.bridge(name, {})).text for name in ("b/x", "my-linear/x")]
    assert said[0] == (
        "x was refused by the editorUser rule deny 'b/x'. It holds until that rule is changed in the settings."
    )
    assert all("another way" not in text for text in said)


async def test_a_mode_that_changes_during_a_turn_counts_from_the_next_call_on(workspace: Path) -> None:
    holder: list[Desk] = []

    async def tighten(arguments: dict[str, Any], context: object) -> ToolResult:
        await holder[0].engine.set_editor_layers([Layer("editorUser", rules(mode="ask"))])
        return text_result("tightened")

    tools = {"a": (mcp_tool("a", "tighten", run=tighten), mcp_tool("a", "x"))}
    script = ([use("mcp__a__tighten", "c1")], [use("mcp__a__x", "c2")], ["."])
    async with desk(workspace, answers=script, settings=rules(mode="auto"), tools=tools) as one:
        holder.append(one)
        await one.turn("go")
    assert [request.tool for request in one.person.asked] == ["mcp__a__x"]


async def test_an_ask_rule_follows_the_setting_where_nobody_can_be_asked(workspace: Path) -> None:
    for default, ran in (("allow", True), ("deny", False)):
        settings = rules(ask=["b/x"], whenClientCannotAsk=default)
        async with desk(workspace, settings=settings, tools=TOOLS, can_ask=False) as one:
            assert await runs(one, "b/x") == ran


async def test_a_permission_that_cannot_be_stored_still_allows_this_call_and_says_so(workspace: Path) -> None:
    async with desk(workspace, tools=TOOLS) as one:
        place = one.engine.configuration.places.grants
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("{ broken")
        one.person.choice = "always"
        result = await one.bridge("b/x", {})
    assert not result.is_error
    assert "the permission could not be kept: grants.json is not valid JSON" in result.text
    assert place.read_text() == "{ broken", "nothing is lost"
