"""Where a detected line runs across the blank strip between two columns, which detectors do not always see."""

from typing import Any, Final

from a2c_smcp.documents.formats.base import require
from a2c_smcp.documents.ocr.model import Box

_LINES_HIGH: Final = 8
"""Over so many lines the blanks between words never stand one below the other."""

_MIN_STRIP: Final = 0.4
_MAX_INK: Final = 0.02
_MIN_TEXT: Final = 0.4
_MIN_LINE: Final = 10


class Ink:
    """The dark pixels of a picture."""

    def __init__(self, picture: Any) -> None:
        numpy = require("numpy", "ocr")
        greys = numpy.asarray(picture.convert("L"))
        self._dark = greys < float(numpy.median(greys)) * 0.7
        self._numpy = numpy

    def split_of(self, box: Box) -> float | None:
        """Return the x at which a line goes over from one column to the next, None where it does not."""
        x0, y0, x1, y1 = map(round, box)
        height = y1 - y0
        if height < 4 or x1 - x0 < _MIN_LINE * height:
            return None
        reach = _LINES_HIGH * height
        for top in (y0 - reach // 2, y0, y1 - reach):
            window = self._dark[max(top, 0) : max(top, 0) + reach, max(x0, 0) : x1]
            strip = self._strip(window, height) if window.shape[0] >= reach * 0.9 else None
            if strip is not None:
                return max(x0, 0) + strip
        return None

    def _strip(self, window: Any, height: int) -> float | None:
        blank = window.mean(axis=0) <= _MAX_INK
        start = None
        edge = 3 * height
        for x in range(edge, window.shape[1] - edge):
            if blank[x]:
                start = x if start is None else start
            elif start is not None:
                if x - start >= _MIN_STRIP * height and self._is_between_text(window, start, x):
                    return (start + x) / 2
                start = None
        return None

    def _is_between_text(self, window: Any, start: int, end: int) -> bool:
        left, right = window[:, :start].any(axis=1), window[:, end:].any(axis=1)
        return bool(self._numpy.minimum(left, right).mean() >= _MIN_TEXT)
