"""What only the editor knows: problems, the selection, open files, and what other language servers say."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from caddie.protocol.base import Message

QueryKind = Literal[
    "diagnostics", "selection", "openFiles", "definition", "references", "hover", "symbols", "rename",
]  # fmt: skip
Severity = Literal["error", "warning", "information", "hint"]


class EditorQuery(Message):
    """`definition`, `references`, `hover` and `rename` need path, line and column; `rename` also `newName`."""

    kind: QueryKind
    path: str | None = Field(
        None, description="Absolute path. Absent: all files for `diagnostics`, the workspace for `symbols`."
    )
    line: int | None = Field(None, ge=1, description="Counts from 1.")
    column: int | None = Field(None, ge=1, description="Counts from 1, in UTF-16 units.")
    query: str | None = Field(None, description="Part of a name, for `symbols` of the workspace.")
    new_name: str | None = None
    settle_ms: int | None = Field(
        None,
        ge=0,
        le=10_000,
        description="For `diagnostics` after an edit of `path`: answer when they were published anew since its last "
        "change, or when so much time has passed. `path` then narrows nothing: all files are answered for.",
    )
    limit: int = Field(200, ge=1, le=2000)


class Place(Message):
    """Lines and columns count from 1; the end is exclusive."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int


class Diagnostic(Message):
    place: Place
    severity: Severity
    message: str
    source: str | None = None
    code: str | None = None


class Selection(Message):
    place: Place
    text: str


class OpenFile(Message):
    path: str
    language: str
    is_active: bool
    is_dirty: bool


class Symbol(Message):
    name: str
    kind: str
    container: str | None = None
    place: Place


class TextChange(Message):
    """What a rename would change; nothing is changed by asking."""

    place: Place
    new_text: str


class EditorAnswer(Message):
    """The field that belongs to the query's kind is there; without a provider for the language it is empty."""

    diagnostics: list[Diagnostic] | None = None
    selection: Selection | None = None
    files: list[OpenFile] | None = None
    places: list[Place] | None = None
    hover: str | None = None
    symbols: list[Symbol] | None = None
    changes: list[TextChange] | None = None
    is_cut: bool = Field(False, description="There was more than `limit`.")
