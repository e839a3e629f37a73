"""The wire as LuaCATS annotations and a table of method names."""

from __future__ import annotations

from caddie.protocol.export.schema import GENERATED, Schema, Wire
from caddie.protocol.export.types import Dialect, fields, type_of
from caddie.protocol.methods import Method

LUA = Dialect(
    words={"string": "string", "integer": "integer", "number": "number", "boolean": "boolean", "null": ""},
    anything="any",
    reference=lambda name: f"caddie.{name}",
    record=lambda value: f"table<string, {value}>",
    union="|",
)


def render(contents: Wire) -> str:
    classes = [_class(name, model) for name, model in contents.models.items()]
    names = [_method(name, method) for name, method in contents.constants.items()]
    head = f"-- {GENERATED}\n\n---@meta _\n"
    return "\n".join([head, *classes, "return {", *names, "}"]) + "\n"


def _class(name: str, model: Schema) -> str:
    lines = [f"--- {line}" for line in model.get("description", "").splitlines()]
    lines.append(f"---@class caddie.{name}")
    for field, node, required in fields(model):
        mark = "" if required else "?"
        text = " ".join(node.get("description", "").split())
        lines.append(f"---@field {field}{mark} {type_of(node, LUA)} {text}".rstrip())
    return "\n".join(lines) + "\n"


def _method(constant: str, method: Method) -> str:
    answer = "notification" if method.result is None else f"-> caddie.{method.result.__name__}"
    return (
        f"  --- {method.doc}\n  --- {method.direction}: caddie.{method.params.__name__} {answer}\n"
        f'  {constant} = "{method.name}",'
    )
