"""Which way imports point, and what a bare import may load."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import caddie

ROOT = Path(caddie.__file__).parent

# Each room, with the rooms it may import from. What is not listed is forbidden.
LEAVES = {"errors", "settings", "layers", ""}
CORE_TOOLS = LEAVES | {"tools"}
CORE_SEARCH = CORE_TOOLS | {"search"}
CORE_CHAT = CORE_SEARCH | {"chat"}
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "settings": {"settings"},
    "layers": {"settings", "layers"},
    "protocol": {"protocol"},
    "protocol/export": {"protocol", "protocol/export", "settings", "layers", ""},
    "tools": CORE_TOOLS,
    "search": CORE_SEARCH,
    "chat": CORE_CHAT,
    "tools/builtin": CORE_TOOLS | {"tools/builtin"},
    "mcp": CORE_TOOLS | {"mcp"},
    "providers": CORE_CHAT | {"providers"},
    "storage": CORE_CHAT | {"storage"},
    "engine": CORE_CHAT | {"tools/builtin", "mcp", "providers", "storage", "engine"},
    "rpc": CORE_CHAT | {"storage", "engine", "protocol", "rpc"},
    "terminal": {"protocol", "terminal", ""},
    "cli": CORE_CHAT | {"engine", "protocol", "rpc", "terminal", "tools/builtin", "cli", ""},
    "__main__": {"cli"},
}
HEAVY = (
    "sklearn",
    "numpy",
    "scipy",
    "mcp",
    "httpx",
    "httpx2",
    "bs4",
    "prompt_toolkit",
    "rich",
    "textual",
    "tree_sitter",
)


def room(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    if parts[:2] in (("tools", "builtin"), ("protocol", "export")):
        return "/".join(parts[:2])
    return parts[0] if parts[0] != "__init__" else ""


def imported_rooms(path: Path) -> set[tuple[str, int]]:
    found: set[tuple[str, int]] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            if name == "caddie" or name.startswith("caddie."):
                found.add((room_of_module(name), node.lineno))
    return found


def room_of_module(name: str) -> str:
    parts = name.split(".")[1:]
    if tuple(parts[:2]) in (("tools", "builtin"), ("protocol", "export")):
        return "/".join(parts[:2])
    is_room = bool(parts) and ((ROOT / parts[0]).exists() or (ROOT / f"{parts[0]}.py").exists())
    return parts[0] if is_room else ""


def test_imports_point_downward_only() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {target or 'caddie'}"
        for path in sorted(ROOT.rglob("*.py"))
        for target, line in imported_rooms(path)
        if room(path) and target not in ALLOWED[room(path)]
    ]
    assert wrong == []


def test_only_its_own_room_knows_a_library() -> None:
    owners = {
        "pygls": {"rpc"}, "sklearn": {"search"}, "prompt_toolkit": {"terminal"}, "mcp": {"mcp"},
        "textual": {"terminal"},
    }  # fmt: skip
    wrong = []
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            module = node.module if isinstance(node, ast.ImportFrom) else None
            names = [module] if module else [a.name for a in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                library = (name or "").split(".")[0]
                if library in owners and room(path) not in owners[library]:
                    wrong.append(f"{path.relative_to(ROOT)}:{node.lineno} imports {library}")
    assert wrong == []


def loaded_by(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*sorted(sys.modules))"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240, check=True)
    return {name.split(".")[0] for name in output.stdout.split()}


def test_the_server_answers_initialize_before_anything_heavy_is_imported() -> None:
    assert loaded_by("import caddie.rpc.app, caddie.rpc.handlers, caddie.rpc.loop").isdisjoint(HEAVY)


def test_the_core_loads_no_adapter_and_nothing_heavy() -> None:
    assert loaded_by("import caddie.chat.turn").isdisjoint({*HEAVY, "pygls", "lsprotocol"})


def test_only_the_command_line_and_the_terminal_print() -> None:
    printing = [
        str(path.relative_to(ROOT))
        for path in sorted(ROOT.rglob("*.py"))
        if room(path) not in ("cli", "terminal", "protocol/export")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert printing == []
