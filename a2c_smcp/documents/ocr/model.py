"""What an OCR engine finds on the picture of a page. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from a2c_smcp.errors import DocumentError
from a2c_smcp.types import ElementCategory


class TransientOcrError(DocumentError):
    """No text could be read for a reason that may pass, and that says nothing of the picture.

    A service that is down, busy or refuses the key, a missing library, an engine out of memory: the result is never
    remembered, and the page is read again later.
    """


Box: TypeAlias = tuple[float, float, float, float]
"""x0, y0, x1, y1 in pixels from the top left of the picture, once turned upright."""


@dataclass(frozen=True, slots=True)
class OcrLine:
    """One line of text; `confidence` is between 0 and 1."""

    text: str
    box: Box
    confidence: float


@dataclass(frozen=True, slots=True)
class OcrBlock:
    """A piece of a page that the engine itself has understood: its content has the shape of its category."""

    category: ElementCategory
    content: Mapping[str, Any]
    box: Box | None = None


@dataclass(frozen=True, slots=True)
class OcrPage:
    """The picture of a page, read.

    Engines that see lines give `lines`, and layout is worked out from where they stand; engines that understand the
    page give `blocks` in reading order.

    Attributes:
        width: Of the upright picture, in pixels.
        height: Of the upright picture, in pixels.
        rotation: By how many degrees (0, 90, 180, 270) the picture was turned clockwise to stand upright.
        failures: What went wrong with the engines that were asked before this one.
    """

    lines: tuple[OcrLine, ...]
    engine: str
    width: int
    height: int
    blocks: tuple[OcrBlock, ...] = ()
    rotation: int = 0
    failures: tuple[str, ...] = ()

    @property
    def confidence(self) -> float | None:
        """How sure the engine is, weighed by the length of lines; None where it does not tell."""
        weight = sum(len(line.text) for line in self.lines)
        if not weight:
            return None
        return round(sum(line.confidence * len(line.text) for line in self.lines) / weight, 3)
