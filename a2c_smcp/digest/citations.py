"""Page citations in what a model wrote: those that exist stay, the others go. Pure."""

import re
from typing import Final

from a2c_smcp.digest.sections import Section, cite

_CITATION = re.compile(
    r"[\[［【(（]\s*(?:pp?\.?|pages?|第)\s*(\d{1,6})(?:\s*(?:-|–|—|~|至|到)\s*(?:p\.?\s*)?(\d{1,6}))?\s*页?\s*[\]］】)）]",
    re.IGNORECASE,
)
_BLANKS: Final = re.compile(r"[ \t]+(?=[.,;:。，；：\n]|$)")


def checked(text: str, section: Section) -> tuple[str, int]:
    """Return the text with its citations in one form, and how many were dropped: they name pages not in the section."""
    dropped = 0

    def mend(match: re.Match[str]) -> str:
        nonlocal dropped
        first = int(match[1])
        last = int(match[2]) if match[2] else first
        if section.first <= first <= last <= section.last:
            return cite(first, last)
        dropped += 1
        return ""

    mended = _CITATION.sub(mend, text)
    return (_BLANKS.sub("", mended) if dropped else mended), dropped
