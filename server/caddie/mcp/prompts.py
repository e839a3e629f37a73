"""Which prompts does a server offer, and does a request for one fit it?"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from caddie.errors import InvalidInput
from caddie.mcp.results import to_content, visible
from caddie.tools.servers import PromptArgument, PromptMessage, ServerPrompt

if TYPE_CHECKING:
    import mcp_types as types

MAX_DESCRIPTION = 1_000


def to_prompt(server: str, prompt: types.Prompt) -> ServerPrompt:
    return ServerPrompt(
        server,
        visible(prompt.name),
        _short(prompt.title),
        _short(prompt.description),
        tuple(
            PromptArgument(one.name, _short(one.description), one.required is True) for one in prompt.arguments or ()
        ),
    )


def to_messages(result: types.GetPromptResult) -> tuple[PromptMessage, ...]:
    return tuple(PromptMessage(message.role, to_content(message.content)) for message in result.messages)


def find_prompt(name: str, offered: Sequence[ServerPrompt]) -> ServerPrompt:
    """By `server:prompt`, a leading slash allowed. Raises: InvalidInput."""
    wanted = name.removeprefix("/")
    by_name = {prompt.full_name: prompt for prompt in offered}
    if found := by_name.get(wanted):
        return found
    near = difflib.get_close_matches(wanted, by_name, n=3, cutoff=0.5)
    hint = (
        f"did you mean {' or '.join('/' + one for one in near)}?"
        if near
        else "caddie/prompts/list has those there are."
    )
    raise InvalidInput(f"No MCP server offers the prompt /{wanted}; {hint}", suggestions=near)


def check_arguments(prompt: ServerPrompt, given: Mapping[str, str]) -> None:
    """Raises: InvalidInput, naming what is missing or not known."""
    missing = [one for one in prompt.arguments if one.required and not given.get(one.name, "").strip()]
    if missing:
        first = missing[0]
        about = f" ({first.description.rstrip('.')})" if first.description else ""
        raise InvalidInput(
            f"The prompt /{prompt.full_name} needs the argument {first.name!r}{about}; give {first.name}=…",
            missing=[one.name for one in missing],
        )
    known = [one.name for one in prompt.arguments]
    if unknown := [name for name in given if name not in known]:
        takes = f"it takes {', '.join(known)}" if known else "it takes none"
        raise InvalidInput(f"The prompt /{prompt.full_name} has no argument {unknown[0]!r}; {takes}.", unknown=unknown)


def _short(text: str | None) -> str:
    text = visible(text or "").strip()
    return text if len(text) <= MAX_DESCRIPTION else text[: MAX_DESCRIPTION - 1] + "…"
