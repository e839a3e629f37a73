"""How is a frame written at once, so that nobody sees the screen between erased and drawn?"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from prompt_toolkit.output import ColorDepth, Output, create_output
from prompt_toolkit.output.vt100 import Vt100_Output


class _Output(Vt100_Output):
    """prompt_toolkit flushes at each step; `held`, it writes a whole frame at once."""

    held = False

    def flush(self) -> None:
        if not self.held:
            super().flush()


def own_output() -> Output:
    if sys.platform == "win32":
        return create_output()
    depth = ColorDepth.from_env()  # NO_COLOR
    output = _Output.from_pty(sys.stdout, term=os.environ.get("TERM"), default_color_depth=depth)
    # The layout is anchored below what was written; asking the terminal where that is only adds round trips.
    output.enable_cpr = False
    return output


@contextlib.contextmanager
def one_frame(output: Output) -> Iterator[None]:
    """Nothing is seen of what happens inside but its end; 2026 asks terminals that know it to wait as well."""
    if not isinstance(output, _Output):
        yield
        return
    output.write_raw("\x1b[?2026h")
    output.held = True
    try:
        yield
    finally:
        output.held = False
        output.write_raw("\x1b[?2026l")
        output.flush()
