"""Config: look at Caddie's settings, and change one after the person has agreed to exactly that."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal
from urllib.parse import urlsplit, urlunsplit

from pydantic import Field

from caddie.errors import ClientCannotAsk, ToolFailure
from caddie.settings import Settings
from caddie.tools.context import Choice, PermissionRequest, ToolContext
from caddie.tools.tool import TextPreview, ToolArgs, ToolResult, builtin, text_result

HIDDEN = "(hidden)"
_ALLOW, _REJECT = Choice("allow", "Change it", "allowOnce"), Choice("reject", "Leave it", "reject")
_SECRET_MAPS = ("env", "headers")
_SECRET = re.compile(r"token|secret|passw|key|credential|bearer", re.IGNORECASE)
_FREE_KEYS = ("mcp.servers.", "tools.aliases.")  # below these the person invents the names


class ConfigArgs(ToolArgs):
    action: Literal["get", "set", "list"] = Field(description="get one key, set one key, or list all with values.")
    key: str = Field("", description="Dotted key without the leading `caddie.`, for example `search.limit`.")
    value: Any = Field(None, description="The new value, for set.")
    scope: Literal["user", "workspace"] = Field("user", description="Where set stores it.")


async def config(args: ConfigArgs, context: ToolContext) -> ToolResult:
    values = dict(_flat(context.settings.model_dump(mode="json", by_alias=True)))
    if args.action == "list":
        return text_result("\n".join(_line(key, value) for key, value in values.items() if key.startswith(args.key)))
    if args.action == "set":
        return await _set(args, context, values)
    found = {key: value for key, value in values.items() if key == args.key or key.startswith(f"{args.key}.")}
    if not args.key or not found:
        raise _unknown(args.key, values)
    return text_result("\n".join(_line(key, value) for key, value in found.items()))


def _flat(node: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted keys; empty maps are values of their own, so that every key of the tree is listed."""
    for name, value in node.items():
        key = f"{prefix}{name}"
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{key}.")
        else:
            yield key, _without_secrets(key, value)


def _without_secrets(key: str, value: Any) -> Any:
    """What the person wrote about MCP servers may hold secrets; a key may stand where its variable's name should."""
    if key == "apiKeyEnv" and value and not value.isidentifier():
        return HIDDEN
    if not key.startswith("mcp.servers.") or not value:
        return value
    parts = key.split(".")
    if any(part in _SECRET_MAPS for part in parts[3:]):
        return HIDDEN
    if parts[-1] == "args":
        return [HIDDEN if _SECRET.search(word) or _SECRET.search(before) else word for before, word in _pairs(value)]
    return _plain_url(value) if parts[-1] == "url" else value


def _pairs(words: list[str]) -> Iterator[tuple[str, str]]:
    """Each word with the option before it: `--token abc` hides both."""
    return zip(["", *(word if word.startswith("-") and "=" not in word else "" for word in words)], words, strict=False)


def _plain_url(url: str) -> str:
    parts = urlsplit(url)
    hidden = parts._replace(netloc=parts.netloc.rpartition("@")[2], query=HIDDEN if parts.query else "", fragment="")
    return urlunsplit(hidden)


def _line(key: str, value: Any) -> str:
    return f"{key} = {json.dumps(value, ensure_ascii=False)}"


async def _set(args: ConfigArgs, context: ToolContext, values: Mapping[str, Any]) -> ToolResult:
    if context.session.mode == "plan" or context.settings.permissions.mode == "plan":
        raise ToolFailure("Plan mode is on, so settings can be read but not changed.")
    if not _is_settable(args.key, values):
        raise _unknown(args.key, values)
    await _agreed(args, context, values)
    return text_result(await context.inspector.write_setting(args.key, args.value, args.scope))


def _is_settable(key: str, values: Mapping[str, Any]) -> bool:
    """A leaf of the settings tree, or a name of the person's own below one of its maps."""
    leaves = dict(_flat(Settings().model_dump(mode="json", by_alias=True)))
    return key in leaves or key in values or (key.startswith(_FREE_KEYS) and not key.endswith("."))


async def _agreed(args: ConfigArgs, context: ToolContext, values: Mapping[str, Any]) -> None:
    """Raises: ToolFailure unless the person said yes to this very change."""
    change = f"{_line(args.key, args.value)}\nscope: {args.scope}\nnow: {json.dumps(values.get(args.key))}"
    request = PermissionRequest(
        session_id=context.session.session_id,
        tool="Config",
        label="Config",
        server="",
        params={"action": "set", "key": args.key, "value": args.value, "scope": args.scope},
        preview=TextPreview(change),
        choices=(_ALLOW, _REJECT),
        reason="The assistant wants to change a setting of Caddie.",
    )
    try:
        answer = await context.person.ask_permission(request)
    except ClientCannotAsk as error:
        raise ToolFailure(f"{error.message} Only the person can change {args.key!r} then, in their settings.") from None
    if answer.choice != _ALLOW.id:
        feedback = f" They say: {answer.feedback}" if answer.feedback else ""
        raise ToolFailure(f"The person declined to change {args.key!r}.{feedback}")


def _unknown(key: str, values: Mapping[str, Any]) -> ToolFailure:
    if not key:
        return ToolFailure("Expected a key such as `search.limit`; the action list shows them all.")
    near = difflib.get_close_matches(key, values, n=3, cutoff=0.5)
    hint = f"Nearest keys: {', '.join(near)}." if near else "The action list shows them all."
    return ToolFailure(f"There is no setting {key!r}. {hint}")


TOOL = builtin(
    "Config",
    "Reads Caddie's own settings (get, list) or changes one (set), which asks the person first.",
    ConfigArgs,
    config,
    search_hint="settings, preferences, configuration, change option",
    read_only=True,  # set asks by itself, and refuses in plan mode
)
