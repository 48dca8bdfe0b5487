"""The engine that runs here: RapidOCR with the models of its wheel, offline.

The engine's own classifier of upside-down lines drops whole lines, so it is off. Instead, a page whose lines stand on
end, or make little sense, is sampled: a few lines are read from the sides in question, and the page is turned to the
one that reads best. A page that stands upright, as nearly all do, is read once and never sampled.
"""

import logging
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from a2c_smcp.documents.formats.base import require
from a2c_smcp.documents.ocr.gutters import Ink
from a2c_smcp.documents.ocr.model import Box, OcrLine, OcrPage, TransientOcrError
from a2c_smcp.documents.ocr.pictures import is_blank, open_picture

if TYPE_CHECKING:
    from PIL.Image import Image

    from a2c_smcp.documents.ocr.base import OcrSpec

MIN_CONFIDENCE: Final = 0.5
"""Lines that the recognition is less sure of are left out: they are specks and pictures."""

SURE: Final = 0.88
"""How sure the recognition of upright text is on the whole; less makes it worth to look from the other sides."""

MAX_SIDE: Final = 2_000
"""Larger pictures are made smaller for the engine: A4 at 170 dpi."""

MIN_SIDE: Final = 736
"""Smaller ones are made larger, for small letters are not found."""

MAX_GROWTH: Final = 2.0

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
        try:
            with self._lock:
                lines = self._look(picture)
                rotation = self._rotation(picture, lines)
                if rotation:
                    picture = picture.rotate(-rotation, expand=True)
                    lines = self._look(picture)
        except ModuleNotFoundError:
            raise
        except Exception as error:  # the engine's libraries have no error class in common
            raise TransientOcrError(f"the engine failed ({type(error).__name__})") from error
        kept = tuple(line for line in lines if line.confidence >= MIN_CONFIDENCE)
        return OcrPage(kept, self.name, *picture.size, rotation=rotation)

    def _look(self, picture: "Image") -> list[OcrLine]:
        scale = _scale(picture.size)
        small = picture.resize([max(1, round(side / scale)) for side in picture.size]) if scale != 1 else picture
        found = self._built()(_pixels(small), use_det=True, use_rec=True)
        if found.txts is None:
            return []
        ink = Ink(small)
        lines: list[OcrLine] = []
        for text, corners, score in zip(found.txts, found.boxes, found.scores, strict=True):
            box = _box(corners)
            split = ink.split_of(box)
            parts = [(text, box, float(score))] if split is None else self._divided(small, box, split)
            lines += [OcrLine(part, _scaled(place, scale), sure) for part, place, sure in parts if part]
        return lines

    def _divided(self, picture: "Image", box: Box, split: float) -> list[tuple[str, Box, float]]:
        x0, y0, x1, y1 = box
        halves: tuple[Box, Box] = ((x0, y0, split, y1), (split, y0, x1, y1))
        found = [(half, *self._recognized(picture.crop(_whole(half)))) for half in halves]
        return [(text, half, sure) for half, text, sure in found]

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
        crops = [picture.crop(_whole(line.box)) for line in sample]
        return max(sides, key=lambda side: sum(self._recognized(crop.rotate(-side, expand=True))[1] for crop in crops))

    def _recognized(self, line: "Image") -> tuple[str, float]:
        """Return the text of a picture of a single line, and how sure it is."""
        found = self._built()(_pixels(line), use_det=False, use_rec=True)
        return (found.txts[0].strip(), float(found.scores[0])) if found.txts else ("", 0.0)

    def _built(self) -> Any:
        if self._engine is None:
            module = require("rapidocr", "ocr")
            self._engine = module.RapidOCR(
                params={
                    "Global.use_cls": False,
                    "Global.text_score": 0.0,
                    "Global.max_side_len": MAX_SIDE,
                    # Pictures come in the right size; the engine's own way makes a strip of text enormous.
                    "Det.limit_type": "max",
                    "Det.limit_side_len": MAX_SIDE,
                    "Global.log_level": "critical",
                    "EngineConfig.onnxruntime.intra_op_num_threads": self._threads,
                    "EngineConfig.onnxruntime.inter_op_num_threads": 1,
                }
            )
            logging.getLogger("RapidOCR").setLevel(logging.CRITICAL)
        return self._engine


def _scale(size: tuple[int, int]) -> float:
    """Return by how much a picture is made smaller for the engine; below 1 where it is made larger."""
    largest = max(size) / MAX_SIDE
    return max(largest, min(min(size) / MIN_SIDE, 1.0), 1 / MAX_GROWTH)


def _pixels(picture: "Image") -> Any:
    # The engine thinks in blue, green, red.
    return require("numpy", "ocr").asarray(picture)[:, :, ::-1]


def _box(corners: Any) -> Box:
    xs, ys = [float(x) for x, _ in corners], [float(y) for _, y in corners]
    return min(xs), min(ys), max(xs), max(ys)


def _scaled(box: Box, scale: float) -> Box:
    x0, y0, x1, y1 = box
    return x0 * scale, y0 * scale, x1 * scale, y1 * scale


def _whole(box: Box) -> tuple[int, int, int, int]:
    x0, y0, x1, y1 = map(round, box)
    return x0, y0, max(x1, x0 + 2), max(y1, y0 + 2)


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
