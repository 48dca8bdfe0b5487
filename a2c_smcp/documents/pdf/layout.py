"""From lines to blocks: reading order and paragraphs. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Final

from a2c_smcp.documents.pdf.words import Block, BlockKind, Box, Line

_WIDE = "\u2e80-\u303f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef"
_TERMINAL: Final = frozenset(".!?:;。！？：；…")
_CLOSING: Final = frozenset("\"'”’)]）」』")
_LEADER = re.compile(r"(?:\. ?){4,}\s*\S{0,8}$|…{2,}\s*\S{0,8}$|(?:\s\.){3,}\s*\S{0,8}$")
_BULLET = re.compile(
    r"([\u2022\u2023\u25cf\u25cb\u25aa\u25ab\u25a0\u25a1\u25e6\u25c6\u25c7\u25b6\u25ba\u25b8\u2043\u2219\u2217\u00b7"
    r"\u27a2\u2192\u2713\u2714\u2610\u2611\u2612\u2751\u2756\uf0a7\uf0b7\uf0d8\uf0fc\uf076\uf0a8\uf06e\uf0e0]|[-–—*+o§](?=\s))\s*"
)
_NUMBER = re.compile(
    r"(?:\(?(?P<number>\d{1,3})[.)](?!\d)|\(?(?P<letter>[a-zA-Z])[.)](?=\s)|\(?(?P<roman>[ivxIVX]{1,5})[.)](?=\s)"
    r"|(?P<wide>[一二三四五六七八九十]{1,3})、|[（(](?P<boxed>[一二三四五六七八九十\d]{1,3})[）)])\s*(?=\S)"
)


@dataclass(frozen=True, slots=True)
class Body:
    """What most of the text of a page looks like; `largest` is the largest size that is still running text."""

    size: float
    largest: float
    leading: float
    bold: bool
    mono: bool
    width: float
    height: float


_CODE: Final = 1.15
"""Monospaced text of less than so many sizes of the running text is a listing."""
_BETWEEN_WIDE = re.compile(f"(?<=[{_WIDE}])\n(?=[{_WIDE}])")


def text_of(lines: list[Line]) -> str:
    """Return lines as one paragraph: divided words are whole again, and Chinese gets no blanks at line ends."""
    if len(lines) == 1:
        return lines[0].text
    text = "\n".join([line.text for line in lines])
    if True in [line.joined for line in lines[:-1]]:
        text = _with_whole_words(lines)
    return (text if text.isascii() else _BETWEEN_WIDE.sub("", text)).replace("\n", " ")


def _with_whole_words(lines: Sequence[Line]) -> str:
    parts: list[str] = []
    for line in lines:
        # A name or a number after the hyphen was no divided word.
        if parts and parts[-1] == "" and not line.text[0].islower():
            parts[-1] = "-"
        parts += (line.text, "" if line.joined else "\n")
    return "".join(parts[:-1])


def box_of(lines: Sequence[Line]) -> Box:
    """Return the place of all lines."""
    first = lines[0]
    x0, y0, x1, y1 = first.x0, first.y0, first.x1, first.y1
    # One pass: quicker than min and max of four lists, for as few lines as a paragraph has.
    for line in lines:
        left, top, right, bottom = line.x0, line.y0, line.x1, line.y1
        x0 = left if left < x0 else x0
        y0 = top if top < y0 else y0
        x1 = right if right > x1 else x1
        y1 = bottom if bottom > y1 else y1
    return x0, y0, x1, y1


def body_of(lines: list[Line], width: float, height: float) -> Body:
    """Return the looks of the text that there is most of."""
    sizes: dict[float, int] = {}
    bold = mono = total = 0
    for line in lines:
        length, font = line.length, line.font
        sizes[line.size] = sizes.get(line.size, 0) + length
        total += length
        bold += length if font.bold else 0
        mono += length if font.mono else 0
    size = max(sizes, key=sizes.__getitem__, default=10.0) or 1.0
    downs = [second.y0 - first.y0 for first, second in pairwise(lines) if second.size == size]
    steps = [down for down in downs if 0.8 * size < down < 2.5 * size]
    leading = median(steps) if len(steps) >= 3 else 1.2 * size
    # A table in small print may be most of a page, and its text is not large for that.
    larger = [other for other, share in sizes.items() if other > size and share > 0.2 * total]
    largest = max([size, *[other for other in larger if sum(line.size == other for line in lines) > 2]])
    return Body(size, largest, leading, bold > 0.6 * total, mono > 0.9 * total, width, height)


# Order


def in_reading_order(lines: list[Line], body: Body) -> list[Line]:
    """Return lines as they are read: the file's own order, unless that jumps about or goes across columns."""
    jumps = across = 0
    size = body.size
    up, level = -0.5 * size, 0.4 * size
    for previous, line in pairwise(lines):
        down = line.y0 - previous.y0
        if down >= level:
            continue
        if down < up and min(line.x1, previous.x1) - max(line.x0, previous.x0) > 0:
            jumps += 1
        elif down > -level and line.x0 - previous.x1 > size:
            across += 1
    if jumps <= 1 and across <= max(2, len(lines) // 8):
        return lines
    gutters = _gutters(lines, body)
    return _by_columns(lines, gutters)


def _gutters(lines: Sequence[Line], body: Body) -> list[float]:
    """Return where columns of text are divided, from the left."""
    left, right = min(line.x0 for line in lines), max(line.x1 for line in lines)
    narrow = [line for line in lines if line.x1 - line.x0 < 0.6 * (right - left)]
    if len(narrow) < 6 or len(narrow) < 0.5 * len(lines):
        return []
    edges = sorted((line.x0, line.x1) for line in narrow)
    gutters: list[float] = []
    reach = edges[0][1]
    for x0, x1 in edges:
        if x0 - reach > 0.8 * body.size:
            at = (reach + x0) / 2
            if min(sum(line.x1 <= at for line in narrow), sum(line.x0 >= at for line in narrow)) >= 3:
                gutters.append(at)
        reach = max(reach, x1)
    return gutters if len(gutters) <= 3 else []


def _by_columns(lines: list[Line], gutters: Sequence[float]) -> list[Line]:
    """Return lines from top to bottom, column by column between those that go across all."""
    ordered: list[Line] = []
    columns: list[list[Line]] = [[] for _ in range(len(gutters) + 1)]
    for line in _by_rows(lines):
        number = sum(line.x0 >= at for at in gutters)
        if number != sum(line.x1 > at for at in gutters):
            for column in columns:
                ordered += column
                column.clear()
            ordered.append(line)
        else:
            columns[number].append(line)
    for column in columns:
        ordered += column
    return ordered


def _by_rows(lines: list[Line]) -> list[Line]:
    ordered: list[Line] = []
    for row in rows_of(lines):
        ordered += row
    return ordered


def rows_of(lines: list[Line]) -> list[list[Line]]:
    """Return lines in rows from top to bottom, each from left to right."""
    rows: list[list[Line]] = []
    low = 0.0
    for line in sorted(lines, key=lambda line: line.y0 + line.y1):
        if rows and (line.y0 + line.y1) / 2 < low:
            rows[-1].append(line)
        else:
            rows.append([line])
            low = line.y0 + 0.75 * (line.y1 - line.y0)
    for row in rows:
        if len(row) > 1:
            row.sort(key=lambda line: line.x0)
    return rows


# Paragraphs


def blocks_of(lines: list[Line], body: Body) -> list[Block]:
    """Return paragraphs, list items, listings and lines of a table of contents."""
    code = 0.0 if body.mono else _CODE * body.size
    return _rejoined(_blocks_of(lines, body, code))


def _blocks_of(lines: list[Line], body: Body, code: float) -> list[Block]:
    blocks: list[Block] = []
    block: Block | None = None
    for line in lines:
        kind, label = _kind_of(line, code)
        if block is None:
            block = Block([line], kind, 0, label, body.leading)
        elif (kind == block.kind == "text" and _goes_on(block.lines, line, body)) or not _breaks(
            block, line, kind, label, body
        ):
            block.lines.append(line)
            continue
        else:
            above = block.lines[-1]
            block = Block([line], kind, 0, label, line.y0 - above.y1 if line.y0 > above.y0 else body.leading)
        blocks.append(block)
    return blocks


def _goes_on(lines: Sequence[Line], line: Line, body: Body) -> bool:
    """Whether a line so plainly continues a paragraph that nothing else needs to be looked at: most lines do."""
    previous = lines[-1]
    size = line.size
    if previous.font is not line.font or previous.size != size:
        return False
    down = line.y0 - previous.y0
    if not 0.8 * size < down < body.leading + 0.3 * size:
        return False
    left = lines[1].x0 if len(lines) > 1 else previous.x0
    return -0.9 * size < line.x0 - left < 0.9 * size and not _ends(previous.text)


def _kind_of(line: Line, code: float) -> tuple[BlockKind, str]:
    """Return what a line looks like, and the label of an item; monospaced text smaller than `code` is a listing."""
    text = line.text
    if line.font.mono and line.size < code:
        return "code", ""
    first = text[0]
    if not first.isalpha() or (len(text) > 1 and not text[1].isalpha()) or first in "ivxIVX":
        bullet = _BULLET.match(text)
        if bullet and (len(text) > bullet.end() or bullet[1] not in "-–—*+o§"):
            return "list", bullet[0]
        number = _NUMBER.match(text)
        if number and number.end() < len(text):
            return "list", number[0]
    # A look at the dots saves most lines the search.
    if text[-1] in "0123456789ivxlc." and (text.count(".") > 2 or "…" in text) and _LEADER.search(text):
        return "contents", ""
    return "text", ""


def _breaks(block: Block, line: Line, kind: BlockKind, label: str, body: Body) -> bool:
    previous = block.lines[-1]
    size = previous.size
    high, own = previous.y1 - previous.y0, line.y1 - line.y0
    # PDFium may take two rows for one line: what counts is the way from the lower edge of the last row.
    down = line.y0 - previous.y1 + (high if high < own else own)
    if -0.5 * size <= down <= 0.5 * size and line.x0 >= previous.x1 - 0.3 * size:  # further on in the same row
        return line.x0 - previous.x1 > 3 * size
    if kind == "contents" or block.kind == "contents":
        return True
    if kind == "code" or block.kind == "code":
        return kind != block.kind or down < -size or down > 2.2 * body.leading
    if down < -0.5 * size or down > body.leading * max(1.0, size / body.size) + 0.45 * size:
        return True
    if abs(line.size - size) > 0.1 * max(size, line.size):
        return True
    if line.font.bold != previous.font.bold and size < 1.15 * body.size:
        return True
    if line.font.italic != previous.font.italic and len(block.lines) == 1 and _is_short(previous, line):
        return True
    if kind == "list" and _begins_item(block, line, label):
        return True
    return _begins_paragraph(block, line, size)


def _ends(text: str) -> bool:
    """Whether a sentence ends here."""
    last = text[-1]
    return last in _TERMINAL or (last in _CLOSING and len(text) > 1 and text[-2] in _TERMINAL)


def _is_short(line: Line, other: Line) -> bool:
    return line.x1 - line.x0 < 0.75 * (other.x1 - other.x0)


def _begins_item(block: Block, line: Line, label: str) -> bool:
    if not label[0].isalnum() and label[0] not in "(（-–—*+·→":
        return True
    if block.kind == "list":
        # The text of an item may begin a line with "2." only right of where its items begin.
        return line.x0 < _text_left(block) - 1 or _ends(block.lines[-1].text)
    return _ends(block.lines[-1].text) or abs(line.x0 - block.lines[0].x0) > 2


def _text_left(block: Block) -> float:
    if len(block.lines) > 1:
        return block.lines[1].x0
    first = block.lines[0]
    return first.x0 + (first.x1 - first.x0) * len(block.label) / max(len(first.text), 1)


def _begins_paragraph(block: Block, line: Line, size: float) -> bool:
    lines = block.lines
    previous = lines[-1]
    if block.kind == "list":
        # What follows an item is part of it when it hangs below its text.
        return line.x0 < lines[0].x0 - 0.5 * size or (len(lines) > 1 and line.x0 < lines[1].x0 - 0.9 * size)
    left = lines[1].x0 if len(lines) > 1 else lines[0].x0
    ended = _ends(previous.text)
    if abs((line.x0 + line.x1) - (previous.x0 + previous.x1)) < size and abs(line.x0 - previous.x0) > 0.5 * size:
        return False  # centred
    if line.x0 - left > 0.9 * size:
        return len(lines) > 1 or ended
    if left - line.x0 > 0.9 * size:
        return len(lines) > 1 and ended
    return ended and previous.x1 < max([other.x1 for other in lines] + [line.x1]) - 6 * size


def _rejoined(blocks: list[Block]) -> list[Block]:
    """Return blocks with paragraphs that a column's end has cut made whole."""
    whole: list[Block] = []
    end: Line | None = None
    for block in blocks:
        first = block.lines[0]
        if (
            end is not None
            and first.y0 < end.y0
            and block.kind == "text"
            and whole[-1].kind in ("text", "list")
            and first.size == end.size
            and (end.joined or first.text[0].islower())
            and not _ends(end.text)
        ):
            whole[-1].lines += block.lines
        else:
            whole.append(block)
        end = block.lines[-1]
    return whole
