"""May this shell line run? A corpus of lines with the reason for each, and bash itself as the judge of random ones."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from caddie.layers import Layer, resolve
from caddie.tools.builtin import BUILTIN
from caddie.tools.permissions import decide, read_rules
from caddie.tools.places import Surroundings

CORPUS = Path(__file__).parents[2] / "fixtures" / "shell_lines.jsonl"
LINES = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").split("\n") if line]
SHOP = Path("/home/ada/shop")
BASH = next(tool for tool in BUILTIN if tool.name == "Bash")


def verdict(line: str, workspace: Path, permissions: dict[str, Any]) -> str:
    resolved = resolve([Layer("user", {"permissions": permissions})])
    assert resolved.problems == ()
    return decide(
        BASH,
        {"command": line},
        rules=read_rules(resolved),
        grants=(),
        permissions=resolved.settings.permissions,
        around=Surroundings(workspace),
    ).kind


@pytest.mark.parametrize("row", LINES, ids=lambda row: f"{row['verdict']}: {row['line']!r}")
def test_a_line_is_allowed_asked_or_denied(row: dict[str, Any]) -> None:
    assert verdict(row["line"], SHOP, row["rules"]) == row["verdict"], row["reason"]


def test_the_corpus_has_enough_lines_of_each_kind_and_none_twice() -> None:
    kinds = [row["verdict"] for row in LINES]
    assert len(kinds) >= 150
    assert min(kinds.count(kind) for kind in ("allow", "ask", "deny")) >= 40
    assert len({(row["line"], str(row["rules"])) for row in LINES}) == len(LINES)


def test_a_line_made_to_take_long_is_asked_about_at_once() -> None:
    lines = (
        "a|" * 2_000,
        "a|" * 60_000,
        "echo @(a|b)" * 10_000,
        "a;" * 80_000,
        "a\n" * 80_000,
        "${a" * 40_000,
        "x=$(y) " * 20_000,
        "sudo " * 2_000,
        "cd a;" * 30_000,
    )
    for line in lines:
        started = time.process_time()
        assert verdict(line, SHOP, {"mode": "auto", "deny": ["Bash(rm:*)"]}) == "ask", line[:10]
        assert time.process_time() - started < 3, line[:10]


def test_a_long_text_in_a_here_document_is_no_long_line() -> None:
    line = "cat <<'EOF'\n" + "some words of a file\n" * 8_000 + "EOF\n"
    assert verdict(line, SHOP, {"mode": "auto", "deny": ["Bash(rm:*)"]}) == "allow"


# Bash itself as the judge: what is allowed must never run `bad`.

HARMLESS = ("ok", "echo", "printf", "env", "xargs", "test", "nice", "bash", "cat")
COMMANDS = (*HARMLESS, "ok a", "echo b", "env ok", "xargs -n 1 ok", "bash -c 'ok'", "test -v", "printf -v x")
JOINTS = (" ", "  ", ";", " && ", " || ", " | ", "|&", "\n", " \\\n", "\\\n", "&", " # ", "\t", "")
PIECES = (
    "bad", "'bad'", "b\\ad", "ba''d", 'ba"d"', "b\\\nad", "{bad,}", "b?d", "ba*", "bin/bad", "$(bad)", "`bad`",
    "<(bad)", "$(", ")", "`", "'", '"', "\\", "<<EOF\n", "EOF\n", "<<'EOF'\n", "#", "{ ", "; }", "{", "}", "((", "))",
    "[[ ", " ]]", "$'", '$"', "! ", "~", "*", ">f", "<f", " 2>&1", ">&", "&>f", "coproc ", "time ", "function f ",
    "if ", "then ", "fi", "for x in a; do ", "; done", "case a in a) ", ";;", "esac", "\r", "\v", "\u00a0", "$x",
    "${x:-", "${x@P}", "x=", "x=bad ", "x='$(bad)' ", "PS4='$(bad)' ", "set -x; ", "eval ", "trap ", "exec ",
    "command ", "env -S ", "sh -c ", ". ", "source ", "/dev/stdin ", "$((", "a[$(bad)]", "'a[$(bad)]'", "read ",
    "let ", "declare ", "export ", "alias ", "ok() { ", "PATH=", "shopt -s expand_aliases\n", "mapfile -C bad -c 1 <f",
    "timeout 1 ", "-c ", "EXIT", "find . -exec ", "{}", " \\;", "<<< ",
)  # fmt: skip


@st.composite
def lines(draw: st.DrawFn) -> str:
    line = draw(st.sampled_from(COMMANDS))
    for _ in range(draw(st.integers(1, 5))):
        line += draw(st.sampled_from(JOINTS)) + draw(st.sampled_from(COMMANDS + PIECES + PIECES))
    return line


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder whose `bin` has nothing but harmless programs, and `bad`, which leaves a mark."""
    folder = tmp_path_factory.mktemp("shell")
    (folder / "bin").mkdir()
    for name in ("env", "xargs", "nice", "timeout", "cat", "sh", "bash", "find"):
        (folder / "bin" / name).symlink_to(str(shutil.which(name)))
    return folder


def ran_bad(line: str, folder: Path) -> bool:
    mark = folder / "mark"
    mark.unlink(missing_ok=True)
    for name, body in (("ok", "exit 0"), ("bad", f"echo x >> {mark}")):  # anew, for a line may write over them
        program = folder / "bin" / name
        program.unlink(missing_ok=True)
        program.write_text(f"#!/bin/sh\n{body}\n")
        program.chmod(0o755)
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run(
            [str(shutil.which("bash")), "-c", line],
            cwd=folder,
            env={"PATH": str(folder / "bin"), "HOME": str(folder)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=5,
        )
    return mark.exists()


@settings(max_examples=500, suppress_health_check=list(HealthCheck))
@given(lines())
@example("test -v {}>&2ax='$(bad)' b")
@example("bash 'bad'")
@example("cat <<EOF\n`bad`\nEOF")
@example("ok `bad` `bad`")
@example("! { bad; }")
def test_no_line_that_is_allowed_runs_what_no_rule_allows(shell: Path, line: str) -> None:
    allowed = {"allow": [f"Bash({name}:*)" for name in HARMLESS]}
    not_denied = {"mode": "auto", "deny": ["Bash(bad:*)"]}
    if "allow" in (verdict(line, shell, allowed), verdict(line, shell, not_denied)):
        assert not ran_bad(line, shell)


def test_the_judge_can_tell(shell: Path) -> None:
    assert ran_bad("ok; bad", shell)
    assert not ran_bad("ok; echo bad", shell)
