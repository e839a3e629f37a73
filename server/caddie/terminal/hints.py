"""Which hints are shown above the input line, which is selected, and which tools go with the next message? Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from caddie.protocol.tools import HintInfo, ShowHints


@dataclass(slots=True)
class Hints:
    """`rows` only grows within one message, so that the input line does not jump at each key."""

    shown: list[HintInfo] = field(default_factory=list)
    selected: int | None = None
    picked: list[HintInfo] = field(default_factory=list)
    rows: int = 0
    draft: int = 0
    dismissed: bool = False

    def next_draft(self) -> str:
        """A new text is being typed: what is selected no longer belongs to it."""
        self.draft += 1
        self.selected = None
        return f"draft-{self.draft}"

    def show(self, message: ShowHints) -> None:
        """Hints for an earlier draft are late and dropped."""
        late = message.source == "draft" and message.draft_id != f"draft-{self.draft}"
        if late or self.dismissed:
            return
        picked = {hint.tool for hint in self.picked}
        before = self.shown[self.selected].tool if self.selected is not None else None
        self.shown = [hint for hint in message.hints if hint.tool not in picked]
        names = [hint.tool for hint in self.shown]
        self.selected = names.index(before) if before in names else None
        self.rows = max(self.rows, len(self.shown))

    def cycle(self, step: int = 1) -> None:
        if self.shown:
            first = 0 if step > 0 else len(self.shown) - 1
            self.selected = first if self.selected is None else (self.selected + step) % len(self.shown)

    def pick(self) -> None:
        """The selected tool joins the next message."""
        if self.selected is not None:
            self.picked.append(self.shown.pop(self.selected))
            self.selected = None
            self.rows -= 1  # the line that names the picked tools takes its place

    def unpick(self) -> None:
        if self.picked:
            self.picked.pop()

    def dismiss(self) -> None:
        """Quiet until the next message."""
        self.clear()
        self.dismissed = True

    def clear(self) -> None:
        self.shown, self.selected, self.rows, self.dismissed = [], None, 0, False

    def take_picked(self) -> list[str]:
        """The picked tools leave with the message."""
        names = [hint.tool for hint in self.picked]
        self.picked = []
        self.clear()
        return names
