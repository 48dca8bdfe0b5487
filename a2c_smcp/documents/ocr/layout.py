"""From lines on a picture to elements in reading order: columns, tables, headings, lists, paragraphs. Pure."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from a2c_smcp.documents.model import Element
from a2c_smcp.documents.ocr.flow import OcrPiece, pieces_of
from a2c_smcp.documents.ocr.model import Box, OcrLine, OcrPage
from a2c_smcp.documents.page_elements import PageElementMaker
from a2c_smcp.types import ElementCategory

MakeElement: TypeAlias = Callable[[ElementCategory, Mapping[str, Any], Mapping[str, Any] | None], Element]
"""Makes an element of category, content and metadata, and numbers it: `ElementMaker.make` is one."""


def elements_of(
    page: OcrPage, page_index: int = 0, dpi: float = 72.0, *, make: MakeElement | None = None
) -> list[Element]:
    """Return the elements of a picture that was read, with `metadata.ocr` and, where known, `metadata.bbox`.

    `dpi` is the resolution of the picture, so that boxes come out in points of the page as it was before turning.
    `make` numbers the elements; without it they are called `p0-h1`, `p0-txt1` … by page and category.
    """
    make = make or PageElementMaker(page_index).make
    pieces = [OcrPiece(block.category, block.content, block.box) for block in page.blocks] or pieces_of(page)
    return [make(piece.category, piece.content, _metadata(page, piece, dpi)) for piece in pieces]


def _metadata(page: OcrPage, piece: OcrPiece, dpi: float) -> dict[str, Any]:
    metadata: dict[str, Any] = {"ocr": {"engine": page.engine, "confidence": _confidence(piece.lines)}}
    if page.rotation:
        metadata["ocr"]["rotation"] = page.rotation
    if page.failures:
        metadata["ocr"]["failures"] = list(page.failures)
    if piece.box:
        scale = 72.0 / dpi
        turned = page.rotation in (90, 270)
        width, height = (page.height, page.width) if turned else (page.width, page.height)
        metadata["bbox"] = [round(value * scale, 1) for value in _as_before(piece.box, page)]
        metadata["page_width"], metadata["page_height"] = round(width * scale, 1), round(height * scale, 1)
    return metadata


def _confidence(lines: Sequence[OcrLine]) -> float | None:
    weight = sum(len(line.text) for line in lines)
    return round(sum(line.confidence * len(line.text) for line in lines) / weight, 3) if weight else None


def _as_before(box: Box, page: OcrPage) -> Box:
    """Return a box of the upright picture as it stands in the picture before it was turned."""
    x0, y0, x1, y1 = box
    match page.rotation:
        case 90:
            return y0, page.width - x1, y1, page.width - x0
        case 180:
            return page.width - x1, page.height - y1, page.width - x0, page.height - y0
        case 270:
            return page.height - y1, x0, page.height - y0, x1
        case _:
            return box
