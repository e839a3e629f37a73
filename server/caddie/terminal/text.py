"""Text from strangers, made safe to show: no escape sequence, control or direction mark reaches the terminal."""

from __future__ import annotations

import re

from rich.cells import cell_len, set_cell_size

_ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)"  # OSC: titles, links, clipboard
    r"|\x1b[PX^_][^\x1b\n]*\x1b\\"  # DCS, SOS, PM, APC
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"  # CSI: colours, cursor
    r"|\x1b[ -/]*[0-~]?"
)
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


def clean(text: str) -> str:
    """Lines stay lines; everything that would act on the terminal is gone."""
    text = _ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    text = text.replace("\u2028", "\n").replace("\u2029", "\n").encode("utf-8", "replace").decode()
    return _CONTROLS.sub("", text).expandtabs(4)


def reveal(text: str) -> str:
    """For what the person is about to allow: nothing is left out, what would hide or act is shown by name."""
    text = text.replace("\r\n", "\n").encode("utf-8", "replace").decode()
    return _HIDDEN.sub(lambda found: _name(found[0]), text).expandtabs(4)


def _name(char: str) -> str:
    return chr(0x2400 + ord(char)) if char < " " else f"⟨U+{ord(char):04X}⟩"


def one_line(text: str) -> str:
    return " ".join(clean(text).split())


def fit(text: str, width: int) -> str:
    """`text` in at most `width` cells, with an ellipsis where it was cut."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip() + "…" if width > 0 else ""


def too_long(message: str, limit: int) -> str:
    """Why such a message is not sent; nothing if it is."""
    if len(message) <= limit:
        return ""
    return f"The message has {len(message):,} characters and may have {limit:,}; put the rest in a file and name it."


def duration(seconds: float) -> str:
    """Whole seconds stay whole: what still runs should not flicker."""
    if 0 < seconds < 0.1:
        return "<0.1 s"
    if isinstance(seconds, float) and seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds // 60:.0f} min {seconds % 60:02.0f} s"


def amount(number: int) -> str:
    """Tokens as people read them: 950, 1.2k, 61k, 1.4M."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            value = number / size
            return f"{value:.1f}{unit}" if value < 20 else f"{value:.0f}{unit}"
    return str(number)
