"""What stands at the edges of a page: running headers and footers, and footnotes. Pure."""

import re
from collections.abc import Sequence
from operator import attrgetter
from typing import Final

from a2c_smcp.documents.pdf.layout import Body, box_of, rows_of
from a2c_smcp.documents.pdf.native import native
from a2c_smcp.documents.pdf.words import Line

_LONE_NUMBER = re.compile(r"(?:[-–—\[(]?\s*)?(?:\d{1,4}|[ivxlc]{1,6})(?:\s*[-–—\])])?")
_COUNTED = re.compile(
    r"\d+\s*(?:/|of|von|sur|de)\s*\d+|\bpage\s+\d+|第\s*\d+\s*页|[A-Z]-\d{1,3}$",
    re.IGNORECASE,
)
_LONGEST_NUMBER: Final = 20
_OUTER: Final = 9
_FAR: Final = 1e4
"""Where the text begins and ends when all of it is at the edges."""
_height = attrgetter("y0")


def split_edges(lines: list[Line], body: Body, label: str) -> tuple[list[Line], list[Line], list[Line]]:
    """Return the lines of running headers, of the body, and of running footers."""
    upper, lower = 0.15 * body.height, 0.8 * body.height
    above, below, inner_top, inner_bottom = parted(lines, upper, lower, _FAR, -_FAR)
    if not above and not below:
        return [], lines, []
    top, inner_top = _outer(above, inner_top, is_top=True)
    bottom, inner_bottom = _outer(below, inner_bottom, is_top=False)
    top = top[: _running(top, body, label, inner_top, len(lines), is_top=True)]
    bottom = bottom[: _running(bottom, body, label, inner_bottom, len(lines), is_top=False)]
    headers = {id(line) for row in top for line in row}
    footers = {id(line) for row in bottom for line in row}
    running = headers | footers
    if not running or (len(running) >= len(lines) and len(lines) > 1):
        return [], lines, []
    return (
        [line for line in above if id(line) in headers],
        [line for line in lines if id(line) not in running],
        [line for line in below if id(line) in footers],
    )


def _parted(
    lines: list[Line], upper: float, lower: float, top: float, bottom: float
) -> tuple[list[Line], list[Line], float, float]:
    """Return the lines above a height, those below another, and where the rest begins and ends."""
    above: list[Line] = []
    below: list[Line] = []
    for line in lines:
        if line.y1 < upper or line.y0 > lower:
            (above if line.y1 < upper else below).append(line)
        else:
            top, bottom = min(top, line.y0), max(bottom, line.y1)
    return above, below, top, bottom


parted = native.parted if native else _parted


def _outer(edge: list[Line], inner: float, *, is_top: bool) -> tuple[list[list[Line]], float]:
    """Return the rows at an edge, the outermost first, and where the other lines begin.

    Three rows are looked at, so that the outermost lines suffice; `inner` is where the lines inside begin.
    """
    if len(edge) > _OUTER:
        edge = sorted(edge, key=_height, reverse=not is_top)
        following = edge[_OUTER]
        inner = min(inner, following.y0) if is_top else max(inner, following.y1)
        edge = edge[:_OUTER]
    rows = rows_of(edge)
    return (rows if is_top else rows[::-1]), inner


def _running(rows: Sequence[list[Line]], body: Body, label: str, inner: float, count: int, *, is_top: bool) -> int:
    """Return how many of `rows`, the outermost first, run from page to page; `inner` is where the others begin."""
    found = 0
    boxes = [box_of(row) for row in rows[:4]]
    for number, row in enumerate(rows[:3]):
        _, y0, _, y1 = boxes[number]
        depth = y1 if is_top else body.height - y0
        following = boxes[number + 1][1 if is_top else 3] if number + 1 < len(boxes) else inner
        gap = following - y1 if is_top else y0 - following
        text = " ".join([line.text for line in row])
        is_number = len(text) < _LONGEST_NUMBER and _LONE_NUMBER.fullmatch(text) is not None
        if max([line.size for line in row]) > 1.12 * body.size:
            # A large number may still be that of the page.
            if is_number and gap > 0.3 * body.size:
                found = number + 1
            break
        if is_number or text == label:
            if gap > (0.3 if depth < 0.12 * body.height else 1.0) * body.size:
                found = number + 1
        elif depth > 0.15 * body.height or _is_prose(row, text) or _is_note(row, body, label):
            break
        elif (gap > 0.6 * body.leading and _is_numbered(text)) or (_is_set_off(text, gap, depth, body) and count > 4):
            found = number + 1
        elif number:
            break
    return found


def _is_numbered(text: str) -> bool:
    """Whether a row begins or ends with the number of a page, or tells it otherwise."""
    words = text.split()
    if len(words) > 1 and (_is_number(words[-1]) or _is_number(words[0])):
        return True
    return any(map(str.isdecimal, text)) and _COUNTED.search(text) is not None


def _is_number(word: str) -> bool:
    """Whether a word is the number of a page, in digits or in Roman numerals."""
    return (word.isdecimal() and len(word) < 5) or (len(word) < 8 and not word.strip("ivxlcIVXLC"))


def _is_note(row: Sequence[Line], body: Body, label: str) -> bool:
    if row[0].text.partition(" ")[0] == label:
        return False
    return row[0].size <= NOTE_SIZE * body.size and _begins_note(row[0]) and row[-1].text[-1].isalpha()


def _is_prose(row: Sequence[Line], text: str) -> bool:
    """Whether a row is a line of running text: long, and without room inside."""
    return len(text) > 60 and row[-1].x1 - row[0].x0 < 0.6 * max([line.size for line in row]) * len(text)


def _is_set_off(text: str, gap: float, depth: float, body: Body) -> bool:
    """Whether a row without a page number is too far from the text to be part of it."""
    if depth > 0.1 * body.height or gap < 0.9 * body.leading or len(text) > 120:
        return False
    return not text.endswith((".", "。", ",", ";"))


# Footnotes

_NOTE_MARK = re.compile(r"(?:\d{0,2}[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}|\d{1,3}|[*†‡§¶]{1,3}|\[\d{1,3}\]|[①-⑳])\s*(?=[^\s\d.,:;)%/-])")
NOTE_SIZE: Final = 0.93


def _begins_note(line: Line) -> bool:
    # The mark may be a line of its own, because it is raised.
    return bool(_NOTE_MARK.match(line.text if len(line.text) > 3 else f"{line.text} x"))


def split_footnotes(lines: list[Line], body: Body) -> tuple[list[Line], list[list[Line]]]:
    """Return the lines of the body, and those of each footnote: small text with marks at the foot of a column."""
    cut = len(lines)
    while cut and lines[cut - 1].size <= NOTE_SIZE * body.size and lines[cut - 1].y0 > 0.4 * body.height:
        cut -= 1
    while cut < len(lines) and not _begins_note(lines[cut]):
        cut += 1
    if cut in (0, len(lines)):
        return lines, []
    notes: list[list[Line]] = []
    for line in lines[cut:]:
        if not notes or (_begins_note(line) and line.x0 <= notes[-1][0].x0 + body.size):
            notes.append([])
        notes[-1].append(line)
    return lines[:cut], notes
