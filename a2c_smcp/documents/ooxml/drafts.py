"""Elements before they have ids: a page is collected in any order, then put in reading order and numbered."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from a2c_smcp.documents.formats.elements import PREFIXES, summarize
from a2c_smcp.documents.model import Element
from a2c_smcp.types import ElementCategory

_PAGE = re.compile(r"p([0-9]{1,6})-.", re.ASCII)


@dataclass(slots=True)
class Draft:
    """An element without an id.

    Attributes:
        place: Sorts the drafts of a page.
        summary: Where the one made from the content would not do.
        picture: The part that holds its picture.
    """

    category: ElementCategory
    content: Mapping[str, Any]
    metadata: dict[str, Any] = field(default_factory=dict)
    place: tuple[float, ...] = ()
    summary: str = ""
    picture: str = ""


class PageNumbers:
    """Gives the elements of one page their ids, which count by category: `p3-tbl-001`, `p3-tbl-002`."""

    def __init__(self, page: int) -> None:
        self._page = page
        self._counts: Counter[ElementCategory] = Counter()

    def next_id(self, category: ElementCategory) -> str:
        """Return the next id of that category."""
        self._counts[category] += 1
        return f"p{self._page}-{PREFIXES[category]}-{self._counts[category]:03}"

    def number(self, drafts: Iterable[Draft]) -> Iterator[tuple[Draft, Element]]:
        """Yield drafts as elements, in their order."""
        for draft in drafts:
            yield draft, element_of(draft, self.next_id(draft.category))


def element_of(draft: Draft, element_id: str) -> Element:
    """Return a draft under an id."""
    summary = draft.summary or summarize(draft.category, draft.content)
    return Element(element_id, draft.category, draft.content, summary, draft.metadata)


def page_of(element_id: str) -> int | None:
    """Return the page that the id of an element names, None for ids of another form."""
    match = _PAGE.match(element_id)
    return int(match[1]) if match else None
