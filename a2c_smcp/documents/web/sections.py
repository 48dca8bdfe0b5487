"""Elements as pages of a size that people read: divided at headings, and within sections that are too long. Pure."""

from collections.abc import Sequence
from itertools import takewhile
from typing import Final

from a2c_smcp.documents.formats.elements import page_title
from a2c_smcp.documents.model import Element, Page
from a2c_smcp.documents.render.text import element_text

MAX_CHARACTERS: Final = 24_000
"""What a page holds at most, single elements aside: some ten printed pages."""

MIN_CHARACTERS: Final = 400
MAX_ELEMENTS: Final = 200
DEEPEST: Final = 3


def sections_of(elements: Sequence[Element], *, title: str = "", undivided: int = 0) -> list[Page]:
    """Return elements as pages.

    A page without a heading is called `title`, or as it begins. Elements of up to `undivided` characters are one page,
    whatever headings they have.
    """
    if elements and _size(elements) <= undivided:
        return [Page(0, title or page_title(elements), tuple(elements))]
    pages: list[Page] = []
    for group in _divided(list(elements), _level(elements)):
        name = _title_of(group) or title or page_title(group)
        for number, part in enumerate(_parts(group), start=1):
            shown = f"{name} ({number})" if number > 1 else name
            pages.append(Page(len(pages), shown, tuple(part)))
    return pages


def _level(elements: Sequence[Element]) -> int:
    """Return the level of heading that begins a page: the highest that occurs more than once."""
    levels = [element.content["level"] for element in elements if element.category == "heading"]
    return min((level for level in set(levels) if levels.count(level) > 1 and level <= DEEPEST), default=1)


def _divided(elements: list[Element], level: int) -> list[list[Element]]:
    groups: list[list[Element]] = []
    for element in elements:
        opens = element.category == "heading" and element.content["level"] <= level
        if not groups or (opens and not _is_title_of(groups[-1], element)):
            groups.append([])
        groups[-1].append(element)
    if len(groups) > 1 and groups[0][0].category != "heading" and _size(groups[0]) < MIN_CHARACTERS:
        groups[:2] = [groups[0] + groups[1]]  # a line above the first heading is no page
    if level >= 6:
        return groups
    return [
        part
        for group in groups
        for part in ([group] if _size(group) <= MAX_CHARACTERS else _divided_further(group, level + 1))
    ]


def _divided_further(group: list[Element], level: int) -> list[list[Element]]:
    headings = [element.content["level"] for element in group[1:] if element.category == "heading"]
    below = min((found for found in headings if found >= level), default=0)
    return _divided(group, below) if below else [group]


def _parts(group: Sequence[Element]) -> list[list[Element]]:
    parts: list[list[Element]] = [[]]
    size = 0
    for element in group:
        length = len(element_text(element))
        if parts[-1] and (size + length > MAX_CHARACTERS or len(parts[-1]) >= MAX_ELEMENTS):
            parts.append([])
            size = 0
        parts[-1].append(element)
        size += length
    return [part for part in parts if part]


def _is_title_of(group: Sequence[Element], section: Element) -> bool:
    """Whether `group` is nothing but headings above that of the section."""
    return all(
        element.category == "heading" and element.content["level"] < section.content["level"] for element in group
    )


def _title_of(group: Sequence[Element]) -> str:
    start = next((number for number, element in enumerate(group) if element.category == "heading"), len(group))
    opening = list(takewhile(lambda element: element.category == "heading", group[start:]))
    return opening[-1].summary if opening else ""


def _size(group: Sequence[Element]) -> int:
    return sum(len(element_text(element)) for element in group)
