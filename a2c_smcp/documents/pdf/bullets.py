"""Bullets that are drawn, not written: browsers print those of lists as small discs, circles and squares."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from a2c_smcp.documents.pdf.graphics import Paths
from a2c_smcp.documents.pdf.words import Box, Line

MAX_PATHS: Final = 400
"""A page with more lines and boxes is not searched for bullets."""

_BULLET: Final = "\u2022 "
_SMALL: Final = (0.2, 0.65)
"""How large a bullet is, in sizes of the text beside it."""
_REACH: Final = 2.2


def with_bullets(lines: list[Line], paths: Paths) -> list[Line]:
    """Return lines with a bullet before those that a small shape stands right before."""
    if not 0 < len(paths) < MAX_PATHS:
        return lines
    dots = [box for box in paths.boxes() if box is not None and _is_dot(box[2] - box[0], box[3] - box[1])]
    return [_marked(line, dots) for line in lines] if dots else lines


def _is_dot(width: float, height: float) -> bool:
    return 1.5 < width < 9 and 0.8 * width < height < 1.25 * width


def _marked(line: Line, dots: Sequence[Box]) -> Line:
    least, most = _SMALL[0] * line.size, _SMALL[1] * line.size
    for x0, y0, x1, y1 in dots:
        is_before = 0.1 * line.size < line.x0 - x1 < _REACH * line.size
        if is_before and least < x1 - x0 < most and line.y0 < (y0 + y1) / 2 < line.y1:
            return replace(line, text=_BULLET + line.text, x0=x0)
    return line
