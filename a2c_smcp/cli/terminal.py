"""What a terminal can show: colours, width, and text that cannot drive it. Pure but for asking the stream."""

import re
import shutil
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TextIO

ELLIPSIS: Final = "…"

# C0 and C1 controls but tab and newline, and the marks that reorder or hide text: documents are other people's data.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


@dataclass(frozen=True, slots=True)
class Terminal:
    """How to write for one stream; a plain one adds nothing to the text."""

    tty: bool = False
    color: bool = False
    width: int | None = None

    @classmethod
    def of(cls, stream: TextIO, env: Mapping[str, str]) -> "Terminal":
        """Return what `stream` can show; NO_COLOR and TERM=dumb turn colours off."""
        if not stream.isatty():
            return cls()
        color = not env.get("NO_COLOR") and env.get("TERM") != "dumb"
        width = int(env["COLUMNS"]) if env.get("COLUMNS", "").isdecimal() else shutil.get_terminal_size().columns
        return cls(tty=True, color=color, width=width)

    def bold(self, text: str) -> str:
        """For what a reader looks for first."""
        return self._paint("1", text)

    def dim(self, text: str) -> str:
        """For what a reader needs only now and then."""
        return self._paint("2", text)

    def cyan(self, text: str) -> str:
        """For names that can be typed back."""
        return self._paint("36", text)

    def fit(self, text: str, used: int = 0) -> str:
        """Cut `text` so that it stays on its line after `used` columns; text for files is never cut."""
        return text if self.width is None else shorten(text, max(self.width - used - 1, 8))

    def _paint(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.color and text else text


def printable(text: str) -> str:
    """Return `text` with every character that could drive a terminal or hide text replaced."""
    return _CONTROLS.sub("\ufffd", text)


def one_line(text: str) -> str:
    """Return `text` printable and on one line."""
    return printable(" ".join(text.split()))


def columns(text: str) -> int:
    """How many columns `text` takes: East Asian wide characters take two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def shorten(text: str, width: int) -> str:
    """Cut `text` to `width` columns, with an ellipsis where something is missing."""
    if columns(text) <= width:
        return text
    kept, used = [], columns(ELLIPSIS)
    for character in text:
        used += _columns(character)
        if used > width:
            break
        kept.append(character)
    return "".join(kept).rstrip() + ELLIPSIS


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
