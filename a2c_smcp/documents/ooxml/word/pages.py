"""Where the pages of a Word document begin, which the file itself does not always say. Pure.

The last program that laid the document out may have left its page breaks; then pages are those that a reader saw.
Else pages are parted where the author wanted it, and long ones at headings, once there is a page's worth of text.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from a2c_smcp.documents.formats.elements import clip, page_title
from a2c_smcp.documents.model import Element
from a2c_smcp.documents.ooxml.drafts import Draft
from a2c_smcp.documents.ooxml.word.body import Break, Item

PAGE_CHARACTERS: Final = 3_000
"""About a printed page."""

MAX_CHARACTERS: Final = 12_000
MAX_ELEMENTS: Final = 150

_ORDER: Final = {"header": 0, "footer": 2}


def paginate(items: Sequence[Item]) -> list[list[Draft]]:
    """Return the elements of every page; headers first, footers last."""
    laid_out = any(isinstance(item, Break) and item.kind == "rendered" for item in items)
    pages: list[list[Draft]] = []
    for group in _groups(items, rendered=laid_out):
        pages += [group] if laid_out and len(group) <= MAX_ELEMENTS else _sized(group)
    _move_margins(pages)
    return [sorted(page, key=lambda draft: _ORDER.get(draft.category, 1)) for page in pages]


def _move_margins(pages: list[list[Draft]]) -> None:
    """Put what the second page on has in its margins there, where the first page has others."""
    for page, following in pairwise(pages):
        first = {draft.category for draft in page if draft.metadata.get("pages") == "first"}
        moved = [draft for draft in page if draft.category in first and draft.metadata.get("pages") != "first"]
        page[:] = [draft for draft in page if draft not in moved]
        following[:0] = moved


def titles(pages: Sequence[Sequence[Element]]) -> list[str]:
    """Return what each page is called: its first heading, else the one it continues, else how it begins."""
    found: list[str] = []
    current = ""
    for page in pages:
        headings = [element.summary for element in page if element.category == "heading"]
        if headings:
            found.append(clip(headings[0], 60))
            current = headings[-1]
        else:
            own = [element for element in page if element.category not in _ORDER]
            found.append(f"{clip(current, 46)} (continued)" if current else page_title(own or page))
    return found


def _groups(items: Sequence[Item], *, rendered: bool) -> Iterator[list[Draft]]:
    group: list[Draft] = []
    for item in items:
        if isinstance(item, Draft):
            group.append(item)
        elif (rendered or item.kind == "explicit") and any(draft.category not in _ORDER for draft in group):
            yield group
            group = []
    if group:
        yield group


def _sized(group: list[Draft]) -> Iterator[list[Draft]]:
    levels = [draft.content["level"] for draft in group if draft.category == "heading"]
    top = min((level for level in set(levels) if levels.count(level) > 1), default=0)
    page: list[Draft] = []
    size = 0
    for draft in group:
        is_heading = draft.category == "heading"
        opens = is_heading and (
            size >= MAX_CHARACTERS / 2 or (size >= PAGE_CHARACTERS and draft.content["level"] <= top)
        )
        if page and (opens or size >= MAX_CHARACTERS or len(page) >= MAX_ELEMENTS):
            yield page
            page, size = [], 0
        page.append(draft)
        size += _size(draft)
    if page:
        yield page


def _size(draft: Draft) -> int:
    match draft.category:
        case "table":
            lines = (draft.content["headers"], *draft.content["rows"])
            return sum(len(str(cell)) + 3 for line in lines for cell in line if cell is not None)
        case "list":
            return len(str(draft.content["items"]))
        case "image" | "chart" | "diagram":
            return 400
    return len(str(draft.content.get("text", "")))
