"""What is a line of an open document? As the protocol says: only LF, CRLF and CR end one.

pygls splits as Python does, also at form feeds and U+2028, and would put the person's edits into the wrong places.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pygls.workspace import TextDocument, Workspace

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")


def split_lines(text: str) -> list[str]:
    """With their ends."""
    return _LINE.findall(text)


class Document(TextDocument):
    @property
    def lines(self) -> Sequence[str]:
        return split_lines(self.source)


def mend(workspace: Workspace) -> None:
    """From now on its documents have the protocol's lines."""
    create = workspace._create_text_document

    def create_ours(*args: object, **kwargs: object) -> TextDocument:
        document = create(*args, **kwargs)  # type: ignore[arg-type]
        document.__class__ = Document
        return document

    workspace._create_text_document = create_ours  # type: ignore[method-assign]
