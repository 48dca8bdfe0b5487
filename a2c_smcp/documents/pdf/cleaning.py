"""The signs in the text of a page that are no text."""

import re
from typing import Final

HYPHEN: Final = "\ufffe"
"""What PDFium puts where a word was divided at the end of a line; no other line end is written there."""

_UNCLEAN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_STRANGE = re.compile(_UNCLEAN.pattern.replace(r"\ufffe", ""))
"""The same without the mark of divided words, which is taken out when lines are made."""
_CONTROLS: Final = bytes([*range(9), 11, 12, *range(14, 32)])


def is_clean(text: str) -> bool:
    """Whether `clean` would leave text as it is, but for the mark of divided words."""
    data = text.encode("utf-8", "surrogatepass")
    if data.translate(None, _CONTROLS) != data:
        return False
    # Halves of pairs begin with one of these bytes, and so does the last sign of the plane with the other.
    return (b"\xed" not in data and b"\xef\xbf\xbf" not in data) or not _STRANGE.search(text)


def clean(text: str) -> str:
    """Return text without what JSON, Markdown and people cannot take: control characters and halves of pairs."""
    if text.isprintable():
        return text  # as most text is that has no line ends
    return _UNCLEAN.sub(lambda match: "\ufffd" if "\ud800" <= match[0] <= "\udfff" else "", text)
