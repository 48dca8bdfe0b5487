"""The pages of the documentation and the blocks in them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))]
MARK = re.compile(r"^<!-- runs in: (\S+) -->$", re.MULTILINE)
_BLOCK = re.compile(r"^(?P<fence>`{3,})(?P<language>\w*)(?P<rest>[^\n`]*)\n(?P<text>.*?)^(?P=fence)$", re.M | re.S)


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code, with its place for whoever has to mend it."""

    page: Path
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        return f"{name_of(self.page)}:{self.line}"


def name_of(page: Path) -> str:
    """Return how a page is called in a test's name."""
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path, *languages: str) -> list[Block]:
    """Return the blocks of a page in these languages."""
    return [block for block in _blocks(page) if block.language in languages]


def _blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for found in _BLOCK.finditer(text):
        yield Block(page, text.count("\n", 0, found.start()) + 2, found["language"], found["text"])


def prose(page: Path) -> str:
    """Return a page without its blocks."""
    return _BLOCK.sub("", page.read_text(encoding="utf-8"))


def original_of(page: Path) -> Path | None:
    """Return the English page that a Chinese one translates."""
    if page.name == "README.zh-CN.md":
        return ROOT / "README.md"
    if page.is_relative_to(DOCS / "zh"):
        return DOCS / page.relative_to(DOCS / "zh")
    return None


def marks(page: Path) -> list[Path]:
    """Return the tests that run the blocks of a page."""
    return [ROOT / found for found in MARK.findall(page.read_text(encoding="utf-8"))]
