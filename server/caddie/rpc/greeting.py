"""The answer to `initialize`, before pygls and its nine hundred classes are imported (half a second).

What we can do does not depend on the client, except for the position encoding. A request that is not plainly well
formed is left to pygls, which then says what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from caddie import __version__

NAME = "caddie"
ENCODINGS = ("utf-8", "utf-16", "utf-32")
CAPABILITIES = {
    "textDocumentSync": {"openClose": True, "change": 2, "save": True},
    "executeCommandProvider": {"commands": []},
    "workspace": {"workspaceFolders": {"supported": True, "changeNotifications": True}, "fileOperations": {}},
    "experimental": {"caddie": {"version": __version__}},
}


def greet(message: object) -> dict[str, Any] | None:
    """The whole response to a well-formed `initialize` request, or None."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0" or message.get("method") != "initialize":
        return None
    msg_id, params = message.get("id"), message.get("params")
    if not isinstance(msg_id, str | int) or isinstance(msg_id, bool):
        return None
    if not isinstance(params, dict) or not _is_well_formed(params):
        return None
    result = {
        "capabilities": {"positionEncoding": choose_encoding(params["capabilities"]), **CAPABILITIES},
        "serverInfo": {"name": NAME, "version": __version__},
    }
    return {"jsonrpc": "2.0", "id": msg_id, "result": result}


def choose_encoding(capabilities: Mapping[str, Any]) -> str:
    """The client's first choice, as pygls takes it."""
    general = capabilities.get("general")
    offered = general.get("positionEncodings") if isinstance(general, Mapping) else None
    if not isinstance(offered, list):
        return "utf-16"
    return next((name for name in offered if name in ENCODINGS), "utf-16")


def _is_well_formed(params: Mapping[str, Any]) -> bool:
    return (
        isinstance(params.get("capabilities"), dict)
        and isinstance(params.get("processId"), int | None)
        and isinstance(params.get("rootUri"), str | None)
        and isinstance(params.get("rootPath"), str | None)
        and isinstance(params.get("workspaceFolders"), list | None)
        and isinstance(params.get("clientInfo"), dict | None)
        and isinstance(params.get("locale"), str | None)
        and params.get("trace") in (None, "off", "messages", "verbose", "compact")
        and isinstance(params.get("workDoneToken"), str | int | None)
    )
