"""The pictures of a page."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from a2c_smcp.documents.pdf.engine import Engine
from a2c_smcp.documents.pdf.frames import Frame
from a2c_smcp.documents.pdf.graphics import Bounds, Drawn
from a2c_smcp.documents.pdf.words import Box

MIN_SIDE: Final = 12.0
"""Smaller ones, in points, are bullets, icons and lines."""
MAX_BYTES: Final = 32 << 20

_JPEG: Final = "DCTDecode"


@dataclass(slots=True)
class Picture:
    """A picture on a page; one that is cut into strips is one picture, and has no single object."""

    content: dict[str, Any]
    box: Box
    handle: int = 0
    number: int = 0
    element_id: str = ""


def pictures_of(engine: Engine, frame: Frame, images: Sequence[Drawn]) -> list[Picture]:
    """Return the pictures of a page that are large enough to show something."""
    bounds = Bounds(engine, frame)
    wide, high = ctypes.c_uint(), ctypes.c_uint()
    found: list[Picture] = []
    for number, drawn in enumerate(images):
        box = bounds.of(drawn)
        if box is None:
            continue
        x0, y0, x1, y1 = max(box[0], 0.0), max(box[1], 0.0), min(box[2], frame.width), min(box[3], frame.height)
        if x1 - x0 < MIN_SIDE:
            continue
        if found and _continues(found[-1].box, (x0, y0, x1, y1)):
            last = found[-1]
            last.box = last.box[0], min(last.box[1], y0), last.box[2], max(last.box[3], y1)
            last.handle = 0
            continue
        if y1 - y0 < MIN_SIDE:
            continue
        content: dict[str, Any] = {}
        if engine.FPDFImageObj_GetImagePixelSize(drawn[0], ctypes.addressof(wide), ctypes.addressof(high)):
            content |= {"width": wide.value, "height": high.value}
        content["mime_type"] = "image/jpeg" if is_jpeg(engine, drawn[0]) else "image/png"
        content["description"] = describe_picture(content, (x0, y0, x1, y1), frame)
        found.append(Picture(content, (x0, y0, x1, y1), drawn[0], number))
    for picture in found:
        if not picture.handle:
            picture.content.pop("width", None)
            picture.content.pop("height", None)
            picture.content["mime_type"] = "image/png"
            picture.content["description"] = describe_picture(picture.content, picture.box, frame)
    return found


def is_jpeg(engine: Engine, image: int) -> bool:
    """Whether the stored picture is a JPEG as it stands."""
    if engine.FPDFImageObj_GetImageFilterCount(image) != 1:
        return False
    return engine.string(engine.FPDFImageObj_GetImageFilter, image, 0, encoding="latin-1") == _JPEG


def jpeg_of(engine: Engine, image: int) -> bytes | None:
    """Return the stored JPEG; None where it is too large."""
    length = engine.FPDFImageObj_GetImageDataRaw(image, None, 0)
    if not 0 < length <= MAX_BYTES:
        return None
    buffer = ctypes.create_string_buffer(length)
    engine.FPDFImageObj_GetImageDataRaw(image, ctypes.addressof(buffer), length)
    return buffer.raw[:length]


def _continues(above: Box, box: Box) -> bool:
    """Whether a picture touches the one before it as strips of a scan do."""
    same_sides = abs(above[0] - box[0]) < 1 and abs(above[2] - box[2]) < 1
    return same_sides and (abs(above[3] - box[1]) < 1 or abs(above[1] - box[3]) < 1)


def describe_picture(content: dict[str, Any], box: Box, frame: Frame) -> str:
    """Return "Image of 640 × 480 pixels, top left, a third of the page": what can be said without looking at it."""
    x0, y0, x1, y1 = box
    share = (x1 - x0) * (y1 - y0) / max(frame.width * frame.height, 1.0)
    size = f" of {content['width']} × {content['height']} pixels" if "width" in content else ""
    if share > 0.8:
        return f"Image{size} filling the page"
    middle_x, middle_y = (x0 + x1) / 2 / max(frame.width, 1.0), (y0 + y1) / 2 / max(frame.height, 1.0)
    across = "left" if middle_x < 0.4 else "right" if middle_x > 0.6 else ""
    down = "top" if middle_y < 0.4 else "bottom" if middle_y > 0.6 else "middle"
    return f"Image{size}, {f'{down} {across}'.strip()}, {max(1, round(share * 100))} % of the page"
