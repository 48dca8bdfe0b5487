"""From blocks to pieces, and from pieces to elements with ids and one-line summaries. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from a2c_smcp.documents.formats.elements import MAX_SUMMARY, PREFIXES, clip, summarize
from a2c_smcp.documents.model import Element
from a2c_smcp.documents.pdf.layout import box_of, text_of
from a2c_smcp.documents.pdf.lists import list_content, lists_of
from a2c_smcp.documents.pdf.words import Block, Box, Line, Piece
from a2c_smcp.types import ElementCategory

_FARTHEST: Final = 80
"""Blanks at most between what stands in one line of a listing."""
_PLAIN: Final = frozenset({"text", "heading", "header", "footer"})


def pieces_of(blocks: list[Block]) -> list[Piece]:
    """Return blocks as pieces, items of one kind that follow one another as lists."""
    pieces: list[Piece] = []
    items: list[Block] = []
    for block in blocks:
        kind = block.kind
        if items and kind != items[0].kind:
            pieces += _lists(items)
            items = []
        if kind == "text":
            pieces.append(Piece("text", {"text": text_of(block.lines)}, box_of(block.lines)))
        elif kind == "heading":
            pieces.append(Piece("heading", {"level": block.level, "text": text_of(block.lines)}, box_of(block.lines)))
        elif kind == "code":
            pieces.append(Piece("code", {"text": _listing(block.lines)}, box_of(block.lines)))
        else:  # an item, or a line of a table of contents
            items.append(block)
    return pieces + _lists(items)


def _lists(blocks: Sequence[Block]) -> list[Piece]:
    return [
        Piece("list", list_content(items), box_of([line for item in items for line in item.lines]))
        for items in lists_of(blocks)
    ]


def _listing(lines: Sequence[Line]) -> str:
    """Return lines of code as they are indented."""
    left = min([line.x0 for line in lines])
    wide = sorted([(line.x1 - line.x0) / len(line.text) for line in lines])[len(lines) // 2] or 1.0
    rows: list[str] = []
    last: Line | None = None
    for line in lines:
        if last is not None and abs(line.y0 - last.y0) < 0.5 * line.size and line.x0 > last.x1:
            rows[-1] += " " * _blanks((line.x0 - last.x1) / wide, 1) + line.text
        else:
            rows.append(" " * _blanks((line.x0 - left) / wide, 0) + line.text + ("-" if line.joined else ""))
        last = line
    return "\n".join(rows)


def _blanks(letters: float, least: int) -> int:
    """Return how many blanks are as wide as so many letters."""
    return max(least, min(round(letters), _FARTHEST))


# Elements


def elements_of(pieces: list[Piece], index: int, width: float, height: float) -> list[Element]:
    """Return the pieces of a page as elements; ids count by category, so that they do not depend on other pages."""
    page, width, height = f"p{index}-", round(width, 1), round(height, 1)
    counts: dict[ElementCategory, int] = {}
    elements: list[Element] = []
    for piece in pieces:
        category = piece.category
        number = counts[category] = counts.get(category, 0) + 1
        metadata = {"bbox": tenths(piece.box), "page_width": width, "page_height": height}
        summary = _summary(category, piece.content)
        elements.append(Element(f"{page}{PREFIXES[category]}{number}", category, piece.content, summary, metadata))
    return elements


def _summary(category: ElementCategory, content: Mapping[str, Any]) -> str:
    if category in _PLAIN:
        text: str = content["text"]
        return text if len(text) <= MAX_SUMMARY else clip(text)
    if category == "link" and len(content["text"]) < 40 and content["url"][0] == "#":
        return f"{content['text']} → {content['url']}".lstrip()
    return summarize(category, content)


def tenths(box: Box) -> list[float]:
    """Return a box in tenths of a point, none smaller than it is; quicker than round."""
    x0, y0, x1, y1 = box
    return [int(x0 * 10) / 10, int(y0 * 10) / 10, int(x1 * 10 + 0.9) / 10, int(y1 * 10 + 0.9) / 10]
