"""The wire as TypeScript interfaces and typed `vscode-jsonrpc` constants."""

from __future__ import annotations

from pydantic.alias_generators import to_camel

from caddie.protocol.export.schema import GENERATED, Schema, Wire
from caddie.protocol.export.types import Dialect, fields, type_of
from caddie.protocol.methods import Method

TYPESCRIPT = Dialect(
    words={"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"},
    anything="unknown",
    reference=lambda name: name,
    record=lambda value: f"Record<string, {value}>",
)


def render(contents: Wire) -> str:
    interfaces = [_interface(name, model) for name, model in contents.models.items()]
    constants = [_constant(name, method) for name, method in contents.constants.items()]
    rows = [f'  "{method.name}": "{method.direction}",' for method in contents.constants.values()]
    table = "/** Every method and the side that receives it. */\nexport const METHODS = {\n" + "\n".join(rows)
    head = f'// {GENERATED}\n\nimport {{ NotificationType, RequestType }} from "vscode-jsonrpc";\n'
    return "\n".join([head, *interfaces, *constants, table + "\n} as const;\n"])


def _interface(name: str, model: Schema) -> str:
    lines = [*_comment(model.get("description", "")), f"export interface {name} {{"]
    for field, node, required in fields(model):
        lines += _comment(node.get("description", ""), "  ")
        lines.append(f"  {field}{'' if required else '?'}: {type_of(node, TYPESCRIPT)};")
    if lines[-1].endswith("{"):
        return "\n".join([*lines[:-1], f"export type {name} = Record<string, never>;"]) + "\n"
    return "\n".join([*lines, "}"]) + "\n"


def _constant(constant: str, method: Method) -> str:
    comment = _comment(" ".join(filter(None, [method.doc, method.cancel and f"Cancellation: {method.cancel}"])))
    params = method.params.__name__
    if method.result is None:
        made = f"new NotificationType<{params}>"
    else:
        made = f"new RequestType<{params}, {method.result.__name__}, void>"
    return "\n".join([*comment, f'export const {to_camel(constant.lower())} = {made}("{method.name}");']) + "\n"


def _comment(text: str, indent: str = "") -> list[str]:
    return [f"{indent}/** {' '.join(text.split())} */"] if text else []
