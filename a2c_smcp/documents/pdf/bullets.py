"""Bullets that are drawn, not written: browsers print those of lists as small discs, circles and squares."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from a2c_smcp.documents.pdf.annotations import Box
from a2c_smcp.documents.pdf.engine import Engine
from a2c_smcp.documents.pdf.frames import Frame
from a2c_smcp.documents.pdf.graphics import Bounds, Drawn
from a2c_smcp.documents.pdf.lines import Line

MAX_PATHS: Final = 400
"""A page with more lines and boxes is not searched for bullets."""

_BULLET: Final = "\u2022 "
_SMALL: Final = (0.2, 0.65)
"""How large a bullet is, in sizes of the text beside it."""
_REACH: Final = 2.2


def with_bullets(engine: Engine, frame: Frame, lines: list[Line], paths: list[Drawn]) -> list[Line]:
    """Return lines with a bullet before those that a small shape stands right before."""
    dots = _dots(engine, frame, paths) if 0 < len(paths) < MAX_PATHS else []
    if not dots:
        return lines
    return [_marked(line, dots) for line in lines]


def _dots(engine: Engine, frame: Frame, paths: list[Drawn]) -> list[Box]:
    """Return the boxes of shapes that are small, and about as high as they are wide."""
    bounds = Bounds(engine, frame)
    boxes = [box for drawn in paths if (box := bounds.of(drawn)) is not None]
    return [box for box in boxes if _is_dot(box[2] - box[0], box[3] - box[1])]


def _is_dot(width: float, height: float) -> bool:
    return 1.5 < width < 9 and 0.8 * width < height < 1.25 * width


def _marked(line: Line, dots: Sequence[Box]) -> Line:
    least, most = _SMALL[0] * line.size, _SMALL[1] * line.size
    for x0, y0, x1, y1 in dots:
        is_before = 0.1 * line.size < line.x0 - x1 < _REACH * line.size
        if is_before and least < x1 - x0 < most and line.y0 < (y0 + y1) / 2 < line.y1:
            return replace(line, text=_BULLET + line.text, x0=x0)
    return line
