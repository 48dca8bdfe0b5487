"""The records of a page: its fonts, its lines and words with their places, words in rows, and what lines become."""

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from a2c_smcp.types import ElementCategory

BlockKind: TypeAlias = Literal["text", "heading", "list", "code", "contents"]

Box: TypeAlias = tuple[float, float, float, float]
"""A place in points from the top left of the page as shown: x0, y0, x1, y1."""


@dataclass(frozen=True, slots=True)
class Font:
    """What a font's name and flags say of it."""

    name: str = ""
    bold: bool = False
    italic: bool = False
    mono: bool = False


@dataclass(slots=True)
class Line:
    """A line of text: its place in points from the top left of the page as shown, and the font of its middle.

    Attributes:
        size: The font's size in points as shown.
        position, length: Where it stands in the text of the page.
        joined: Whether the word at its end goes on in the next line.
    """

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    size: float
    font: Font
    position: int
    length: int
    joined: bool = False

    @property
    def middle(self) -> float:
        """Half way down."""
        return (self.y0 + self.y1) / 2

    @property
    def is_upright(self) -> bool:
        """Whether it runs from left to right."""
        high, size = self.y1 - self.y0, self.size
        return high <= (size if size > 1 else 1) * 2.2 or self.x1 - self.x0 > high


@dataclass(slots=True)
class Word:
    """A word, or a run of text without blanks, its place, and the line that it stands in."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    line: Line


@dataclass(slots=True)
class Row:
    """Words side by side, from left to right."""

    words: list[Word]
    y0: float
    y1: float
    size: float

    @property
    def middle(self) -> float:
        """Half way down."""
        return (self.y0 + self.y1) / 2


@dataclass(slots=True)
class Segment:
    """Words of one row without a wide gap between them."""

    words: list[Word]
    x0: float
    x1: float

    @property
    def text(self) -> str:
        """Its words."""
        return " ".join([word.text for word in self.words])


@dataclass(slots=True)
class Block:
    """Lines that belong together; `gap` is the room above the first of them."""

    lines: list[Line]
    kind: BlockKind = "text"
    level: int = 0
    label: str = ""
    gap: float = 0.0


@dataclass(slots=True)
class Piece:
    """What becomes an element, and its place."""

    category: ElementCategory
    content: dict[str, Any]
    box: Box
