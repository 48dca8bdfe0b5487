"""Plain text: pages end at form feeds or after some paragraphs; paragraphs are what blank lines divide."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from a2c_smcp.documents.formats.base import Description, OpenDocument, PagedDocument, suffix_of
from a2c_smcp.documents.formats.decoding import read_text
from a2c_smcp.documents.formats.elements import ElementMaker, clip, page_title, paged
from a2c_smcp.documents.model import Element

MAX_BYTES: Final = 32 << 20
PARAGRAPHS_A_PAGE: Final = 40
LINES_A_PARAGRAPH: Final = 60
CHARACTERS_A_LINE: Final = 4_000

_NAMES: Final = frozenset({"readme", "license", "copying", "notice", "authors", "changelog", "changes", "news", "todo"})
_BLANK_LINES = re.compile(r"\n[^\S\n]*\n\s*")
_RULE = re.compile(r"[=\-~*_]{3,}")
_HEADING_END = re.compile(r"[^.。!！?？,，;；:：]$")
_MAX_HEADING: Final = 80


class TextFormat:
    """Files of plain text."""

    def file_type(self, name: str) -> str | None:
        """Accept `.txt`, `.text` and `.log`, and names like README that say it without a suffix."""
        return "txt" if suffix_of(name) in ("txt", "text", "log") or name.lower() in _NAMES else None

    def open(self, path: Path) -> OpenDocument:
        """Read the whole file."""
        maker = ElementMaker()
        groups: list[tuple[str, list[Element]]] = []
        for sheet in read_text(path, MAX_BYTES).split("\f"):
            elements = list(_elements(sheet, maker))
            if elements:
                groups.append((page_title(elements), elements))
        pages = paged(groups, PARAGRAPHS_A_PAGE)
        every = [element for page in pages for element in page.elements]
        return PagedDocument(_describe(every, page_count=len(pages)), pages)


FORMAT: Final = TextFormat()


def _elements(sheet: str, maker: ElementMaker) -> Iterator[Element]:
    paragraphs = [paragraph.strip("\n") for paragraph in _BLANK_LINES.split(sheet) if paragraph.strip()]
    for number, paragraph in enumerate(paragraphs):
        heading = _heading(paragraph, first=number == 0 and len(paragraphs) > 1)
        if heading:
            yield maker.make("heading", {"level": 1 if number == 0 else 2, "text": heading})
            paragraph = paragraph.partition("\n")[2].lstrip("=-~*_").strip("\n")  # noqa: PLW2901
        for piece in _pieces(paragraph):
            yield maker.make("text", {"text": piece})


def _heading(paragraph: str, *, first: bool) -> str:
    """Return the heading a paragraph begins with: a line with a rule under it, or the one line that opens a page."""
    line, _, rest = paragraph.partition("\n")
    line = line.strip()
    if not line or len(line) > _MAX_HEADING:
        return ""
    underlined = _RULE.fullmatch(rest.partition("\n")[0].strip())
    return line if underlined or (first and not rest and _HEADING_END.search(line)) else ""


def _pieces(paragraph: str) -> Iterator[str]:
    """Yield a paragraph in parts that can be read one by one: logs and listings may have no blank line at all."""
    lines = [
        line[start : start + CHARACTERS_A_LINE]
        for line in paragraph.split("\n")
        for start in range(0, max(len(line), 1), CHARACTERS_A_LINE)
    ]
    for start in range(0, len(lines), LINES_A_PARAGRAPH):
        piece = "\n".join(lines[start : start + LINES_A_PARAGRAPH])
        if piece.strip():
            yield piece


def _describe(elements: list[Element], *, page_count: int) -> Description:
    headings = [element for element in elements if element.category == "heading"]
    prose = next((element for element in elements if element.category == "text"), None)
    return Description(
        title=headings[0].summary if headings and headings[0] is elements[0] else "",
        page_count=page_count,
        keywords=tuple(heading.summary for heading in headings[1:9]),
        summary=clip(prose.content["text"], 200) if prose else "Empty file",
    )
