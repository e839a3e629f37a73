"""Which MCP servers do a workspace's own files name?

`.mcp.json` and `.vscode/mcp.json`, as other tools write them. They may start programs, so they are only read here;
whether they count is decided by the workspace's trust, which is bound to `fingerprint`.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from caddie.mcp.stdio import with_home
from caddie.mcp.supervisor import ConfiguredServer
from caddie.settings import McpServer

# The nearest first: for a name in both files the first one wins.
FILES = ((".mcp.json", "mcpServers"), (".vscode/mcp.json", "servers"))
MAX_FILE_BYTES = 256 * 1024  # the JSON5 parser takes about a second for this much

_KNOWN = ("command", "args", "env", "cwd", "url", "headers", "oauth", "lazy", "timeout", "enabled")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_POSITION = re.compile(r"^[^:]*:(\d+)\s+(.*?)(?:\s+at column\s+(\d+))?$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class WorkspaceServers:
    """`fingerprint` is a hash of the files' bytes, empty when there is no file."""

    servers: dict[str, ConfiguredServer]
    problems: tuple[str, ...]
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Surroundings:
    workspace: Path
    environment: Mapping[str, str]


def read_workspace_servers(workspace: Path) -> WorkspaceServers:
    """Never raises for what stands in the files; a broken part is a problem and the rest stays in force."""
    around = Surroundings(workspace, os.environ)
    servers: dict[str, ConfiguredServer] = {}
    problems: list[str] = []
    digest = hashlib.sha256()
    is_any = False
    for relative, key in FILES:
        data = _read(workspace / relative, relative, problems)
        if data is None:
            continue
        is_any = True
        digest.update(f"{relative}\0{len(data)}\0".encode() + data)
        found, wrong = parse_servers(data, relative, key, around)
        problems += wrong
        servers = found | servers
    return WorkspaceServers(servers, tuple(problems), digest.hexdigest() if is_any else "")


def _read(path: Path, relative: str, problems: list[str]) -> bytes | None:
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a link to a device may wait for ever
            problems.append(f"{relative}: cannot be read: it is no regular file.")
            return None
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        problems.append(f"{relative}: cannot be read: {error.strerror}.")
        return None
    if len(data) > MAX_FILE_BYTES:
        problems.append(f"{relative}: is larger than {MAX_FILE_BYTES:,} bytes and is ignored.")
        return b""
    return data


def parse_servers(
    data: bytes, relative: str, key: str, around: Surroundings
) -> tuple[dict[str, ConfiguredServer], list[str]]:
    """The servers in one file, and what is wrong with it."""
    if not data.strip():
        return {}, []
    try:
        tree = _parse(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        return {}, [f"{relative}{_where(error)}; the file is ignored until that is mended."]
    entries = tree.get(key) if isinstance(tree, dict) else None
    if entries is None:
        return {}, [f"{relative}: expected an object with the key {key!r}."]
    if not isinstance(entries, dict):
        return {}, [f"{relative}: {key!r} must be an object of servers by name, got {_kind(entries)}."]
    servers: dict[str, ConfiguredServer] = {}
    problems: list[str] = []
    for name, entry in entries.items():
        place = f"{relative}: {key}.{name}"
        try:
            servers[name] = ConfiguredServer(parse_server(entry, around), relative)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            problems.append(f"{place}.{'.'.join(map(str, first['loc']))}: {first['msg']}.")
        except ValueError as error:
            problems.append(f"{place}: {error}.")
    return servers, problems


def _parse(text: str) -> Any:
    """Raises: ValueError, RecursionError."""
    try:
        return json.loads(text)  # a thousand times faster
    except ValueError:
        import json5  # imported here because building its grammar is slow

        return json5.loads(text)


def parse_server(entry: Any, around: Surroundings) -> McpServer:
    """Raises: ValueError."""
    if not isinstance(entry, dict):
        raise ValueError(f"expected an object with 'command' or 'url', got {_kind(entry)}")
    known = {key: _expanded(entry[key], around) for key in _KNOWN if entry.get(key) is not None}
    if entry.get("disabled") is True:
        known["enabled"] = False
    if isinstance(known.get("env"), dict):
        known["env"] = {key: _env_text(value) for key, value in known["env"].items() if value is not None}
    server = McpServer.model_validate(known)
    if entry.get("type") in ("http", "sse", "streamable-http") and not server.url:
        raise ValueError(f"a server of type {entry['type']!r} needs 'url'")
    if bool(server.command) == bool(server.url):
        raise ValueError("give either 'command' or 'url'" + (", not both" if server.url else ""))
    if server.cwd:
        server = server.model_copy(update={"cwd": str(around.workspace / with_home(server.cwd))})
    return server


def _env_text(value: Any) -> Any:
    """VS Code allows numbers as values."""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _expanded(value: Any, around: Surroundings) -> Any:
    if isinstance(value, str):
        return _VARIABLE.sub(lambda found: _variable(found[1], around), value)
    if isinstance(value, list):
        return [_expanded(item, around) for item in value]
    if isinstance(value, dict):
        return {key: _expanded(item, around) for key, item in value.items()}
    return value


def _variable(expression: str, around: Surroundings) -> str:
    """Raises: ValueError for one that cannot be expanded."""
    match expression.partition(":"):
        case (("workspaceFolder" | "workspaceRoot"), "", _):
            return str(around.workspace)
        case "workspaceFolderBasename", "", _:
            return around.workspace.name
        case "userHome", "", _:
            return str(Path.home())
        case "env", ":", _:
            name, _, default = expression.removeprefix("env:").partition(":-")
            return around.environment.get(name) or default  # unset is empty, as VS Code has it
        case "input", ":", _:
            raise ValueError(f"${{{expression}}} cannot be asked for here; use ${{env:NAME}} and set it there")
    name, has_default, default = expression.partition(":-")
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"${{{expression}}} is not known; ${{workspaceFolder}}, ${{env:NAME}} and ${{NAME:-default}} are"
        )
    value = around.environment.get(name, "")
    if not value and not has_default and name not in around.environment:
        raise ValueError(f"the environment variable {name!r} is not set; set it, or write ${{{name}:-default}}")
    return value or default


def _where(error: Exception) -> str:
    """`:3:7: Unexpected "x"` out of json5's message."""
    found = _POSITION.match(str(error))
    if found is None:
        return f": is not valid JSON ({type(error).__name__})"
    line, what, column = found.groups()
    return f":{line}:{column or 1}: {what}"


def _kind(value: Any) -> str:
    names = {
        list: "a list",
        str: "a text",
        bool: "true or false",
        int: "a number",
        float: "a number",
        dict: "an object",
    }
    return names.get(type(value), "null")
