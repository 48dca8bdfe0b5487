"""The text of a document in one file, in which a line names each page, so that it can be taken apart again. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from a2c_smcp.documents.ocr.quality import repeats

MIN_TEXT: Final = 20
"""Letters of a page below which its text says nothing; a document needs that many for each of its pages."""

NO_TEXT: Final = "no text"
_MARK = re.compile(r"^<!-- page (\d{1,6}) -->[ \t]*$", re.MULTILINE)
# What services write between pages: our own mark, a form feed, or a rule with the number of the page.
_RULED = re.compile(
    r"^(?:-{3,}|={3,})[ \t]*(?:page|第)?[ \t]*(\d{1,6})[ \t]*(?:页)?[ \t]*(?:-{3,}|={3,})?[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)


def joined(pages: Mapping[int, str]) -> str:
    """Return texts by page number (from 1) as one; what looks like a mark within a page is made to look like none."""
    return "".join(f"<!-- page {number} -->\n{_unmarked(pages[number]).strip()}\n\n" for number in sorted(pages))


def _unmarked(text: str) -> str:
    return _MARK.sub(r"<!-- (page \1) -->", text)


def divided(text: str, page_count: int) -> dict[int, str] | None:
    """Return the text of each page, None where the text does not say where pages begin.

    Marks of pages that the document does not have are taken for text.
    """
    for pattern in (_MARK, _RULED):
        marks = [match for match in pattern.finditer(text) if 1 <= int(match[1]) <= page_count]
        if marks and len({int(match[1]) for match in marks}) == len(marks):
            ends = [*(match.start() for match in marks[1:]), len(text)]
            pages = {int(match[1]): text[match.end() : end].strip() for match, end in zip(marks, ends, strict=True)}
            lead = text[: marks[0].start()].strip()
            first = int(marks[0][1])
            return pages | ({first: f"{lead}\n\n{pages[first]}"} if lead else {})
    parts = text.rstrip("\f").split("\f")
    if len(parts) == page_count:
        return {number: part.strip() for number, part in enumerate(parts, start=1)}
    return None


def fault_of(text: str, page_count: int = 1) -> str:
    """Return why the text of a whole document is no good, or nothing when it is."""
    if letters_in(_MARK.sub("", text)) < MIN_TEXT * page_count:
        return "there is hardly any text"
    return "the text repeats itself" if repeats(text) else ""


def page_fault(text: str) -> str:
    """Return why the text of one page is no good: a page may be empty, but then another way may find something."""
    letters = letters_in(text)
    if letters < MIN_TEXT:
        return "hardly any text" if letters else NO_TEXT
    return "the text repeats itself" if repeats(text) else ""


def is_better(text: str, other: str) -> bool:
    """Whether the text of a page is worth more than another of the same page."""
    if not repeats(other) and repeats(text):
        return False
    return letters_in(text) > letters_in(other) or (repeats(other) and letters_in(text) > 0)


def letters_in(text: str) -> int:
    """Return how many letters and digits a text has."""
    return sum(map(str.isalnum, text))


def ranges_of(numbers: Sequence[int]) -> str:
    """Return page numbers in short: `1-3, 7`."""
    spans: list[list[int]] = []
    for number in sorted(numbers):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in spans)
