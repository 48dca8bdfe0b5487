"""Which blocks are headings, and of what level.

A tagged file says so itself; an outline names its titles; else size, weight and numbering tell. Reading tags or the
outline costs more than a page, so both are asked only when something on the page looks like a heading that its own
looks do not settle.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from a2c_smcp.documents.pdf.layout import Body, text_of
from a2c_smcp.documents.pdf.outline import Bookmark, Outline, folded, unnumbered
from a2c_smcp.documents.pdf.row_cells import is_wide
from a2c_smcp.documents.pdf.words import Block, Line

MAX_HEADING: Final = 200
TITLE_SIZE: Final = 14.0
"""Points: what a title is set in that has nothing smaller beside it to be compared with."""
_MAX_LINES: Final = 4
_BIG: Final = 1.15
_SMALL: Final = 0.85
_SMALLEST: Final = 0.75
"""Bold text that is smaller than small may be a heading if the outline names it."""

Tags: TypeAlias = Callable[[], tuple[Mapping[int, int], Callable[[Block], int]]]
"""Reads the levels of headings by marked content, and how to tell that of a block."""

_NUMBERED = re.compile(
    r"(?:(?P<dotted>(?:\d{1,3}|[A-Z])(?:\.\d{1,3})*)\.?\s+(?=[^\W\d_])|(?P<chapter>(?:Chapter|Part|Appendix)\s+(?:\d+|[A-Z])\b)"
    r"|第\s*[一二三四五六七八九十百\d]+\s*(?P<wide>[章节篇部]))"
)
_DOTTED = re.compile(r"(?:\d{1,3}|[A-Z])\.\d")
_CAPTION = re.compile(r"(?:figure|fig\.|table|listing|algorithm|图|表|abbildung|tabelle)\s*\d", re.IGNORECASE)
_CODE = re.compile(r"[{};=<>\\|]|\w\(|\)\s*$|::|->|\.\.\.|\$")
_ENDS_SENTENCE = re.compile(r"[.,;。，；、]$")


@dataclass(slots=True)
class _Candidate:
    block: Block
    text: str
    ratio: float
    is_bold: bool
    is_italic: bool
    is_wordy: bool
    number: "re.Match[str] | None"

    @property
    def is_big(self) -> bool:
        return self.ratio >= _BIG

    @property
    def is_plain(self) -> bool:
        """Whether its looks alone do not set it off."""
        return not self.is_big and not self.is_bold and not self.is_italic

    @property
    def is_dotted(self) -> bool:
        """Whether it is numbered like a section of a section."""
        return _DOTTED.match(self.text) is not None


def mark_headings(
    blocks: list[Block],
    body: Body,
    page_index: int,
    outline: Outline,
    tags: Tags | None,
) -> None:
    """Turn the blocks that are headings into such; `tags` reads the structure of a tagged page."""
    possible = possible_headings(blocks, body)
    candidates = [found for block in possible if (found := _candidate(block, body))]
    if all(found.is_plain and not found.is_dotted for found in candidates):
        _mark_title(blocks, body)
        return
    is_outlined = not outline.is_empty and any(_is_doubtful(found, body) for found in candidates)
    levels, is_tagged = _tagged(candidates, tags) if tags else ({}, False)
    if is_outlined:
        for found in candidates:
            bookmark = _bookmark(found, page_index, outline)
            if bookmark:
                levels[id(found.block)] = bookmark.level
    for found in candidates:
        level = levels.get(id(found.block))
        if level is None and _stands_alone(found, body, trusted=is_tagged or is_outlined):
            level = _level(found)
        if level is not None:
            found.block.kind, found.block.level = "heading", level
    if all(found.is_plain and found.block.kind != "heading" for found in candidates):
        _mark_title(blocks, body)


def _tagged(candidates: Sequence[_Candidate], tags: Tags) -> tuple[dict[int, int], bool]:
    """Return the levels that the structure of a page gives blocks, by their ids, and whether it tells of headings."""
    by_content, content_of = tags()
    levels: dict[int, int] = {}
    for found in candidates if by_content else ():
        level = by_content.get(content_of(found.block))
        if level is not None:
            levels[id(found.block)] = level or _level(found)
    return levels, bool(by_content)


def _is_doubtful(found: _Candidate, body: Body) -> bool:
    """Whether the outline must be asked: looks and number do not make it a heading whatever that says."""
    if found.is_plain:
        return found.is_dotted
    return found.number is None or not _stands_alone(found, body, trusted=True)


def possible_headings(blocks: list[Block], body: Body) -> list[Block]:
    """Return the blocks whose text may be a heading; where nothing stands out by its looks, only numbered ones.

    What most paragraphs are is told by their ends, so that their text need not be put together.
    """
    size, largest, is_bold = body.size, body.largest, body.bold
    any_odd = any(_is_odd(block.lines[0], _BIG * size) for block in blocks)
    possible: list[Block] = []
    for block in blocks:
        lines, first = block.lines, block.lines[0]
        if not any_odd and not _DOTTED.match(first.text):
            continue
        if block.kind not in ("text", "list") or len(lines) > _MAX_LINES:
            continue
        if block.kind == "list" and not first.text[0].isalnum() and first.text[0] != "(":
            continue
        ratio = _ratio(first, size, largest)
        is_plain = ratio < _BIG and (is_bold or not first.font.bold)
        if is_plain and (len(lines) > 2 or lines[-1].text[-1] in ".,;。，；" or first.text[0].islower()):
            continue
        if ratio >= (_SMALL if is_plain else _SMALLEST) and first.is_upright:
            possible.append(block)
    return possible


def _is_odd(line: Line, big: float) -> bool:
    return line.size >= big or line.font.bold or line.font.italic


def _ratio(line: Line, size: float, largest: float) -> float:
    return line.size / (largest if line.size > size else size)


def _mark_title(blocks: Sequence[Block], body: Body) -> None:
    """Turn the large line on a page without much other text, like a slide or a cover, into a heading."""
    if max([block.lines[0].size for block in blocks], default=0.0) < TITLE_SIZE:
        return
    largest = max(blocks, key=lambda block: block.lines[0].size)
    if largest.kind != "text" or len(largest.lines) > 2:
        return
    size = largest.lines[0].size
    text = text_of(largest.lines)
    is_only = all(block is largest or block.lines[0].size < 0.9 * size for block in blocks)
    if is_only and size >= body.size and len(text) < 100 and sum(map(str.isalpha, text)) > 3 and text[-1] not in ".,;:":
        largest.kind, largest.level = "heading", 1


def _candidate(block: Block, body: Body) -> _Candidate | None:
    lines = block.lines
    first = lines[0]
    ratio = _ratio(first, body.size, body.largest)
    bold = first.font.bold and not body.bold
    is_plain = ratio < _BIG and not bold
    text = first.text if len(lines) == 1 else text_of(lines)
    if len(text) > (100 if is_plain else MAX_HEADING) or len(text) < 2:
        return None
    italic = first.font.italic and len(lines) == 1 and block.gap > 0.35 * first.size and len(text) < 70
    # A line of a table of contents: a title, room, and the number of a page.
    if text[-1].isdigit() and first.x1 - first.x0 > 0.8 * first.size * len(first.text) and len(lines) == 1:
        return None
    number = _NUMBERED.match(text)
    is_wordy = _is_wordy(text, number)
    if (is_plain and not is_wordy) or _CAPTION.match(text):
        return None
    return _Candidate(block, text, ratio, bold, italic, is_wordy, number)


def _is_wordy(text: str, number: "re.Match[str] | None") -> bool:
    """Whether enough of a text are letters; what stands behind a number like 3.5.2 may be a short word."""
    letters = sum(map(str.isalpha, text))
    if letters < 2 or letters >= 0.4 * len(text) or not number or not number["dotted"]:
        return letters >= 2 and letters >= 0.4 * len(text)
    rest = text[number.end() :]
    return letters >= 0.4 * len(rest) and (letters > 2 or is_wide(rest[0]))


def _bookmark(found: _Candidate, page_index: int, outline: Outline) -> Bookmark | None:
    for text in (found.text, unnumbered(found.text)):
        title = folded(text)
        marks = outline.titles.get(title) if title else None
        if not marks:
            continue
        if not found.is_plain and len(marks) == 1:
            return marks[0]
        here = [mark for mark in marks[:20] if outline.page_of(mark) == page_index]
        if here:
            return here[0]
        if not found.is_plain:
            return marks[0]
    return None


def _stands_alone(found: _Candidate, body: Body, *, trusted: bool) -> bool:
    """Whether looks alone make it a heading; stricter where the file names its headings otherwise."""
    text = found.text
    if (found.block.kind == "list" and found.number is None) or found.ratio < _SMALL:
        return False
    if _ENDS_SENTENCE.search(text) and not (found.number and found.is_big):
        return False
    if found.is_plain:
        return found.is_dotted and found.number is not None and not trusted and _is_set_off(found, body)
    if not found.is_wordy:  # a version, a date
        return found.is_big and found.is_bold and _is_set_off(found, body) and any(map(str.isalpha, text))
    if found.is_big:
        return not (found.ratio < 1.3 and (text.endswith(":") or text[0].islower()))
    if len(text) > 100 or len(found.block.lines) > 2 or text[0].islower():
        return False
    if found.is_bold and found.is_dotted:
        return True
    if _CODE.search(text):
        return False
    if found.number:
        return True
    if found.is_italic and not found.is_bold and (text[-1] in "?!:)" or " " not in text):
        return False
    return not trusted and (not text.endswith(":") or (len(text) < 60 and found.block.gap > 0.5 * body.size))


def _is_set_off(found: _Candidate, body: Body) -> bool:
    """Whether it is one short line with more room above it than lines of text have."""
    return len(found.block.lines) == 1 and len(found.text) < 80 and found.block.gap > 0.6 * body.size


def _level(found: _Candidate) -> int:
    number = found.number
    if number and number["dotted"]:
        return min(number["dotted"].count(".") + 1, 6)
    if number and (number["chapter"] or number["wide"]):
        return 2 if number["wide"] == "节" else 1
    if found.ratio >= 1.6:
        return 1
    return 2 if found.ratio >= 1.25 else 3
