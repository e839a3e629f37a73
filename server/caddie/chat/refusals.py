"""What did a provider refuse in this process, so that it is not asked for again?"""

from __future__ import annotations

from collections.abc import Collection

from caddie.chat.messages import ToolDefinition


class Refusals:
    """`speaker` is "provider/model", with the address where it is not the vendor's own."""

    def __init__(self) -> None:
        self._native: dict[str, str] = {}
        self._tools: dict[str, list[ToolDefinition]] = {}

    def refuse_native(self, speaker: str, said: str) -> None:
        self._native[speaker] = said

    def refuse_tool(self, speaker: str, tool: ToolDefinition) -> None:
        """A tool that comes with another definition later is tried again."""
        self._tools.setdefault(speaker, []).append(tool)

    def of_native(self, speaker: str) -> str:
        """What the provider said; empty when it did not refuse."""
        return self._native.get(speaker, "")

    def takes(self, speaker: str, tool: ToolDefinition) -> bool:
        refused: Collection[ToolDefinition] = self._tools.get(speaker, ())
        return tool not in refused
