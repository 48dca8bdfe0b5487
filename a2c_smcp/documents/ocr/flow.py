"""How the lines of a picture flow: into columns, tables, headings, lists and paragraphs. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from a2c_smcp.documents.ocr.model import Box, OcrLine, OcrPage
from a2c_smcp.types import ElementCategory


@dataclass(frozen=True, slots=True)
class Piece:
    """An element to be."""

    category: ElementCategory
    content: Mapping[str, Any]
    box: Box | None = None
    lines: tuple[OcrLine, ...] = ()


def pieces_of(page: OcrPage) -> list[Piece]:
    """Return the pieces of a page in reading order."""
    lines = sorted(page.lines, key=lambda line: (line.box[1], line.box[0]))
    return [Piece("text", {"text": line.text}, line.box, (line,)) for line in lines if line.text.strip()]
