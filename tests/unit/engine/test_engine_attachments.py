"""Files beside a message: as much as can be sent, and never more in memory."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from caddie.chat.messages import Text
from caddie.engine.attachments import read_attachments
from caddie.errors import InvalidInput
from caddie.tools.context import NoEditor


async def test_a_file_larger_than_memory_is_attached_by_its_beginning(workspace: Path) -> None:
    path = workspace / "log.txt"
    path.write_text("It begins.")
    os.truncate(path, 1 << 42)  # a sparse file
    [part] = await read_attachments(workspace, NoEditor(), [("log.txt", "log.txt", None)])
    assert isinstance(part, Text)
    assert "It begins." in part.text


async def test_a_pipe_is_no_attachment_and_not_waited_for(workspace: Path) -> None:
    os.mkfifo(workspace / "pipe")
    with pytest.raises(InvalidInput, match="no regular file"):
        await read_attachments(workspace, NoEditor(), [("pipe", "pipe", None)])
