"""Why a server is not there, in one sentence."""

from __future__ import annotations

import pytest

from caddie.mcp.reasons import MAX_REASON, clean, ending, secrets_of
from caddie.settings import McpServer


@pytest.mark.parametrize(
    ("code", "stderr", "said"),
    [
        (1, "Traceback\nKeyError: 'TOKEN'\n\n", "exited with 1 after 0.3 s: KeyError: 'TOKEN'"),
        (0, "", "exited with 0 after 0.3 s"),
        (-9, "", "was killed by SIGKILL after 0.3 s"),
        (None, "", "closed its output after 0.3 s"),
    ],
)
def test_an_ending_tells_how_when_and_the_last_words(code: int | None, stderr: str, said: str) -> None:
    assert ending(code, 0.34, stderr) == said


@pytest.mark.parametrize(
    "server",
    [
        McpServer(env={"API_KEY": "hush"}),
        McpServer(env={"WHATEVER": "hush-hush-hush"}),
        McpServer(headers={"Authorization": "Bearer hush"}),
        McpServer(args=("--api-key", "hush")),
        McpServer(args=("--token=hush",)),
        McpServer(url="https://x.test/mcp?k=hush"),
        McpServer(url="https://me:hush@x.test/mcp"),
    ],
)
def test_no_configured_secret_is_repeated(server: McpServer) -> None:
    for secret in secrets_of(server):
        assert "hush" not in clean(f"bad {secret} in request", secrets_of(server))
    assert secrets_of(server)


def test_a_secret_of_several_lines_is_not_repeated_line_by_line() -> None:
    server = McpServer(env={"KEY": "-----BEGIN-----\nhush-hush\n-----END-----\n"})
    for line in ("hush-hush", "read b'-----BEGIN-----\\nhush-hush\\n'"):
        assert "hush" not in clean(line, secrets_of(server))


def test_plain_values_stay_readable() -> None:
    server = McpServer(env={"PORT": "8080", "DEBUG": "1"}, args=("--port", "8080", "--verbose"))
    assert clean("port 8080 in use", secrets_of(server)) == "port 8080 in use"


def test_colours_and_line_ends_go_and_the_length_is_bounded() -> None:
    assert clean("\x1b[31mred\x1b[0m\nand\x07 more", ()) == "red and more"
    assert len(clean("x" * 10_000, ())) == MAX_REASON
