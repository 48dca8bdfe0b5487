"""Whether the text that an engine gives is worth keeping. Pure."""

import re
from collections import Counter
from typing import Final

from a2c_smcp.documents.model import Element
from a2c_smcp.documents.ocr.model import OcrPage
from a2c_smcp.documents.render.text import element_text

MIN_REPEATED: Final = 8
MAX_REPEATED_SHARE: Final = 0.6
_MIN_LOOP: Final = 200
_SAMPLE: Final = 20_000
# A model that has lost its way writes the same words until it is stopped.
_LOOP = re.compile(r"(.{1,120}?)\1{11,}", re.DOTALL)
_FILLER = re.compile(r"[\s.\-_=*·…|─━+~#]+")


def fault_of(page: OcrPage) -> str:
    """Return why the text of a page is no good, or nothing when it is."""
    text = text_of(page)
    if not text.strip():
        return "no text was found"
    return "the text repeats itself" if repeats(text) else ""


def text_of(page: OcrPage) -> str:
    """Return the text of a page, a line for each line or block."""
    if page.blocks:
        return "\n".join(element_text(Element("x", block.category, block.content)) for block in page.blocks)
    return "\n".join(line.text for line in page.lines)


def repeats(text: str) -> bool:
    """Whether most of `text` is the same piece again and again; dot leaders and rules do not count."""
    lines = [line.strip() for line in text.splitlines() if len(line.strip()) > 2]
    common, count = Counter(lines).most_common(1)[0] if lines else ("", 0)
    if count >= MIN_REPEATED and count > len(lines) * MAX_REPEATED_SHARE and not _FILLER.fullmatch(common):
        return True
    words = _FILLER.sub(" ", text[-_SAMPLE:])
    looped = sum(len(match[0]) for match in _LOOP.finditer(words))
    return looped >= _MIN_LOOP and looped > len(words) * MAX_REPEATED_SHARE
