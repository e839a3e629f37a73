"""What users of such systems ran into, section F: settings, hints, reports; and D01, D12 with several editors."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from caddie.providers.scripted import use
from caddie.tools import reasons
from caddie.tools.servers import ServerStatus
from engine_kit import BOUND, Desk, desk, mcp_tool

X, Y = mcp_tool("a", "x"), mcp_tool("a", "y")
TOOLS = {"a": (X, Y), "b": (mcp_tool("b", "x"),)}
ALLOW = {"permissions": {"allow": ["mcp__*"]}}


def write(workspace: Path, tree: Any, scope: str = "workspace") -> Path:
    folder = workspace / ".caddie" if scope == "workspace" else workspace.parent / "config"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "settings.json"
    path.write_text(tree if isinstance(tree, str) else json.dumps(tree))
    return path


def state(one: Desk, name: str) -> str:
    return next(item.decision.state for item in one.engine.admin.listing() if item.spec.name == name)


# F01: a setting is accepted and has no effect.


async def test_f01_what_has_no_effect_is_found_with_its_path_and_the_rest_holds(workspace: Path) -> None:
    tools = {"disabled": ["mcp__a__y", "Bassh", 5], "deferred": ["mcp__a__y"], "profle": "lean", "use": "yes"}
    write(workspace, {"tools": tools, "search": {"limit": 7}, "deferLoading": True})
    async with desk(workspace, tools=TOOLS) as one:
        found = {finding.key: finding.message for finding in one.engine.check.findings()}
        assert one.engine.configuration.settings.search.limit == 7
        assert state(one, "mcp__a__y") == "disabled"
    assert found["deferLoading"].startswith("unknown setting")
    assert found["tools.profle"] == "unknown setting (did you mean 'profile'?)"
    assert found["tools.use"] == 'expected a valid boolean; got "yes"; the value is ignored'
    assert found["tools.disabled.2"] == "expected a valid string; got 5; the value is ignored"
    assert found["tools.disabled.1"] == "'Bassh' matches no tool that is known now (did you mean 'Bash'?)"
    assert "goes first (disabled, then deferred, then enabled)" in found["tools.deferred.0"]


async def test_f01_a_name_of_a_server_that_is_not_up_yet_is_no_mistake(workspace: Path) -> None:
    write(workspace, {"tools": {"disabled": ["mcp__late__run", "mcp__gone__run"]}})
    async with desk(workspace) as one:
        one.engine.catalogue.set_server(ServerStatus("late", "connecting"))
        assert one.engine.check.findings() == ()
        one.engine.catalogue.set_server(ServerStatus("late", "failed"))
        assert [finding.key for finding in one.engine.check.findings()] == ["tools.disabled.1"]


# F02: deferral is off, or not what was asked for, and no reason is given.


@pytest.mark.parametrize(
    ("settings", "environ", "mode", "why"),
    [
        ({}, {}, "bridge", "the default setting tools.deferral says auto"),
        ({"provider": "openai-chat", "baseUrl": "http://localhost:1"}, {}, "bridge", "says auto"),
        ({"tools": {"deferral": "native"}}, {}, "bridge", "the editor's user setting tools.deferral says native"),
        ({"tools": {"deferral": "bridge"}}, {"CADDIE_TOOLS_DEFERRAL": "off"}, "off", "CADDIE_TOOLS_DEFERRAL says off"),
        ({"tools": {"deferral": "off"}}, {"CADDIE_TOOLS_DEFERRAL": "true"}, "off", "tools.deferral"),
    ],
)
async def test_f02_one_call_says_the_mode_in_effect_and_why(
    workspace: Path, settings: dict[str, Any], environ: dict[str, str], mode: str, why: str
) -> None:
    async with desk(workspace, tools=TOOLS, settings=settings, environ=environ) as one:
        explained = one.engine.admin.explain("ToolSearch" if mode == "off" else "mcp__a__x")
    assert explained.deferral == mode
    assert why in " ".join(explained.sentences)


# F03: choices are lost on reload.


async def test_f03_states_of_a_server_that_connects_later_or_in_another_case_are_kept(workspace: Path) -> None:
    names = [f"t{number}" for number in range(5)]
    async with desk(workspace) as one:
        changes = [(f"mcp__late__{name}", "disabled") for name in names[:3]]
        await one.engine.admin.set_state(changes, "workspace")  # type: ignore[arg-type]
    for server in ("late", "LATE", "Late"):
        async with desk(workspace) as again:
            again.engine.catalogue.replace_source(server, [mcp_tool(server, name) for name in names])
            states = [state(again, f"mcp__{server}__{name}") for name in names]
            assert states == ["disabled"] * 3 + ["deferred"] * 2
            await again.engine.admin.set_state([("Bash", "deferred"), ("Bash", "default")], "workspace")


# F04: no way back to the defaults.


@pytest.mark.parametrize("scope", ["user", "workspace"])
async def test_f04_everything_off_and_back_is_one_act_each_way(workspace: Path, scope: Any) -> None:
    async with desk(workspace, tools=TOOLS) as one:
        before = {item.spec.name: item.decision for item in one.engine.admin.listing()}
        _, warnings = await one.engine.admin.set_state([("*", "disabled")], scope)
        assert any("ToolSearch and ExecuteTool" in text for text in warnings)
        await one.engine.admin.set_state([("*", "default")], scope)
        assert {item.spec.name: item.decision for item in one.engine.admin.listing()} == before
        _, warnings = await one.engine.admin.set_state([("ToolSearch", "disabled")], scope)
        assert state(one, "ToolSearch") == "enabled"
        assert any("stay while any tool is deferred" in text for text in warnings)


# F05: "disabled by the user", which is not true.


async def causes(one: Desk) -> dict[str, tuple[str, str]]:
    """For each cause of "not here": a name, and a word that its reason must hold."""
    one.engine.catalogue.set_server(ServerStatus("down", "failed", "it exited with code 7"))
    one.engine.catalogue.set_server(ServerStatus("a", "ready", tools=2))
    await one.engine.admin.set_state([("mcp__a__x", "disabled")], "user")
    await one.engine.admin.set_state([("mcp__b__x", "disabled")], "workspace")
    return {
        "deferred": ("mcp__a__y", "is deferred by the profile standard"),
        "disabled by the user": ("mcp__a__x", "the user setting tools.disabled"),
        "disabled by the workspace": ("mcp__b__x", "the workspace setting tools.disabled"),
        "denied": ("WebFetch", "rule deny 'WebFetch'"),
        "server down": ("mcp__down__run", "it exited with code 7"),
        "plan mode": ("Write", "plan mode"),
        "unknown": ("mcp__a__xyz", "There is no tool named"),
    }


async def test_f05_seven_causes_have_seven_true_reasons_the_same_wherever_they_appear(workspace: Path) -> None:
    settings = {"permissions": {"deny": ["WebFetch"], "allow": ["mcp__a__y"]}}
    async with desk(workspace, tools=TOOLS, settings=settings) as one:
        table = await causes(one)
        session = one.engine.sessions.create()
        session.state.mode = "plan"
        told: dict[str, str] = {}
        for cause, (name, word) in table.items():
            explained = one.engine.admin.explain(name, session.id)
            reason = next(sentence for sentence in explained.sentences if word in sentence)
            told[cause] = reason
            if cause not in ("deferred", "plan mode"):
                params = {"url": "https://example.org"} if name == "WebFetch" else {}
                executed = await one.execute(name, params)
                assert executed.is_error
                assert reason in executed.text, cause
            if cause not in ("deferred", "plan mode", "denied"):
                [unknown] = one.engine.searcher.find(f"select:{name}").unknown
                assert unknown.why == reason, cause
        planned = await one.execute("Write", {"path": "x", "content": "y"}, session.id)
        assert planned.text == told["plan mode"]
        assert not (await one.bridge("mcp__a__y", {})).is_error, "a deferred tool is only not in the prompt"
    assert len(set(told.values())) == 7
    assert all("disabled" not in told[cause] for cause in ("deferred", "denied", "server down", "plan mode", "unknown"))


async def test_f05_the_file_and_line_that_decided_are_named(workspace: Path) -> None:
    path = write(workspace, '{\n  // no\n  "tools": {\n    "disabled": [\n      "mcp__a__*"\n    ]\n  }\n}\n')
    async with desk(workspace, tools=TOOLS) as one:
        sentences = " ".join(one.engine.admin.explain("a/x").sentences)
    assert f"line 5 of {path}" in sentences
    assert 'remove "mcp__a__*" from tools.disabled' in sentences


def test_f05_every_state_of_a_server_has_its_own_words() -> None:
    states: tuple[Any, ...] = ("connecting", "needsAuth", "stopped", "failed")
    assert len({reasons.server_not_ready(ServerStatus("a", state)) for state in states}) == 4


# F07: hints that cannot be silenced.


async def test_f07_hints_that_are_off_are_neither_computed_nor_shown(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(*_: object, **__: object) -> Any:
        raise AssertionError("hints were computed")

    script = tuple([f"Answer {number}."] for number in range(20))
    async with desk(workspace, answers=script, tools=TOOLS, settings={"hints": {"enabled": False}}) as one:
        monkeypatch.setattr(one.engine.searcher, "search", never)
        session, _ = await one.turn("run the tool x")
        for number in range(19):
            await one.turn(f"thanks {number}", session)
        await one.engine.hints.draft("d", "run x", "")
        assert [hints for hints in one.hints if hints] == []
        assert all("available-tools-hint" not in str(request.messages) for request in one.provider.requests)


async def test_f07_a_tool_that_was_told_not_to_be_hinted_is_hinted_nowhere_again_and_makes_room(
    workspace: Path,
) -> None:
    tools = {"s": tuple(mcp_tool("s", f"convert_{n}", "Converts one currency into another") for n in range(30))}
    excluded = [f"mcp__s__convert_{n}" for n in range(5)] + ["mcp__s__convert_1?"]
    settings = {"hints": {"exclude": excluded, "limit": 10}}
    async with desk(workspace, answers=tuple(["Yes."] for _ in range(3)), tools=tools, settings=settings) as one:
        await one.engine.hints.draft("d", "convert currency", "")
        session, _ = await one.turn("convert currency")
        await one.turn("convert currency again", session)
        hinted = [{hint.tool for hint in hints} for hints in one.hints if hints]
        assert hinted
        for names in hinted:
            assert len(names) == 10
            assert names.isdisjoint(excluded)
            assert not any(name.startswith("mcp__s__convert_1") and name != "mcp__s__convert_1" for name in names)
        told = str([request.messages for request in one.provider.requests])
        assert "mcp__s__convert_0: " not in told
        found = await one.engine.searcher.search("select:mcp__s__convert_0")
        assert found.hits, "search still finds it"
        sentences = one.engine.admin.explain("mcp__s__convert_0").sentences
        assert 'It is never shown as a hint: hints.exclude has "mcp__s__convert_0".' in sentences


async def test_f07_a_name_in_hints_exclude_that_means_no_tool_is_reported(workspace: Path) -> None:
    async with desk(workspace, tools=TOOLS, settings={"hints": {"exclude": ["Raed"]}}) as one:
        assert [finding.key for finding in one.engine.check.findings()] == ["hints.exclude.0"]


# F08: the switch moves, and the tool stays.


async def test_f08_a_switch_in_another_editor_during_a_turn_is_heard_and_holds_at_once(workspace: Path) -> None:
    async with desk(workspace, tools=TOOLS) as two:

        async def toggle(arguments: dict[str, Any], context: Any) -> Any:
            await two.engine.admin.set_state([("mcp__a__x", "disabled"), ("mcp__a__y", "enabled")], "workspace")
            return await Y.run(arguments, context)

        tools = {**TOOLS, "c": (mcp_tool("c", "toggle", run=toggle),)}
        script = ([use("mcp__c__toggle", "c1")], [use("mcp__a__x", "c2")], ["Done."])
        async with desk(workspace, answers=script, tools=tools, settings=ALLOW) as one:
            heard: list[tuple[str, ...]] = []
            one.engine.door.tools_changed = lambda change: heard.append(change.changed)  # type: ignore[method-assign]
            await one.turn("go")
            first, second, _ = one.provider.requests
    assert one.calls[-1].status == "failed"
    assert "disabled by the workspace setting" in one.calls[-1].result
    assert ("mcp__a__x", "mcp__a__y") in heard
    assert (first.tools, first.system) == (second.tools, second.system)
    assert "<enabled-tools>" in str(second.messages[-1])
    assert "mcp__a__y" in str(second.messages[-1])


# F09: 0 and "off" do not turn a threshold off.


@pytest.mark.parametrize("value", [-1, -0.5, 101, "", "auto:", "AUTO:0", "auto:100", "off", True, [], {}])
@pytest.mark.parametrize("key", ["hints.threshold", "search.weights.keyword", "search.limit"])
async def test_f09_a_threshold_that_makes_no_sense_is_reported_and_the_default_holds(
    workspace: Path, key: str, value: Any
) -> None:
    tree: Any = value
    for part in reversed(key.split(".")):
        tree = {part: tree}
    write(workspace, tree, "user")
    async with desk(workspace) as one:
        [finding] = one.engine.check.findings()
        settings = one.engine.configuration.settings
    assert finding.key == key
    assert "expected a" in finding.message
    assert f"got {json.dumps(value)}" in finding.message
    assert "NaN" not in finding.message
    assert (settings.hints.threshold, settings.search.weights.keyword, settings.search.limit) == (0.15, 0.4, 5)


async def test_f09_a_threshold_of_zero_is_allowed_and_documented(workspace: Path) -> None:
    async with desk(workspace, settings={"hints": {"threshold": 0}}) as one:
        assert one.engine.check.findings() == ()
        assert one.engine.configuration.settings.hints.threshold == 0
    assert "`hints.threshold` 0" in Path("docs/reference/settings.md").read_text("utf-8")


# D01 and D12 with several editors.


async def test_d01_what_one_editor_disables_no_other_editor_runs(workspace: Path) -> None:
    async with desk(workspace, tools=TOOLS, settings=ALLOW) as one, desk(workspace, tools=TOOLS, settings=ALLOW) as two:
        assert not (await two.bridge("mcp__a__x", {})).is_error
        await one.engine.admin.set_state([("mcp__a__x", "disabled")], "workspace")
        for name in ("mcp__a__x", "a/x", "MCP__A__X"):
            refused = await two.bridge(name, {})
            assert refused.is_error
            assert "disabled by the workspace setting" in refused.text


async def test_d01_what_another_editor_disables_while_the_person_is_asked_does_not_run(workspace: Path) -> None:
    async with desk(workspace, tools=TOOLS) as one, desk(workspace, tools=TOOLS) as two:
        two.person.thinking = asyncio.Event()
        two.person.choice = "always"
        call = asyncio.create_task(two.bridge("mcp__a__x", {}))
        async with asyncio.timeout(BOUND):
            await two.person.is_asked.wait()
            await one.engine.admin.set_state([("mcp__a__x", "disabled")], "workspace")
            two.person.thinking.set()
            refused = await call
    assert refused.is_error
    assert "disabled" in refused.text


async def test_d12_always_is_remembered_once_by_two_editors_and_after_a_restart(workspace: Path) -> None:
    async with desk(workspace, tools=TOOLS) as one, desk(workspace, tools=TOOLS) as two:
        one.person.choice = two.person.choice = "always"
        await asyncio.gather(one.bridge("mcp__a__x", {}), two.bridge("mcp__a__y", {}), two.bridge("mcp__a__x", {}))
    async with desk(workspace, tools=TOOLS) as three:
        for name in ("mcp__a__x", "mcp__a__y"):
            assert not (await three.bridge(name, {})).is_error
        assert three.person.asked == []
        assert sorted(grant.tool for grant in three.engine.grants.held("")) == ["mcp__a__x", "mcp__a__y"]
