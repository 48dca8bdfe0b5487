"""What stands at the edges of a page: running headers and footers, and footnotes. Pure.

A line far from the text is a running header only where it runs: where a page next to this one, or the one after that
on the same side of the sheet, has it as well. Its page number may differ as the pages do.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Final, NamedTuple, TypeAlias

from a2c_smcp.documents.pdf.layout import Body, box_of, rows_of
from a2c_smcp.documents.pdf.words import Line

_LONE_NUMBER = re.compile(r"(?:[-–—\[(]?\s*)?(?:\d{1,4}|[ivxlc]{1,6})(?:\s*[-–—\])])?")
_COUNTED = re.compile(
    r"\d+\s*(?:/|of|von|sur|de)\s*\d+|\bpage\s+\d+|第\s*\d+\s*页|[A-Z]-\d{1,3}$",
    re.IGNORECASE,
)
_TELLS_PAGE = re.compile(
    r"\b(?:page|seite|página|pagina)\s+\d+\s*(?:/|of|von|sur|de|di)\s*\d+\b|第\s*\d+\s*页", re.IGNORECASE
)
"""What only the number of a page is told by, wherever in a row it stands."""
_ONLY_PAGE = re.compile(
    r"(?:page|seite|p\.|página|pagina)\s*\d+|\d{1,4}\s*(?:/|of|von|sur|de)\s*\d{1,4}|[A-Z\d]{1,2}\s?[-–]\s?\d{1,3}",
    re.IGNORECASE,
)
"""What tells the number of a page where a row, or a part of it, has nothing else."""
_RUNS = re.compile(r"\d+|\D+")
_COUNTED_PART = re.compile(
    r"(?:chapter|section|part|appendix|unit|lesson|exercise|problem|question|figure|fig\.?|table|step|kapitel"
    r"|abschnitt|chapitre|cap[íi]tulo|[§#第])\s*$",
    re.IGNORECASE,
)
"""What counts parts of the text, and not pages, when a number follows."""
_LONGEST_NUMBER: Final = 20
_SAME_HEIGHT: Final = 12.0
"""Points by which the heights of one running line differ at the most, where the margins of left and right pages do."""
_ENOUGH_WORDS: Final = 4
"""Words beside the number of the page that are no accident when they are on another page, too."""
_ENOUGH_LETTERS: Final = 4
"""Letters of a part of a row that are no accident when they are on another page, too."""
_EDGE_ROWS: Final = 3
_WITH_ROOM: Final = 0.68
"""The width of a letter, in sizes, above which a line has room inside: running text takes half a size, capitals two
thirds."""
_OUTER: Final = 9
_FAR: Final = 1e4
"""Where the text begins and ends when all of it is at the edges."""
_height = attrgetter("y0")


class EdgeRow(NamedTuple):
    """A row at an edge of a page: its parts from left to right, and how high its middle is."""

    parts: tuple[str, ...]
    at: float


class Edges(NamedTuple):
    """The outermost rows of a page."""

    top: tuple[EdgeRow, ...] = ()
    bottom: tuple[EdgeRow, ...] = ()


Runs: TypeAlias = Callable[[EdgeRow, bool], bool]
"""Whether a row at the top (True) or bottom of a page is on other pages, too."""


def edges_of(lines: list[Line], height: float) -> Edges:
    """Return the rows of a page that may run from page to page."""
    above, below, _, _ = parted(lines, 0.15 * height, 0.8 * height, _FAR, -_FAR)
    rows = [_outer(edge, 0.0, is_top=is_top)[0] for edge, is_top in ((above, True), (below, False))]
    top, bottom = (tuple(map(_edge_row, found[:_EDGE_ROWS])) for found in rows)
    return Edges(top, bottom)


def _edge_row(row: Sequence[Line]) -> EdgeRow:
    return EdgeRow(tuple([line.text for line in row]), row[0].middle)


def runs_on(row: EdgeRow, others: Sequence[EdgeRow], distance: int) -> bool:
    """Whether a row is among those of a page that comes so many pages later; earlier ones count below 0."""
    text = " ".join(row.parts)
    for other in others:
        if abs(other.at - row.at) > _SAME_HEIGHT:
            continue
        if _is_same(text, " ".join(other.parts), distance):
            return True
        shared = set(row.parts).intersection(other.parts)
        if any(sum(map(str.isalpha, part)) >= _ENOUGH_LETTERS for part in shared):
            return True
        if _counts_on(row.parts, other.parts, distance):
            return True
    return False


def _counts_on(parts: Sequence[str], others: Sequence[str], distance: int) -> bool:
    """Whether both rows have a number that stands alone at an end, and these differ as the pages do."""
    if len(parts) < 2 or len(others) < 2:
        return False
    ours, theirs = ({part for part in (row[0], row[-1]) if part.isdecimal()} for row in (parts, others))
    return any(str(int(number) + distance) in theirs for number in ours if len(number) < 5)


def _is_same(text: str, other: str, distance: int) -> bool:
    """Whether two rows are the same but for the number of their pages."""
    if text == other:
        return True
    bare = _without_number(text)
    if bare.count(" ") >= _ENOUGH_WORDS - 1 and bare == _without_number(other):
        return True
    ours, theirs = _RUNS.findall(text), _RUNS.findall(other)
    if len(ours) != len(theirs):
        return False
    before = ""
    for one, two in zip(ours, theirs, strict=True):
        if one != two:
            is_number = one.isdecimal() and two.isdecimal() and len(one) < 6 > len(two)
            if not is_number or int(two) - int(one) != distance or _COUNTED_PART.search(before):
                return False
        before = one
    return True


def _without_number(text: str) -> str:
    first, _, rest = text.partition(" ")
    if _is_number(first):
        return rest
    rest, _, last = text.rpartition(" ")
    return rest if _is_number(last) else text


def _tells_page(row: Sequence[Line], wanted: Collection[str]) -> bool:
    """Whether a row has a number of this page at one of its ends, with room before the rest.

    The number of a section stands right before its title, and may be that of the page by chance.
    """
    if any(_TELLS_PAGE.search(line.text) or _ONLY_PAGE.fullmatch(line.text) for line in row):
        return True
    if len(row) > 1:
        return row[0].text in wanted or row[-1].text in wanted
    line = row[0]
    words = line.text.split()
    is_wide = line.x1 - line.x0 > _WITH_ROOM * line.size * len(line.text)
    return len(words) > 1 and is_wide and (words[0] in wanted or words[-1] in wanted)


def split_edges(
    lines: list[Line], body: Body, label: str, page: str, runs: Runs
) -> tuple[list[Line], list[Line], list[Line]]:
    """Return the lines of running headers, of the body, and of running footers.

    Args:
        label: What the document calls the page, else its number.
        page: Its number, counted from 1.
        runs: Asked only where the page itself does not tell.
    """
    upper, lower = 0.15 * body.height, 0.8 * body.height
    above, below, inner_top, inner_bottom = parted(lines, upper, lower, _FAR, -_FAR)
    if not above and not below:
        return [], lines, []
    top, inner_top = _outer(above, inner_top, is_top=True)
    bottom, inner_bottom = _outer(below, inner_bottom, is_top=False)
    proven = _Proof(label, {label, page, *_lone_numbers((*top[:_EDGE_ROWS], *bottom[:_EDGE_ROWS]))}, runs)
    top = top[: _running(top, body, proven, inner_top, len(lines), is_top=True)]
    bottom = bottom[: _running(bottom, body, proven, inner_bottom, len(lines), is_top=False)]
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


def parted(
    lines: list[Line], upper: float, lower: float, top: float, bottom: float
) -> tuple[list[Line], list[Line], float, float]:
    """Return the lines above a height, those below another, and where the rest begins and ends."""
    above: list[Line] = []
    below: list[Line] = []
    for line in lines:
        y0, y1 = line.y0, line.y1
        if y1 < upper:
            above.append(line)
        elif y0 > lower:
            below.append(line)
        else:
            top = y0 if y0 < top else top
            bottom = y1 if y1 > bottom else bottom
    return above, below, top, bottom


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


class _Proof(NamedTuple):
    """What tells that a row runs from page to page."""

    label: str
    numbers: Collection[str]
    runs: Runs

    def of(self, row: Sequence[Line], *, is_top: bool) -> bool:
        return _tells_page(row, self.numbers) or self.runs(_edge_row(row), is_top)


def _lone_numbers(rows: Iterable[Sequence[Line]]) -> Iterator[str]:
    """Yield the numbers that are alone in a row at an edge: that of the page, whatever the document calls it."""
    for row in rows:
        text = row[0].text
        if len(row) == 1 and len(text) < _LONGEST_NUMBER and _LONE_NUMBER.fullmatch(text):
            yield text.strip("-–—[]() ")


def _running(rows: Sequence[list[Line]], body: Body, proof: _Proof, inner: float, count: int, *, is_top: bool) -> int:
    """Return how many of `rows`, the outermost first, run from page to page; `inner` is where the others begin."""
    found, label = 0, proof.label
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
        elif (
            (gap > 0.6 * body.leading and _is_numbered(text)) or (_is_set_off(text, gap, depth, body) and count > 4)
        ) and proof.of(row, is_top=is_top):
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
