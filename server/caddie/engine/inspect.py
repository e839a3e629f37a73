"""What the tools Config and CtxInspect see and may change of the house."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from caddie.engine.tokens import estimate_tokens, tokens_of
from caddie.errors import InvalidInput
from caddie.layers import Layer, leaf_settings, nearest, resolve

if TYPE_CHECKING:
    from caddie.engine.engine import Engine


class ContextInspector:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def describe_context(self, session_id: str) -> str:
        session = self._engine.sessions.find(session_id)
        if session is None or session.prefix is None:
            return "Nothing has been sent in this session yet."
        system = estimate_tokens(session.prefix.system)
        tools = sum(tokens_of(tool.name, tool.description, tool.input_schema) for tool in session.prefix.tools)
        history = sum(estimate_tokens(str(message)) for message in session.messages)
        return (
            f"System prompt: about {system} tokens. "
            f"Tools: {len(session.prefix.tools)} with schema, about {tools} tokens; "
            f"{len(session.told.deferred)} deferred by name. "
            f"History: {len(session.messages)} messages, about {history} tokens. (Estimates: 4 characters a token.)"
        )

    async def write_setting(self, key: str, value: Any, scope: Literal["user", "workspace"]) -> str:
        """Raises: InvalidInput for an unknown key or a value that does not fit."""
        _check(key, value)
        return await self._engine.admin.write_setting(key, value, scope)


def _check(key: str, value: Any) -> None:
    known = [path for path, _ in leaf_settings()]
    if key not in known:
        raise InvalidInput(f"There is no setting {key!r}{nearest(key, known)}.")
    tree: Any = value
    for part in reversed(key.split(".")):
        tree = {part: tree}
    if value is not None and (problems := resolve([Layer("user", tree)]).problems):
        raise InvalidInput(f"{key}: {problems[0].message}")
