"""How the lines of a picture flow: into headings, lists, paragraphs and tables, in reading order. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any, Final

from a2c_smcp.documents.ocr.columns import OcrRow, around, flows_of, rows_of
from a2c_smcp.documents.ocr.model import Box, OcrLine, OcrPage
from a2c_smcp.documents.ocr.tables import table_content, table_runs
from a2c_smcp.types import ElementCategory

_TALLER: Final = 1.22
_MAX_HEADING: Final = 140
_MAX_HEADING_ROWS: Final = 3
_MARGIN: Final = 0.06
_APART: Final = 0.7
_ON_END: Final = 3.0
_WIDE = re.compile("[\u2e80-\u303f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
_ITEM = re.compile(r"(?P<bullet>[•·●○▪■◦‣◆➢✓]|[*–—-](?=\s))\s*(?=\S)|\(?(?P<number>\d{1,3})[.)、](?!\d)\s*(?=\S)")
_PAGE_NUMBER = re.compile(
    r"(?:page|seite|第)?\s*[-–—]?\s*\d{1,4}\s*[-–—]?(?:\s*(?:/|of|von|页)\s*\d{0,4})?", re.IGNORECASE
)
_NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,2}){0,3})\.?\s+[^\W\d_]")
_CHAPTER = re.compile(r"第[一二三四五六七八九十\d]+[章节部分]|[一二三四五六七八九十]+、")
_SENTENCE_END: Final = (".", "!", "?", ":", "。", "！", "？", "：", ";", "；")


@dataclass(frozen=True, slots=True)
class OcrPiece:
    """An element to be."""

    category: ElementCategory
    content: Mapping[str, Any]
    box: Box | None = None
    lines: tuple[OcrLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Scale:
    """What is usual on a page: how tall body text is, how far its lines are apart, the steps of larger text."""

    body: float
    gap: float
    steps: tuple[float, ...]
    page_height: float

    def level(self, height: float) -> int:
        """Return the level of a heading this tall."""
        return next((level for level, step in enumerate(self.steps, 1) if height >= step), len(self.steps) + 1)


def pieces_of(page: OcrPage) -> list[OcrPiece]:
    """Return the pieces of a page in reading order."""
    lines = [line for line in page.lines if line.text.strip()]
    margin = [line for line in lines if _stands_on_end(line)]
    flows = [rows_of(flow) for flow in flows_of([line for line in lines if line not in margin])]
    every = [row for rows in flows for row in rows]
    beside = [OcrPiece("text", {"text": line.text}, line.box, (line,)) for line in margin]
    if not every:
        return beside
    scale = _scale_of(flows, page)
    edges = _edges(every, scale)
    pieces: list[OcrPiece] = []
    for rows in flows:
        start = 0
        for begin, end in [*table_runs(rows), (len(rows), len(rows))]:
            pieces += _prose(rows[start:begin], scale, edges)
            if begin < end:
                pieces.append(_piece("table", table_content(rows[begin:end]), rows[begin:end]))
            start = end
    return pieces + beside


def joined(texts: Sequence[str]) -> str:
    """Return lines as one: divided words are put together, Chinese and Japanese without blanks."""
    whole = ""
    for text in texts:
        if not whole:
            whole = text
        elif len(whole) > 1 and whole[-1] in "-\u00ad" and whole[-2].isalpha() and text[:1].islower():
            whole = whole[:-1] + text
        elif _WIDE.match(whole[-1]) and _WIDE.match(text):
            whole += text
        else:
            whole = f"{whole} {text}"
    return whole


def _stands_on_end(line: OcrLine) -> bool:
    """Whether a line runs up or down the page, as stamps in its margin do."""
    x0, y0, x1, y1 = line.box
    return len(line.text) > 2 and y1 - y0 > _ON_END * (x1 - x0)


def _edges(rows: Sequence[OcrRow], scale: Scale) -> list[OcrRow]:
    """Return the first and the last row of a page where they stand apart, as running headers and footers do."""
    if len(rows) < 4:
        return []
    down = sorted(rows, key=lambda row: row.box[1])
    apart = [down[0]] if down[1].box[1] - down[0].box[3] > _APART * scale.body else []
    up = sorted(rows, key=lambda row: -row.box[3])
    return [*apart, up[0]] if up[0].box[1] - up[1].box[3] > _APART * scale.body else apart


def _prose(rows: Sequence[OcrRow], scale: Scale, edges: Sequence[OcrRow]) -> Iterator[OcrPiece]:
    items: list[list[OcrRow]] = []
    for group in _paragraphs(rows, scale):
        numbered = group[0] in edges and _PAGE_NUMBER.fullmatch(group[0].text.strip())
        if _ITEM.match(group[0].text) and not numbered:
            items.append(group)
            continue
        if items:
            yield _list(items)
            items = []
        yield _paragraph(group, scale, edges)
    if items:
        yield _list(items)


def _paragraph(group: list[OcrRow], scale: Scale, edges: Sequence[OcrRow]) -> OcrPiece:
    text = joined([row.text for row in group])
    if len(group) == 1 and group[0] in edges:
        _, top, _, bottom = group[0].box
        numbered = _PAGE_NUMBER.fullmatch(text.strip())
        if bottom < scale.page_height * _MARGIN and (numbered or group[0].height < scale.body * _TALLER):
            return _piece("header", {"text": text}, group)
        if top > scale.page_height * (1 - _MARGIN) or (numbered and top > scale.page_height * 0.8):
            return _piece("footer", {"text": text}, group)
    level = _heading_level(group, text, scale)
    if level:
        return _piece("heading", {"level": level, "text": text}, group)
    return _piece("text", {"text": text}, group)


def _heading_level(group: Sequence[OcrRow], text: str, scale: Scale) -> int:
    """Return the level of the heading that a paragraph is; 0 when it is none."""
    height = median(row.height for row in group)
    letters = [character for character in text if character.isalpha()]
    if len(group) > _MAX_HEADING_ROWS or len(text) > _MAX_HEADING or len(letters) < 2:
        return 0
    sentence = text.rstrip().endswith((*_SENTENCE_END, ",", "，"))
    if height >= scale.body * _TALLER:
        return 0 if sentence and len(text.encode()) > _MAX_HEADING / 3 else scale.level(height)
    if len(group) > 1 or sentence:
        return 0
    numbered = _NUMBERED.match(text)
    if (numbered and len(text) < 80) or _CHAPTER.match(text):
        return len(scale.steps) + 1 + (numbered[1].count(".") if numbered else 0)
    capitals = len(letters) >= 4 and text.isupper() and any(character.isascii() for character in letters)
    return len(scale.steps) + 1 if capitals and len(text.split()) <= 10 else 0


def _paragraphs(rows: Sequence[OcrRow], scale: Scale) -> Iterator[list[OcrRow]]:
    if not rows:
        return
    left, _, right, _ = around([row.box for row in rows])
    group = [rows[0]]
    for above, row in pairwise(rows):
        if _breaks(above, row, scale, (left, right)):
            yield group
            group = []
        group.append(row)
    yield group


def _breaks(above: OcrRow, row: OcrRow, scale: Scale, sides: tuple[float, float]) -> bool:
    """Whether a paragraph ends between two rows."""
    left, right = sides
    gap = row.box[1] - above.box[3]
    taller = max(row.height, above.height) / max(min(row.height, above.height), 1)
    if gap > max(scale.gap, 0) + 0.45 * scale.body or taller > _TALLER + 0.1:
        return True
    if _ITEM.match(row.text):
        return True
    if (row.height > scale.body * _TALLER) != (above.height > scale.body * _TALLER):
        return True
    if _is_title_line(above, sides) != _is_title_line(row, sides):
        return True
    short = above.box[2] < right - 0.2 * (right - left)
    indented = row.box[0] - left > scale.body and above.box[0] - left < 0.5 * scale.body
    ended = above.text.rstrip().endswith(_SENTENCE_END)
    return (short and ended) or (indented and (short or ended) and not _ITEM.match(above.text))


def _is_title_line(row: OcrRow, sides: tuple[float, float]) -> bool:
    """Whether a row is a few words in capitals that leave the line open, as titles of sections are."""
    x0, _, x1, _ = row.box
    few = len(row.text.split()) <= 6 and x1 - x0 < 0.6 * (sides[1] - sides[0])
    return few and row.text.isupper() and sum(character.isalpha() for character in row.text) >= 4


def _list(items: Sequence[list[OcrRow]]) -> OcrPiece:
    rows = [row for item in items for row in item]
    height = median(row.height for row in rows)
    root: dict[str, Any] = {}
    stack: list[tuple[float, dict[str, Any]]] = []
    for item in items:
        match = _ITEM.match(item[0].text)
        number = match["number"] if match else None
        text = joined([item[0].text[match.end() if match else 0 :], *(row.text for row in item[1:])])
        indent = item[0].box[0]
        while len(stack) > 1 and indent < stack[-1][0] - 0.6 * height:
            stack.pop()
        if not stack:
            root = _new_list(number)
            stack.append((indent, root))
        elif indent > stack[-1][0] + 0.8 * height and len(stack) < 8:
            nested = _new_list(number)
            parent = stack[-1][1]["items"]
            parent[-1] = {"text": parent[-1], "children": nested} if isinstance(parent[-1], str) else parent[-1]
            parent[-1].setdefault("children", nested)
            stack.append((indent, parent[-1]["children"]))
        stack[-1][1]["items"].append(text)
    return _piece("list", root, rows)


def _new_list(number: str | None) -> dict[str, Any]:
    content: dict[str, Any] = {"ordered": number is not None, "items": []}
    return content if number in (None, "1") else content | {"start": int(number or 1)}


def _piece(category: ElementCategory, content: Mapping[str, Any], rows: Sequence[OcrRow]) -> OcrPiece:
    return OcrPiece(
        category, content, around([row.box for row in rows]), tuple(line for row in rows for line in row.lines)
    )


def _scale_of(flows: Sequence[Sequence[OcrRow]], page: OcrPage) -> Scale:
    rows = [row for flow in flows for row in flow]
    body = median(row.height for row in rows for _ in range(min(len(row.text), 200)))
    gaps = [below.box[1] - above.box[3] for flow in flows for above, below in pairwise(flow)]
    close = [gap for gap in gaps if gap < body]
    steps: list[float] = []
    for height in sorted((row.height for row in rows if row.height >= body * _TALLER), reverse=True):
        if len(steps) < 4 and (not steps or height < steps[-1] * 0.95):
            steps.append(height * 0.92)
    return Scale(body, median(close) if close else 0.0, tuple(steps), page.height)
