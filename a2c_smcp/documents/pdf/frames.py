"""How pages are shown: their sizes, and the way from PDF space to points from the top left."""

import ctypes
from dataclasses import dataclass
from typing import Final

from a2c_smcp.documents.pdf.engine import Engine, is_place
from a2c_smcp.errors import DocumentError


@dataclass(frozen=True, slots=True)
class Frame:
    """How a page is shown: its size, and the way from PDF space to points from the top left."""

    width: float
    height: float
    matrix: tuple[float, float, float, float, float, float]
    is_plain: bool

    @property
    def way(self) -> tuple[float, float, float, float, float, float]:
        """The way from PDF space; a plain one is exact, without what counting in whole numbers has left."""
        return (1.0, 0.0, 0.0, -1.0, *self.matrix[4:]) if self.is_plain else self.matrix

    def box(self, left: float, bottom: float, right: float, top: float) -> tuple[float, float, float, float]:
        """Return a box of PDF space as it is shown: x0, y0, x1, y1."""
        a, b, c, d, e, f = self.matrix
        if self.is_plain:
            x0, x1, y0, y1 = left + e, right + e, f - top, f - bottom
        else:
            x0, x1 = a * left + c * bottom + e, a * right + c * top + e
            y0, y1 = b * left + d * bottom + f, b * right + d * top + f
        if x0 > x1:
            x0, x1 = x1, x0
        return (x0, y0, x1, y1) if y0 <= y1 else (x0, y1, x1, y0)

    def quarter_of(self, direction: tuple[float, float], up: tuple[float, float]) -> int | None:
        """Return how many quarters text is turned clockwise as shown; None where it is mirrored or aslant.

        Args:
            direction: The way its lines run, in PDF space.
            up: The way its letters stand.
        """
        a, b, c, d, _, _ = self.matrix
        x, y = a * direction[0] + c * direction[1], b * direction[0] + d * direction[1]
        up_x, up_y = a * up[0] + c * up[1], b * up[0] + d * up[1]
        if x * up_y - y * up_x >= 0:  # seen in a mirror, since y counts down here
            return None
        if abs(y) < _ASLANT * abs(x):
            return 0 if x > 0 else 2
        if abs(x) < _ASLANT * abs(y):
            return 1 if y > 0 else 3
        return None

    def turned(self, quarters: int) -> "Frame":
        """Return how the page is shown when it is turned anticlockwise by so many quarters."""
        frame = self
        for _ in range(quarters % 4):
            (a, b, c, d, e, f), width = frame.matrix, frame.width
            matrix = (b, -a, d, -c, f, width - e)
            frame = Frame(frame.height, width, matrix, _is_plain(matrix))
        return frame

    def turned_back(self, box: tuple[float, float, float, float], quarters: int) -> tuple[float, float, float, float]:
        """Return where a box of `turned(quarters)` is on this page."""
        x0, y0, x1, y1 = box
        width, height = (self.height, self.width) if quarters % 2 else (self.width, self.height)
        for _ in range(quarters % 4):
            x0, y0, x1, y1 = height - y1, x0, height - y0, x1
            width, height = height, width
        return x0, y0, x1, y1


_ASLANT: Final = 0.2
"""Lines that rise by more than 1 in 5 belong to no side of the page: a watermark, a stamp."""


def _is_plain(matrix: tuple[float, ...]) -> bool:
    return all(abs(got - plain) < 2e-3 for got, plain in zip(matrix, (1, 0, 0, -1), strict=False))


class Frames:
    """How the pages of a document are shown; most pages of a document share one frame."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._x, self._y = ctypes.c_int(), ctypes.c_int()
        self._box = ctypes.create_string_buffer(16)
        self._known: dict[tuple[bytes, int], Frame] = {}

    def frame(self, page: int) -> Frame:
        """Return how a page is shown, rotation and crop box included."""
        engine, box = self._engine, self._box
        engine.FPDF_GetPageBoundingBox(page, ctypes.addressof(box))
        key = box.raw, engine.FPDFPage_GetRotation(page)
        frame = self._known.get(key)
        if frame is None:
            frame = self._known[key] = self._frame(page)
            if len(self._known) > 1_000:
                self._known.clear()
        return frame

    def _frame(self, page: int) -> Frame:
        width, height = self._engine.FPDF_GetPageWidthF(page), self._engine.FPDF_GetPageHeightF(page)
        if not is_place(width, height):
            raise DocumentError("the page has no size")
        # The device is 16 times finer than a point, because it is counted in whole numbers; sizes are bounded for them.
        scale = min(16.0, 1e9 / max(width, height, 1.0))
        wide, high = max(1, round(width * scale)), max(1, round(height * scale))
        points = [self._shown(page, wide, high, *point) for point in ((0, 0), (1000, 0), (0, 1000))]
        (e, f), (ax, ay), (cx, cy) = [(x / scale, y / scale) for x, y in points]
        matrix = ((ax - e) / 1000, (ay - f) / 1000, (cx - e) / 1000, (cy - f) / 1000, e, f)
        return Frame(wide / scale, high / scale, matrix, _is_plain(matrix))

    def _shown(self, page: int, wide: int, high: int, x: float, y: float) -> tuple[int, int]:
        to_x, to_y = ctypes.addressof(self._x), ctypes.addressof(self._y)
        self._engine.FPDF_PageToDevice(page, 0, 0, wide, high, 0, x, y, to_x, to_y)
        return self._x.value, self._y.value
