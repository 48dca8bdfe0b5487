"""The engine that runs here: RapidOCR with the models of its wheel, offline.

The engine's own classifier of upside-down lines drops whole lines, so it is off. Instead, a page whose lines stand on
end, or make little sense, is sampled: a few lines are read from the sides in question, and the page is turned to the
one that reads best. A page that stands upright, as nearly all do, is read once and never sampled.
"""

import logging
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from a2c_smcp.documents.formats.base import require
from a2c_smcp.documents.ocr.model import OcrLine, OcrPage
from a2c_smcp.documents.ocr.pictures import is_blank, open_picture, safely

if TYPE_CHECKING:
    from PIL.Image import Image

    from a2c_smcp.documents.ocr.base import OcrSpec

MIN_CONFIDENCE: Final = 0.5
"""Lines that the recognition is less sure of are left out: they are specks and pictures."""

SURE: Final = 0.88
"""How sure the recognition of upright text is on the whole; less makes it worth to look from the other sides."""

MAX_SIDE: Final = 2_000
"""Larger pictures are made smaller for the engine: A4 at 170 dpi."""

_SAMPLE: Final = 6
_TALL: Final = 1.5


class LocalEngine:
    """RapidOCR in this process, built on first use; it keeps about 1 GB."""

    name = "local"

    def __init__(self, spec: "OcrSpec") -> None:
        self._threads = spec.threads
        self._engine: Any = None
        self._lock = Lock()

    def read(self, png: bytes) -> OcrPage:
        """Return the lines of a picture."""
        picture = open_picture(png)
        if is_blank(picture):
            return OcrPage((), self.name, *picture.size)
        with self._lock, safely():
            lines = self._look(picture)
            rotation = self._rotation(picture, lines)
            if rotation:
                picture = picture.rotate(-rotation, expand=True)
                lines = self._look(picture)
        kept = tuple(line for line in lines if line.confidence >= MIN_CONFIDENCE)
        return OcrPage(kept, self.name, *picture.size, rotation=rotation)

    def _look(self, picture: "Image") -> list[OcrLine]:
        scale = max(1.0, max(picture.size) / MAX_SIDE)
        small = picture.resize([max(1, round(side / scale)) for side in picture.size]) if scale > 1 else picture
        found = self._built()(_pixels(small), use_det=True, use_rec=True)
        if found.txts is None:
            return []
        return [
            OcrLine(text.strip(), _box(corners, scale), float(score))
            for text, corners, score in zip(found.txts, found.boxes, found.scores, strict=True)
            if text.strip()
        ]

    def _rotation(self, picture: "Image", lines: list[OcrLine]) -> int:
        """Return by how much the picture has to be turned clockwise to stand upright."""
        if not lines:
            return 0
        if _is_sideways(lines):
            sides: tuple[int, ...] = (90, 270)
        elif _confidence(lines) < SURE:
            sides = (0, 180)
        else:
            return 0
        sample = sorted((line for line in lines if len(line.text) > 1), key=lambda line: -len(line.text))[:_SAMPLE]
        crops = [picture.crop(tuple(map(round, line.box))) for line in sample]
        crops = [crop for crop in crops if crop.width > 1 and crop.height > 1]
        return max(sides, key=lambda side: sum(self._sense(crop.rotate(-side, expand=True)) for crop in crops))

    def _sense(self, line: "Image") -> float:
        """Return how sure the recognition of a single line is."""
        found = self._built()(_pixels(line), use_det=False, use_rec=True)
        return float(found.scores[0]) if found.txts and found.txts[0].strip() else 0.0

    def _built(self) -> Any:
        if self._engine is None:
            module = require("rapidocr", "ocr")
            self._engine = module.RapidOCR(
                params={
                    "Global.use_cls": False,
                    "Global.text_score": 0.0,
                    "Global.max_side_len": MAX_SIDE,
                    "Global.log_level": "critical",
                    "EngineConfig.onnxruntime.intra_op_num_threads": self._threads,
                    "EngineConfig.onnxruntime.inter_op_num_threads": 1,
                }
            )
            logging.getLogger("RapidOCR").setLevel(logging.CRITICAL)
        return self._engine


def _pixels(picture: "Image") -> Any:
    # The engine thinks in blue, green, red.
    return require("numpy", "ocr").asarray(picture)[:, :, ::-1]


def _box(corners: Any, scale: float) -> tuple[float, float, float, float]:
    xs, ys = [float(x) * scale for x, _ in corners], [float(y) * scale for _, y in corners]
    return min(xs), min(ys), max(xs), max(ys)


def _confidence(lines: list[OcrLine]) -> float:
    return sum(line.confidence * len(line.text) for line in lines) / sum(len(line.text) for line in lines)


def _is_sideways(lines: list[OcrLine]) -> bool:
    tall = wide = 0
    for line in lines:
        x0, y0, x1, y1 = line.box
        if len(line.text) > 2:
            tall += len(line.text) * (y1 - y0 > (x1 - x0) * _TALL)
            wide += len(line.text) * (x1 - x0 > (y1 - y0) * _TALL)
    return tall > wide
