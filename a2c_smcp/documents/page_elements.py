"""Making the elements of one page at a time, for documents whose pages are read on their own. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from a2c_smcp.documents.formats.elements import PREFIXES, ElementMaker, summarize
from a2c_smcp.documents.model import Element
from a2c_smcp.types import ElementCategory


class PageElementMaker(ElementMaker):
    """Makes the elements of one page; their ids name the page, so that they do not depend on others: `p3-tbl1`."""

    def __init__(self, page_index: int, others: Iterable[Element] = ()) -> None:
        """Count on from what the page has already."""
        super().__init__()
        self._page = page_index
        self._made: Counter[ElementCategory] = Counter(element.category for element in others)

    def make(
        self, category: ElementCategory, content: Mapping[str, Any], metadata: Mapping[str, Any] | None = None
    ) -> Element:
        """Return the next element of its category on this page."""
        self._made[category] += 1
        element_id = f"p{self._page}-{PREFIXES[category]}{self._made[category]}"
        return Element(element_id, category, content, summarize(category, content), metadata or {})


def page_of(element_id: str) -> int | None:
    """Return the index of the page that an id of a `PageElementMaker` names."""
    page = element_id.partition("-")[0]
    return int(page[1:]) if page[:1] == "p" and page[1:].isdecimal() and len(page) < 9 else None
