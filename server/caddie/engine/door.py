"""What the engine tells and asks a door: an editor over LSP, a one-shot command."""

from __future__ import annotations

from typing import Any, Literal, Protocol

from caddie.engine.findings import Finding
from caddie.errors import ClientCannotAsk
from caddie.search.prefetch import ToolHint
from caddie.tools.catalogue import Change
from caddie.tools.context import Editor, NoEditor, PermissionAnswer, PermissionRequest, Person, QuestionRequest
from caddie.tools.servers import ServerStatus


class Door(Protocol):
    @property
    def person(self) -> Person: ...

    @property
    def editor(self) -> Editor: ...

    @property
    def workspace_trusted(self) -> bool | None:
        """What the door already knows of the folder; None has the engine ask the person."""
        ...

    @property
    def way_to_trust(self) -> str:
        """What the person does here to trust the folder, as in “until you …”."""
        ...

    @property
    def stores_settings(self) -> bool:
        """Whether `write_setting` can work at all."""
        ...

    def tools_changed(self, change: Change) -> None: ...

    def server_changed(self, status: ServerStatus) -> None: ...

    def prompts_changed(self) -> None: ...

    def settings_checked(self, findings: tuple[Finding, ...]) -> None:
        """All that is wrong with the settings now."""
        ...

    def show_hints(
        self, hints: tuple[ToolHint, ...], *, session_id: str = "", turn_id: str = "", draft_id: str = ""
    ) -> None: ...

    async def open_page(self, url: str) -> bool:
        """Show it in the person's browser; False when this door cannot."""
        ...

    async def write_setting(self, key: str, value: Any, scope: Literal["user", "workspace"]) -> bool:
        """Store it in the editor's own settings; False when this door has none."""
        ...


class Nobody:
    """The person at a door where nobody sits."""

    async def ask_permission(self, request: PermissionRequest) -> PermissionAnswer:
        raise ClientCannotAsk("nobody can be asked here.")

    async def ask_question(self, request: QuestionRequest) -> dict[str, str] | None:
        raise ClientCannotAsk("nobody can be asked here.")


class QuietDoor:
    """A door that shows nothing and can ask nobody: for commands that only look, and as a base."""

    def __init__(self, person: Person | None = None, *, workspace_trusted: bool | None = False) -> None:
        self.person: Person = person or Nobody()
        self.editor: Editor = NoEditor()
        self.workspace_trusted = workspace_trusted
        self.way_to_trust = "trust it (open it in the editor, or pass --trust)"
        self.stores_settings = False

    def tools_changed(self, change: Change) -> None: ...

    def server_changed(self, status: ServerStatus) -> None: ...

    def prompts_changed(self) -> None: ...

    def settings_checked(self, findings: tuple[Finding, ...]) -> None: ...

    def show_hints(
        self, hints: tuple[ToolHint, ...], *, session_id: str = "", turn_id: str = "", draft_id: str = ""
    ) -> None: ...

    async def open_page(self, url: str) -> bool:
        return False

    async def write_setting(self, key: str, value: Any, scope: Literal["user", "workspace"]) -> bool:
        return False
