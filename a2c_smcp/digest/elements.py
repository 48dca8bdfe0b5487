"""The elements of pages, in a file between two steps, and what of them is worth a picture."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from a2c_smcp.digest.folders import write
from a2c_smcp.documents import codec
from a2c_smcp.documents.model import Element, Page

ELEMENTS_NAME: Final = "extract_elements.jsonl"
MIN_SHARE: Final = 0.005
"""The part of a page below which a picture is an icon or a rule."""

MIN_PIXELS: Final = 48


def write_elements(path: Path, pages: Mapping[int, Sequence[Element]]) -> Path:
    """Write a line for each page; pages are numbered from 1."""
    lines = [codec.encode_page(Page(number - 1, "", tuple(pages[number]))) for number in sorted(pages)]
    return write(path, b"".join(line + b"\n" for line in lines))


def read_elements(path: object) -> dict[int, Sequence[Element]]:
    """Return the elements of each page by its number, from 1; none where there is no such file."""
    if not isinstance(path, str) or not path:
        return {}
    try:
        pages = [codec.decode_page(line) for line in Path(path).read_bytes().splitlines() if line.strip()]
    except (OSError, ValueError, TypeError):
        return {}
    return {page.index + 1: page.elements for page in pages}


def has_picture(elements: Iterable[Element]) -> bool:
    """Whether a page has something to look at that its text does not say."""
    return any(map(_is_picture, elements))


def has_table(elements: Iterable[Element]) -> bool:
    """Whether a page has a table."""
    return any(element.category == "table" for element in elements)


def _is_picture(element: Element) -> bool:
    if element.category in ("chart", "diagram"):
        return True
    if element.category != "image":
        return False
    share = _share(element.metadata)
    if share is not None:
        return share >= MIN_SHARE
    sides = [element.content.get(side) for side in ("width", "height")]
    return all(side >= MIN_PIXELS for side in sides if isinstance(side, int | float))


def _share(metadata: Mapping[str, Any]) -> float | None:
    """Return which part of its page an element takes, None where its place is not known."""
    try:
        x0, y0, x1, y1 = metadata["bbox"]
        return float(abs((x1 - x0) * (y1 - y0)) / (metadata["page_width"] * metadata["page_height"]))
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        return None
