"""Parts of pages that are pictures of text: read by OCR where a policy allows it, else shown as pictures."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from a2c_smcp.documents.formats.base import require
from a2c_smcp.documents.model import PENDING, Element
from a2c_smcp.documents.page_elements import PageElementMaker
from a2c_smcp.documents.pdf.page import PageContent
from a2c_smcp.documents.pdf.words import Box
from a2c_smcp.errors import DocumentError

if TYPE_CHECKING:
    from PIL.Image import Image

DPI: Final = 200
"""What OCR engines are trained on, about."""

OCR_IS_OFF: Final = (
    "No text was read from this picture: OCR is off. Turn it on with an OCR policy (a2c docs --ocr local)."
)

_TRIED_AGAIN: Final = "It is tried again when the page is next read."
_BLOCK: Final = 32
"""Pixels: at 200 dpi a line of text and its surroundings are as high."""
_CONTRAST: Final = 80
"""Between ink and paper, of 255; what differs less is a shade of the paper or the grain of a photograph."""
_PAPER: Final = 24
"""How far apart, of 255, the shades of one paper are."""
_PAPER_SHARE: Final = (0.4, 0.97)
"""How much of a block of text is paper: the strokes of letters cover a tenth to a half of it."""
_PAPER_OF_ALL: Final = 0.4
"""How much of a picture of text is paper: a page of small print has more, and a photograph has no such colour."""
_BLOCKS_OF_TEXT: Final = 10
"""So many blocks hold two or three words. Fewer are specks, or the dark rim of a photograph."""


def recognized(content: PageContent, index: int, policy: Any, render: Callable[[int], bytes]) -> None:
    """Put what OCR reads in the unread parts of a page among its elements, in reading order.

    Without a policy, and where OCR fails, their pictures say so; one that failed for a reason that may pass is marked
    as pending.
    """
    if policy is None:
        _note(content, OCR_IS_OFF)
        return
    # The engines and their libraries are loaded only for pages that need them.
    from a2c_smcp.documents.ocr.base import (  # noqa: PLC0415
        TransientOcrError,
        elements_of,
        read_with_fallback,
    )

    try:
        png = _unread_only(render(DPI), content)
        if png is None:
            return
        page = read_with_fallback(policy, png)
    except (TransientOcrError, ModuleNotFoundError) as error:
        why = error.message if isinstance(error, DocumentError) else str(error)
        _note(content, f"No text was read from this picture: {why}. {_TRIED_AGAIN}", pending=True)
        return
    except DocumentError as error:
        _note(content, f"No text was read from this picture: {error.message}")
        return
    make = PageElementMaker(index, content.elements).make
    found = [element for element in elements_of(page, index, DPI, make=make) if _is_inside(element, content)]
    content.elements = _merged(content, found)


def _unread_only(png: bytes, content: PageContent) -> bytes | None:
    """Return the picture of a page with nothing on it but its unread parts, where these look like text.

    Text that the page has as such is painted over, so that it is not read twice. A page without text of its own is left
    as it is: whatever it shows is worth a look.
    """
    width, height = content.frame.width, content.frame.height
    parts = [part.box for part in content.unread]
    if not content.lines and sum(map(_area, parts)) > 0.9 * width * height:
        return png
    from a2c_smcp.documents.ocr.pictures import open_picture, png_of  # noqa: PLC0415

    picture = open_picture(png)
    scale = picture.width / max(width, 1.0)
    shown: Image = require("PIL.Image", "documents").new("RGB", picture.size, "white")
    draw = require("PIL.ImageDraw", "documents").Draw
    for box in content.lines:
        draw(picture).rectangle(_pixels(box, scale), fill=_paper_around(picture, box, scale))
    for box in parts:
        part = picture.crop(_pixels(box, scale))
        if not content.has_text or _looks_like_text(part):
            shown.paste(part, _pixels(box, scale)[:2])
    if shown.convert("L").getextrema() == (255, 255):
        return None
    return png_of(shown)


def _paper_around(picture: "Image", box: Box, scale: float) -> tuple[int, int, int]:
    """Return the colour of the paper at the left end of a line, so that painting it over leaves no edges to read."""
    x0, y0, _, y1 = _pixels(box, scale)
    at = max(0, min(x0 - 2, picture.width - 1)), max(0, min((y0 + y1) // 2, picture.height - 1))
    found: Any = picture.getpixel(at)
    return found[0], found[1], found[2]


def _looks_like_text(part: "Image") -> bool:
    """Whether a picture has ink on paper as text has: a photograph beside text is not worth the time."""
    grey = part.convert("L")
    counts = grey.histogram()
    spread = range(0, 256, 4)
    paper = max(spread, key=lambda shade: sum(counts[max(0, shade - _PAPER) : shade + _PAPER]))
    if sum(counts[max(0, paper - _PAPER) : paper + _PAPER]) < _PAPER_OF_ALL * grey.width * grey.height:
        return False
    low, high = (share * _BLOCK * _BLOCK for share in _PAPER_SHARE)
    found = 0
    for top in range(0, grey.height - _BLOCK + 1, _BLOCK):
        for left in range(0, grey.width - _BLOCK + 1, _BLOCK):
            block = grey.crop((left, top, left + _BLOCK, top + _BLOCK))
            least, most = block.getextrema()
            if most - least < _CONTRAST:  # type: ignore[operator]
                continue
            found += low <= sum(block.histogram()[max(0, paper - _PAPER) : paper + _PAPER]) <= high
            if found >= _BLOCKS_OF_TEXT:
                return True
    return False


def _merged(content: PageContent, found: Sequence[Element]) -> list[Element]:
    """Return the elements of a page with those that were recognized where they stand.

    One without a place, as some services answer, goes to the first picture that was read, in the order of the answer.
    """
    merged = list(content.elements)
    read = _unread_pictures(content)
    start = next((number for number, element in enumerate(merged) if element.id in read), len(merged) - 1)
    unplaced = start + 1
    for element in found:
        box = element.metadata.get("bbox")
        at = unplaced if box is None else _place(merged, box)
        merged.insert(at, element)
        unplaced += at <= unplaced
    return merged


def _place(elements: Sequence[Element], box: Sequence[float]) -> int:
    """Return before which element something at a place is read: the first below it in its column."""
    x0, y0, x1, _ = box
    after = None
    for number, element in enumerate(elements):
        other = element.metadata.get("bbox")
        if other is None or element.category in ("image", "annotation", "link"):
            continue
        if element.category == "footer":
            return number
        if min(x1, other[2]) - max(x0, other[0]) > 0:
            if other[1] > y0:
                return number
            after = number
    if after is not None:
        return after + 1
    return next((number for number, element in enumerate(elements) if element.category == "footer"), len(elements))


def _note(content: PageContent, why: str, *, pending: bool = False) -> None:
    """Tell the pictures of the unread parts why no text was read from them."""
    told: dict[str, Any] = {"ocr_note": why, **({PENDING: True} if pending else {})}
    unread = _unread_pictures(content)
    noted = [element for element in content.elements if element.id in unread]
    if not noted and pending and content.elements:
        noted = [content.elements[0]]  # signs without meaning have no picture
    ids = {element.id for element in noted}
    content.elements = [
        replace(element, metadata={**element.metadata, **told}, summary=f"{element.summary}. {why}")
        if element.id in ids
        else element
        for element in content.elements
    ]


def _unread_pictures(content: PageContent) -> set[str]:
    parts = [part.box for part in content.unread]
    return {picture.element_id for picture in content.pictures if any(_shares(picture.box, box) for box in parts)}


def _is_inside(element: Element, content: PageContent) -> bool:
    """Whether something was read where there was something to read: elsewhere the picture is white."""
    box = element.metadata.get("bbox")
    if box is None:
        return True
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return any(x0 <= x <= x1 and y0 <= y <= y1 for x0, y0, x1, y1 in (part.box for part in content.unread))


def _shares(first: Box, second: Box) -> bool:
    return min(first[2], second[2]) > max(first[0], second[0]) and min(first[3], second[3]) > max(first[1], second[1])


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _pixels(box: Box, scale: float) -> tuple[int, int, int, int]:
    x0, y0, x1, y1 = box
    return max(0, int(x0 * scale)), max(0, int(y0 * scale)), int(x1 * scale) + 1, int(y1 * scale) + 1
